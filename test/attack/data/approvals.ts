// Approvals: an approved call runs once, as it was shown, and only for the user who requested it.
import { requestOf } from '../../app/call.ts';
import { type Attack, verdict } from '../attack.ts';
import { all, type Person, type Target } from '../target.ts';
import { fresh, shop } from './shop.ts';

/** Permissions with writes that the client confirms with its user. */
const asked = { '*': { ...all, approval: { edit: 'ask', add: 'ask' } } } as const;
const states = 'src/mcp/approvals/approval-state.ts';
const door = 'src/mcp/approvals/approval.ts';

interface Round {
  readonly text?: string;
  readonly requestState?: string;
}

/** Sends one round of a 2026-07-28 call by hand. */
async function round(
  target: Pick<Target, 'mcpUrl'>,
  { token }: Person,
  tool: string,
  args: object,
  more: object = {},
): Promise<Round> {
  const { headers, body } = requestOf('tools/call', { name: tool, arguments: args, ...more }, 'modern');
  const asking = body.replace('clientCapabilities":{}', 'clientCapabilities":{"elicitation":{}}');
  const response = await fetch(target.mcpUrl, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
    body: asking,
  });
  const { result, error } = (await response.json()) as {
    result?: { content?: { text: string }[]; requestState?: string };
    error?: { message: string };
  };
  return {
    text: result?.content?.[0]?.text ?? error?.message ?? '',
    ...(result?.requestState && { requestState: result.requestState }),
  };
}

async function order(target: Target): Promise<{ readonly id: number; total(): Promise<string | undefined> }> {
  const id = fresh();
  await target.sql(`INSERT INTO orders (id, label, total) VALUES (${id}, 'asked', 10)`);
  return { id, total: async () => (await target.rows(`SELECT total FROM orders WHERE id = ${id}`))[0] };
}

const saying = (requestState: string) => ({
  requestState,
  inputResponses: { approval: { action: 'accept', content: {} } },
});
const change = (recordId: number, total: number) => ({ collectionName: 'orders', recordId, attributes: { total } });

