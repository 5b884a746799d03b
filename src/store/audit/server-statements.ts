// The statements of the activity log on database servers. On PostgreSQL each is one statement with a fixed text,
// whatever the number of entries and of their records; rows of workflows and details take one more.
import type { Database } from '../database/database.ts';
import type { DirectStatement, Execute } from '../database/direct.ts';
import { groupKind } from '../database/group-calls.ts';
import {
  columns,
  DETAILS,
  detailColumns,
  hasDetails,
  RECORDS,
  type Row,
  recordColumns,
  recordKeysOf,
  TABLE,
  toDetailRow,
  toWorkflowRow,
  valuesOf,
  WORKFLOWS,
  workflowColumns,
} from './activity-row.ts';
import type { Completed, More } from './activity-statements.ts';

interface ServerStatements {
  /** Returns the id. */
  mark(entry: Mark): Promise<number>;
  /** All entries or none. */
  insertAll(entries: readonly Mark[]): Promise<void>;
  complete(outcome: Outcome): Promise<void>;
}

interface Mark {
  readonly row: Row;
  /** The keys of its records. */
  readonly keys: readonly string[];
  readonly more: More;
}

interface Outcome {
  readonly id: number;
  readonly completed: Completed;
}

/** Each method takes any number of entries, and a transaction unless one statement is enough for them. */
interface GroupStatements {
  markAll(run: Execute, marks: readonly Mark[]): Promise<readonly number[]>;
  /** Without rows in other tables. */
  insertAll(run: Execute, rows: readonly Row[]): Promise<void>;
  completeAll(run: Execute, outcomes: readonly Outcome[]): Promise<void>;
  readonly isOneStatement: {
    marks(marks: readonly Mark[]): boolean;
    outcomes(outcomes: readonly Outcome[]): boolean;
  };
}

const into = `insert into ${TABLE} (${columns.join(', ')})`;
const intoRecords = `into ${RECORDS} (${recordColumns.join(', ')})`;
const recordIdsOf = ({ recordIds }: Completed): string | null => (recordIds ? JSON.stringify(recordIds) : null);

type Insert = (table: string, names: readonly string[], rows: readonly object[], set: string) => DirectStatement;

const columnOf = (row: object, column: string): unknown => (row as Readonly<Record<string, unknown>>)[column];

const hasOtherRows = ({ workflow, ...details }: More): boolean => workflow !== undefined || hasDetails(details);

const isPlain = ({ keys, more }: Mark): boolean => keys.length === 0 && !hasOtherRows(more);

/** The rows of the entries in other tables. `given`: SQL of a value that an existing row is updated with. */
async function insertMore(
  run: Execute,
  entries: readonly (readonly [id: number, more: More])[],
  insert: Insert,
  given: (column: string) => string,
): Promise<void> {
  const workflows = entries.flatMap(([id, { workflow }]) => (workflow ? [toWorkflowRow(id, workflow)] : []));
  const details = entries.flatMap(([id, more]) => (hasDetails(more) ? [toDetailRow(id, more)] : []));
  const replace = workflowColumns.map((column) => `${column} = ${given(column)}`).join(', ');
  const fill = detailColumns.map((column) => `${column} = coalesce(${given(column)}, ${DETAILS}.${column})`).join(', ');
  if (workflows.length > 0) await run(insert(WORKFLOWS, workflowColumns, workflows, replace));
  if (details.length > 0) await run(insert(DETAILS, detailColumns, details, fill));
}

/** The types of the columns that are not text. */
const postgresTypes: Readonly<Record<string, string>> = {
  log_id: 'bigint',
  dry_run: 'smallint',
  environment_id: 'int',
  user_id: 'int',
  rendering_id: 'int',
  client_key: 'bigint',
  started_at: 'bigint',
  duration_ms: 'float8',
};

function createPostgres(): GroupStatements {
  const arraysOf = (names: readonly string[]) =>
    names.map((column) => `?::${postgresTypes[column] ?? 'text'}[]`).join(', ');
  const byColumn = (names: readonly string[], rows: readonly object[]) =>
    names.map((column) => rows.map((row) => columnOf(row, column)));
  const insert = `${into} select ${columns.join(', ')} from unnest(${arraysOf(columns)})
with ordinality as given (${columns.join(', ')}, nth) order by nth`;
  const insertOther: Insert = (table, names, rows, set) => ({
    sql: `insert into ${table} (${names.join(', ')}) select * from unnest(${arraysOf(names)})
on conflict (log_id) do update set ${set}`,
    values: byColumn(names, rows),
  });
  const insertOthers = (run: Execute, entries: readonly (readonly [number, More])[]) =>
    insertMore(run, entries, insertOther, (column) => `excluded.${column}`);
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
  /** Two arrays: to what each key belongs, and the keys. */
  const pairsOf = (lists: readonly (readonly [of: number, keys: readonly string[]])[]) => [
    lists.flatMap(([of, keys]) => keys.map(() => of)),
    lists.flatMap(([, keys]) => keys),
  ];
  return {
    async markAll(run, marks) {
      const keys = pairsOf(marks.map((each, at) => [at + 1, each.keys]));
      const rows = marks.map(({ row }) => row);
      const marked = await run({ sql: mark, values: [...byColumn(columns, rows), ...keys] });
      const ids = marked.rows.map(([id]) => Number(id));
      await insertOthers(
        run,
        marks.map(({ more }, at) => [ids[at]!, more]),
      );
      return ids;
    },
    async insertAll(run, rows) {
      await run({ sql: insert, values: byColumn(columns, rows) });
    },
    isOneStatement: {
      marks: (marks) => !marks.some(({ more }) => hasOtherRows(more)),
      outcomes: (outcomes) => !outcomes.some(({ completed }) => hasOtherRows(completed)),
    },
    async completeAll(run, outcomes) {
      const of = (pick: (completed: Completed) => unknown) => outcomes.map(({ completed }) => pick(completed));
      const values = [
        outcomes.map(({ id }) => id),
        of(({ outcome }) => outcome),
        of(({ code }) => code ?? null),
        of(({ durationMs }) => durationMs),
        of(recordIdsOf),
      ];
      const keys = pairsOf(outcomes.map(({ id, completed }) => [id, recordKeysOf(completed.recordIds)]));
      await run({ sql: complete, values: [...values, ...keys] });
      await insertOthers(
        run,
        outcomes.map(({ id, completed }) => [id, completed]),
      );
    },
  };
}

