// The forms of aggregate on the large shop, each beside the SQL of a good analyst (large/forms.ts). Both must return the
// same rows. The time of a form is that of the tool in this process, nearly all of it the time of the database. The time
// of its statements alone is beside it; some run at the same time.
//
//   npx tsx bench/analysis.ts [form ...] [--on sqlite,mariadb,postgres] [--rounds 5] [--most-seconds 60] [--sql] [--quick]
//
// A form is named by a part of its name. `--sql` prints the statements. `--quick` takes a small SQLite shop.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { hasRows } from '../eval/defog/compare.ts';
import { createEngine } from '../src/agent/engine.ts';
import { createSqlSource } from '../src/agent/sources/sql/source.ts';
import { type Caller, fullAccess } from '../src/core/caller.ts';
import { Stop } from '../src/core/clock/stop.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadConfig } from '../src/core/config.ts';
import type { ToolCall } from '../src/mcp/tool.ts';
import { selectTools } from '../src/mcp/tools.ts';
import { type Dialect, servers } from '../test/databases.ts';
import { median } from './driver.ts';
import { keptShop, smallShop } from './large/data.ts';
import { type Form, forms } from './large/forms.ts';
import { watched } from './statements.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    on: { type: 'string', default: servers.map(({ dialect }) => dialect).join() },
    rounds: { type: 'string', default: '5' },
    'most-seconds': { type: 'string', default: '60' },
    sql: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
  },
});
const asked = forms.filter(({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)));
const mostSeconds = Number(values['most-seconds']);

type Rows = readonly (readonly unknown[])[];

interface Side {
  run(form: Form): Promise<Rows>;
  /** The time of the statements so far, in ms. Absent: that of `run`. */
  readonly statements?: () => number;
  close(): Promise<void>;
}

async function openPortico(url: string): Promise<Side> {
  const source = createSqlSource(url, { observe: () => {}, clock: systemClock });
  let spent = 0;
  const clocked = async <T>(run: Promise<T>): Promise<T> => {
    const began = performance.now();
    const result = await run;
    spent += performance.now() - began;
    return result;
  };
  const ours = watched(source, (text) => print(text));
  const print = (text: string) => (values.sql ? console.log(`\n${text}\n`) : undefined);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 600_000 };
  const engine = await createEngine({
    sources: [
      {
        ...ours,
        read: (select, options) => clocked(ours.read(select, options)),
        aggregate: (group, options) => clocked(ours.aggregate!(group, options)),
      },
    ],
    observe: () => {},
    clock: systemClock,
    limits,
  });
  const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
  const config = { ...loadConfig(), answerTokens: 100_000 };
  const call = { access, engine, config, signal: new Stop() } as Partial<ToolCall> as ToolCall;
  const tools = selectTools(null, () => undefined);
  return {
    async run({ tool: wanted = 'aggregate', args }) {
      const tool = tools.find(({ name }) => name === wanted)!;
      return (JSON.parse((await tool.run(tool.parse(args), call)) as string) as { rows: Rows }).rows;
    },
    statements: () => spent,
    close: () => engine.close(),
  };
}

async function openBare(dialect: Dialect, url: string): Promise<Side> {
  if (dialect === 'sqlite') {
    const database = new Database(url.slice('sqlite:'.length), { readonly: true });
    const run = async ({ sql }: Form) => database.prepare(sql(dialect)).raw().all() as Rows;
    return { run, close: async () => void database.close() };
  }
  if (dialect === 'mariadb') {
    const connection = await mysql.createConnection({ uri: url, dateStrings: true });
    const run = async ({ sql }: Form) =>
      (await connection.query({ sql: sql(dialect), rowsAsArray: true }))[0] as unknown as Rows;
    return { run, close: () => connection.end() };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("set timezone = 'UTC'");
  const run = async ({ sql }: Form) => (await client.query({ text: sql(dialect), rowMode: 'array' })).rows as Rows;
  return { run, close: () => client.end() };
}

const plain = (rows: Rows): Rows =>
  rows.map((row) =>
    row.map((cell) => {
      if (typeof cell === 'string' && /^-?\d+\.\d+$/.test(cell)) return Number(cell);
      return cell instanceof Date ? cell.toISOString() : cell;
    }),
  );

async function timed(side: Side, form: Form): Promise<{ rows: Rows; ms: number; statements: number }> {
  const [before, began] = [side.statements?.() ?? 0, performance.now()];
  const rows = plain(await side.run(form));
  const ms = performance.now() - began;
  return { rows, ms, statements: side.statements ? side.statements() - before : ms };
}

async function measure(dialect: Dialect, form: Form, bare: Side, portico: Side): Promise<string> {
  const ends = performance.now() + mostSeconds * 1000;
  const [bareMs, ours, ratios, statements]: number[][] = [[], [], [], []];
  for (let round = 0; round < Number(values.rounds) && (round === 0 || performance.now() < ends); round++) {
    const theirs = await timed(bare, form);
    const own = await timed(portico, form);
    const expected = theirs.rows.slice(0, own.rows.length);
    const tolerance = { relative: 1e-6, absolute: 1e-6 };
    if (round === 0 && !hasRows({ rows: expected, tolerance }, own.rows, false))
      return `| ${dialect} | ${form.name} | other rows: ${JSON.stringify(theirs.rows.slice(0, 3))} and ${JSON.stringify(own.rows.slice(0, 3))} | | |`;
    bareMs!.push(theirs.ms);
    ours!.push(own.ms);
    ratios!.push(own.ms / theirs.ms);
    statements!.push(own.statements / theirs.ms);
  }
  const cell = (all: number[], digits: number) => median(all).toFixed(digits);
  return `| ${dialect} | ${form.name} | ${cell(bareMs!, 0)} | ${cell(ours!, 0)} | ${cell(ratios!, 2)} | ${cell(statements!, 2)} |`;
}

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
console.log(
  '| | form | SQL, ms | Portico, ms | times | times of its statements |\n| --- | --- | --- | --- | --- | --- |',
);
for (const dialect of values.quick ? (['sqlite'] as const) : (values.on.split(',') as Dialect[])) {
  const url = values.quick ? smallShop(folder) : await keptShop(dialect);
  const [bare, portico] = [await openBare(dialect, url), await openPortico(url)];
  try {
    for (const form of asked) console.log(await measure(dialect, form, bare, portico));
  } finally {
    await bare.close();
    await portico.close();
  }
}
rmSync(folder, { recursive: true, force: true });
process.exit(0);
