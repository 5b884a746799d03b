// Workflow steps that call remote tools, only on the first database, because they write what all steps write.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { createRemoteFetch } from '../../../src/server/workflows/remotes.ts';
import { parseDefinition } from '../../../src/workflows/definition/definition.ts';
import { createRemoteServers, type RemoteServers } from '../../../src/workflows/remote-mcp/remote-servers.ts';
import { formatToolRules, parseToolRules, ruleOf } from '../../../src/workflows/remote-mcp/tools.ts';
import type { Executor } from '../../../src/workflows/runs/executor.ts';
import { createMcpStep } from '../../../src/workflows/steps/mcp.ts';
import { stepHandlers } from '../../../src/workflows/steps/table.ts';
import { dropSpares } from '../../store/spares.ts';
import { cleanUpAfterAll, variants } from '../../store/stores.ts';
import { openWorkflowServer, type WorkflowTestServer } from '../workflow-server.ts';
import { openRemote, type RemoteFixture } from './server.ts';

cleanUpAfterAll();
let at: WorkflowTestServer;
let remote: RemoteFixture;
let room: RemoteServers;
let executor: Executor;
beforeAll(async () => {
  remote = await openRemote();
  at = await openWorkflowServer(variants[0]!);
  const hosts = ['127.0.0.1'];
  const fetch = createRemoteFetch(hosts);
  room = createRemoteServers({
    store: at.store,
    clock: systemClock,
    observe: () => undefined,
    fetch,
    hosts,
    version: '1',
    addresses: { callback: (id) => `http://127.0.0.1/cb/${id}`, document: () => undefined },
  });
  executor = at.another({ handlers: stepHandlers(createMcpStep(room)) });
  await room.add({ name: 'till', url: remote.url, signIn: 'none', addedBy: at.userId });
  await room.add({ name: 'bank', url: remote.url, signIn: 'oauth', addedBy: at.userId });
});
afterAll(async () => {
  await executor.stop(0);
  await at.close();
  await remote.stop();
  await dropSpares();
});
beforeEach(() => {
  remote.annotations = undefined;
  remote.said = 'no such card 4242';
  remote.before = () => false;
  remote.charged.length = 0;
});

const charge = {
  id: 'charge',
  type: 'mcp',
  server: 'till',
  tool: 'charge',
  arguments: { amount: '{{record.total}}' },
  allowChanges: true,
};
const told = { id: 'told', type: 'guidance', text: '{{steps.charge.text}} as {{steps.charge.id}}' };
const go = async (runId: string) => {
  await executor.take([runId]);
  return (await at.store.runs.find(runId))!;
};
const run = async (steps: readonly object[]) => go(await at.start(await at.publish(steps)));
const answer = async (id: string, position: number, decision: string) => {
  await at.store.runs.answer(id, { position, by: at.userId, value: { decision, values: {} } });
  return go(id);
};
const end = (id: string) => at.store.runs.cancel(id, at.userId);

// RFC 8259 section 6: with its digits as text, the number would name another record.
test('a number in a result that JSON rounds is refused in later steps: in a text, as a value, nested', async () => {
  const rounded = 9007199254740992;
  const of = { ...charge, mode: 'automatic', next: 'told' };
  const arguments_ = [
    { amount: '{{steps.charge.amount}}' },
    { amount: 1, note: 'of {{steps.charge.amount}}' },
    { amount: 1, all: '{{steps.charge.result}}' },
  ];
  for (const given of arguments_) {
    const next = { ...charge, id: 'told', mode: 'automatic', arguments: given };
    const ended = await run([{ ...of, arguments: { amount: rounded } }, next]);
    expect(ended).toMatchObject({ state: 'failed', failure: { code: 'STEP_FAILED' } });
    expect(ended.failure?.message).toMatch(
      /^The step 'told': '\{\{steps\.charge\.\w+\}\}' has a number above 9007199254740991/,
    );
  }
  expect(remote.charged).toEqual(arguments_.map(() => ({ amount: rounded })));
  remote.charged.length = 0;
  const exact = { ...charge, id: 'told', mode: 'automatic', arguments: arguments_[0] };
  expect(await run([{ ...of, arguments: { amount: 9007199254740991 } }, exact])).toMatchObject({ state: 'succeeded' });
  expect(remote.charged).toHaveLength(2);
});

test('in automatic mode the tool is called with the filled templates, and later steps have its result', async () => {
  const { id, state } = await run([{ ...charge, mode: 'automatic', next: 'told' }, told]);
  expect([state, remote.charged]).toEqual(['awaiting-input', [{ amount: 10.5 }]]);
  expect(await at.steps(id)).toMatchObject([
    { state: 'done', outcome: { type: 'mcp', server: 'till', tool: 'charge', isError: false, characters: 12 } },
    { state: 'waiting', data: { text: 'charged 10.5 as ch_1' } },
  ]);
  const log = await at.store.activity.list({ limit: 20 });
  expect(log.find(({ action }) => action === 'callRemoteTool')).toMatchObject({ outcome: 'completed', type: 'write' });
  await end(id);
});

