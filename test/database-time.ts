// How long a server itself takes for what a piece of code asks of it: the statements that it sends are listened to, and each is
// explained afterwards by running it (PostgreSQL's EXPLAIN ANALYZE, MariaDB's ANALYZE). The wire, the driver and this process are
// not in it.
import type { Knex } from 'knex';
import type { Database } from '../src/store/database/database.ts';

export interface DatabaseTime {
  /** Of all statements together, each in the quickest of its runs: what else the machine does is not meant. */
  readonly ms: number;
  readonly statements: readonly Explained[];
}

export interface Explained {
  readonly sql: string;
  readonly ms: number;
  /** JSON, in the form of the database. */
  readonly plan: string;
}

type Sent = Pick<Knex.Sql, 'sql'> & { readonly bindings?: readonly unknown[] };

const RUNS = 5;

export async function measureDatabase(database: Database, run: () => Promise<unknown>): Promise<DatabaseTime> {
  const sent: Sent[] = [];
  const listen = (query: Sent) => void sent.push(query);
  database.knex.on('query', listen);
  try {
    await run();
  } finally {
    database.knex.removeListener('query', listen);
  }
  const statements: Explained[] = [];
  for (const query of sent) {
    const runs: Explained[] = [];
    for (let n = 0; n < RUNS; n++) runs.push(await explain(database, query));
    statements.push(runs.sort((a, b) => a.ms - b.ms)[0]!);
  }
  return { ms: statements.reduce((sum, { ms }) => sum + ms, 0), statements };
}

async function explain({ knex, dialect }: Database, { sql, bindings = [] }: Sent): Promise<Explained> {
  if (dialect === 'postgres') {
    // What the driver was sent has its own places for values.
    const text = sql.replace(/\$\d+/g, '?');
    const { rows } = await knex.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...bindings] as Knex.RawBinding[]);
    const [told] = rows[0]['QUERY PLAN'];
    return { sql, ms: told['Planning Time'] + told['Execution Time'], plan: JSON.stringify(told.Plan) };
  }
  for (;;) {
    try {
      const [[row]] = await knex.raw(`ANALYZE FORMAT=JSON ${sql}`, [...bindings] as Knex.RawBinding[]);
      const plan = JSON.parse(row.ANALYZE);
      // Without a time where no table had to be read.
      return { sql, ms: plan.query_block.r_total_time_ms ?? 0, plan: JSON.stringify(plan) };
    } catch (error) {
      // Another server that starts with the same folder for temporary tables empties it.
      if ((error as { code?: unknown }).code !== 'EE_DELETE') throw error;
    }
  }
}

/** Names of the indexes that the statements read. */
export const indexesOf = ({ statements }: DatabaseTime): readonly string[] => [
  ...new Set(
    statements.flatMap(({ plan }) => [...plan.matchAll(/"(?:Index Name|key)":"(\w+)"/g)].map(([, key]) => key!)),
  ),
];

/** Whether all rows of the table are looked at, or all entries of an index of it without a range. */
export const readsAll = ({ statements }: DatabaseTime, table: string): boolean =>
  statements.some(
    ({ plan }) =>
      new RegExp(`"Seq Scan"[^}]*"Relation Name":"${table}"`).test(plan) ||
      new RegExp(`"table_name":"${table}","access_type":"ALL"`).test(plan),
  );