/** Each is a part of a union, which MySQL limits. */
const KEYS_A_STATEMENT = 100;

function createMysql(): GroupStatements {
  const insert = (rows: readonly Row[]) => ({ sql: `${into} values ?`, values: [rows.map(valuesOf)], isOnce: true });
  const insertOther: Insert = (table, names, given, set) => ({
    sql: `insert into ${table} (${names.join(', ')}) values ? on duplicate key update ${set}`,
    values: [given.map((row) => names.map((column) => columnOf(row, column)))],
    isOnce: true,
  });
  const insertOthers = (run: Execute, entries: readonly (readonly [number, More])[]) =>
    insertMore(run, entries, insertOther, (column) => `values(${column})`);
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
    async markAll(run, marks) {
      const { insertId } = await run(insert(marks.map(({ row }) => row)));
      // The ids of one statement are consecutive. The increment may exceed 1 in a cluster.
      const [[increment] = []] = marks.length === 1 ? [[1]] : (await run(step)).rows;
      const ids = marks.map((_, at) => insertId + at * Number(increment));
      const keys = marks.flatMap(({ row, keys }, at) =>
        keys.map((key) => [row.environment_id, key, row.started_at, ids[at]]),
      );
      if (keys.length > 0) await run({ sql: `insert ${intoRecords} values ?`, values: [keys], isOnce: true });
      await insertOthers(
        run,
        marks.map(({ more }, at) => [ids[at]!, more]),
      );
      return ids;
    },
    async insertAll(run, rows) {
      await run(insert(rows));
    },
    isOneStatement: {
      marks: (marks) => marks.length === 1 && isPlain(marks[0]!),
      outcomes: (outcomes) => !outcomes.some(({ completed }) => completed.recordIds?.length || hasOtherRows(completed)),
    },
    async completeAll(run, outcomes) {
      const keys = outcomes.flatMap(({ id, completed }) => recordKeysOf(completed.recordIds).map((key) => [id, key]));
      await run(update(outcomes));
      for (let at = 0; at < keys.length; at += KEYS_A_STATEMENT) {
        const some = keys.slice(at, at + KEYS_A_STATEMENT);
        const pairs = some.map(() => 'select ? as id, ? as record_key').join(' union all ');
        const sql = `insert ignore ${intoRecords} select environment_id, record_key, started_at, log.id
from ${TABLE} as log join (${pairs}) as pairs on pairs.id = log.id`;
        await run({ sql, values: some.flat(), isOnce: true });
      }
      await insertOthers(
        run,
        outcomes.map(({ id, completed }) => [id, completed]),
      );
    },
  };
}

/** Undefined on SQLite. Marks, outcomes and batches of entries share commits with the other writes of the process. */
export function createServerStatements({ dialect, direct, retry }: Database): ServerStatements | undefined {
  if (!direct || dialect === 'sqlite') return undefined;
  const { markAll, insertAll, completeAll, isOneStatement } = dialect === 'mysql' ? createMysql() : createPostgres();
  // Marks, and batches that have rows in other tables, share statements.
  const addAll = groupKind(direct, retry, {
    async runAll(run, batches: readonly (readonly Mark[])[]) {
      const ids = [...(await markAll(run, batches.flat()))];
      return batches.map(({ length }) => ids.splice(0, length));
    },
    needsTransaction: (batches) => !isOneStatement.marks(batches.flat()),
  });
  const addPlain = groupKind(direct, retry, {
    async runAll(run, batches: readonly (readonly Mark[])[]) {
      await insertAll(
        run,
        batches.flat().map(({ row }) => row),
      );
      return batches.map(() => undefined);
    },
    needsTransaction: () => false,
  });
  return {
    mark: async (entry) => (await addAll([entry]))[0]!,
    async insertAll(entries) {
      await (entries.every(isPlain) ? addPlain(entries) : addAll(entries));
    },
    complete: groupKind(direct, retry, {
      async runAll(run, outcomes: readonly Outcome[]) {
        // The last outcome of an entry counts.
        await completeAll(run, [...new Map(outcomes.map((each) => [each.id, each])).values()]);
        return outcomes.map(() => undefined);
      },
      needsTransaction: (outcomes) => !isOneStatement.outcomes(outcomes),
    }),
  };
}
