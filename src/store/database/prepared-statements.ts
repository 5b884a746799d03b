// Runs a group of plain SQL statements. If the first changes no row, the others do not run. The most frequent
// operations of workflow runs use it. The groups of concurrent callers share a commit. On SQLite the statements are
// prepared once: knex would build, queue and prepare each one, at many times the cost of running it. During a
// transaction they run through knex.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../../core/sqlite.ts';
import type { Database } from './database.ts';
import type { Direct, Execute } from './direct.ts';
import { groupKind } from './group-calls.ts';

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
  /** A write that returns rows. On SQLite it shares commits. */
  returning<T>(statement: Statement): Promise<readonly T[]>;
}

/** Limit of the cache: statements with a varying number of values add up to many texts. */
const MAX_CACHED = 200;

export function createPreparedStatements(database: Database): PreparedStatements {
  const { knex } = database;
  const preparedBySql = new Map<string, ReturnType<SqliteConnection['prepare']>>();
  const prepare = (connection: SqliteConnection, sql: string) => {
    const cached = preparedBySql.get(sql);
    if (cached && cached.database === connection) return cached;
    if (preparedBySql.size >= MAX_CACHED) preparedBySql.clear();
    const statement = connection.prepare(sql);
    preparedBySql.set(sql, statement);
    return statement;
  };
  const runInTurn = database.direct ? createServerGroups(database.direct, database.retry) : createKnexWrites(database);

  const allOn =
    <T>({ sql, values }: Statement) =>
    (ready: SqliteConnection) =>
      prepare(ready, sql).all(values) as T[];
  /** On a server, or on SQLite through knex. */
  const readElsewhere = async <T>({ sql, values }: Statement): Promise<readonly T[]> => {
    const { direct, retry } = database;
    if (!direct) return (await retry(() => knex.raw(sql, [...values]))) as T[];
    const { names, rows } = await retry(() => direct.execute({ sql, values, isOnce: true }));
    return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])) as T);
  };

  return {
    async run(first, ...others) {
      const done = await database.sqlite?.write(others.length > 0, (ready) => {
        const { changes } = prepare(ready, first.sql).run(first.values);
        if (changes > 0) for (const { sql, values } of others) prepare(ready, sql).run(values);
        return changes > 0;
      });
      if (done) return done.answer;
      return runInTurn(others.length > 0, async (change) => {
        if ((await change(first)) === 0) return false;
        for (const other of others) await change(other);
        return true;
      });
    },
    async runAll(statements) {
      const done = await database.sqlite?.write(statements.length > 1, (ready) =>
        statements.map(({ sql, values }) => prepare(ready, sql).run(values).changes),
      );
      if (done) return done.answer;
      return runInTurn(statements.length > 1, async (change) => {
        const touched: number[] = [];
        for (const one of statements) touched.push(await change(one));
        return touched;
      });
    },
    async read<T>(statement: Statement) {
      const done = database.sqlite?.runSync(allOn<T>(statement));
      return done ? done.answer : readElsewhere<T>(statement);
    },
    async returning<T>(statement: Statement) {
      const done = await database.sqlite?.write(false, allOn<T>(statement));
      return done ? done.answer : readElsewhere<T>(statement);
    },
  };
}

/** Returns the number of changed rows. */
type Change = (statement: Statement) => Promise<number>;

interface Work {
  readonly needsTransaction: boolean;
  readonly run: (change: Change) => Promise<unknown>;
}

type RunInTurn = <T>(needsTransaction: boolean, run: (change: Change) => Promise<T>) => Promise<T>;

/** On SQLite, while a transaction is open or another process has locked the file. */
function createKnexWrites({ knex, retry, write }: Database): RunInTurn {
  const changeOn =
    (on: Knex): Change =>
    async ({ sql, values }) =>
      ((await on.raw(sql, [...values])) as { changes: number }).changes;
  return (needsTransaction, run) =>
    needsTransaction ? write((trx) => run(changeOn(trx))) : retry(() => run(changeOn(knex)));
}

/** Shares commits with the other writes of concurrent callers. */
function createServerGroups(direct: Direct, retry: Database['retry']): RunInTurn {
  // In the text protocol, as knex sends them: mysql2 sends each number of a prepared statement as a double.
  const changeOn =
    (execute: Execute): Change =>
    async ({ sql, values }) =>
      (await execute({ sql, values, isOnce: true })).changed;
  const add = groupKind(direct, retry, {
    async runAll(execute, works: readonly Work[]): Promise<readonly unknown[]> {
      const answers: unknown[] = [];
      for (const { run } of works) answers.push(await run(changeOn(execute)));
      return answers;
    },
    needsTransaction: (works) => works.length > 1 || works[0]!.needsTransaction,
  });
  return <T>(needsTransaction: boolean, run: (change: Change) => Promise<T>) =>
    add({ needsTransaction, run }) as Promise<T>;
}
