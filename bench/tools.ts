// The cost of a call of each tool compared with servers that only run the same SQL:
// a bare node:http handler, an Express handler, and the SDK's default handler.
// Prints Markdown tables for RESULTS.md, with targets and results at the end.
//
//   npx tsx bench/tools.ts [operation ...] [--on sqlite,mariadb,postgres] [--connections 1,16,64] [--rounds 9]
//     [--seconds 0.5] [--quick] [--without sdk] [--memory calls]
//
// --quick is one short round of everything on SQLite, to check that it runs; its figures have no meaning. --memory only
// prints the heap of Portico during the given number of calls.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Dialect, servers } from '../test/databases.ts';
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
  usageOf,
} from './driver.ts';
import { isWrite, type Operation, operations } from './operations.ts';
import { type Era, requestOf, textOf } from './requests.ts';
import { type Field, openServers } from './servers.ts';
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

/** Removes the keys of new records, because they differ. */
const withoutKeys = (text: string): string => text.replace(/"ids":\["\d+"\]|\[\[\d+,/g, '');

interface ToolsField extends Field {
  readonly dialect: Dialect;
}

async function openField(dialect: Dialect): Promise<ToolsField> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const { url, drop } = await makeShop(dialect, folder);
  const statements = await readStatements(url, operations);
  const withSdk = values.without !== 'sdk';
  const field = await openServers({ url, folder, list: 'tools', operations, statements, withSdk });
  return {
    ...field,
    dialect,
    async stop() {
      await field.stop();
      await drop();
    },
  };
}

async function compare(field: ToolsField, operation: Operation, connections: number): Promise<Seen> {
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
async function measureMemory({ dialect, portico, authorization }: ToolsField, calls: number): Promise<void> {
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
