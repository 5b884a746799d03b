// Measures the server time of the statements that a function sends. It records them and runs each again with
// PostgreSQL's EXPLAIN ANALYZE or MariaDB's ANALYZE. The result excludes network, driver and this process.
import type { Knex } from 'knex';
import type { Database } from '../src/store/database/database.ts';

export interface DatabaseTime {
  /** The sum over all statements, each with its fastest run, to exclude other work of the machine. */
  readonly ms: number;
  readonly statements: readonly Explained[];
}

export interface Explained {
  readonly sql: string;
  readonly ms: number;
  /** The JSON plan in the format of the database. */
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
    // Converts the placeholders of the driver to those of knex.raw.
    const text = sql.replace(/\$\d+/g, '?');
    const { rows } = await knex.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...bindings] as Knex.RawBinding[]);
    const [told] = rows[0]['QUERY PLAN'];
    return { sql, ms: told['Planning Time'] + told['Execution Time'], plan: JSON.stringify(told.Plan) };
  }
  for (;;) {
    try {
      const [[row]] = await knex.raw(`ANALYZE FORMAT=JSON ${sql}`, [...bindings] as Knex.RawBinding[]);
      const plan = JSON.parse(row.ANALYZE);
      // MariaDB reports no time if it read no table.
      return { sql, ms: plan.query_block.r_total_time_ms ?? 0, plan: JSON.stringify(plan) };
    } catch (error) {
      // Retries: a server that starts with the same tmpdir deletes the temporary tables of this one.
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

/** Whether a statement reads the whole table, by a full scan. */
export const readsAll = ({ statements }: DatabaseTime, table: string): boolean =>
  statements.some(
    ({ plan }) =>
      new RegExp(`"Seq Scan"[^}]*"Relation Name":"${table}"`).test(plan) ||
      new RegExp(`"table_name":"${table}","access_type":"ALL"`).test(plan),
  );
