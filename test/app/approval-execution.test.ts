// The server executes an approved call immediately and once, with the rights and scopes of that moment. A repeat from
// the assistant returns the result. The tests read the database itself.
import { describe, expect, test } from 'vitest';
import { read } from '../console/console-server.ts';
import { type Account, createBrowser } from '../oauth/flow.ts';
import { type Assistant, all, connect, type Desk, type DeskOptions, openDesk } from './approvals.ts';
import { signedIn } from './shop.ts';

const update = { collectionName: 'orders', recordId: 1, attributes: { total: 99 } };
const refund = { collectionName: 'orders', actionName: 'Refund', recordIds: [1], values: { reason: 'torn' } };
const asks = { '*': { ...all, approval: { add: 'ask-person', edit: 'ask-person', delete: 'ask-person' } } } as const;
const kim = { email: 'kim@example.test', password: 'correct horse battery' };

const codeOf = (text: string): string => (/^[A-Z_]{4,}/.exec(text)?.[0] ?? JSON.parse(text).status ?? 'done') as string;

interface ConsoleTestServer {
  readonly desk: Desk;
  readonly assistant: Assistant;
  /** Presses Approve on the page that a pending answer links to, and returns the next page. */
  approve(pending: string): Promise<string>;
}

async function openAsked(options: Partial<DeskOptions> = {}): Promise<ConsoleTestServer> {
  const desk = await openDesk({ permissions: asks, ...options });
  const assistant = await connect(desk, desk.token, '2026-07-28');
  return { desk, assistant, approve: (pending) => press(pending, 'approve') };
}

/** Opens the page of the approval, and returns a function that presses one of its buttons. */
async function open(pending: string, who: Account = kim): Promise<(button: 'approve' | 'deny') => Promise<string>> {
  const browser = createBrowser();
  const page = await browser.open((JSON.parse(pending) as { approve: string }).approve);
  const shown = await browser.press(page, 'sign-in', { ...who });
  return async (button) => read(await browser.press(shown, button));
}

const press = async (pending: string, button: 'approve' | 'deny'): Promise<string> => (await open(pending))(button);

const entriesOf = async (desk: Desk) => {
  await desk.store.activity.flush();
  return (
    (await desk.store.activity.list({ limit: 50 }))
      .filter(({ action }) => action !== 'approve')
      .reverse()
      // An entry buffered in memory can be written after an entry of a write that started later.
      .sort((a, b) => a.startedAt - b.startedAt)
      .map(({ action, type, outcome, code, clientName }) => [action, type, outcome, code, clientName].join(' '))
  );
};

const writes: readonly (readonly [
  tool: string,
  args: Record<string, unknown>,
  stateAfter: (desk: Desk) => Promise<unknown>,
  done: unknown,
])[] = [
  ['update', update, async (desk) => (await desk.state()).orders[0], '1 boots 99 1'],
  [
    'create',
    { collectionName: 'orders', attributes: { id: 4, label: 'caps', total: 5 } },
    async (desk) => (await desk.state()).orders[3],
    '4 caps 5 ',
  ],
  ['delete', { collectionName: 'orders', recordIds: [3] }, async (desk) => (await desk.state()).orders.length, 2],
  [
    'associate',
    { collectionName: 'customers', relationName: 'orders', parentRecordId: 2, targetRecordId: 3 },
    async (desk) => (await desk.state()).orders[2],
    '3 socks 30 2',
  ],
  ['executeAction', refund, async (desk) => (await desk.state()).ran, ['1 torn']],
];

describe.each(writes)('%s', (tool, args, stateAfter, done) => {
  test('runs once when a person approves it, and repeats return its result', async () => {
    const { desk, assistant, approve } = await openAsked();
    const pending = await assistant.call(tool, args);
    const page = await approve(pending);
    const state = await stateAfter(desk);
    const first = await assistant.call(tool, args);
    const second = await assistant.call(tool, args);
    expect([codeOf(pending), state, codeOf(first), second, await stateAfter(desk)]).toEqual([
      'pending',
      done,
      'done',
      first,
      done,
    ]);
    expect(page).toContain('Done Approved by you and completed by the server.');
    expect(await entriesOf(desk)).toEqual([
      `${tool} write denied APPROVAL_PENDING assistant`,
      `${tool} write completed  assistant`,
      `${tool} read completed  assistant`,
      `${tool} read completed  assistant`,
    ]);
  });
});

