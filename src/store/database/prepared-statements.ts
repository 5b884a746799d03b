// Runs a group of plain SQL statements. If the first changes no row, the others do not run. The most frequent
// operations of workflow runs use it. On SQLite the statements are prepared once and run synchronously while no
// transaction is open: knex would build, queue and prepare each one, at many times the cost of running it. During a
// transaction, and on servers, they run through knex.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../../core/sqlite.ts';
import type { Database, StoreDialect } from './database.ts';

export interface Statement {
  /** With `?` for each value. Every distinct text is cached, so use few. */
  readonly sql: string;
  readonly values: readonly (string | number | null)[];
}

export interface PreparedStatements {
  /** Returns whether the first statement changed a row. Only then the others run; all of them commit together. */
  run(first: Statement, ...others: readonly Statement[]): Promise<boolean>;
  /** Returns the number of rows that each statement changed. All statements run and commit together. */
  runAll(statements: readonly Statement[]): Promise<readonly number[]>;
  read<T>(statement: Statement): Promise<readonly T[]>;
}

/** Limit of the cache: statements with a varying number of values add up to many texts. */
const MAX_CACHED = 200;

export function createPreparedStatements(database: Database): PreparedStatements {
  const { knex, dialect } = database;
  const preparedBySql = new Map<string, ReturnType<SqliteConnection['prepare']>>();
  const prepare = (connection: SqliteConnection, sql: string) => {
    const cached = preparedBySql.get(sql);
    if (cached && cached.database === connection) return cached;
    if (preparedBySql.size >= MAX_CACHED) preparedBySql.clear();
    const statement = connection.prepare(sql);
    preparedBySql.set(sql, statement);
    return statement;
  };
  const execute = async (on: Knex, { sql, values }: Statement): Promise<number> =>
    touchedBy[dialect](await on.raw(sql, [...values]));

  return {
    async run(first, ...others) {
      const done = database.sqlite?.runSync((ready) => {
        const all = () => {
          const { changes } = prepare(ready, first.sql).run(first.values);
          if (changes > 0) for (const { sql, values } of others) prepare(ready, sql).run(values);
          return changes > 0;
        };
        return others.length === 0 ? all() : ready.transaction(all).immediate();
      });
      if (done) return done.answer;
      if (others.length === 0) return (await database.retry(() => execute(knex, first))) > 0;
      return database.write(async (trx) => {
        if ((await execute(trx, first)) === 0) return false;
        for (const other of others) await execute(trx, other);
        return true;
      });
    },
    async runAll(statements) {
      const done = database.sqlite?.runSync((ready) => {
        const each = () => statements.map(({ sql, values }) => prepare(ready, sql).run(values).changes);
        return statements.length === 1 ? each() : ready.transaction(each).immediate();
      });
      if (done) return done.answer;
      if (statements.length === 1) return [await database.retry(() => execute(knex, statements[0]!))];
      return database.write(async (trx) => {
        const touched: number[] = [];
        for (const one of statements) touched.push(await execute(trx, one));
        return touched;
      });
    },
    async read<T>({ sql, values }: Statement) {
      const done = database.sqlite?.runSync((ready) => prepare(ready, sql).all(values) as T[]);
      if (done) return done.answer;
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
