// A write that needs approval never happens without it, whatever the client sends. Each test reads the database itself.

import { describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { ElicitationAnswer } from '../../src/mcp/approvals/approval.ts';
import { altered } from '../altered.ts';
import { servers } from '../databases.ts';
import { startServer } from '../server.ts';
import { createStorage } from '../store/spares.ts';
import { type Assistant, all, connect, type Desk, kinds, openDesk, round, saying, secret } from './approvals.ts';

const untouched = { orders: ['1 boots 10 1', '2 hats 20 1', '3 socks 30 '], customers: ['1 Ada', '2 Bo'], ran: [] };
const update = { collectionName: 'orders', recordId: 1, attributes: { total: 99 } };
const refund = { collectionName: 'orders', actionName: 'Refund', recordIds: [1], values: { reason: 'torn' } };
const relation = { collectionName: 'customers', relationName: 'orders' };

const calls: readonly (readonly [tool: string, args: Record<string, unknown>, after: Partial<typeof untouched>])[] = [
  [
    'create',
    { collectionName: 'orders', attributes: { id: 4, label: 'caps', total: 5 } },
    { orders: [...untouched.orders, '4 caps 5 '] },
  ],
  ['update', update, { orders: ['1 boots 99 1', '2 hats 20 1', '3 socks 30 '] }],
  ['delete', { collectionName: 'orders', recordIds: [3] }, { orders: ['1 boots 10 1', '2 hats 20 1'] }],
  [
    'associate',
    { ...relation, parentRecordId: 2, targetRecordId: 3 },
    { orders: ['1 boots 10 1', '2 hats 20 1', '3 socks 30 2'] },
  ],
  [
    'dissociate',
    { ...relation, parentRecordId: 1, targetRecordIds: [1] },
    { orders: ['1 boots 10 ', '2 hats 20 1', '3 socks 30 '] },
  ],
  ['executeAction', refund, { ran: ['1 torn'] as never }],
];

const policies = (policy: 'allow' | 'ask' | 'ask-person' | 'deny', secondPerson?: true) => {
  const wish = secondPerson ? { policy, secondPerson } : policy;
  return { '*': { ...all, approval: { add: wish, edit: wish, delete: wish } } };
};

/** The URL of the approval request in a pending answer. */
const addressIn = (text: string): string => (JSON.parse(text) as { approve: string }).approve;
const idIn = (text: string): string => addressIn(text).split('/').at(-1)!;
const codeOf = (text: string): string => (/^[A-Z_]{4,}/.exec(text)?.[0] ?? JSON.parse(text).status) as string;

async function decide(desk: Desk, text: string, verdict: 'approved' | 'denied' = 'approved', by = desk.userId) {
  return desk.store.approvals.decide(idIn(text), { by, verdict });
}

describe.each(calls)('%s', (tool, args, after) => {
  const done = { ...untouched, ...after };

  test.each(kinds)('ask: a %s client asks its user and follows their answer', async (kind) => {
    const desk = await openDesk({ permissions: policies('ask') });
    const no = await connect(desk, desk.token, kind, () => 'decline');
    const declined = await no.call(tool, args);
    const between = await desk.state();
    const yes = await connect(desk, desk.token, kind, () => 'accept');
    const accepted = await yes.call(tool, args);
    expect([codeOf(declined), between, no.questions, await desk.state()]).toEqual([
      'NOT_APPROVED',
      untouched,
      yes.questions,
      done,
    ]);
    expect(accepted).not.toMatch(/^[A-Z_]+:/);
    expect(yes.questions).toEqual([expect.stringMatching(/^Your assistant wants to \w+.*\n(?:.*\n)+Allow it\?$/)]);
  });

  test.each(kinds)(
    'ask: a %s client that cannot ask gets the URL of the approval, and the approved call runs once',
    async (kind) => {
      const desk = await openDesk({ permissions: policies('ask') });
      const assistant = await connect(desk, desk.token, kind);
      const first = await assistant.call(tool, args);
      const second = await assistant.call(tool, args);
      const between = await desk.state();
      const decided = await decide(desk, first);
      await assistant.call(tool, args);
      const after = await desk.state();
      expect([codeOf(first), idIn(second) === idIn(first), between, decided, after]).toEqual([
        'pending',
        true,
        untouched,
        true,
        done,
      ]);
      expect(addressIn(first)).toBe(`${new URL(desk.mcpUrl).origin}/console/approvals/${idIn(first)}`);
    },
  );

  test.each(kinds)('ask-person: a %s client that accepts everything itself cannot execute the call', async (kind) => {
    const desk = await openDesk({ permissions: policies('ask-person') });
    const assistant = await connect(desk, desk.token, kind, () => 'accept');
    const texts = [await assistant.call(tool, args), await assistant.call(tool, args)];
    const { status } = await fetch(addressIn(texts[0]!), { headers: { authorization: `Bearer ${desk.token}` } });
    const posted = await fetch(addressIn(texts[0]!), {
      method: 'POST',
      headers: { authorization: `Bearer ${desk.token}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'verdict=approved',
      redirect: 'manual',
    });
    texts.push(await assistant.call(tool, args));
    expect([texts.map(codeOf), assistant.questions, await desk.state()]).toEqual([
      ['pending', 'pending', 'pending'],
      [],
      untouched,
    ]);
    expect([status < 500, posted.status >= 300, (await desk.store.approvals.find(idIn(texts[0]!)))?.state]).toEqual([
      true,
      true,
      'pending',
    ]);
  });

  test('deny: the call is refused', async () => {
    const desk = await openDesk({ permissions: policies('deny') });
    const assistant = await connect(desk, desk.token, '2026-07-28', () => 'accept');
    const text = await assistant.call(tool, args);
    expect([codeOf(text), assistant.questions, await desk.state()]).toEqual([
      tool === 'executeAction' ? 'UNKNOWN_ACTION' : 'FORBIDDEN',
      [],
      untouched,
    ]);
  });
});

describe('an approval in the console', () => {
  const open = async (secondPerson?: true, clock?: Clock) => {
    const desk = await openDesk({ permissions: policies('ask-person', secondPerson), ...(clock && { clock }) });
    const assistant = await connect(desk, desk.token, '2026-07-28');
    return { desk, assistant, first: await assistant.call('update', update) };
  };
  const totals = async (desk: Desk) => (await desk.state()).orders[0];

  test('is used up by the first repeat, and a replay is a new request', async () => {
    const { desk, assistant, first } = await open();
    await decide(desk, first);
    await assistant.call('update', update);
    await desk.run('UPDATE orders SET total = 11 WHERE id = 1');
    const replay = await assistant.call('update', update);
    expect([codeOf(replay), idIn(replay) === idIn(first), await totals(desk)]).toEqual([
      'pending',
      false,
      '1 boots 11 1',
    ]);
  });

  test('lets one of several concurrent repeats run', async () => {
    const { desk, first } = await open();
    await decide(desk, first);
    const bodies = await Promise.all(
      [1, 2, 3, 4].map(async () => (await connect(desk, desk.token, '2026-07-28')).call('update', update)),
    );
    const ran = bodies.filter((text) => text.startsWith('{"count":1'));
    expect([ran.length, await totals(desk)]).toEqual([1, '1 boots 99 1']);
  });

  test('is valid only for the same arguments, client and user', async () => {
    const { desk, assistant, first } = await open();
    await decide(desk, first);
    await desk.addUser({ email: 'lee@example.test', role: 'Clerk' });
    const lee = (await desk.store.identity.findUserByEmail('lee@example.test'))!.id;
    const others: readonly [Assistant, object][] = [
      [assistant, { ...update, attributes: { total: 100 } }],
      [assistant, { ...update, recordId: 2 }],
      [await connect(desk, await desk.tokenOf(desk.userId, 'another'), '2026-07-28'), update],
      [await connect(desk, await desk.tokenOf(lee, 'assistant'), '2026-07-28'), update],
    ];
    const ids = [];
    for (const [client, args] of others) ids.push(idIn(await client.call('update', args as Record<string, unknown>)));
    expect([new Set([...ids, idIn(first)]).size, await desk.state()]).toEqual([5, untouched]);
  });

  test('is invalid after a record changed, and the next call is a new request', async () => {
    const { desk, assistant, first } = await open();
    await decide(desk, first);
    await desk.run("UPDATE orders SET label = 'clogs' WHERE id = 1");
    const refused = await assistant.call('update', update);
    const again = await assistant.call('update', update);
    const late = await decide(desk, first);
    expect([codeOf(refused), codeOf(again), idIn(again) === idIn(first), late, await totals(desk)]).toEqual([
      'APPROVAL_OVERTAKEN',
      'pending',
      false,
      false,
      '1 clogs 10 1',
    ]);
  });

  test('of an action is invalid after its records changed', async () => {
    const { desk, assistant } = await open();
    await decide(desk, await assistant.call('executeAction', refund));
    await desk.run('UPDATE orders SET total = 11 WHERE id = 1');
    const refused = await assistant.call('executeAction', refund);
    expect([codeOf(refused), (await desk.state()).ran]).toEqual(['APPROVAL_OVERTAKEN', []]);
  });

  test('that is denied refuses every repeat', async () => {
    const { desk, assistant, first } = await open();
    await decide(desk, first, 'denied');
    const texts = [await assistant.call('update', update), await assistant.call('update', update)];
    expect([texts.map(codeOf), await desk.state()]).toEqual([['NOT_APPROVED', 'NOT_APPROVED'], untouched]);
  });

  test('is invalid if it is given or used too late', async () => {
    let now = systemClock.now();
    const clock: Clock = { ...systemClock, now: () => now };
    const { desk, assistant, first } = await open(undefined, clock);
    now += 3600_000;
    const late = await decide(desk, first);
    const second = await assistant.call('update', update);
    const inTime = await decide(desk, second);
    now += 900_000;
    const third = await assistant.call('update', update);
    expect([late, inTime, codeOf(third), new Set([first, second, third].map(idIn)).size, await desk.state()]).toEqual([
      false,
      true,
      'pending',
      3,
      untouched,
    ]);
  });

  test('of a second person cannot come from the requesting user', async () => {
    const { desk, assistant, first } = await open(true);
    const own = await decide(desk, first);
    const still = await assistant.call('update', update);
    const other = await decide(desk, first, 'approved', 1);
    await assistant.call('update', update);
    expect([own, codeOf(still), other, await totals(desk)]).toEqual([false, 'pending', true, '1 boots 99 1']);
    expect(JSON.parse(first).next).toContain('someone else with this permission');
  });

  test.each(['orders', 'customers'])(
    'of a second person is needed if a write needs several rights, and only that of %s asks for one',
    async (strict) => {
      const wish = { policy: 'ask-person', secondPerson: true } as const;
      const permissions = Object.fromEntries(
        ['orders', 'customers'].map((name) => [
          name,
          { ...all, ...(name === strict && { approval: { edit: wish, delete: wish } }) },
        ]),
      );
      const desk = await openDesk({ permissions, cascades: true });
      const assistant = await connect(desk, desk.token, '2026-07-28');
      const call = { collectionName: 'customers', recordIds: [1] };
      const first = await assistant.call('delete', call);
      const own = await decide(desk, first);
      const other = await decide(desk, first, 'approved', 1);
      await assistant.call('delete', call);
      expect([codeOf(first), own, other, await desk.state()]).toEqual([
        'pending',
        false,
        true,
        { orders: ['3 socks 30 '], customers: ['2 Bo'], ran: [] },
      ]);
    },
  );

  test('does not replace a permission lost meanwhile, or the approval of a stricter policy', async () => {
    const { desk, assistant, first } = await open();
    await decide(desk, first);
    await desk.permit({ '*': { ...all, edit: false } });
    const lost = await assistant.call('update', update);
    await desk.permit(policies('ask-person', true));
    const stricter = await assistant.call('update', update);
    expect([codeOf(lost), codeOf(stricter), idIn(stricter) === idIn(first), await desk.state()]).toEqual([
      'FORBIDDEN',
      'pending',
      false,
      untouched,
    ]);
  });

  test('with an idempotency key runs once, and repeats return the answer without a new approval', async () => {
    const { desk, assistant } = await open();
    const args = { ...refund, idempotencyKey: 'k1' };
    const first = await assistant.call('executeAction', args);
    await decide(desk, first);
    const texts = [await assistant.call('executeAction', args), await assistant.call('executeAction', args)];
    expect([codeOf(first), texts[0] === texts[1], (await desk.state()).ran]).toEqual(['pending', true, ['1 torn']]);
  });

  test('is not needed for a dry run', async () => {
    const { desk, assistant } = await open();
    const text = await assistant.call('update', { ...update, dryRun: true });
    expect([JSON.parse(text).dryRun, await desk.state()]).toEqual([true, untouched]);
  });
});

describe('the request state of a client of 2026-07-28', () => {
  const call = { name: 'update', arguments: update };
  const open = async (clock?: Clock) => {
    const desk = await openDesk({ permissions: policies('ask'), ...(clock && { clock }) });
    const { requestState } = await round(desk, desk.token, call);
    return { desk, state: requestState! };
  };

  test('is valid once', async () => {
    const { desk, state } = await open();
    const first = await round(desk, desk.token, call, saying(state));
    await desk.run('UPDATE orders SET total = 10 WHERE id = 1');
    const again = await round(desk, desk.token, call, saying(state));
    expect([first.text?.startsWith('{"count":1'), codeOf(again.text!), await desk.state()]).toEqual([
      true,
      'INVALID_APPROVAL',
      untouched,
    ]);
  });

  test('lets one of several concurrent calls run', async () => {
    const { desk, state } = await open();
    const answers = await Promise.all([1, 2, 3].map(() => round(desk, desk.token, call, saying(state))));
    expect(answers.filter(({ text }) => text?.startsWith('{"count":1')).length).toBe(1);
  });

  test('is invalid after the user declined', async () => {
    const { desk, state } = await open();
    const no = await round(desk, desk.token, call, saying(state, 'decline'));
    const yes = await round(desk, desk.token, call, saying(state));
    expect([codeOf(no.text!), codeOf(yes.text!), await desk.state()]).toEqual([
      'NOT_APPROVED',
      'INVALID_APPROVAL',
      untouched,
    ]);
  });

  test('is valid only unchanged, for the same call, user and client, and for 15 minutes', async () => {
    let now = systemClock.now();
    const { desk, state } = await open({ ...systemClock, now: () => now });
    await desk.addUser({ email: 'lee@example.test', role: 'Clerk' });
    const lee = await desk.tokenOf((await desk.store.identity.findUserByEmail('lee@example.test'))!.id, 'assistant');
    const other = await desk.tokenOf(desk.userId, 'another');
    const [key = '', iv = '', tag = '', data = ''] = state.split('.');
    const attempts: readonly [token: string, args: object, state: string][] = [
      [lee, update, state],
      [other, update, state],
      [desk.token, { ...update, attributes: { total: 100 } }, state],
      [desk.token, { ...update, recordId: 2 }, state],
      [desk.token, update, [key, iv, tag, altered(data, 0)].join('.')],
      [desk.token, update, ['other', iv, tag, data].join('.')],
      [desk.token, update, ''],
      [desk.token, update, 'x'],
    ];
    const codes = [];
    for (const [token, args, carried] of attempts) {
      const { text } = await round(desk, token, { name: 'update', arguments: args }, saying(carried));
      codes.push(codeOf(text!));
    }
    now += 900_000;
    codes.push(codeOf((await round(desk, desk.token, call, saying(state))).text!));
    expect([new Set(codes), await desk.state()]).toEqual([new Set(['INVALID_APPROVAL']), untouched]);
  });

  test('is invalid after a record changed', async () => {
    const { desk, state } = await open();
    await desk.run("UPDATE orders SET label = 'clogs' WHERE id = 1");
    const { text } = await round(desk, desk.token, call, saying(state));
    const again = await round(desk, desk.token, call, saying(state));
    expect([codeOf(text!), codeOf(again.text!), (await desk.state()).orders[0]]).toEqual([
      'APPROVAL_OVERTAKEN',
      expect.stringMatching(/INVALID_APPROVAL|APPROVAL_OVERTAKEN/),
      '1 clogs 10 1',
    ]);
  });

  test('does not satisfy a policy that needs a person', async () => {
    const { desk, state } = await open();
    await desk.permit(policies('ask-person'));
    const { text } = await round(desk, desk.token, call, saying(state));
    expect([codeOf(text!), await desk.state()]).toEqual(['pending', untouched]);
  });

  test('is required: an answer without it is asked again', async () => {
    const { desk } = await open();
    const { requestState } = await round(desk, desk.token, call, { inputResponses: saying('').inputResponses });
    expect([typeof requestState, await desk.state()]).toEqual(['string', untouched]);
  });
});

test('rights that change between the answer and the write give APPROVAL_OVERTAKEN, and nothing is written', async () => {
  let isAnswered = false;
  let permits: Promise<void> | undefined;
  const desk: Desk = await openDesk({
    permissions: policies('ask'),
    // Runs in the preview that follows the answer, when the rights of the call are already known.
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.addHook('Before', 'Update', async () => {
          if (!isAnswered) return;
          permits ??= desk.permit(policies('ask-person'));
          await permits;
        }),
      ),
  });
  const assistant = await connect(desk, desk.token, 'legacy', (): ElicitationAnswer => {
    isAnswered = true;
    return 'accept';
  });
  const refused = await assistant.call('update', update);
  expect(codeOf(refused)).toBe('APPROVAL_OVERTAKEN');
  expect(permits).toBeDefined();
  expect(await desk.state()).toEqual(untouched);
});

test('a change of the record or the policy during the question of a legacy client prevents the write', async () => {
  const desk = await openDesk({ permissions: policies('ask') });
  const assistant = await connect(desk, desk.token, 'legacy', async (): Promise<ElicitationAnswer> => {
    await desk.run("UPDATE orders SET label = 'clogs' WHERE id = 1");
    return 'accept';
  });
  const refused = await assistant.call('update', update);
  expect([codeOf(refused), (await desk.state()).orders[0]]).toEqual(['APPROVAL_OVERTAKEN', '1 clogs 10 1']);
  const slow = await connect(desk, desk.token, 'legacy', async (): Promise<ElicitationAnswer> => {
    await desk.permit(policies('ask-person'));
    return 'accept';
  });
  const pending = await slow.call('update', { ...update, recordId: 2 });
  expect([codeOf(pending), (await desk.state()).orders[1]]).toEqual(['pending', '2 hats 20 1']);
});

test('a nested write needs the approval of its own collection', async () => {
  const desk = await openDesk({
    permissions: { orders: all, customers: { ...all, approval: { add: 'ask-person' } } },
    customize: (agent) => agent.customizeCollection('orders', (orders) => orders.allowNestedWrites('customer')),
  });
  const assistant = await connect(desk, desk.token, '2026-07-28', () => 'accept');
  const alone = await assistant.call('create', {
    collectionName: 'orders',
    attributes: { id: 4, label: 'caps', total: 5 },
  });
  const along = await assistant.call('create', {
    collectionName: 'orders',
    attributes: { id: 5, label: 'caps', total: 5, customer: { id: 3, name: 'Cy' } },
  });
  expect([alone.startsWith('{"count":1'), codeOf(along), await desk.state()]).toEqual([
    true,
    'pending',
    { ...untouched, orders: [...untouched.orders, '4 caps 5 '] },
  ]);
});

test.each([
  ['ask', 'ask', 'NOT_APPROVED'],
  ['ask', 'ask-person', 'pending'],
  ['ask-person', 'allow', 'pending'],
  ['deny', 'allow', 'UNKNOWN_ACTION'],
] as const)(
  'of the policy in code (%s) and of the role (%s), the stricter applies to an action',
  async (approval, role, expected) => {
    const desk = await openDesk({ permissions: policies(role), approval });
    const assistant = await connect(desk, desk.token, '2026-07-28', () => 'decline');
    expect([codeOf(await assistant.call('executeAction', refund)), (await desk.state()).ran]).toEqual([expected, []]);
  },
);

test('the log records each request and its outcome without values', async () => {
  const desk = await openDesk({ permissions: policies('ask-person') });
  const assistant = await connect(desk, desk.token, '2026-07-28');
  const first = await assistant.call('update', update);
  await decide(desk, first);
  await assistant.call('update', update);
  await decide(desk, await assistant.call('executeAction', refund), 'denied');
  await assistant.call('executeAction', refund);
  await desk.store.activity.flush();
  const entries = await desk.store.activity.list({ limit: 10 });
  expect(entries.map(({ action, type, outcome, code, recordIds }) => [action, type, outcome, code, recordIds])).toEqual(
    expect.arrayContaining([
      ['update', 'write', 'denied', 'APPROVAL_PENDING', ['1']],
      ['update', 'write', 'completed', undefined, ['1']],
      ['executeAction', 'write', 'denied', 'APPROVAL_PENDING', ['1']],
      ['executeAction', 'write', 'denied', 'NOT_APPROVED', ['1']],
    ]),
  );
  expect(JSON.stringify([entries, desk.observed])).not.toMatch(/torn|"total"/);
});

describe.each(servers.filter(({ dialect }) => dialect !== 'sqlite'))('two processes that share $dialect', (server) => {
  const open = async (policy: 'ask' | 'ask-person') => {
    const storage = await createStorage(server);
    onTestFinished(() => storage.drop());
    const desk = await openDesk({ permissions: policies(policy), storage: storage.url });
    const other = await startServer({
      database: desk.database.url,
      env: { SERVICE_STORAGE_URL: storage.url, SERVICE_SECRET: secret },
      account: desk.account,
    });
    onTestFinished(() => other.stop());
    return { desk, other };
  };
  const notes = (id: number) => ({ collectionName: 'customers', attributes: { id, name: `no. ${id}` } });

  test('create one request for concurrent equal calls, and run one of their repeats', async () => {
    const { desk, other } = await open('ask-person');
    const assistants = [
      await connect(desk, desk.token, '2026-07-28'),
      await connect(other, desk.token, '2026-07-28'),
      await connect(desk, desk.token, '2026-07-28'),
      await connect(other, desk.token, '2026-07-28'),
    ];
    const again = () => Promise.all(assistants.map((one) => one.call('update', update)));
    const filed = await again();
    await decide(desk, filed[0]!);
    const ran = (await again()).filter((text) => text.startsWith('{"count":1'));
    expect([new Set(filed.map(idIn)).size, ran.length]).toEqual([1, 1]);
  });

  test('accept a request state once, from either process', async () => {
    const { desk, other } = await open('ask');
    const call = { name: 'create', arguments: notes(7) };
    const { requestState = '' } = await round(desk, desk.token, call);
    const both = await Promise.all(
      [desk, other, desk, other].map((one) => round(one, desk.token, call, saying(requestState))),
    );
    expect(both.filter(({ text }) => text?.startsWith('{"count":1')).length).toBe(1);
    expect((await desk.state()).customers).toEqual([...untouched.customers, '7 no. 7']);
  });

  test('do not ask over a stream, which only one process would hold', async () => {
    const { desk } = await open('ask');
    const assistant = await connect(desk, desk.token, 'legacy', () => 'accept');
    const text = await assistant.call('update', update);
    expect([codeOf(text), assistant.questions, await desk.state()]).toEqual(['pending', [], untouched]);
  });
});

test('the question omits fields that the caller may not see', async () => {
  const fields = { total: 'hidden' } as const;
  const desk = await openDesk({ permissions: { '*': { ...all, fields, approval: { delete: 'ask' } } } });
  const assistant = await connect(desk, desk.token, '2026-07-28', () => 'decline');
  await assistant.call('delete', { collectionName: 'orders', recordIds: [1, 2] });
  const [waiting] = await desk.store.approvals.list('settled', 1);
  expect(assistant.questions).toEqual([
    'Your assistant wants to delete 2 records of \'orders\'.\n- "1": id 1; label "boots"; customer_id 1\n- "2": id 2; label "hats"; customer_id 1\nAllow it?',
  ]);
  expect(JSON.stringify(waiting?.content.preview)).not.toContain('total');
});

test('text in a record is escaped and cannot pass for a part of the question', async () => {
  const desk = await openDesk({ permissions: policies('ask') });
  const assistant = await connect(desk, desk.token, 'legacy', () => 'decline');
  const label = 'hats\nAllow it?\nYour assistant wants to do nothing.';
  await assistant.call('update', { ...update, attributes: { label } });
  expect(assistant.questions[0]?.split('\n')).toEqual([
    "Your assistant wants to change 1 record of 'orders'.",
    expect.stringContaining('label "boots" → "hats\\nAllow it?'),
    'Allow it?',
  ]);
});

test('code that overrides a write is called only after the user accepts', async () => {
  const written: unknown[] = [];
  const desk = await openDesk({
    permissions: policies('ask'),
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.overrideUpdate(async (context) => {
          written.push(context.patch);
        }),
      ),
  });
  const no = await connect(desk, desk.token, '2026-07-28', () => 'decline');
  const declined = await no.call('update', update);
  const between = [...written];
  const yes = await connect(desk, desk.token, '2026-07-28', () => 'accept');
  await yes.call('update', update);
  expect([codeOf(declined), between, written, yes.questions]).toEqual([
    'NOT_APPROVED',
    [],
    [{ total: 99 }],
    ["Your assistant wants to change 1 record of 'orders'.\n- total: 99\nAllow it?"],
  ]);
});

test('the time that a person takes to answer does not count against the time limit of the call', async () => {
  const desk = await openDesk({ permissions: policies('ask'), callSeconds: 2 });
  const assistant = await connect(desk, desk.token, 'legacy', async (): Promise<ElicitationAnswer> => {
    await systemClock.sleep(2200);
    return 'accept';
  });
  const text = await assistant.call('update', update);
  expect([text.slice(0, 10), (await desk.state()).orders[0]]).toEqual(['{"count":1', '1 boots 99 1']);
});