test('otherwise a user sees the tool, its server and the arguments first, and exactly that is called', async () => {
  const { id, reason } = await run([charge]);
  const [waiting] = await at.steps(id);
  expect([reason, waiting?.data, remote.charged]).toEqual([
    'confirmation',
    { ask: 'call', server: 'till', tool: 'charge', arguments: { amount: 10.5 } },
    [],
  ]);
  // A user cannot confirm a call without seeing its arguments.
  const editor = await at.addUser({ email: 'tom@b.example', level: 'editor' });
  const asEditor = (await at.store.permissions.accessOf(editor))!;
  expect(JSON.stringify(await at.room.inputRequest(asEditor, id))).not.toContain('amount');
  await expect(at.room.answer(asEditor, id, 1, { decision: 'confirm' })).rejects.toMatchObject({ code: 'DENIED' });
  expect([(await answer(id, 1, 'confirm')).state, remote.charged]).toEqual(['succeeded', [{ amount: 10.5 }]]);
});

test('a call that a user declines is not made', async () => {
  const { id } = await run([charge]);
  expect(await answer(id, 1, 'decline')).toMatchObject({ state: 'failed', failure: { code: 'STEP_DECLINED' } });
  expect(remote.charged).toEqual([]);
  await at.store.activity.flush();
  const [told] = await at.store.activity.list({ limit: 1 });
  expect(told).toMatchObject({ action: 'abortWorkflow', outcome: 'denied', code: 'STEP_DECLINED' });
});

test('a step whose user has no account waits until they connect one', async () => {
  const { id, reason } = await run([{ ...charge, server: 'bank', mode: 'automatic' }]);
  expect([reason, (await at.steps(id))[0]?.data]).toEqual(['reconnect', { ask: 'reconnect', server: 'bank' }]);
  const editor = await at.addUser({ email: 'eve@b.example', level: 'editor' });
  const asEditor = (await at.store.permissions.accessOf(editor))!;
  expect((await at.room.inputRequest(asEditor, id))?.refusal).toContain('Only the user of the run');
  await expect(at.room.answer(asEditor, id, 1, { decision: 'done' })).rejects.toMatchObject({ code: 'DENIED' });
  expect((await at.room.inputRequest((await at.store.permissions.accessOf(at.userId))!, id))?.refusal).toBeNull();
  expect(await answer(id, 1, 'again')).toMatchObject({ state: 'awaiting-input', reason: 'reconnect' });
  const held = {
    client: { client_id: 'c' },
    tokens: { access_token: 'of-ada', token_type: 'Bearer' },
    discovery: { authorizationServerUrl: 'https://bank.example' },
  };
  const { id: serverId } = (await at.store.remotes.findByName('bank'))!;
  await at.store.remotes.connect({ serverId, userId: at.userId, held, expiresAt: null });
  remote.authorizations.length = 0;
  const { position } = (await at.steps(id)).at(-1)!;
  expect([(await answer(id, position, 'again')).state, remote.charged]).toEqual(['succeeded', [{ amount: 10.5 }]]);
  expect(new Set(remote.authorizations)).toEqual(new Set(['Bearer of-ada']));
});

test('a call with an uncertain outcome waits for a user, and is not repeated automatically', async () => {
  remote.before = (req, res) => {
    if (req.headers['mcp-method'] !== 'tools/call') return false;
    res.destroy();
    return true;
  };
  const { id, reason } = await run([{ ...charge, mode: 'automatic' }]);
  expect([reason, (await at.steps(id))[0]?.data]).toEqual(['uncertain', { ask: 'uncertain' }]);
  remote.before = () => false;
  expect([(await answer(id, 1, 'again')).state, remote.charged]).toEqual(['succeeded', [{ amount: 10.5 }]]);
});

test.each([
  ['a tool that returns an error', { tool: 'fail', arguments: {} }, 'REMOTE_TOOL_FAILED'],
  ['an unknown tool', { tool: 'refund' }, 'UNKNOWN_REMOTE_TOOL'],
  ['an unknown server', { server: 'tills' }, 'UNKNOWN_REMOTE_SERVER'],
  [
    'arguments that the tool does not accept',
    { arguments: { amount: '{{record.customer:name}}' } },
    'INVALID_ARGUMENT',
  ],
])('%s ends the run, and the message has no values', async (_, more, code) => {
  const { state, failure } = await run([{ ...charge, mode: 'automatic', ...more }]);
  expect([state, failure?.code]).toEqual(['failed', code]);
  expect(failure?.message).not.toMatch(/4242|Ada|10\.5/);
  expect(remote.charged).toEqual([]);
});

const failing = { ...charge, tool: 'fail', mode: 'automatic', arguments: {} };

