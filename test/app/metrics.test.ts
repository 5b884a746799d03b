// /metrics is off by default and has its own port. Tests its figures for calls, tokens, statements and the process.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRegistry } from '../../src/core/observe/prometheus.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';
import { emptyAgent, makeFolder } from './agent.ts';
import { ask, callTool } from './call.ts';
import { signedIn } from './shop.ts';

/** Maps `name{labels}` to the value. Every line must be valid in the text format. */
async function scrape(url: string): Promise<Map<string, number>> {
  const response = await fetch(url);
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const found = new Map<string, number>();
  const typed = new Map<string, string>();
  for (const line of (await response.text()).trimEnd().split('\n')) {
    const [, name, type] = /^# TYPE ([a-z_][a-z0-9_]*) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (name && type) typed.set(name, type);
    else if (!/^# HELP [a-z_][a-z0-9_]* \S/.test(line)) {
      const [, key, family, value] =
        /^(([a-z_][a-z0-9_]*)(?:\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)+\})?) (\d+(?:\.\d+)?(?:e[-+]\d+)?)$/.exec(line) ?? [];
      if (!key || !family || !value) throw new Error(`not a line of the format: ${line}`);
      if (!typed.has(family) && !typed.has(family.replace(/_(bucket|sum|count)$/, '')))
        throw new Error(`no type: ${line}`);
      found.set(key, Number(value));
    }
  }
  return found;
}

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let running: TestServer;
  let token: string;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      'CREATE TABLE notes (id INTEGER PRIMARY KEY, text VARCHAR(100) NOT NULL)',
      "INSERT INTO notes VALUES (1, 'one'), (2, 'two')",
    ]);
    running = await startServer({ database: database.url, env: { SERVICE_METRICS_PORT: '0' } });
    ({ token } = await signedIn(running));
  });
  afterAll(async () => {
    await running.stop();
    await database.drop();
  });

  test('calls, errors, statements and token checks are counted, and no label has input of a caller', async () => {
    const { mcpUrl, metricsUrl = '' } = running;
    const before = await scrape(metricsUrl);
    await Promise.all(Array.from({ length: 20 }, () => callTool(mcpUrl, token, 'list', { collectionName: 'notes' })));
    await callTool(mcpUrl, token, 'list', { collectionName: 'a-name-of-the-caller' });
    await callTool(mcpUrl, token, 'a-tool-of-the-caller', {});
    await ask(mcpUrl, token, 'a/method-of-the-caller', {});
    await ask(mcpUrl, token, 'tools/list', {});
    await ask(mcpUrl, 'no-such-token-at-all-000', 'tools/list', {});
    const after = await scrape(metricsUrl);
    const grown = (key: string) => (after.get(key) ?? Number.NaN) - (before.get(key) ?? 0);
    const source = [...after.keys()].flatMap(
      (key) => /^portico_statements_total\{source="([^"]*)"/.exec(key)?.[1] ?? [],
    );
    const statements = `{source="${source[0]}",operation="SELECT"`;
    expect({
      completed: grown('portico_tool_calls_total{tool="list",outcome="completed"}'),
      failed: grown('portico_tool_calls_total{tool="list",outcome="failed"}'),
      code: grown('portico_tool_errors_total{code="UNKNOWN_COLLECTION"}'),
      timed: grown('portico_tool_call_duration_seconds_count{tool="list"}'),
      all: grown('portico_tool_call_duration_seconds_bucket{tool="list",le="+Inf"}'),
      inFlight: after.get('portico_tool_calls_in_flight'),
      lists: grown('portico_mcp_requests_total{method="tools/list",status="200"}'),
      accepted: grown('portico_token_checks_total{outcome="accepted"}'),
      refused: grown('portico_token_checks_total{outcome="refused"}'),
      statements: grown(`portico_statements_total${statements},outcome="completed"}`),
      statementsTimed: grown(`portico_statement_duration_seconds_count${statements}}`),
    }).toEqual({
      completed: 20,
      failed: 1,
      code: 1,
      timed: 21,
      all: 21,
      inFlight: 0,
      lists: 1,
      accepted: 24,
      refused: 1,
      statements: 20,
      statementsTimed: 20,
    });
    const text = [...after.keys()].join('\n');
    expect(text).not.toMatch(/of-the-caller|ada@|notes|Notebook/);
    // Buckets are cumulative.
    const buckets = [...after].filter(([key]) =>
      key.startsWith('portico_tool_call_duration_seconds_bucket{tool="list"'),
    );
    expect(buckets.map(([, value]) => value)).toEqual(buckets.map(([, value]) => value).sort((a, b) => a - b));
    const pool = ['used', 'limit'].map((what) => after.get(`portico_pool_connections_${what}{source="${source[0]}"}`));
    expect([...pool, after.get(`portico_pool_waiting{source="${source[0]}"}`)]).toEqual(
      database.dialect === 'sqlite' ? [undefined, undefined, undefined] : [0, 10, 0],
    );
  });

  test('the process reports its version, memory, CPU time and event loop lag', async () => {
    const found = await scrape(running.metricsUrl ?? '');
    expect(found.get(`portico_build_info{version="0.0.0-test",node="${process.version}"}`)).toBe(1);
    expect(found.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect(found.get('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(found.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect(Math.abs((found.get('process_start_time_seconds') ?? 0) - Date.now() / 1000)).toBeLessThan(3600);
  });
});

test('a running call counts as in flight, and a blocked event loop shows as lag', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const [sqlite] = servers;
  const database = await sqlite!.create();
  await runSql(database, ['CREATE TABLE notes (id INTEGER PRIMARY KEY)']);
  const running = await startServer({
    database: database.url,
    env: { SERVICE_METRICS_PORT: '0' },
    app: {
      customize: (agent) => agent.customizeCollection('notes', (notes) => notes.addHook('Before', 'List', () => held)),
    },
  });
  onTestFinished(async () => {
    await running.stop();
    await database.drop();
  });
  const { token } = await signedIn(running);
  const call = callTool(running.mcpUrl, token, 'list', { collectionName: 'notes' });
  let inFlight = 0;
  while (inFlight === 0) inFlight = (await scrape(running.metricsUrl!)).get('portico_tool_calls_in_flight') ?? 0;
  expect(inFlight).toBe(1);
  // A measurement starts with the first turn of the event loop after a scrape.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const until = performance.now() + 150;
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 50));
  release();
  await call;
  const after = await scrape(running.metricsUrl!);
  expect(after.get('portico_tool_calls_in_flight')).toBe(0);
  expect(after.get('nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(0.1);
});