test('the result equals the answer of the call without approval', async () => {
  const { desk, assistant, approve } = await openAsked();
  await approve(await assistant.call('update', update));
  const answer = await assistant.call('update', update);
  await desk.permit({ '*': all });
  await desk.run('UPDATE orders SET total = 10 WHERE id = 1');
  expect(JSON.parse(answer)).toEqual(
    JSON.parse(await (await connect(desk, await desk.tokenOf(desk.userId, 'free'), 'legacy')).call('update', update)),
  );
});

test('the log entry of the write names the approval and the user of the call', async () => {
  const { desk, assistant, approve } = await openAsked();
  const pending = await assistant.call('update', update);
  await approve(pending);
  await desk.store.activity.flush();
  const entries = await desk.store.activity.list({ limit: 10 });
  const id = (JSON.parse(pending) as { approve: string }).approve.split('/').at(-1);
  expect(
    entries.find(({ action, type, outcome }) => action === 'update' && type === 'write' && outcome === 'completed'),
  ).toMatchObject({
    ...{ approvalId: id, userId: desk.userId, clientName: 'assistant', recordIds: ['1'] },
  });
});

test('the URL in the result downloads the file of an action', async () => {
  const { assistant, approve } = await openAsked({
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('Print', {
          scope: 'Global',
          generateFile: true,
          approval: 'ask-person',
          execute: (_, result) => result.file('printed', 'orders.txt', 'text/plain'),
        }),
      ),
  });
  const call = { collectionName: 'orders', actionName: 'Print' };
  await approve(await assistant.call('executeAction', call));
  const { url, expiresInSeconds } = JSON.parse(await assistant.call('executeAction', call));
  expect([await (await fetch(url)).text(), expiresInSeconds]).toEqual(['printed', 86_400]);
});

test('a call with another idempotency key needs its own approval', async () => {
  const { desk, assistant, approve } = await openAsked();
  const one = { ...refund, idempotencyKey: 'one' };
  await approve(await assistant.call('executeAction', one));
  const answers = [];
  for (const args of [one, refund, { ...refund, idempotencyKey: 'two' }])
    answers.push(codeOf(await assistant.call('executeAction', args)));
  expect([answers, (await desk.state()).ran]).toEqual([['done', 'done', 'pending'], ['1 torn']]);
});

describe('an approved call fails with the reason on the page', () => {
  const attempts: readonly (readonly [
    name: string,
    spoil: (desk: Desk) => Promise<unknown>,
    code: string,
    words: string,
  ])[] = [
    [
      'for a disabled user',
      (desk) => desk.store.identity.setDisabled(desk.userId, true),
      'UNAUTHENTICATED',
      'The account is disabled or gone.',
    ],
    [
      'for a revoked token',
      async (desk) => desk.store.tokens.revoke((await desk.store.tokens.list())[0]!.id),
      'UNAUTHENTICATED',
      'revoked',
    ],
    [
      'for a removed permission',
      (desk) => desk.permit({ '*': { ...asks['*'], edit: false } }),
      'FORBIDDEN',
      'FORBIDDEN',
    ],
  ];
  test.each(attempts)('%s', async (_, spoil, code, words) => {
    const { desk, assistant } = await openAsked();
    const pending = await assistant.call('update', update);
    const pressed = await open(pending, desk.account);
    await spoil(desk);
    const text = await pressed('approve');
    expect(text).toMatch(new RegExp(`Not done Approved by you\\..*${words}`));
    expect([(await desk.state()).orders[0], (await entriesOf(desk)).at(-1)]).toEqual([
      '1 boots 10 1',
      expect.stringMatching(new RegExp(`^update write (denied|failed) ${code} assistant$`)),
    ]);
  });

  test('for a record that has changed', async () => {
    const { desk, assistant, approve } = await openAsked();
    const pending = await assistant.call('update', update);
    await desk.run("UPDATE orders SET label = 'clogs' WHERE id = 1");
    const page = await approve(pending);
    const again = await assistant.call('update', update);
    expect([(await desk.state()).orders[0], codeOf(again)]).toEqual(['1 clogs 10 1', 'pending']);
    expect(page).toContain('Outdated A record changed first');
  });

  test('if its code returns an error, which the assistant gets once before a repeat needs a new approval', async () => {
    const { desk, assistant, approve } = await openAsked({
      customize: (agent) =>
        agent.customizeCollection('orders', (orders) =>
          orders.addAction('Break', {
            scope: 'Global',
            approval: 'ask-person',
            execute: (_, result) => result.error('The printer is out of paper.'),
          }),
        ),
    });
    const call = { collectionName: 'orders', actionName: 'Break' };
    const page = await approve(await assistant.call('executeAction', call));
    const answers = [await assistant.call('executeAction', call), await assistant.call('executeAction', call)];
    expect([answers[0], codeOf(answers[1]!)]).toEqual([
      expect.stringContaining('The printer is out of paper.'),
      'pending',
    ]);
    // The code ran with an unknown result, so the page does not say that nothing changed.
    expect(page).toContain('Failed Approved by you.');
    expect(page).toContain('may have changed data before it failed');
    expect(page).not.toContain('No change was made');
    expect(await entriesOf(desk)).toContain('executeAction write failed ACTION_REFUSED assistant');
  });
});

