// The database server, with the storage and the served tables, is killed and restarted under a server process. Tests
// the answers in between, that no acknowledged request is lost, and that the process recovers without help.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiPaths } from '../../src/api/paths.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';
import { createTriggers } from '../../src/workflows/triggers/trigger.ts';
import { createTriggerAddresses } from '../../src/workflows/triggers/trigger-address.ts';
import { ask } from '../app/call.ts';
import { buildOnce, makePlace, type StartedServer, startServer } from '../cli/command.ts';
import { runSql } from '../sql/schemas.ts';
import { threeSteps } from '../workflow/field.ts';
import { makeServer, type OwnServer, ownDialects } from '../workflow/own-databases.ts';
import { everything } from '../workflow/workflow-server.ts';

const ORDERS = 40;

// A file must contain a test.
if (ownDialects.length === 0) test.skip('skipped: needs a database server', () => {});

describe.each(ownDialects.slice(-1))('a server process on %s', { timeout: 120_000 }, (dialect) => {
  const place = makePlace();
  let own: OwnServer;
  let process: StartedServer;
  let store: OpenedStore;
  let hook: string;
  let tokens: { readonly api: string; readonly mcp: string };
  let nextOrder = 1;

  beforeAll(async () => {
    await buildOnce();
    own = await makeServer(dialect);
    await own.start();
    const [storage, served] = [await own.create(), await own.create()];
    await runSql(served, [
      'create table orders (id integer not null primary key, total integer not null, status varchar(10) not null)',
      ...Array.from({ length: ORDERS }, (_, at) => `insert into orders values (${at + 1}, 10, 'open')`),
    ]);
    const env = {
      SERVICE_STORAGE_URL: storage.url,
      SERVICE_DATABASE_URL: served.url,
      SERVICE_SECRET: 'of the process and of this test',
      SERVICE_LOG_LEVEL: 'Warn',
      SERVICE_WEBHOOK_PER_MINUTE: '10000',
    };
    process = await startServer([], { folder: place.folder, env });
    const config = loadConfig({ env: { ...env, SERVICE_DATA_DIR: place.folder } });
    store = await openStore({ config, observe: () => undefined, clock: systemClock });
    const { id } = await store.identity.addUser({ email: 'program@b.example', role: 'Clerk', level: 'admin' });
    await store.permissions.setRole('Clerk', { '*': everything });
    const [api, mcp] = await Promise.all(
      [['all'], ['mcp:read']].map((scopes) =>
        store.tokens.create({ userId: id, name: scopes[0]!, scopes: scopes as never }),
      ),
    );
    tokens = { api: api!.secret, mcp: mcp!.secret };
    const access = (await store.permissions.accessOf(id))!;
    const definition = parseDefinition({ name: 'pay', collection: 'orders', steps: threeSteps });
    const { renderingId } = access.caller;
    const workflow = await store.workflows.publish({
      ...{ renderingId, name: 'pay', collection: 'orders', concurrency: null, by: id },
      definition: JSON.stringify(definition),
    });
    const addresses = createTriggerAddresses({ store, address: createApiPaths(process.origin, '').address });
    const triggers = createTriggers({ store, addresses, config });
    hook = (await triggers.addressOf(await triggers.change(access, workflow, { isEnabled: true })))!;
  }, 120_000);
  afterAll(async () => {
    process?.signal('SIGKILL');
    await store?.close();
    await own?.remove();
    place.remove();
  }, 60_000);

  const authorization = () => ({ authorization: `Bearer ${tokens.api}` });
  const trigger = (order: number, key: string) =>
    fetch(hook, {
      method: 'POST',
      headers: { ...authorization(), 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ record_id: `${order}` }),
    });
  const get = (path: string) => fetch(`${process.origin}${path}`, { headers: authorization() });
  const list = (era: 'legacy' | 'modern') =>
    ask(
      process.mcpUrl,
      tokens.mcp,
      'tools/call',
      { name: 'list', arguments: { collectionName: 'orders', fields: ['id'], pageSize: 1 } },
      { era },
    );
  const untilReady = () => expect.poll(async () => (await get('/readyz')).status, { timeout: 20_000 }).toBe(200);

  test('while the storage is down each API returns its own 503 with Retry-After; then all recover', async () => {
    await own.kill();
    // More attempts than the rate limit of reads for unknown webhook keys. No key is known yet.
    for (let attempt = 0; attempt < 7; attempt++) {
      const answer = await trigger(nextOrder, 'one');
      expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([503, 2]);
      expect(await answer.json()).toMatchObject({
        error: expect.any(String),
        message:
          'The database cannot be reached at the moment. Try again shortly. If the problem persists, tell the operator: the log has the cause.',
        code: 'SOURCE_UNAVAILABLE',
      });
    }
    const told = await get('/v1/token');
    expect([told.status, told.headers.get('retry-after')]).toEqual([503, '2']);
    for (const era of ['legacy', 'modern'] as const) {
      const { status, headers, text } = await list(era);
      expect([status, headers.get('retry-after')]).toEqual([503, '2']);
      expect(text).toContain('SOURCE_UNAVAILABLE');
    }
    expect([(await get('/readyz')).status, (await get('/healthz')).status]).toEqual([503, 200]);
    await own.start();
    await untilReady();
    const answer = await trigger(nextOrder++, 'one');
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null]);
    expect((await get('/v1/token')).status).toBe(200);
    for (const era of ['legacy', 'modern'] as const) expect(await list(era)).toMatchObject({ status: 200 });
  });

  test('clients that retry with the same key during a restart have one run each', async () => {
    const from = nextOrder;
    const runs = new Map<string, string>();
    let refused = 0;
    const program = async (order: number): Promise<void> => {
      for (;;) {
        const answer = await trigger(order, `key ${order}`);
        const body = (await answer.json()) as { runId?: string };
        if (answer.status === 202) return void runs.set(`${order}`, body.runId!);
        refused++;
        expect([answer.status, body]).toEqual([503, expect.objectContaining({ code: 'SOURCE_UNAVAILABLE' })]);
        await systemClock.sleep(50);
      }
    };
    for (const ends of ['kill', 'stop'] as const) {
      const programs = Array.from({ length: 12 }, () => program(nextOrder++));
      await systemClock.sleep(Math.random() * 60);
      await own[ends]();
      await own.start();
      await Promise.all(programs);
    }
    expect(refused).toBeGreaterThan(0);
    const kept = await store.runs.list({ limit: 100 });
    const known = kept.filter(({ recordId }) => Number(recordId) >= from).map(({ recordId, id }) => [recordId, id]);
    expect(new Map(known as [string, string][])).toEqual(runs);
    expect(known).toHaveLength(nextOrder - from);
    // Runs with an unknown outcome wait for a person; all others are done.
    await expect
      .poll(
        async () => {
          const all = await store.runs.list({ limit: 100 });
          return all.filter(({ state, reason }) => state !== 'succeeded' && reason !== 'uncertain');
        },
        { timeout: 60_000, interval: 200 },
      )
      .toEqual([]);
  });

  test('the process is still the same, and its log reports the outage without values', async () => {
    process.signal('SIGTERM');
    const { code, stderr } = await process.ended;
    const lines = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: number; msg: string; message?: string; err?: { kind?: string } });
    expect(code).toBe(0);
    // A call in progress may fail with its own log line, with location and cause.
    expect(lines.filter(({ level, err }) => level >= 50 && err?.kind !== 'away')).toEqual([]);
    expect(stderr).toMatch(/The storage is not available\. [^"]*SERVICE_STORAGE_URL/);
    expect(stderr).not.toMatch(/program@b\.example|'open'|key \d/);
  });
});
