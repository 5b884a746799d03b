// The cost of a call of the agent's HTTP API compared with an Express application with handwritten
// routes: the same SQL and the same documents, in one run. Prints Markdown tables for RESULTS.md.
//
//   npx tsx bench/api.ts [--on sqlite,mariadb,postgres] [--connections 1,16] [--rounds 9] [--seconds 0.5] [--quick]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { createEngine } from '../src/agent/engine.ts';
import { createSqlSource } from '../src/agent/sources/sql/source.ts';
import { type Caller, fullAccess } from '../src/core/caller.ts';
import { Stop } from '../src/core/clock/stop.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadConfig } from '../src/core/config.ts';
import { project, type Resource } from '../src/rest/records/projection.ts';
import type { AnyDataRoute, DataCall } from '../src/rest/route.ts';
import { dataRoutes } from '../src/rest/routes.ts';
import { type Dialect, servers } from '../test/databases.ts';
import { frontOrigin, sessionToken } from '../test/rest/front-end.ts';
import { type MatchedRoute, matchRoute } from '../test/rest/matched-route.ts';
import { account } from './account.ts';
import type { ApiWork } from './contestants/bare-api.ts';
import {
  answerOf,
  type Contestant,
  compileContestants,
  median,
  pinLoadGenerator,
  ratiosOf,
  report,
  runRounds,
  settingsOf,
  startServer,
  stopServer,
} from './driver.ts';
import { makeShop } from './shop.ts';
import { watched } from './statements.ts';

interface Operation {
  readonly name: string;
  readonly path: string;
  readonly query?: string;
  readonly values: readonly unknown[];
  readonly pageSize?: number;
  /** The highest ratio of CPU time to Express. */
  readonly most: number;
}

const operations: readonly Operation[] = [
  { name: 'list, 15 rows', path: '/orders', query: 'page[size]=15&sort=-placed_at', values: [], pageSize: 15, most: 2 },
  { name: 'list, 1,000 rows', path: '/notes', query: 'page[size]=1000', values: [], pageSize: 1000, most: 1.5 },
  { name: 'get', path: '/orders/100', values: [100], most: 2 },
];

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: servers.map(({ dialect }) => dialect).join() },
    connections: { type: 'string', default: '1,16' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '0.5' },
    quick: { type: 'boolean', default: false },
  },
});
const settings = settingsOf(values);

/** Calls each route once over a watched source, to read its SQL. */
async function readWorks(url: string): Promise<ApiWork[]> {
  const texts: string[] = [];
  const source = createSqlSource(url, { observe: () => {}, clock: systemClock });
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
  const sources = [watched(source, (text) => texts.push(text))];
  const engine = await createEngine({ sources, observe: () => {}, clock: systemClock, limits });
  const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
  const call: DataCall = {
    access,
    byProgram: false,
    currentAccess: async () => access,
    engine,
    config: loadConfig(),
    written: [],
    clock: systemClock,
    signal: new Stop(),
    prefix: '/service',
    observe: () => {},
  };
  const works: ApiWork[] = [];
  for (const { path, query: asked = '', values, pageSize } of operations) {
    const { route, params } = (await matchRoute(dataRoutes, 'GET', path)) as MatchedRoute<AnyDataRoute>;
    const query = new URLSearchParams(asked);
    texts.length = 0;
    await route.run(route.parse({ params, query, headers: {}, body: undefined }), call);
    const collection = params.collection!;
    const { root, fields } = project(call, engine.describe(access, collection), { fields: new Map() });
    // The statement reads a column only once, even if it appears several times in the response.
    const answer = /^ *answer (.*)$/m.exec(await engine.explain(access, { collection, fields, limit: 1 }))![1]!;
    const slots = [...answer.matchAll(/=(\d+)/g)].map(([, slot]) => Number(slot));
    const layout = moved(root, slots);
    works.push({ path, sql: texts[0]!, values, layout, ...(pageSize !== undefined && { pageSize }) });
  }
  await engine.close();
  return works;
}

function moved(layout: Resource, to: readonly number[]): Resource {
  const [slots, key] = [layout.slots, layout.key].map((all) => all.map((slot) => to[slot]!)) as [number[], number[]];
  const toOne = layout.toOne.map(({ name, resource }) => ({ name, resource: moved(resource, to) }));
  return { ...layout, slots, key, toOne };
}

/** The shape of a document, without values: the bare server returns dates, decimals and booleans as its driver does. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : 'value';
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

async function compareOn(dialect: Dialect): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const shop = await makeShop(dialect, folder);
  const works = join(folder, 'works.json');
  writeFileSync(works, JSON.stringify({ databaseUrl: shop.url, works: await readWorks(shop.url) }));
  const portico = await startServer('Portico', 'portico', {
    SERVICE_DATA_DIR: join(folder, 'data'),
    SERVICE_DATABASE_URL: shop.url,
    SERVICE_AGENT_ORIGINS: frontOrigin,
    MCP_SERVER_PORT: '0',
  });
  const bare = await startServer('bare Express', 'bare-api', { BENCH_WORKS: works });
  const authorization = `Bearer ${await sessionToken(`${portico.address}/service`, account)}`;
  const seen: string[] = [];
  try {
    for (const { name, path, query = '', most } of operations)
      for (const connections of settings.connections) {
        const target = `${path}${query ? `?${query}` : ''}`;
        const express: Contestant = {
          name: 'bare Express',
          server: bare,
          request: { url: bare.address + target, headers: {} },
          rounds: [],
        };
        const ours: Contestant = {
          name: 'Portico',
          server: portico,
          request: { url: `${portico.address}/service${target}`, headers: { authorization } },
          rounds: [],
        };
        const [theirs, mine] = [await answerOf(express), await answerOf(ours)];
        if (!isDeepStrictEqual(shapeOf(JSON.parse(theirs)), shapeOf(JSON.parse(mine))))
          throw new Error(`other documents for ${name}:\n${theirs.slice(0, 2000)}\n${mine.slice(0, 2000)}`);
        await runRounds([express, ours], { ...settings, connections });
        const plural = connections === 1 ? 'connection' : 'connections';
        console.log(
          report(`${dialect}: ${name} (${mine.length} characters), ${connections} ${plural}`, [express, ours]),
        );
        const times = median(ratiosOf(ours, express));
        const verdict = times <= most ? 'met' : '**missed**';
        seen.push(`| ${dialect}, ${name}, ${connections} | ${most} | ${times.toFixed(2)} | ${verdict} |`);
      }
  } finally {
    await stopServer(bare);
    await stopServer(portico);
    await shop.drop();
    rmSync(folder, { recursive: true, force: true });
  }
  return seen;
}

compileContestants();
pinLoadGenerator();
const seen: string[] = [];
for (const dialect of settings.dialects) seen.push(...(await compareOn(dialect)));
console.log(['| times Express | at most | seen | |', '|---|---|---|---|', ...seen, ''].join('\n'));
process.exit(0);