test('metrics are off by default, and never on the port of the clients', async () => {
  const [sqlite] = servers;
  const database = await sqlite!.create();
  await runSql(database, ['CREATE TABLE notes (id INTEGER PRIMARY KEY)']);
  const plain = await startServer({ database: database.url });
  const on = await startServer({ database: database.url, env: { SERVICE_METRICS_PORT: '0' } });
  const status = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
  const metricsUrl = on.metricsUrl ?? '';
  const answers = [
    plain.metricsUrl,
    await status(`${plain.address}/metrics`),
    await status(`${on.address}/metrics`),
    await status(metricsUrl.replace(/metrics$/, 'mcp')),
    await status(metricsUrl, { method: 'POST' }),
    await status(`${metricsUrl}?anything`),
    new URL(metricsUrl).hostname,
  ];
  const taken = startServer({
    database: database.url,
    env: { SERVICE_METRICS_PORT: new URL(metricsUrl).port },
  });
  await expect(taken).rejects.toThrow(/SERVICE_METRICS_PORT/);
  await Promise.all([plain.stop(), on.stop()]);
  const gone = await fetch(metricsUrl).catch(() => 'nobody is there');
  await database.drop();
  expect([...answers, gone]).toEqual([undefined, 404, 404, 404, 405, 200, '127.0.0.1', 'nobody is there']);
});

test('an agent in code serves metrics if its settings say so', async () => {
  const { agent } = emptyAgent({ settings: { dataDir: makeFolder(), metricsPort: 0 } });
  agent.addDataSource(createMemoryDataSource('shop', shopTables)).mountAiMcpServer().mountOnStandaloneServer(0);
  const { server } = await agent.start();
  onTestFinished(() => agent.stop());
  expect((await scrape(server?.metricsUrl ?? '')).get('portico_failures_total')).toBe(0);
});

test('label values are escaped, and a metric without values is omitted', () => {
  const registry = createRegistry();
  const one = registry.counter({ name: 'one_total', help: 'With \\ and\nlines.', labels: ['a', 'b'] });
  registry.counter({ name: 'two_total', help: 'Nothing.' });
  one.add(['say "hi"\n', 'back\\slash']);
  one.add(['say "hi"\n', 'back\\slash'], 2);
  expect(registry.text()).toBe(
    [
      '# HELP one_total With \\\\ and\\nlines.',
      '# TYPE one_total counter',
      'one_total{a="say \\"hi\\"\\n",b="back\\\\slash"} 3',
      '',
    ].join('\n'),
  );
});
