// The workflow tools: who sees them, the runs they start, and the run details they return.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Workflow } from '../../src/store/workflows/types.ts';
import { createWorkflowService } from '../../src/workflows/workflows.ts';
import {
  answerOf,
  legacy,
  type McpTestServer,
  type McpTestServerOptions,
  modern,
  openMcpServer,
  post,
} from './mcp-server.ts';

let server: McpTestServer;
afterEach(() => server.close());

const open = async (options: McpTestServerOptions = {}): Promise<McpTestServer> => {
  server = await openMcpServer(options);
  return server;
};

async function call(name: string, args: object, token = 'user-2', query = ''): Promise<unknown> {
  const url = { url: server.url + query };
  const { body } = await post(url, legacy('tools/call', { name, arguments: args }), {
    authorization: `Bearer ${token}`,
  });
  return answerOf(body);
}
const shown = async (token = 'user-2'): Promise<readonly string[]> => {
  const { body } = await post(server, legacy('tools/list'), { authorization: `Bearer ${token}` });
  return (body as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
};
const theirs = async (...of: Parameters<typeof shown>) => (await shown(...of)).filter((name) => /orkflow/.test(name));
const all = ['listWorkflows', 'triggerWorkflow', 'getWorkflowRun'];

const steps = [
  { id: 'read', type: 'read-record', fields: ['text'], next: 'ask' },
  { id: 'ask', title: 'Is it right?', type: 'guidance', text: 'Look at it.' },
];
const publish = (name: string, more: object = {}): Promise<Workflow> =>
  server.store.workflows.publish({
    ...{ renderingId: 1, name, collection: 'notes', concurrency: null, by: 2 },
    definition: JSON.stringify({ name, collection: 'notes', steps }),
    ...more,
  });
const claim = async (runId: string) => {
  const wish = { owner: 'test', leaseMs: 60_000, limit: 1, ids: [runId] };
  return (await server.store.runs.claim(wish))[0] ?? expect.fail('not claimed');
};

describe('which callers see the workflow tools', () => {
  test('callers without workflows see no tools; a published workflow adds them at the next check', async () => {
    await open();
    const before = await shown();
    await publish('Check');
    const after = await shown();
    expect([before.filter((name) => all.includes(name)), after]).toEqual([[], [...before, ...all]]);
    const { body, headers } = modern('tools/list');
    const { tools } = ((await post(server, body, headers)).body as { result: { tools: { name: string }[] } }).result;
    expect(tools.map(({ name }) => name)).toEqual(after);
  });

  test('the workflows are read only after a workflow or the permissions changed', async () => {
    await open();
    const { workflows, permissions } = server.store;
    const list = vi.spyOn(workflows, 'list');
    const seen: unknown[] = [];
    const look = async () => {
      list.mockClear();
      seen.push([(await theirs()).length, (await theirs()).length, list.mock.calls.length]);
    };
    await look();
    const { id } = await publish('Check');
    await look();
    await look();
    await workflows.setActive(id, false, 2);
    await look();
    await workflows.setActive(id, true, 2);
    await look();
    await permissions.setRole('Member', {});
    await look();
    await look();
    expect(seen).toEqual([
      [0, 0, 1],
      [3, 3, 1],
      [3, 3, 0],
      [0, 0, 1],
      [3, 3, 1],
      [3, 3, 1],
      [3, 3, 0],
    ]);
  });

  test('they are read every time if the platform does not report their version', async () => {
    const { store } = await open();
    const older = { ...store, versions: async () => ({ permissions: 1, grants: 1, keys: 1 }) };
    const service = createWorkflowService({
      ...{ store: older, clock: systemClock, fileLimitBytes: 1 },
      engine: null!,
    });
    const before = await service.listActive();
    await publish('Check');
    expect([before, await service.listActive()]).toEqual([[], [{ renderingId: 1, collection: 'notes' }]]);
  });

  test('a listening client is notified when the tools change, and not before', async () => {
    await open();
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const requestInit = { headers: { authorization: 'Bearer user-2' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }));
    let heard = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void heard++);
    const listening = await client.listen({ toolsListChanged: true });
    const before = heard;
    await publish('Check');
    for (let tries = 0; tries < 200 && heard === 0; tries++) await systemClock.sleep(50);
    await listening.close();
    await client.close();
    expect([before, heard]).toEqual([0, 1]);
  }, 20_000);

  test('not of another rendering, without the right to the collection, or if all are paused', async () => {
    const access = (id: number) => {
      const full = fullAccess({ id, tags: {}, timezone: 'UTC', renderingId: id === 4 ? 9 : 1 } as never);
      return id === 6 ? { ...full, can: () => false } : full;
    };
    await open({ access });
    const { id } = await publish('Check');
    const before = [await theirs('user-2'), await theirs('user-4'), await theirs('user-6')];
    await server.store.workflows.setActive(id, false, 2);
    expect([before, await theirs()]).toEqual([[all, [], []], []]);
  });
});

