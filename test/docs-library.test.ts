// Runs the examples of docs/library.md, docs/sources.md and docs/observability.md unchanged, with src/ as 'portico'.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { transformSync } from 'esbuild';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { settings } from '../src/core/config.ts';
import { createAgent, type DataSourceFactory } from '../src/index.ts';
import { accessOf } from './agent/shop.ts';
import { callTool } from './app/call.ts';
import { openShop, signedIn } from './app/shop.ts';
import { copyDemo } from './demo.ts';
import { importFromSource } from './entry-points.ts';

let folder: string;
const environment = { ...process.env };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portico-docs-'));
});
afterEach(() => {
  // Restores process.env in place: vi.stubEnv in later files needs the same object.
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
  Object.assign(process.env, environment);
  rmSync(folder, { recursive: true, force: true });
});

/** The runnable example of a page, as a module. Its imports resolve as from here. */
async function load(page: string, change: (code: string) => string = (code) => code): Promise<Record<string, unknown>> {
  const [, code = ''] = /```[jt]s run\n(.*?)```/s.exec(readFileSync(page, 'utf8')) ?? [];
  const path = join(folder, 'example.mjs');
  const found = importFromSource(transformSync(change(code), { loader: 'ts' }).code.replaceAll('"', "'")).replace(
    /from '(@opentelemetry\/[^']+)'/g,
    (_, name) => `from '${import.meta.resolve(name)}'`,
  );
  writeFileSync(path, found);
  return import(path);
}

test('the example of docs/library.md starts, serves and stops', async () => {
  copyDemo(join(folder, 'demo.sqlite'));
  Object.assign(process.env, {
    AUTH_SECRET: 'a',
    ENV_SECRET: 'b',
    DATABASE_URL: `sqlite:${join(folder, 'demo.sqlite')}`,
    MCP_SERVER_PORT: '0',
    SERVICE_DATA_DIR: join(folder, 'data'),
    SERVICE_LOG_LEVEL: 'Error',
  });
  const place = (code: string) =>
    code.replace("'typings.ts'", `'${join(folder, 'typings.ts')}', schemaPath: '${join(folder, 'schema.json')}'`);
  const { engine, server, stop } = (await load('docs/library.md', place)) as {
    engine: Awaited<ReturnType<ReturnType<typeof createAgent>['start']>>['engine'];
    server: { mcpUrl: string };
    stop: () => Promise<void>;
  };
  const { status } = await fetch(server.mcpUrl, { method: 'POST', body: '{}' });
  const { rows } = await engine.list(accessOf(), {
    collection: 'customers',
    fields: ['loyalty_points'],
    segment: 'Big spenders',
    limit: 5,
  });
  await stop();
  expect([
    status,
    rows.every(([points]) => Number(points) > 500),
    engine.index(accessOf()).some(({ name }) => name === 'suppliers'),
    existsSync(join(folder, 'typings.ts')),
    existsSync(join(folder, 'schema.json')),
  ]).toEqual([401, true, false, true, true]);
});

test('the example of docs/sources.md can be filtered, sorted and related like a database', async () => {
  const { createCountries } = (await load('docs/sources.md')) as {
    createCountries: (fetchCountries: () => Promise<object[]>) => DataSourceFactory;
  };
  let asked = 0;
  const fetchCountries = async () => {
    asked++;
    return [
      { code: 'NO', name: 'Norway', people: 5_500_000 },
      { code: 'VA', name: 'Vatican', people: 800 },
      { code: 'AQ', name: 'Antarctica' },
    ];
  };
  const agent = createAgent({ authSecret: 'a', envSecret: 'b', schemaPath: join(folder, 'schema.json') });
  const { engine } = await agent
    .addDataSource(createCountries(fetchCountries))
    .customizeCollection('countries', (countries) =>
      countries.addSegment('small', { field: 'people', operator: 'LessThan', value: 1000 }),
    )
    .start();
  const list = async (request: object) =>
    (await engine.list(accessOf(), { collection: 'countries', fields: ['code'], limit: 9, ...request })).rows.flat();
  const told = [
    await list({ segment: 'small' }),
    await list({ sort: [{ field: 'people', ascending: false }] }),
    await list({ search: 'nor' }),
    (await engine.aggregate(accessOf(), { collection: 'countries', operation: 'Max', field: 'people', limit: 1 })).rows,
    engine.describe(accessOf(), 'countries').permissions.add && engine.index(accessOf())[0]?.writable,
  ];
  await agent.stop();
  expect([told, asked >= 4]).toEqual([[['VA'], ['NO', 'VA', 'AQ'], ['NO'], [[5_500_000]], false], true]);
});

test('docs/library.md lists every option of createAgent, and only existing settings', () => {
  const text = readFileSync('docs/library.md', 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
  const source = readFileSync('src/server/agent/options.ts', 'utf8');
  const [, body = ''] = /export interface AgentOptions \{(.*?)\n\}/s.exec(source) ?? [];
  const options = [...body.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => name);
  expect([rows, 'dataDir' in settings]).toEqual([options, true]);
});

test('the example of docs/observability.md records spans and durations of calls', async () => {
  const printed: unknown[] = [];
  const spy = vi.spyOn(console, 'dir').mockImplementation((what) => void printed.push(what));
  const { stop } = (await load('docs/observability.md')) as { stop: () => Promise<void> };
  const shop = await openShop();
  try {
    const { token } = await signedIn(shop);
    await callTool(shop.mcpUrl, token, 'list', { collectionName: 'customers' });
  } finally {
    await shop.stop();
    await stop();
    spy.mockRestore();
  }
  const text = inspect(printed, { depth: 8 });
  expect(
    ['tools/call list', 'SELECT customers', 'mcp.server.operation.duration'].filter((it) => !text.includes(it)),
  ).toEqual([]);
});

test('docs/observability.md lists exactly the metrics that /metrics can contain', () => {
  const named = readdirSync('src/core/observe').flatMap((name) => [
    ...readFileSync(join('src/core/observe', name), 'utf8').matchAll(/'((?:portico|process|nodejs)_[a-z0-9_]+)'/g),
  ]);
  const told = readFileSync('docs/observability.md', 'utf8').matchAll(
    /^\| `((?:portico|process|nodejs)_[a-z0-9_]+)`/gm,
  );
  expect([...told].map(([, name]) => name).sort()).toEqual(named.map(([, name]) => name).sort());
});
