// The overhead of the engine over the bare driver: `engine.list` compared with the
// same SQL on the driver, in interleaved rounds of one run, as ratios of CPU time.
// Run: npx tsx bench/ratios.ts [--rounds 31]; prints the tables of RESULTS.md.
//
// On SQLite, the bare side is a statement prepared once that returns rows as arrays, the fastest way in
// better-sqlite3. The others use query(text, values) on one connection, like most users. The engine is
// bundled like the package, because tsx names every function each time it is created, which costs microseconds.
import { parseArgs } from 'node:util';
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { HeadlessAgent } from '../src/agent/agent.ts';
import type { Engine } from '../src/agent/engine.ts';
import type { ListRequest } from '../src/agent/requests.ts';
import type { Source } from '../src/agent/sources/source.ts';
import type { Caller } from '../src/core/caller.ts';
import { connect } from '../test/agent/connection.ts';
import { servers, type TestDatabase } from '../test/databases.ts';
import { compileContestants, contestantPath, median } from './driver.ts';

compileContestants();
const { createHeadlessAgent, createSqlSource, fullAccess, systemClock, loadSqliteDriver } = (await import(
  contestantPath('engine-parts')
)) as typeof import('./contestants/engine-parts.ts');

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '31' } } });
const ROUNDS = Number(options.rounds);
const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
const fields = ['id', 'number', 'status', 'placed_at', 'total', 'shipping_fee', 'coupon'];
const columns = fields.join(', ');
const RECORDS = 5_000;

const types = {
  sqlite: ['integer', 'varchar(12)', 'varchar(10)', 'datetime', 'double', 'double', 'varchar(20)'],
  mariadb: ['int', 'varchar(12)', 'varchar(10)', 'datetime(3)', 'double', 'double', 'varchar(20)'],
  postgres: ['int', 'varchar(12)', 'varchar(10)', 'timestamptz(3)', 'float8', 'float8', 'varchar(20)'],
} as const;

async function fill(database: TestDatabase): Promise<void> {
  const connection = await connect(database);
  const defined = fields.map((name, at) => `${name} ${types[database.dialect][at]} ${at === 0 ? 'primary key' : ''}`);
  await connection.run(`create table orders (${defined})`, []);
  await connection.run('create index orders_status on orders (status, id)', []);
  for (let from = 0; from < RECORDS; from += 500) {
    const rows = Array.from({ length: 500 }, (_, index) => {
      const id = from + index + 1;
      const day = `2024-0${1 + (id % 9)}-1${id % 10}`;
      const at = database.dialect === 'mariadb' ? `${day} 10:00:00.000` : `${day}T10:00:00.000Z`;
      return `(${id}, 'N-${id}', '${id % 3 ? 'paid' : 'open'}', '${at}', ${id / 4}, 4.5, ${id % 5 ? 'null' : "'SPRING'"})`;
    });
    await connection.run(`insert into orders (${columns}) values ${rows}`, []);
  }
  await connection.run(database.dialect === 'mariadb' ? 'analyze table orders' : 'analyze', []);
  await connection.end();
}

const text = (limit: number, place: string) =>
  `select ${columns} from orders where status = ${place} order by id limit ${limit + 1}`;

interface Bare {
  /** Runs the query of `limit` rows. */
  list(limit: number): () => unknown;
  close(): Promise<unknown>;
}

async function openBare({ dialect, url }: TestDatabase): Promise<Bare> {
  if (dialect === 'sqlite') {
    const database = new (loadSqliteDriver('native').driver)(url.slice('sqlite:'.length));
    return {
      list(limit) {
        const statement = database.prepare(text(limit, '?')).raw();
        return () => statement.all('paid');
      },
      close: async () => database.close(),
    };
  }
  if (dialect === 'mariadb') {
    const connection = await mysql.createConnection({ uri: url, rowsAsArray: true });
    return { list: (limit) => () => connection.query(text(limit, '?'), ['paid']), close: () => connection.end() };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    list: (limit) => () => client.query({ text: text(limit, '$1'), values: ['paid'], rowMode: 'array' }),
    close: () => client.end(),
  };
}

async function openEngine(
  { url }: TestDatabase,
  customize: (agent: HeadlessAgent) => void = () => {},
  silent?: Awaited<ReturnType<Source['read']>>,
): Promise<Engine> {
  const agent = createHeadlessAgent().addDataSource(({ observe, clock }) => {
    const source = createSqlSource(url, { observe, clock });
    return silent ? { ...source, read: async () => silent } : source;
  });
  customize(agent);
  const limits = { pageSizeLimit: 1_000, queryTimeoutMs: 10_000 };
  return agent.createEngine({ observe: () => {}, clock: systemClock, limits });
}

