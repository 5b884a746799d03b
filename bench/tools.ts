// The cost of a call of each tool compared with servers that only run the same SQL:
// a bare node:http handler, an Express handler, and the SDK's default handler.
// Prints Markdown tables for RESULTS.md, with targets and results at the end.
//
//   npx tsx bench/tools.ts [operation ...] [--on sqlite,mariadb,postgres] [--connections 1,16,64] [--rounds 9]
//     [--seconds 0.5] [--quick] [--without sdk] [--memory calls]
//
// --quick is one short round of everything on SQLite, to check that it runs; its figures have no meaning. --memory only
// prints the heap of Portico during the given number of calls.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { type Dialect, servers } from '../test/databases.ts';
import { obtainTokens, register } from './client.ts';
import type { Work, Works } from './contestants/work.ts';
import {
  answerOf,
  type Contestant,
  compileContestants,
  load,
  median,
  pinLoadGenerator,
  type Request,
  ratiosOf,
  report,
  runRounds,
  type ServerProcess,
  settingsOf,
  startServer,
  stopServer,
  usageOf,
} from './driver.ts';
import { isWrite, type Operation, operations } from './operations.ts';
import { makeShop } from './shop.ts';
import { readStatements } from './statements.ts';
import { judge, type Seen } from './targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: servers.map(({ dialect }) => dialect).join() },
    connections: { type: 'string', default: '1,16,64' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '0.5' },
    without: { type: 'string', default: '' },
    memory: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const settings = settingsOf(values);
const unknown = positionals.find((name) => !operations.some((operation) => operation.name === name));
if (unknown)
  throw new Error(`no operation '${unknown}'; there are ${operations.map(({ name }) => `'${name}'`).join(', ')}`);
const wanted = operations.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

const MODERN = '2026-07-28';
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
};

type Era = 'legacy' | 'modern';

/** A request of a client of 2025-11-25, or of 2026-07-28 with revision and capabilities in every request. */
function requestOf(operation: Operation, { address }: ServerProcess, era: Era, more: Request['headers'] = {}): Request {
  const { name, tool, given } = operation;
  const method = tool === undefined ? 'tools/list' : 'tools/call';
  const _meta = era === 'modern' ? { _meta: envelope } : {};
  const body = (turn: number) => {
    const params = tool === undefined ? _meta : { name: tool, arguments: given(turn), ..._meta };
    return JSON.stringify({ jsonrpc: '2.0', id: name, method, params });
  };
  const told = tool === undefined ? {} : { 'mcp-name': tool };
  const modern = era === 'modern' ? { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...told } : {};
  return {
    url: `${address}/mcp`,
    headers: { ...headers, ...modern, ...more },
    body: name === 'update' ? body : body(0),
  };
}

interface Message {
  readonly result: { readonly content: readonly [{ readonly text: string }] };
}

