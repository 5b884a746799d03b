// The statements of the activity log on database servers, for entries without rows of workflows and details. On
// PostgreSQL each is one statement with a fixed text, whatever the number of entries and of their records.
import { isUnavailable } from '../../core/errors/away.ts';
import type { Database } from '../database/database.ts';
import type { Direct } from '../database/direct.ts';
import { columns, RECORDS, type Row, recordColumns, recordKeysOf, TABLE, valuesOf } from './activity-row.ts';
import type { Completed } from './activity-statements.ts';

interface ServerStatements {
  /** Returns the id. */
  mark(entry: Mark): Promise<number>;
  /** All rows or none; without records. */
  insertAll(rows: readonly Row[]): Promise<void>;
  complete(outcome: Outcome): Promise<void>;
}

interface Mark {
  readonly row: Row;
  /** The keys of its records. */
  readonly keys: readonly string[];
}

interface Outcome {
  readonly id: number;
  readonly completed: Completed;
}

/** Each method takes any number of entries and commits all of them or none. */
interface GroupStatements {
  markAll(marks: readonly Mark[]): Promise<readonly number[]>;
  insertAll(rows: readonly Row[]): Promise<void>;
  completeAll(outcomes: readonly Outcome[]): Promise<void>;
}

const into = `insert into ${TABLE} (${columns.join(', ')})`;
const intoRecords = `into ${RECORDS} (${recordColumns.join(', ')})`;
const recordIdsOf = ({ recordIds }: Completed): string | null => (recordIds ? JSON.stringify(recordIds) : null);

/** The types of the columns of an entry that are not text. */
const postgresTypes: Partial<Record<keyof Row, string>> = {
  environment_id: 'int',
  user_id: 'int',
  rendering_id: 'int',
  client_key: 'bigint',
  started_at: 'bigint',
  duration_ms: 'float8',
};

function createPostgres({ execute }: Direct): GroupStatements {
  const arrays = columns.map((column) => `?::${postgresTypes[column] ?? 'text'}[]`).join(', ');
  const insert = `${into} select ${columns.join(', ')} from unnest(${arrays})
with ordinality as given (${columns.join(', ')}, nth) order by nth`;
  // The ids follow the order of the rows.
  const mark = `with marked as (${insert} returning id, environment_id, started_at),
numbered as (select marked.*, row_number() over (order by id) as nth from marked),
keyed as (insert ${intoRecords} select environment_id, record_key, started_at, id from numbered
join unnest(?::bigint[], ?::text[]) as keys (nth, record_key) using (nth))
select id from numbered order by nth`;
  const complete = `with done as (update ${TABLE} as log set outcome = given.outcome, code = given.code,
duration_ms = given.duration_ms, record_ids = coalesce(given.record_ids, log.record_ids)
from unnest(?::bigint[], ?::text[], ?::text[], ?::float8[], ?::text[])
as given (id, outcome, code, duration_ms, record_ids)
where log.id = given.id returning log.id, environment_id, started_at)
insert ${intoRecords} select environment_id, record_key, started_at, id from done
join unnest(?::bigint[], ?::text[]) as keys (id, record_key) using (id) on conflict do nothing`;
  const byColumn = (rows: readonly Row[]) => columns.map((column) => rows.map((row) => row[column]));
  /** Two arrays: to what each key belongs, and the keys. */
  const pairsOf = (lists: readonly (readonly [of: number, keys: readonly string[]])[]) => [
    lists.flatMap(([of, keys]) => keys.map(() => of)),
    lists.flatMap(([, keys]) => keys),
  ];
  return {
    async markAll(marks) {
      const keys = pairsOf(marks.map((each, at) => [at + 1, each.keys]));
      const { rows } = await execute({ sql: mark, values: [...byColumn(marks.map(({ row }) => row)), ...keys] });
      return rows.map(([id]) => Number(id));
    },
    async insertAll(rows) {
      await execute({ sql: insert, values: byColumn(rows) });
    },
    async completeAll(outcomes) {
      const of = (pick: (completed: Completed) => unknown) => outcomes.map(({ completed }) => pick(completed));
      const values = [
        outcomes.map(({ id }) => id),
        of(({ outcome }) => outcome),
        of(({ code }) => code ?? null),
        of(({ durationMs }) => durationMs),
        of(recordIdsOf),
      ];
      const keys = pairsOf(outcomes.map(({ id, completed }) => [id, recordKeysOf(completed.recordIds)]));
      await execute({ sql: complete, values: [...values, ...keys] });
    },
  };
}

/** Each is a part of a union, which MySQL limits. */
const KEYS_A_STATEMENT = 100;