test('the execution uses the current scopes of the grant, and a revoked grant prevents it', async () => {
  const desk = await openDesk({ permissions: asks });
  const outcomes: unknown[] = [];
  for (const revoked of [false, true]) {
    await desk.run('UPDATE orders SET total = 10 WHERE id = 1');
    const { token } = await signedIn(desk, kim, 'mcp:read mcp:write');
    const assistant = await connect(desk, token, '2026-07-28');
    const pending = await assistant.call('update', update);
    if (revoked)
      for (const { id, clientName } of (await desk.store.connections.list({ userId: desk.userId, limit: 10 })).map(
        ({ id }) => ({ id, clientName: 'Notebook' }),
      ))
        await desk.store.connections.end({ id, by: desk.userId, clientName });
    const page = await press(pending, 'approve');
    outcomes.push([(await desk.state()).orders[0], /Done|Not done/.exec(page)?.[0]]);
  }
  expect(outcomes).toEqual([
    ['1 boots 99 1', 'Done'],
    ['1 boots 10 1', 'Not done'],
  ]);
});

test('only the grant that requested the approval gets the result', async () => {
  const { desk, assistant, approve } = await openAsked();
  await approve(await assistant.call('update', update));
  const other = await connect(desk, await desk.tokenOf(desk.userId, 'other'), '2026-07-28');
  expect(codeOf(await other.call('update', update))).toBe('pending');
});

test('the result is withheld if the rights of the caller have changed since', async () => {
  const { desk, assistant, approve } = await openAsked();
  await approve(await assistant.call('update', update));
  await desk.permit({ '*': { ...asks['*'], fields: { label: 'hidden' } } });
  expect(codeOf(await assistant.call('update', update))).toBe('ANSWER_WITHHELD');
});

test('with SERVICE_APPROVAL_EXECUTION=assistant, the repeated call of the assistant executes the write', async () => {
  const { desk, assistant, approve } = await openAsked({ env: { SERVICE_APPROVAL_EXECUTION: 'assistant' } });
  const page = await approve(await assistant.call('update', update));
  const between = (await desk.state()).orders[0];
  await assistant.call('update', update);
  expect([between, (await desk.state()).orders[0]]).toEqual(['1 boots 10 1', '1 boots 99 1']);
  expect(page).toContain('No change has been made yet');
});

test('two concurrent approvals and calls of the assistant meanwhile execute the call once', async () => {
  const { desk, assistant } = await openAsked({
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('Count', {
          scope: 'Global',
          approval: 'ask-person',
          execute: async (context, result) => {
            await new Promise((resolve) => setTimeout(resolve, 300));
            await context.collection.create([{ id: Math.floor(Math.random() * 1e9), label: 'once', total: 0 }]);
            return result.success('Counted.');
          },
        }),
      ),
  });
  const call = { collectionName: 'orders', actionName: 'Count' };
  const pending = await assistant.call('executeAction', call);
  const opened = [await open(pending), await open(pending, desk.account)];
  const pages = Promise.all(opened.map((pressed) => pressed('approve')));
  const seen: string[] = [];
  for (let at = 0; at < 100 && seen.at(-1) !== 'done'; at++) {
    seen.push(codeOf(await assistant.call('executeAction', call)));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await pages;
  const made = (await desk.state()).orders.filter((order) => `${order}`.includes('once'));
  expect([made.length, seen.at(-1)]).toEqual([1, 'done']);
});

test('an error after writes lists them for the assistant and on the page', async () => {
  const { assistant, approve } = await openAsked({
    customize: (agent) =>
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('Half', {
          scope: 'Global',
          approval: 'ask-person',
          execute: async (context) => {
            await context.collection.update(
              { conditionTree: { field: 'id', operator: 'Equal', value: 1 } },
              { label: 'half' },
            );
            throw new Error('the other half is missing');
          },
        }),
      ),
  });
  const call = { collectionName: 'orders', actionName: 'Half' };
  const page = await approve(await assistant.call('executeAction', call));
  const answer = await assistant.call('executeAction', call);
  const kept = 'Written before the error, and not rolled back: 1 record of orders updated (1).';
  expect([page, answer]).toEqual([expect.stringContaining(kept), expect.stringContaining(kept)]);
});