export const approvalAttacks: readonly Attack[] = [
  {
    id: 'held-approval-other-arguments',
    finding: 'data held',
    title: 'a yes to one call is brought with other arguments',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: asked });
      const { id, total } = await order(target);
      const { requestState, text } = await round(target, attacker, 'update', change(id, 11));
      const brought = await round(target, attacker, 'update', change(id, 99), saying(requestState!));
      return verdict((await total()) === '99', { total: await total(), text, brought: brought.text });
    },
    protection: [
      { file: states, text: 'bound.call !== callHash(call) ||', into: '' },
      // The hash of the found records depends on the arguments too.
      { file: states, text: 'bound.found === hashToken(call.found)', into: 'true' },
    ],
  },
  {
    id: 'held-approval-replayed',
    finding: 'data held',
    title: 'one yes makes two records, by a replay and by twelve repeats at once',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: asked });
      const label = `once ${fresh()}`;
      const args = { collectionName: 'orders', attributes: { label } };
      const { requestState } = await round(target, attacker, 'create', args);
      const repeat = () => round(target, attacker, 'create', args, saying(requestState!));
      await Promise.all(Array.from({ length: 12 }, repeat));
      const last = await repeat();
      const [made] = await target.rows(`SELECT count(*) FROM orders WHERE label = '${label}'`);
      return verdict(made !== '1', { made, last: last.text });
    },
    protection: [
      {
        file: 'src/store/approvals/approvals.ts',
        text: 'return inserted?.found_hash === marker;',
        into: 'return inserted !== undefined;',
      },
    ],
  },
  {
    id: 'held-approval-at-two-servers',
    finding: 'data held',
    title: 'one yes makes two records, brought to two servers at once',
    place: shop,
    isSlow: true,
    async attack(target) {
      const attacker = await target.person({ permissions: asked });
      const twin = await target.twin();
      const label = `at both ${fresh()}`;
      const args = { collectionName: 'orders', attributes: { label } };
      const { requestState } = await round(target, attacker, 'create', args);
      const bring = (_: unknown, at: number) =>
        round(at % 2 ? target : twin, attacker, 'create', args, saying(requestState!));
      const said = await Promise.all(Array.from({ length: 12 }, bring));
      const [made] = await target.rows(`SELECT count(*) FROM orders WHERE label = '${label}'`);
      if (made === '0') throw new Error(`nothing was made: ${said[0]?.text}`);
      return verdict(made !== '1', { made });
    },
    protection: [
      {
        file: 'src/store/approvals/approvals.ts',
        text: 'return inserted?.found_hash === marker;',
        into: 'return inserted !== undefined;',
      },
    ],
  },
  {
    id: 'held-approval-of-changed-record',
    finding: 'data held',
    title: 'a yes counts for a record that has changed since it was shown',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: asked });
      const { id, total } = await order(target);
      const { requestState } = await round(target, attacker, 'update', change(id, 11));
      await target.sql(`UPDATE orders SET total = 50 WHERE id = ${id}`);
      const { text } = await round(target, attacker, 'update', change(id, 11), saying(requestState!));
      return verdict((await total()) !== '50', { total: await total(), text });
    },
    protection: [{ file: door, text: "if (returned.answer === 'accept' && !unchanged) {", into: 'if (!returned) {' }],
  },
  {
    id: 'held-approval-of-another',
    finding: 'data held',
    title: 'the yes of one person is brought by another one',
    place: shop,
    async attack(target) {
      const owner = await target.person({ permissions: asked });
      const thief = await target.person({ permissions: asked });
      const { id, total } = await order(target);
      const { requestState } = await round(target, owner, 'update', change(id, 11));
      const { text } = await round(target, thief, 'update', change(id, 11), saying(requestState!));
      return verdict((await total()) !== '10', { total: await total(), text });
    },
    protection: [{ file: states, text: 'bound.call !== callHash(call) ||', into: '' }],
  },
  {
    id: 'held-approval-forged',
    finding: 'data held',
    title: 'a state that nobody sealed is taken for a yes',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: asked });
      const { id, total } = await order(target);
      const { requestState } = await round(target, attacker, 'update', change(id, 11));
      const [key] = requestState!.split('.');
      const carried = { id: `forged-${id}`, call: '', found: '', expiresAt: Date.now() + 60_000 };
      const forged = `${key}.${Buffer.from(JSON.stringify(carried)).toString('base64url')}`;
      const { text } = await round(target, attacker, 'update', change(id, 11), saying(forged));
      const bent = `${requestState!.slice(0, -4)}AAAA`;
      const second = await round(target, attacker, 'update', change(id, 11), saying(bent));
      return verdict((await total()) !== '10', { total: await total(), text, second: second.text });
    },
    protection: [
      {
        file: states,
        text: 'decrypt(state.slice(dot + 1), key.value)',
        into: "key && Buffer.from(state.slice(dot + 1), 'base64url').toString()",
      },
      { file: states, text: 'bound.call !== callHash(call) ||', into: '' },
      { file: states, text: 'bound.found === hashToken(call.found)', into: 'true' },
    ],
  },
  {
    id: 'held-second-person-is-oneself',
    finding: 'data held',
    title: 'who asks gives the yes of the second person',
    place: shop,
    async attack(target) {
      const approval = { edit: { policy: 'ask-person', secondPerson: true } } as const;
      const attacker = await target.person({ permissions: { '*': { ...all, approval } } });
      const { id, total } = await order(target);
      const pending = (await attacker.call('update', change(id, 11))) as { approve: string };
      const path = new URL(pending.approve).pathname.replace('/console', '');
      const visit = await attacker.visit(path);
      const pressed = await visit.forge({ action: 'approve' });
      await attacker.call('update', change(id, 11));
      const words = pressed.html.replace(/<[^>]*>/g, ' ').slice(0, 60);
      return verdict((await total()) !== '10', { total: await total(), status: pressed.status, words });
    },
    protection: [
      {
        file: 'src/console/pages/approvals/review.ts',
        text: "isOwn && approval.policy.secondPerson ? 'other' : 'decide'",
        into: "'decide'",
      },
      {
        file: 'src/store/approvals/approvals.ts',
        text: '.orWhereNot({ user_id: by })',
        into: '.orWhere({ second_person: true })',
      },
    ],
  },
  {
    id: 'held-dry-run-writes-nothing',
    finding: 'data held',
    title: 'a dry run, in any spelling, writes',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      const { id, total } = await order(target);
      const answers: unknown[] = [];
      for (const dryRun of [
        true,
        'true',
        'TRUE',
        ' true ',
        1,
        '1',
        'yes',
        'on',
        [true],
        { dryRun: true },
        'True',
        null,
      ])
        if (dryRun !== null) answers.push(await attacker.call('update', { ...change(id, 77), dryRun }));
      answers.push(await attacker.call('delete', { collectionName: 'orders', recordIds: [String(id)], dryRun: true }));
      return verdict((await total()) !== '10', { total: await total(), first: answers[0], third: answers[4] });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/transaction.ts',
        text: "if (discard) await connection.runSql('rollback');",
        into: "if (discard) await connection.runSql('commit');",
      },
    ],
  },
  {
    id: 'held-flood-of-approvals',
    isSlow: true,
    finding: 'data held',
    title: 'a client files approvals without end',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ permissions: { '*': { ...all, approval: { add: 'ask-person' } } } });
      const answers: unknown[] = [];
      for (let at = 0; at < 53; at++)
        answers.push(await attacker.call('create', { collectionName: 'tags', attributes: { label: `flood ${at}` } }));
      return verdict(!String(answers.at(-1)).startsWith('TOO_MANY_APPROVALS'), answers.at(-1));
    },
    protection: [
      { file: 'src/store/approvals/approvals.ts', text: 'const MAX_PENDING = 50;', into: 'const MAX_PENDING = 1e9;' },
    ],
  },
];