describe('a start', () => {
  test('queues a run, and logs the collection of the workflow; a second start returns the same run', async () => {
    await open();
    const { id: workflowId } = await publish('Check');
    const started = (await call('triggerWorkflow', { workflowId, recordId: 2 })) as Record<string, string>;
    expect(started).toEqual({
      runId: expect.stringMatching(/^[\w-]{36}$/),
      state: 'queued',
      page: `http://console.test/runs/${started.runId}`,
    });
    expect(await server.store.runs.find(started.runId!)).toMatchObject({ recordId: '2', userId: 2, origin: 'mcp' });
    const second = await call('triggerWorkflow', { workflowId, recordId: '2' });
    expect(second).toContain('RUN_ONGOING');
    expect(second).toContain(started.runId);
    await server.store.activity.flush();
    const logged = await server.store.activity.list({ limit: 9 });
    expect(
      logged.map(({ action, collection, outcome, recordIds }) => [action, collection, outcome, recordIds]),
    ).toEqual(expect.arrayContaining([['triggerWorkflow', 'notes', 'completed', ['2']]]));
  });

  test('with the same idempotencyKey returns the same run, and starts no other', async () => {
    await open();
    const { id: workflowId } = await publish('Check');
    const given = { workflowId, recordId: '2', idempotencyKey: 'one' };
    const answers = [await call('triggerWorkflow', given), await call('triggerWorkflow', given)];
    const other = await call('triggerWorkflow', { ...given, recordId: '3' });
    expect(answers[1]).toEqual(answers[0]);
    expect(other).toContain('IDEMPOTENCY_KEY_REUSED');
    expect(await server.store.runs.list({ limit: 9 })).toHaveLength(1);
  });

  test("of an unknown, a paused and another team's workflow gives the same error", async () => {
    await open({
      access: (id) => fullAccess({ id, tags: {}, timezone: 'UTC', renderingId: id === 4 ? 9 : 1 } as never),
    });
    const { id } = await publish('Check');
    const { id: paused } = await publish('Paused');
    await server.store.workflows.setActive(paused, false, 2);
    const told = async (workflowId: string, token?: string) =>
      `${await call('triggerWorkflow', { workflowId, recordId: 1 }, token)}`.replace(workflowId, 'ID');
    const answers = [await told('gone'), await told(paused), await told(id, 'user-4')];
    expect(answers[0]).toMatch(/^UNKNOWN_WORKFLOW: .*'ID'/);
    expect(new Set(answers).size).toBe(1);
    expect(await server.store.runs.list({ limit: 9 })).toEqual([]);
  });

  test('is not possible read-only, or without the OAuth scope', async () => {
    await open();
    const { id: workflowId } = await publish('Check');
    const given = { workflowId, recordId: 1 };
    expect(await call('triggerWorkflow', given, 'user-2', '?readonly=true')).toContain('FORBIDDEN');
    const sent = legacy('tools/call', { name: 'triggerWorkflow', arguments: given });
    const { status } = await post(server, sent, { authorization: 'Bearer reader-2' });
    expect([status, await server.store.runs.list({ limit: 9 })]).toEqual([403, []]);
  });

  test.each([
    [{ recordId: 1 }, 'workflowId'],
    [{ workflowId: 'x' }, 'recordId'],
    [{ workflowId: 'x', recordId: { id: 1 } }, 'recordId'],
    [{ workflowId: 'x', recordId: 1, record: 1 }, 'unknown argument'],
  ])('with %j is refused with what to send', async (given, said) => {
    await open({ workflowOn: 'notes' });
    const answer = await call('triggerWorkflow', given);
    expect(answer).toContain('INVALID_ARGUMENT');
    expect(answer).toContain(said);
  });

  test('with the parts of a key stores them packed', async () => {
    await open();
    const { id: workflowId } = await publish('Check');
    const { runId } = (await call('triggerWorkflow', { workflowId, recordId: ['a|b', 2] })) as { runId: string };
    expect((await server.store.runs.find(runId))?.recordId).toBe('a\\|b|2');
  });
});

