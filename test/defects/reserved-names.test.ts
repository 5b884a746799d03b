// A collection with the name of a route would be unreachable, or only partly reachable. The start reports it and says
// how to rename it. The names are read from the routes, so the list includes new ones.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { createMemoryDataSource, type DataSourceOptions } from '../../src/index.ts';
import { dataRoutes } from '../../src/rest/routes.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { buildOnce, makePlace, portico, startServer } from '../cli/command.ts';

beforeAll(buildOnce);

const literal = dataRoutes.map(({ path }) => path.split('/')[1]!).filter((segment) => !segment.startsWith(':'));
const names = [...new Set([...literal, 'authentication', '_api', '_console'])];

function agentWith(name: string, options: DataSourceOptions = {}, prefix?: string) {
  const table = { name, columns: [{ name: 'id', type: 'Number' as const }], primaryKey: ['id'], rows: [[1]] };
  const { agent } = emptyAgent(prefix === undefined ? {} : { prefix });
  return agent.addDataSource(createMemoryDataSource('memory', [table]), options);
}

test('the reserved names include every documented name', () => {
  expect(names).toEqual(
    expect.arrayContaining(['_actions', '_charts', '_internal', 'authentication', 'scope-cache-invalidation']),
  );
});

test.each(names)('a collection %s ends the start, and can be renamed or removed', async (name) => {
  const problem = await messageOf(() => agentWith(name).start());
  expect(problem).toMatch(`A collection cannot have the name '${name}'`);
  expect(problem).toMatch(/rename: \{ .*reserved-names\.test\.ts:\d+/);
  await agentWith(name, { rename: { [name]: 'others' } }).start();
  await agentWith(name).removeCollection(name).start();
});

test('the error shows the name of the table in its source, which rename takes', async () => {
  const options: readonly DataSourceOptions[] = [
    { rename: { people: 'stats' } },
    { prefix: '_', rename: { people: 'actions' } },
  ];
  for (const each of options)
    expect(await messageOf(() => agentWith('people', each).start())).toMatch(
      /^A collection cannot have the name '(stats|_actions)': .* rename: \{ 'people': '\.\.\.' \} \}\)\./,
    );
});

test('names of paths below the prefix / are reserved too, and only with that prefix', async () => {
  const agent = agentWith('oauth', {}, '/').mountAiMcpServer().mountOnStandaloneServer(0);
  expect(await messageOf(() => agent.start())).toMatch("A collection cannot have the name 'oauth'");
  await agentWith('oauth').start();
});

test('under portico start, which has no addDataSource, the error names what works in the config file', async () => {
  const place = makePlace();
  onTestFinished(() => place.remove());
  const { driver } = loadSqliteDriver();
  const file = join(place.folder, 'app.sqlite');
  const database = new driver(file);
  for (const name of ['authentication', 'things'])
    database.prepare(`create table ${name} (id integer primary key)`).run();
  database.close();
  const run = { folder: place.folder, env: { SERVICE_DATABASE_URL: `sqlite:${file}` } };
  const { code, stderr } = await portico(['start', '--port', '0'], run);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^portico: A collection cannot have the name 'authentication'/m),
  ]);
  // Follow the message itself: the call and the file.
  const [, call] =
    /(agent\.removeCollection\('authentication'\)) in portico\.config\.mjs, export default \(agent\) =>/.exec(stderr) ??
    [];
  expect(stderr).not.toMatch(/dist|src\/app/);
  writeFileSync(join(place.folder, 'portico.config.mjs'), `export default (agent) => {\n  ${call};\n};\n`);
  const server = await startServer(['--port', '0'], run);
  server.signal('SIGTERM');
  expect((await server.ended).code).toBe(0);
});
