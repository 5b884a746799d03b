// The cost of calls on tables of a million rows, beside bare servers that run the SQL a good developer writes by hand
// (large/statements.ts), in interleaved rounds of one run. Every contestant must answer the same rows, or nothing is
// measured. Prints Markdown tables for RESULTS.md, with targets and results at the end.
//
//   npx tsx bench/large.ts [operation ...] [--on sqlite,mariadb,postgres] [--connections 1,16] [--rounds 7]
//     [--seconds 0.5] [--most-seconds 60] [--starts 10] [--quick]
//
// An operation is named by its beginning: W1. `--most-seconds` limits the rounds of one table, for slow calls. The data is
// made once, in about 80 s and 1.5 GB (large/data.ts). `--quick` is one short round over a small SQLite shop.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Dialect, servers } from '../test/databases.ts';
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
} from './driver.ts';
import { captureStatements, type Statement } from './large/captured.ts';
import { clearShop, keptShop, smallShop } from './large/data.ts';
import { type Observer, observe } from './large/database.ts';
import { largeOperations } from './large/operations.ts';
import { checkSameRows } from './large/same.ts';
import { handwritten } from './large/statements.ts';
import { type Figures, judgeCalls, judgeStart, type LargeSeen } from './large/targets.ts';
import { isWrite, type Operation } from './operations.ts';
import { requestOf, textOf } from './requests.ts';
import { type Field, openServers } from './servers.ts';
import { measureLargeStart } from './starts.ts';
import { judgedTable } from './targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: servers.map(({ dialect }) => dialect).join() },
    connections: { type: 'string', default: '1,16' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '0.5' },
    'most-seconds': { type: 'string', default: '60' },
    starts: { type: 'string', default: '10' },
    quick: { type: 'boolean', default: false },
  },
});
const settings = settingsOf(values);
const mostSeconds = Number(values['most-seconds']);
const starts = values.quick ? 1 : Number(values.starts);
const all = largeOperations(values.quick ? 0.01 : 1);
const unknown = positionals.find((name) => !all.some((operation) => operation.name.startsWith(name)));
if (unknown) throw new Error(`no operation '${unknown}'; there are ${all.map(({ name }) => `'${name}'`).join(', ')}`);
const operations = all.filter(({ name }) => !positionals.length || positionals.some((each) => name.startsWith(each)));

/** The turns that are compared before anything is measured. */
const CHECKED_TURNS = [0, 1, 2, 3];

interface Measured extends Field {
  readonly dialect: Dialect;
  readonly observer: Observer;
  /** Of Portico; those of the bare servers are known. */
  readonly captured: ReadonlyMap<string, readonly Statement[]>;
  readonly statements: ReadonlyMap<string, readonly string[]>;
}

async function openMeasured(dialect: Dialect): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const url = values.quick ? smallShop(folder) : await keptShop(dialect);
  const statements = handwritten(dialect);
  const captured = await captureStatements(
    url,
    operations.filter((operation) => !isWrite(operation)),
  );
  const field = await openServers({ url, folder, list: 'large', operations, statements, withSdk: false });
  const observer = await observe(dialect, url);
  return {
    ...field,
    dialect,
    observer,
    captured,
    statements,
    async stop() {
      await observer.close();
      await clearShop(dialect, url);
      await field.stop();
    },
  };
}

/** The bare servers first. */
function contestantsOf({ portico, bare, authorization }: Field, operation: Operation): Contestant[] {
  const ours = requestOf(operation, portico, 'legacy', { authorization });
  return [
    ...bare.map((server) => ({
      name: server.name,
      server,
      request: requestOf(operation, server, 'legacy'),
      rounds: [],
    })),
    { name: portico.name, server: portico, request: ours, rounds: [] },
  ];
}

async function checkAll(field: Field): Promise<void> {
  for (const operation of operations.filter(({ tool }) => tool !== undefined)) {
    const contestants = contestantsOf(field, operation);
    for (const turn of operation.varies ? CHECKED_TURNS : [0]) {
      const [ours, ...others] = await Promise.all(
        contestants.toReversed().map(async (contestant) => textOf(await answerOf(contestant, turn))),
      );
      for (const theirs of others) checkSameRows(operation.name, ours!, theirs, isWrite(operation));
    }
  }
}

async function measure(field: Measured, operation: Operation, connections: number): Promise<LargeSeen> {
  const { dialect, observer, captured, statements } = field;
  const contestants = contestantsOf(field, operation);
  const [http, express, portico] = contestants as [Contestant, Contestant, Contestant];
  const seen = { dialect, operation: operation.name, connections };
  const plural = connections === 1 ? 'connection' : 'connections';
  const title = `${dialect}: ${operation.name}, ${connections} ${plural}`;
  try {
    await runRounds(contestants, { ...settings, connections, mostSeconds, databaseCpu: observer.cpu });
  } catch (error) {
    const { message } = error as Error;
    console.log(`### ${title}\n\nNot measured. ${message}\n`);
    return { ...seen, figures: message.slice(0, 100) };
  }
  const bound = operation.bindings?.(operation.given(0)) ?? [];
  const bare = (statements.get(operation.name) ?? []).map((sql, at) => ({ sql, values: bound[at] ?? [] }));
  const isCounted = !isWrite(operation) && bare.length > 0;
  const examined = new Map([
    [http, isCounted ? await observer.examined(bare) : undefined],
    [express, undefined],
    [portico, isCounted ? await observer.examined(captured.get(operation.name) ?? []) : undefined],
  ]);
  console.log(
    report(title, contestants, [
      { title: 'database CPU µs', of: databaseCell },
      { title: 'rows examined', of: (contestant) => `${examined.get(contestant) ?? ''}` },
      { title: 'MB resident', of: ({ rounds }) => (residentOf(rounds) / 1e6).toFixed(0) },
    ]),
  );
  return { ...seen, figures: figuresOf(http, express, portico) };
}

const residentOf = (rounds: Contestant['rounds']): number => Math.max(...rounds.map((round) => round.residentBytes));

function databaseCell({ rounds }: Contestant): string {
  const measured = rounds.flatMap(({ databaseMicroseconds }) => databaseMicroseconds ?? []);
  return measured.length > 0 ? median(measured).toFixed(0) : '';
}

function figuresOf(http: Contestant, express: Contestant, portico: Contestant): Figures {
  const rates = portico.rounds.map(({ perSecond }, round) => perSecond / express.rounds[round]!.perSecond);
  return {
    http: median(ratiosOf(portico, http)),
    rateOfExpress: median(rates),
    residentBytes: residentOf(portico.rounds),
  };
}

async function measureOn(dialect: Dialect): Promise<LargeSeen[]> {
  const field = await openMeasured(dialect);
  const seen: LargeSeen[] = [];
  try {
    await checkAll(field);
    for (const operation of operations)
      for (const connections of settings.connections) seen.push(await measure(field, operation, connections));
  } finally {
    await field.stop();
  }
  return seen;
}

const began = performance.now();
compileContestants();
pinLoadGenerator();
const seen: LargeSeen[] = [];
for (const dialect of settings.dialects) seen.push(...(await measureOn(dialect)));
const judged = judgeCalls(seen);
if (settings.dialects.includes('sqlite') && positionals.length === 0) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const url = values.quick ? smallShop(folder) : await keptShop('sqlite');
  judged.push(judgeStart(await measureLargeStart(url, folder, starts)));
  rmSync(folder, { recursive: true, force: true });
}
console.log(judgedTable(judged));
console.log(`The run took ${((performance.now() - began) / 60_000).toFixed(1)} minutes.`);
process.exit(0);
