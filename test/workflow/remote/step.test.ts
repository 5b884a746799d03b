// Steps that call tools of remote servers, in runs: on the first database alone, since what they write is what every step writes.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRemoteFetch } from '../../../src/app/remotes.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Executor } from '../../../src/workflow/executor.ts';
import { createRemoteRoom, type RemoteRoom } from '../../../src/workflow/remote/room.ts';
import { createMcpStep } from '../../../src/workflow/steps/mcp.ts';
import { stepHandlers } from '../../../src/workflow/steps.ts';
import { dropSpares } from '../../store/spares.ts';
import { cleanUpAfterAll, variants } from '../../store/stores.ts';
import { openWorkflowPlace, type WorkflowPlace } from '../place.ts';
import { openRemote, type RemoteFixture } from './server.ts';

cleanUpAfterAll();
let at: WorkflowPlace;
let remote: RemoteFixture;
let room: RemoteRoom;
let executor: Executor;
beforeAll(async () => {
  remote = await openRemote();
  at = await openWorkflowPlace(variants[0]!);
  const hosts = ['127.0.0.1'];
  const fetch = createRemoteFetch(hosts);
  const callbackUrl = 'http://127.0.0.1/console/remotes/callback';
  room = createRemoteRoom({
    store: at.store,
    clock: systemClock,
    observe: () => undefined,
    fetch,
    hosts,
    version: '1',
    callbackUrl,
  });
  executor = at.another({ handlers: stepHandlers(createMcpStep(room)) });
  await room.add({ name: 'till', url: remote.url, signIn: 'none', by: at.userId });
  await room.add({ name: 'bank', url: remote.url, signIn: 'oauth', by: at.userId });
});
afterAll(async () => {
  await executor.stop(0);
  await at.close();
  await remote.stop();
  await dropSpares();
});
beforeEach(() => {
  remote.before = () => false;
  remote.charged.length = 0;
});

const charge = { id: 'charge', type: 'mcp', server: 'till', tool: 'charge', arguments: { amount: '{{record.total}}' } };
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

test('an automatic one calls the tool with what its templates stand for, and later steps have the answer', async () => {
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

test('else a person sees the tool, its server and the arguments first, and what he saw is what is called', async () => {
  const { id, reason } = await run([charge]);
  const [waiting] = await at.steps(id);
  expect([reason, waiting?.data, remote.charged]).toEqual([
    'confirmation',
    { ask: 'call', server: 'till', tool: 'charge', arguments: { amount: 10.5 } },
    [],
  ]);
  // Nobody says yes to what he is not shown.
  const editor = await at.addUser({ email: 'tom@b.example', level: 'editor' });
  const asEditor = (await at.store.permissions.accessOf(editor))!;
  expect(JSON.stringify(await at.room.question(asEditor, id))).not.toContain('10.5');
  await expect(at.room.answer(asEditor, id, 1, { decision: 'confirm' })).rejects.toMatchObject({ code: 'DENIED' });
  expect([(await answer(id, 1, 'confirm')).state, remote.charged]).toEqual(['succeeded', [{ amount: 10.5 }]]);
});

test('one that a person declines is not called', async () => {
  const { id } = await run([charge]);
  expect(await answer(id, 1, 'decline')).toMatchObject({ state: 'failed', failure: { code: 'STEP_DECLINED' } });
  expect(remote.charged).toEqual([]);
});

test('where the user has no account it waits for him to connect one', async () => {
  const { id, reason } = await run([{ ...charge, server: 'bank', mode: 'automatic' }]);
  expect([reason, (await at.steps(id))[0]?.data]).toEqual(['reconnect', { ask: 'reconnect', server: 'bank' }]);
  const editor = await at.addUser({ email: 'eve@b.example', level: 'editor' });
  const asEditor = (await at.store.permissions.accessOf(editor))!;
  expect((await at.room.question(asEditor, id))?.refusal).toContain('Only the user of the run');
  await expect(at.room.answer(asEditor, id, 1, { decision: 'done' })).rejects.toMatchObject({ code: 'DENIED' });
  expect((await at.room.question((await at.store.permissions.accessOf(at.userId))!, id))?.refusal).toBeNull();
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

test('a call that may have been made waits for a person, and is not made again by itself', async () => {
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
  ['a tool that answers with an error', { tool: 'fail', arguments: {} }, 'REMOTE_TOOL_FAILED'],
  ['an unknown tool', { tool: 'refund' }, 'UNKNOWN_REMOTE_TOOL'],
  ['an unknown server', { server: 'tills' }, 'UNKNOWN_REMOTE_SERVER'],
  ['arguments that the tool does not take', { arguments: { amount: '{{record.customer:name}}' } }, 'INVALID_ARGUMENT'],
])('%s ends the run, and its message has no values', async (_, more, code) => {
  const { state, failure } = await run([{ ...charge, mode: 'automatic', ...more }]);
  expect([state, failure?.code]).toEqual(['failed', code]);
  expect(failure?.message).not.toMatch(/4242|Ada|10\.5/);
  expect(remote.charged).toEqual([]);
});