function createMysql({ execute, transaction }: Direct): GroupStatements {
  const insert = (rows: readonly Row[]) => ({ sql: `${into} values ?`, values: [rows.map(valuesOf)], isOnce: true });
  const step = { sql: 'select @@auto_increment_increment', values: [] };
  const chosen = 'elt(field(id, ?), ?)';
  const complete = `update ${TABLE} set outcome = ${chosen}, code = ${chosen}, duration_ms = ${chosen},
record_ids = coalesce(${chosen}, record_ids) where id in (?)`;
  const update = (outcomes: readonly Outcome[]) => {
    const ids = outcomes.map(({ id }) => id);
    const of = (pick: (completed: Completed) => unknown) => [ids, outcomes.map(({ completed }) => pick(completed))];
    const values = [
      ...[...of(({ outcome }) => outcome), ...of(({ code }) => code ?? null), ...of(({ durationMs }) => durationMs)],
      ...[...of(recordIdsOf), ids],
    ];
    return { sql: complete, values, isOnce: true };
  };
  return {
    async markAll(marks) {
      const rows = marks.map(({ row }) => row);
      if (marks.length === 1 && marks[0]!.keys.length === 0) return [(await execute(insert(rows))).insertId];
      return transaction(async (run) => {
        const { insertId } = await run(insert(rows));
        // The ids of one statement are consecutive. The increment may exceed 1 in a cluster.
        const [[increment] = []] = marks.length === 1 ? [[1]] : (await run(step)).rows;
        const ids = marks.map((_, at) => insertId + at * Number(increment));
        const keys = marks.flatMap(({ row, keys }, at) =>
          keys.map((key) => [row.environment_id, key, row.started_at, ids[at]]),
        );
        if (keys.length > 0) await run({ sql: `insert ${intoRecords} values ?`, values: [keys], isOnce: true });
        return ids;
      });
    },
    async insertAll(rows) {
      await execute(insert(rows));
    },
    async completeAll(outcomes) {
      const keys = outcomes.flatMap(({ id, completed }) => recordKeysOf(completed.recordIds).map((key) => [id, key]));
      if (keys.length === 0) await execute(update(outcomes));
      else
        await transaction(async (run) => {
          await run(update(outcomes));
          for (let at = 0; at < keys.length; at += KEYS_A_STATEMENT) {
            const some = keys.slice(at, at + KEYS_A_STATEMENT);
            const pairs = some.map(() => 'select ? as id, ? as record_key').join(' union all ');
            const sql = `insert ignore ${intoRecords} select environment_id, record_key, started_at, log.id
from ${TABLE} as log join (${pairs}) as pairs on pairs.id = log.id`;
            await run({ sql, values: some.flat(), isOnce: true });
          }
        });
    },
  };
}

/** Undefined on SQLite. Marks and outcomes of concurrent calls share a commit each. */
export function createServerStatements({ dialect, direct, retry }: Database): ServerStatements | undefined {
  if (!direct || dialect === 'sqlite') return undefined;
  const { markAll, insertAll, completeAll } = dialect === 'mysql' ? createMysql(direct) : createPostgres(direct);
  return {
    mark: groupCalls((marks: readonly Mark[]) => retry(() => markAll(marks))),
    insertAll: (rows) => retry(() => insertAll(rows)),
    complete: groupCalls((outcomes: readonly Outcome[]) =>
      retry(async () => {
        // The last outcome of an entry counts.
        await completeAll([...new Map(outcomes.map((each) => [each.id, each])).values()]);
        return outcomes.map(() => undefined);
      }),
    ),
  };
}

/** On a server, whose connections and messages are limited. */
const MAX_GROUP = 100;

interface WaitingCall<T, R> {
  readonly item: T;
  readonly resolve: (answer: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * On a database server: the calls that wait while a group is committed are the next group. `runAll` commits all of
 * them or none.
 */
function groupCalls<T, R>(runAll: (items: readonly T[]) => Promise<readonly R[]>): (item: T) => Promise<R> {
  let waiting: WaitingCall<T, R>[] = [];
  let isRunning = false;

  async function settle(group: readonly WaitingCall<T, R>[]): Promise<void> {
    try {
      const answers = await runAll(group.map(({ item }) => item));
      group.forEach(({ resolve }, at) => void resolve(answers[at]!));
    } catch (error) {
      // A lost connection may have committed the group: a second attempt would write it twice.
      if (group.length === 1 || isUnavailable(error)) for (const { reject } of group) reject(error);
      else for (const one of group) await settle([one]);
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      await settle(group);
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      setImmediate(run);
    });
}
