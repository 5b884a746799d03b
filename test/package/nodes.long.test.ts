// What a newcomer does in an empty folder, on each Node: install, `npx portico`, and a first answer to an assistant. npm
// begins with an empty cache. Writes the figures of bench/RESULTS.md.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { root } from '../cli/command.ts';
import { createPerson } from '../clients/person.ts';
import { remoteServers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { blocks } from './blocks.ts';
import { installInto, installing, launch, measureModules, type Packed, pack } from './installed.ts';

const place = mkdtempSync(join(tmpdir(), 'portico-nodes-'));
let packed: Packed;
beforeAll(async () => {
  packed = await pack(place);
}, 240_000);
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** The environment in which `node` is this version. */
function environmentOf(tool: string): NodeJS.ProcessEnv {
  const bin = join(place, tool);
  if (!existsSync(bin)) {
    const node = execFileSync('node', ['scripts/tool.mjs', tool], { cwd: root, encoding: 'utf8' }).trim();
    mkdirSync(bin);
    symlinkSync(node, join(bin, 'node'));
  }
  return { ...installing(), PATH: `${bin}${delimiter}${process.env.PATH}` };
}

/** Signs in on the real pages and lists, as the client of the SDK does. */
async function ask(mcpUrl: string, account: { readonly email: string; readonly password: string }): Promise<unknown> {
  const person = createPerson();
  const open = () => new StreamableHTTPClientTransport(new URL(mcpUrl), { authProvider: person.provider });
  const make = () => new Client({ name: 'notebook', version: '1' });
  const refused = open();
  await expect(make().connect(refused)).rejects.toThrow(UnauthorizedError);
  await refused.finishAuth(await person.signIn(account));
  const client = make();
  await client.connect(open());
  const result = await client.callTool({ name: 'list', arguments: { collectionName: 'orders', enableCount: true } });
  await client.close();
  return result;
}

const seconds = (from: number): string => ((performance.now() - from) / 1000).toFixed(1);
const versions = [
  ['node20', 'WebAssembly'],
  ['node22', 'node:sqlite'],
  ['node24', 'node:sqlite'],
] as const;

test.each(versions)('%s: the first answer comes within 60 s, from SQLite as %s', async (tool, driver) => {
  const folder = join(place, `${tool}-application`);
  const env = { ...environmentOf(tool), npm_config_cache: join(place, `${tool}-cache`) };
  const began = performance.now();
  await installInto(folder, packed.tarball, env);
  const installed = seconds(began);
  const account = { SERVICE_ADMIN_EMAIL: 'you@example.com', SERVICE_ADMIN_PASSWORD: 'plover-anvil-sextant' };
  const settings = { ...env, ...account, SERVICE_LOG_LEVEL: 'Info' };
  const { welcome, log, stop } = await launch('npx', ['portico'], folder, settings);
  const welcomed = seconds(began);
  const mcpUrl = /MCP address +(\S+)/.exec(welcome)![1]!;
  const answer = await ask(mcpUrl, { email: account.SERVICE_ADMIN_EMAIL, password: account.SERVICE_ADMIN_PASSWORD });
  const answered = seconds(began);
  await stop();
  const megabytes = measureModules(folder);
  const version = execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim();
  console.log(`| ${version} | ${driver} | ${installed} | ${welcomed} | ${answered} | ${megabytes.toFixed(1)} |`);
  expect(answer).toMatchObject({ content: [{ text: expect.stringMatching(/"totalCount":\d{3,}/) }] });
  expect(log()).toContain(driver);
  expect(existsSync(join(folder, 'node_modules/better-sqlite3'))).toBe(false);
  expect(Number(answered)).toBeLessThan(60);
  expect(megabytes).toBeLessThan(60);
});

const postgres = remoteServers.find(({ dialect }) => dialect === 'postgres');

test('the commands of the README for a database of your own serve it, and Node 24 takes a portico.config.ts', async () => {
  const database = await postgres!.create();
  onTestFinished(() => database.drop(true));
  await runSql(database, ['CREATE TABLE boats (id integer PRIMARY KEY, name text)']);
  const folder = join(place, 'own');
  const env = environmentOf('node24');
  await installInto(folder, packed.tarball, env);
  const { text } = blocks.find(({ page, text }) => page === 'README.md' && text.startsWith('npm install pg\n'))!;
  const [add, start] = text.replace(/postgres:\S+/, database.url).split('\n');
  execFileSync('sh', ['-c', add!], { cwd: folder, env, stdio: 'ignore' });
  const config = `import type { EngineAgent } from 'portico';
export default function customize(agent: EngineAgent): void {
  agent.addInstructions('The config is loaded.');
  console.error('The config is loaded.');
}`;
  writeFileSync(join(folder, 'portico.config.ts'), config);
  const { welcome, log, stop } = await launch(
    'sh',
    ['-c', `exec ${start!.replace(/^(\S+) /, 'env $1 ')}`],
    folder,
    env,
  );
  await stop();
  expect([welcome, log()]).toEqual([
    expect.stringMatching(/Serves +\S/),
    expect.stringContaining('The config is loaded.'),
  ]);
});
