// A few statements that belong together, as plain SQL: all of them, or none where the first touches nothing. What runs of workflows
// do most often goes this way. On SQLite they are made once and run in one turn while no transaction is open, since knex
// would build, queue and prepare each of them anew, which costs many times what SQLite does; while one is, and on servers,
// they go through knex.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../core/sqlite.ts';
import type { Database, StoreDialect } from './database.ts';

export interface Statement {
  /** With `?` for each value. Of few texts: each is kept. */
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

export interface Scripts {
  /** Whether the first statement touched a row; only then the others are run, and all of it is committed together. */
  run(first: Statement, ...others: readonly Statement[]): Promise<boolean>;
  /** How many rows each touched, whatever the others did; committed together. */
  runAll(statements: readonly Statement[]): Promise<readonly number[]>;
  read<T>(statement: Statement): Promise<readonly T[]>;
}

/** Statements whose number of values differs are many texts in the end. */
const KEPT_MOST = 200;

export function createScripts(database: Database): Scripts {
  const { knex, dialect } = database;
  const made = new Map<string, ReturnType<SqliteConnection['prepare']>>();
  const prepare = (connection: SqliteConnection, sql: string) => {
    const known = made.get(sql);
    if (known && known.database === connection) return known;
    if (made.size >= KEPT_MOST) made.clear();
    const statement = connection.prepare(sql);
    made.set(sql, statement);
    return statement;
  };
  const touch = async (on: Knex, { sql, values }: Statement): Promise<number> =>
    touchedBy[dialect](await on.raw(sql, [...values]));

  return {
    async run(first, ...others) {
      const ready = database.sqlite?.idle();
      if (ready) {
        const all = () => {
          const { changes } = prepare(ready, first.sql).run(first.values);
          if (changes > 0) for (const { sql, values } of others) prepare(ready, sql).run(values);
          return changes > 0;
        };
        return others.length === 0 ? all() : ready.transaction(all).immediate();
      }
      if (others.length === 0) return (await database.retry(() => touch(knex, first))) > 0;
      return database.write(async (trx) => {
        if ((await touch(trx, first)) === 0) return false;
        for (const other of others) await touch(trx, other);
        return true;
      });
    },
    async runAll(statements) {
      const ready = database.sqlite?.idle();
      if (ready) {
        const each = () => statements.map(({ sql, values }) => prepare(ready, sql).run(values).changes);
        return statements.length === 1 ? each() : ready.transaction(each).immediate();
      }
      if (statements.length === 1) return [await database.retry(() => touch(knex, statements[0]!))];
      return database.write(async (trx) => {
        const touched: number[] = [];
        for (const one of statements) touched.push(await touch(trx, one));
        return touched;
      });
    },
    async read<T>({ sql, values }: Statement) {
      const ready = database.sqlite?.idle();
      if (ready) return prepare(ready, sql).all(values) as T[];
      return rowsOf[dialect](await database.retry(() => knex.raw(sql, [...values]))) as T[];
    },
  };
}

const touchedBy: Record<StoreDialect, (answer: unknown) => number> = {
  sqlite: (answer) => (answer as { changes: number }).changes,
  mysql: (answer) => (answer as [{ affectedRows: number }])[0].affectedRows,
  postgres: (answer) => (answer as { rowCount: number | null }).rowCount ?? 0,
};

const rowsOf: Record<StoreDialect, (answer: unknown) => readonly unknown[]> = {
  sqlite: (answer) => answer as unknown[],
  mysql: (answer) => (answer as [unknown[]])[0],
  postgres: (answer) => (answer as { rows: unknown[] }).rows,
};