describe('the result', () => {
  test('of workflows: those that the caller can start, optionally of one collection', async () => {
    await open();
    const { id } = await publish('Check');
    const rows = [[id, 'Check', 'notes']];
    expect([
      await call('listWorkflows', {}),
      await call('listWorkflows', { collectionName: 'notes' }),
      `${await call('listWorkflows', { collectionName: 'nots' })}`.slice(0, 18),
    ]).toEqual([
      { columns: ['workflowId', 'name', 'collectionName'], rows, hasMore: false },
      { columns: ['workflowId', 'name', 'collectionName'], rows, hasMore: false },
      'UNKNOWN_COLLECTION',
    ]);
  });

  test('of a run: its steps by title, and the input it waits for', async () => {
    await open();
    const { id: workflowId } = await publish('Check');
    const { runId } = (await call('triggerWorkflow', { workflowId, recordId: 2 })) as { runId: string };
    const held = await claim(runId);
    await server.store.runs.finish(held, {
      ...({ stepId: 'read', state: 'done', outcome: {}, data: { text: 'a secret' }, next: 'ask' } as const),
    });
    await server.store.runs.wait(held, {
      ...({ stepId: 'ask', reason: 'guidance', outcome: {}, until: Date.UTC(2030, 0, 1) } as const),
    });
    const waiting = (await call('getWorkflowRun', { runId })) as Record<string, unknown>;
    const page = `http://console.test/runs/${runId}`;
    expect(waiting).toEqual({
      ...{ runId, workflow: 'Check', collectionName: 'notes', recordId: '2', state: 'awaiting-input' },
      waitsFor: {
        step: 'Is it right?',
        reason: 'guidance',
        what: 'A person must complete a task and mark it as done.',
        answerBy: '2030-01-01T00:00:00.000Z',
        answerAt: page,
      },
      columns: ['step', 'state'],
      rows: [
        ['read', 'done'],
        ['Is it right?', 'waiting'],
      ],
      startedAt: expect.stringMatching(/^\d{4}-/),
      page,
    });
    expect(JSON.stringify(waiting)).not.toContain('secret');
    expect([
      `${await call('getWorkflowRun', { runId }, 'user-4')}`.replace(runId, 'ID'),
      `${await call('getWorkflowRun', { runId: 'gone' })}`.replace('gone', 'ID'),
    ]).toEqual(Array(2).fill("UNKNOWN_RUN: There is no run 'ID', or you may not see it."));
  });

  test('of a failed run: its error', async () => {
    await open();
    const { id: workflowId } = await publish('Check');
    const { runId } = (await call('triggerWorkflow', { workflowId, recordId: 2 })) as { runId: string };
    await server.store.runs.fail(await claim(runId), { code: 'RECORD_NOT_FOUND', message: 'It is gone.' });
    expect(await call('getWorkflowRun', { runId })).toMatchObject({
      state: 'failed',
      failure: { code: 'RECORD_NOT_FOUND', message: 'It is gone.' },
      finishedAt: expect.any(String),
    });
  });
});