/** The SDK's default handler responds to clients of earlier revisions with one server-sent event. */
const messageOf = (answer: string) => JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer) as Message;
const textOf = (answer: string): string => messageOf(answer).result.content[0].text;
/** Removes the keys of new records, because they differ. */
const withoutKeys = (text: string): string => text.replace(/"ids":\["\d+"\]|\[\[\d+,/g, '');

interface Field {
  readonly dialect: Dialect;
  readonly portico: ServerProcess;
  readonly bare: readonly ServerProcess[];
  readonly authorization: string;
  stop(): Promise<void>;
}

/** Starts all servers over one database: Portico first, because its responses define those of the others. */
async function openField(dialect: Dialect): Promise<Field> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const shop = await makeShop(dialect, folder);
  const statements = await readStatements(shop.url);
  const portico = await startServer('Portico', 'portico', {
    SERVICE_DATA_DIR: join(folder, 'data'),
    SERVICE_DATABASE_URL: shop.url,
    SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
    SERVICE_ACCESS_TOKEN_SECONDS: '3600',
    SERVICE_ANSWER_TOKENS: '1000000',
    MCP_SERVER_PORT: '0',
  });
  const tokens = await obtainTokens(portico.address, await register(portico.address));
  const authorization = `Bearer ${tokens.access_token}`;
  const works: Record<string, Work> = {};
  for (const operation of operations) {
    const request = requestOf(operation, portico, 'legacy', { authorization });
    const { result } = messageOf(await answerOf({ name: operation.name, server: portico, request, rounds: [] }));
    const told = operation.answers === 'text' ? {} : JSON.parse(result.content[0].text);
    const { columns = [], nextCursor } = told;
    works[operation.name] = { sql: statements.get(operation.name) ?? [], result, columns, nextCursor };
  }
  const storage = join(folder, 'audit.sqlite');
  const own = new Database(join(folder, 'data', 'portico.sqlite'));
  own.prepare('VACUUM INTO ?').run(storage);
  own.close();
  const file = join(folder, 'works.json');
  writeFileSync(file, JSON.stringify({ databaseUrl: shop.url, storage, works } satisfies Works));
  const start = (name: string, script: string) => startServer(name, script, { BENCH_WORKS: file });
  const bare = [await start('bare node:http', 'bare-http'), await start('bare Express', 'bare-express')];
  if (values.without !== 'sdk') bare.push(await start('SDK default, no auth, no SQL', 'sdk-default'));
  return {
    dialect,
    portico,
    bare,
    authorization,
    async stop() {
      for (const server of [...bare, portico]) await stopServer(server);
      await shop.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function compare(field: Field, operation: Operation, connections: number): Promise<Seen> {
  const { dialect, portico, bare, authorization } = field;
  const of = (name: string, server: ServerProcess, request: Request): Contestant => ({
    name,
    server,
    request,
    rounds: [],
  });
  const mine = (era: Era) => requestOf(operation, portico, era, { authorization });
  const all = [
    ...bare.map((server) => of(server.name, server, requestOf(operation, server, 'legacy'))),
    of('Portico', portico, mine('legacy')),
    of('Portico, 2026-07-28', portico, mine('modern')),
  ];
  const [http, express] = all as [Contestant, Contestant];
  const [ours, modern] = all.slice(bare.length) as [Contestant, Contestant];
  const size = operation.tool === undefined ? '' : await checkSame(operation, ours, all);
  await runRounds(all, { rounds: settings.rounds, seconds: settings.seconds, connections });
  const plural = connections === 1 ? 'connection' : 'connections';
  console.log(report(`${dialect}: ${operation.name}${size}, ${connections} ${plural}`, all));
  const times = (other: Contestant) => median(ratiosOf(ours, other));
  return {
    dialect,
    operation,
    connections,
    http: times(http),
    express: times(express),
    modernHttp: median(ratiosOf(modern, http)),
  };
}

async function checkSame(operation: Operation, ours: Contestant, all: readonly Contestant[]): Promise<string> {
  const text = textOf(await answerOf(ours));
  for (const contestant of all) {
    const theirs = textOf(await answerOf(contestant));
    const [one, other] = isWrite(operation) ? [withoutKeys(text), withoutKeys(theirs)] : [text, theirs];
    if (one !== other) throw new Error(`${contestant.name} sends other bytes for ${operation.name}:\n${other}\n${one}`);
  }
  return ` (${text.length} characters)`;
}

/** Prints the heap after each tenth of the calls. It should stop growing once code is compiled and caches are full. */
async function measureMemory({ dialect, portico, authorization }: Field, calls: number): Promise<void> {
  for (const operation of wanted) {
    const request = requestOf(operation, portico, 'modern', { authorization });
    const contestant = { name: portico.name, server: portico, request, rounds: [] };
    const heaps: number[] = [];
    for (let tenth = 0; tenth <= 10; tenth++) {
      if (tenth > 0) await load(contestant, { connections: 16, amount: Math.ceil(calls / 10) });
      heaps.push((await usageOf(portico, 'heap')).heapBytes / 1e6);
    }
    console.log(`| ${dialect}, ${operation.name} | ${heaps.map((heap) => heap.toFixed(2)).join(' | ')} |`);
  }
}

compileContestants();
pinLoadGenerator();
const seen: Seen[] = [];
for (const dialect of settings.dialects) {
  const field = await openField(dialect);
  try {
    if (values.memory !== undefined) await measureMemory(field, Number(values.memory));
    else
      for (const operation of wanted)
        for (const connections of settings.connections) seen.push(await compare(field, operation, connections));
  } finally {
    await field.stop();
  }
}
if (seen.length > 0) console.log(judge(seen));
process.exit(0);