const request = (limit: number, more: Partial<ListRequest> = {}): ListRequest => ({
  collection: 'orders',
  fields,
  filter: { field: 'status', operator: 'Equal', value: 'paid' },
  sort: [{ field: 'id' }],
  limit,
  ...more,
});

const computedAndRenamed = (agent: HeadlessAgent) =>
  agent.customizeCollection('orders', (orders) =>
    orders.renameField('coupon', 'voucher').addField('label', {
      columnType: 'String',
      dependencies: ['number'],
      getValues: (records) => records.map(({ number }) => `Order ${number}`),
    }),
  );

/** Customizations of the collection that no measured call uses. */
const idle = (agent: HeadlessAgent) =>
  agent.customizeCollection('orders', (orders) => {
    for (let index = 0; index < 5; index++)
      orders
        .addField(`idle ${index}`, {
          columnType: 'String',
          dependencies: ['number'],
          getValues: (records) => records.map(() => ''),
        })
        .addSegment(`idle ${index}`, { field: 'total', operator: 'GreaterThan', value: index })
        .emulateFieldOperator(`idle ${index}`, 'Equal')
        .replaceFieldSorting(`idle ${index}`, [{ field: 'number' }]);
  });

type Sides = Readonly<Record<string, () => unknown>>;

/** Microseconds of CPU time per call: one figure per round for each side. The order of the sides shifts. */
async function measure(calls: number, sides: Sides): Promise<Map<string, number[]>> {
  const entries = Object.entries(sides);
  for (const [, run] of entries) for (let call = 0; call < calls * 3; call++) await run();
  const figures = new Map(entries.map(([name]) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++)
    for (let turn = 0; turn < entries.length; turn++) {
      const [name, run] = entries[(round + turn) % entries.length]!;
      const began = process.cpuUsage();
      for (let call = 0; call < calls; call++) await run();
      const { user, system } = process.cpuUsage(began);
      figures.get(name)!.push((user + system) / calls);
    }
  return figures;
}

function printRatios(figures: Map<string, number[]>): void {
  const [base, ...others] = [...figures];
  for (const [name, micros] of others) {
    const ratios = micros.map((each, round) => each / base![1][round]!);
    const shown = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2));
    console.log(
      `| ${name} | ${median(base![1]).toFixed(1)} | ${median(micros).toFixed(1)} | ${shown[0]} / **${shown[1]}** / ${shown[2]} |`,
    );
  }
}

console.log('| list | µs of the bare driver | µs of the engine | times: min / **median** / max |\n|---|---|---|---|');
for (const server of servers) {
  const database = await server.create();
  await fill(database);
  const bare = await openBare(database);
  const engine = await openEngine(database);
  const custom = await openEngine(database, computedAndRenamed);
  const renamed = fields.map((field) => (field === 'coupon' ? 'voucher' : field));
  for (const [limit, calls] of [
    [15, 400],
    [1000, 20],
  ] as const)
    printRatios(
      await measure(calls, {
        bare: bare.list(limit),
        [`${server.dialect}, ${limit} rows of 7 columns`]: () => engine.list(access, request(limit)),
        [`${server.dialect}, ${limit} rows, one computed and one renamed field`]: () =>
          custom.list(access, request(limit, { fields: [...renamed, 'label'] })),
      }),
    );
  await bare.close();
  await engine.close();
  await custom.close();
  if (server.dialect === 'sqlite') await measureAlone(database);
  await database.drop();
}

/** Measures the cost of unused customizations, and the engine without a source. */
async function measureAlone(database: TestDatabase): Promise<void> {
  const [plain, twenty] = [await openEngine(database), await openEngine(database, idle)];
  printRatios(
    await measure(400, {
      plain: () => plain.list(access, request(15)),
      'sqlite, 15 rows, 20 idle customizations (against none)': () => twenty.list(access, request(15)),
    }),
  );
  await plain.close();
  await twenty.close();
  const silent = await openEngine(database, undefined, []);
  const related = await measure(2_000, { plan: () => silent.list(access, request(15)) });
  console.log(`| planning alone, no rows | | ${median(related.get('plan')!).toFixed(1)} | |`);
  await silent.close();
}
