// 2,000 concurrent calls of 50 users to one server, in both eras of the protocol. Every answer holds only the rows of
// its caller, and the activity log has every call under the user who made it.
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { requestOf } from './call.ts';
import { openShop, type Shop, signedIn } from './shop.ts';

const USERS = 50;
const TEAMS = 10;
const CALLS = 2000;

interface Member {
  readonly id: number;
  readonly customer: number;
  readonly token: string;
  /** The rows that the user may see, per question, read from the database. */
  readonly expected: readonly unknown[];
}

let shop: Shop;
let members: Member[];
const agent = new Agent({ keepAlive: true, maxSockets: 400 });

const questions = [
  { collectionName: 'customers', fields: ['id', 'email'] },
  { collectionName: 'orders', fields: ['number', 'customer:id'], pagination: { size: 50 }, enableCount: true },
  { collectionName: 'orders', fields: ['customer:email'], filters: { field: 'customer:id', operator: 'Present' } },
];

beforeAll(async () => {
  shop = await openShop();
  const read = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
  await shop.store.permissions.setRole('Reader', { '*': read });
  const emails = Array.from({ length: USERS }, (_, index) => `user${index}@example.com`);
  // One at a time: hashing a password already uses both cores.
  const found: Member[] = [];
  const addNext = async (): Promise<void> => {
    const email = emails.shift();
    if (email === undefined) return;
    found.push(await addMember(email));
    return addNext();
  };
  for (let team = 0; team < TEAMS; team++) {
    await shop.addUser({ email: `first${team}@example.com`, team: `Team ${team}`, role: 'Reader' });
    const own = team % 2 ? { operator: 'In', value: ['{{currentUser.tags.customer}}'] } : ownCustomer;
    await shop.store.permissions.setScope(`Team ${team}`, 'customers', { field: 'id', ...own });
    await shop.store.permissions.setScope(`Team ${team}`, 'orders', { field: 'customer_id', ...own });
  }
  await Promise.all([addNext(), addNext(), addNext()]);
  members = found;
});
afterAll(async () => {
  agent.destroy();
  await shop.stop();
});

const ownCustomer = { operator: 'Equal', value: '{{currentUser.tags.customer}}' };

async function addMember(email: string): Promise<Member> {
  const index = Number(/\d+/.exec(email));
  const customer = 20 + index * 7;
  const tags = { customer: `${customer}` };
  const account = await shop.addUser({ email, team: `Team ${index % TEAMS}`, role: 'Reader', tags });
  const user = await shop.store.identity.findUserByEmail(email);
  const { token } = await signedIn(shop, account);
  const [own] = await shop.ask(`SELECT id, email FROM customers WHERE id = ${customer}`);
  const orders = await shop.ask(`SELECT number FROM orders WHERE customer_id = ${customer} ORDER BY id`);
  if (!user || !own) throw new Error(`no user or customer for ${email}`);
  return {
    id: user.id,
    customer,
    token,
    expected: [
      [[own.id, own.email]],
      orders.map(({ number }) => [number, customer]),
      orders.slice(0, 15).map(() => [own.email]),
    ],
  };
}

async function askAs(member: Member, call: number): Promise<unknown> {
  const question = questions[call % questions.length];
  const { headers, body } = requestOf(
    'tools/call',
    { name: 'list', arguments: question },
    call % 2 ? 'modern' : 'legacy',
  );
  const authorization = `Bearer ${member.token}`;
  const response = await new Promise<string>((resolve, reject) => {
    const sent = request(shop.mcpUrl, { method: 'POST', agent, headers: { ...headers, authorization } }, (res) =>
      text(res).then(resolve, reject),
    );
    sent.on('error', reject);
    sent.end(body);
  });
  return JSON.parse(JSON.parse(response).result.content[0].text).rows;
}

// 4 s by itself, and 20 times that beside other files on a machine with slow memory.
test('every answer has only rows of its caller, and every log entry the user who made the call', async () => {
  const calls = Array.from({ length: CALLS }, (_, call) => ({ call, member: members[call % USERS]! }));
  const answers = await Promise.all(calls.map(({ member, call }) => askAs(member, call)));
  await shop.store.activity.flush();
  const entries: (ActivityEntry & { readonly id: number })[] = [];
  for (let before: number | undefined; ; before = entries.at(-1)!.id) {
    const page = await shop.store.activity.list({ limit: 1000, ...(before !== undefined && { before }) });
    entries.push(...page);
    if (page.length < 1000) break;
  }
  const countOf = (id: number) =>
    entries.filter((entry) => entry.userId === id && entry.outcome === 'completed').length;
  expect([
    answers,
    members.map(({ id }) => countOf(id)),
    new Set(members.map(({ customer }) => customer)).size,
  ]).toEqual([
    calls.map(({ member, call }) => member.expected[call % questions.length]),
    members.map(() => CALLS / USERS),
    USERS,
  ]);
}, 300_000);
