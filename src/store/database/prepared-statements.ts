// Runs a group of plain SQL statements. If the first changes no row, the others do not run. The most frequent
// operations of workflow runs use it. The groups of concurrent callers share a commit. On SQLite the statements are
// prepared once: knex would build, queue and prepare each one, at many times the cost of running it. During a
// transaction they run through knex.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../../core/sqlite.ts';
import type { Database } from './database.ts';
import type { Direct } from './direct.ts';
import { groupKind } from './group-calls.ts';
import { type Change, type Changes, runEach, runWorks, type Statement, type Work } from './statement-groups.ts';

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
  const runInTurn = database.direct ? createServerGroups(database.direct, database) : createKnexWrites(database);

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
      const [changed] = await runInTurn({ statements: [first, ...others], needsFirst: true });
      return changed! > 0;
    },
    async runAll(statements) {
      const done = await database.sqlite?.write(statements.length > 1, (ready) =>
        statements.map(({ sql, values }) => prepare(ready, sql).run(values).changes),
      );
      return done ? done.answer : runInTurn({ statements, needsFirst: false });
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

/** Returns the number of rows that each statement changed. */
type RunWork = (work: Work) => Promise<Changes>;

/** On SQLite, while a transaction is open or another process has locked the file. */
function createKnexWrites({ knex, retry, write }: Database): RunWork {
  const changeOn =
    (on: Knex): Change =>
    async ({ sql, values }) =>
      ((await on.raw(sql, [...values])) as { changes: number }).changes;
  return (work) =>
    work.statements.length > 1
      ? write((trx) => runEach(changeOn(trx), work))
      : retry(() => runEach(changeOn(knex), work));
}

/** Shares commits with the other writes of concurrent callers. */
const createServerGroups = (direct: Direct, { dialect, retry }: Database): RunWork =>
  groupKind(direct, retry, {
    runAll: (execute, works: readonly Work[], mayMerge) => runWorks(execute, works, mayMerge && dialect === 'mysql'),
    needsTransaction: (works) => works.length > 1 || works[0]!.statements.length > 1,
  });