test('the output of a failed tool is stored encrypted and cut, and is not in any log', async () => {
  remote.said = `no such card 4242 ${'x'.repeat(3000)}`;
  const { id, failure } = await run([failing]);
  expect(failure).toMatchObject({ code: 'REMOTE_TOOL_FAILED', message: expect.not.stringContaining('4242') });
  const [step] = await at.steps(id);
  expect(step).toMatchObject({ state: 'failed', data: { text: expect.stringMatching(/^no such card 4242 x+…$/) } });
  expect((step!.data as { text: string }).text).toHaveLength(2001);
  await at.store.activity.flush();
  const log = await at.store.activity.list({ limit: 50 });
  expect(log.find(({ action }) => action === 'callRemoteTool')).toMatchObject({
    outcome: 'failed',
    code: 'REMOTE_TOOL_FAILED',
  });
  const rows = await at.place.tables().knex('workflow_run_steps').where({ run_id: id });
  // Searches the whole text, because ids and times can contain 4242 by chance.
  expect(JSON.stringify([log, at.observed, rows])).not.toContain('card 4242');
});

test('a step may name the next step after a failure of its tool, and later steps have the output', async () => {
  const heard = { id: 'heard', type: 'guidance', text: 'It said: {{steps.charge.text}}' };
  const { id, state } = await run([{ ...failing, next: 'told', onError: 'heard' }, told, heard]);
  expect([state, (await at.steps(id)).map(({ stepId, state: is, data }) => [stepId, is, data])]).toEqual([
    'awaiting-input',
    [
      ['charge', 'done', { text: 'no such card 4242', result: {} }],
      ['heard', 'waiting', { ask: 'inputs', text: 'It said: no such card 4242' }],
    ],
  ]);
  await end(id);
  expect((await run([{ ...failing, onError: null }])).state).toBe('succeeded');
  const step = { ...failing, onError: 'nowhere' };
  expect(() => parseDefinition({ name: 'x', collection: 'orders', steps: [step] })).toThrow("unknown step 'nowhere'");
});

/** Creates a server with tools that have not been listed yet. */
let added = 0;
async function another() {
  const server = `till ${++added}`;
  const { id } = await room.add({ name: server, url: remote.url, signIn: 'none', addedBy: at.userId });
  const allow = (text: string) => at.store.remotes.setTools(id, parseToolRules(text), at.userId);
  return { allow, step: { ...charge, server, mode: 'automatic' } };
}

test.each([
  ['does not annotate', undefined, false],
  ['marks as writing', { readOnlyHint: false }, false],
  ['marks as not destructive', { destructiveHint: false }, true],
  ['marks as read-only', { readOnlyHint: true }, true],
])('a tool that the server %s is called without approval or not: %j', async (_, annotations, isCalled) => {
  remote.annotations = annotations;
  const { step } = await another();
  const { allowChanges: _all, ...careful } = step;
  const { state, failure } = await run([careful]);
  expect([state, failure?.code, remote.charged.length]).toEqual(
    isCalled ? ['succeeded', undefined, 1] : ['failed', 'REMOTE_TOOL_NOT_ALLOWED', 0],
  );
  if (!isCalled) expect(failure?.message).toContain("Set the step's mode to confirm, or its allowChanges to true.");
});

test('an administrator sets which tools may be called, and which always need the approval of a user', async () => {
  const { allow, step } = await another();
  await allow('fail');
  const { state, failure } = await run([{ ...step, mode: 'confirm' }]);
  expect([state, failure?.code]).toEqual(['failed', 'REMOTE_TOOL_NOT_ALLOWED']);
  expect(failure?.message).toContain('workflows may not call it');
  await allow('charge ask');
  const { id, reason } = await run([step]);
  expect([reason, remote.charged]).toEqual(['approval', []]);
  expect([(await answer(id, 1, 'confirm')).state, remote.charged.length]).toEqual(['succeeded', 1]);
  const { id: waits } = await run([step]);
  await allow('fail');
  expect(await answer(waits, 1, 'confirm')).toMatchObject({ failure: { code: 'REMOTE_TOOL_NOT_ALLOWED' } });
  await allow('fail\n*');
  expect([(await run([step])).state, remote.charged.length]).toEqual(['succeeded', 2]);
});

test('the setting names one tool with its rule in each line', () => {
  const tools = { search: 'allow', open: 'ask', '*': 'ask' } as const;
  expect([parseToolRules(' search \n\nopen  ask\r\n* ask'), parseToolRules(' \n'), formatToolRules(tools)]).toEqual([
    tools,
    null,
    'search\nopen ask\n* ask',
  ]);
  expect(() => parseToolRules('open always')).toThrow("'open always' is not valid");
  expect(() => ruleOf({ name: 'till', tools: parseToolRules('search') }, 'constructor')).toThrow(
    'workflows may not call it',
  );
});
