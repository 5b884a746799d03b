// Writes entries of the activity log. Every call writes one: on SQLite it uses statements that are prepared once,
// because knex would build, queue and prepare each one at a higher cost. The driver is synchronous, and a statement
// outside a transaction is a transaction of its own. During a transaction, and on servers, the writes use knex. The
// file also tracks whether the log can be written. Writes require it, and the readiness check reports it.

import type { Knex } from 'knex';
import { AppError } from '../../core/errors.ts';
import type { SqliteConnection } from '../../core/sqlite.ts';
import type { Database } from '../database/database.ts';
import type { Versions } from '../version-types.ts';
import { versionsOf } from '../versions.ts';
import {
  columns,
  type EntryDetails,
  fromRow,
  fromWorkflowRow,
  hasDetails,
  insertDetails,
  RECORDS,
  type Row,
  readDetails,
  recordColumns,
  recordKeysOf,
  type StoredEntry,
  TABLE,
  toDetailRow,
  toRow,
  toWorkflowRow,
  WORKFLOWS,
  type WorkflowRow,
} from './activity-row.ts';
import { type Completed, hasMore, prepare, type Statements } from './activity-statements.ts';
import type { ActivityEntry, ActivityLog } from './activity-types.ts';
import type { EntryWorkflow } from './log-types.ts';
import { createServerStatements } from './server-statements.ts';

export interface ActivityRows {
  /** Returns the id of the new row, and the current versions when they cost no extra query. */
  insert(entry: ActivityEntry): Promise<LogMark>;
  /** Writes all entries or no entries. */
  insertAll(entries: readonly ActivityEntry[]): Promise<void>;
  complete(id: number, result: Completed): Promise<void>;
  /** For another process: changes the entry only while it is `unknown`, and a final outcome is never overwritten. */
  completeMark(id: number, result: Completed): Promise<void>;
  readonly list: ActivityLog['list'];
}

export interface LogMark {
  readonly id: number;
  readonly versions?: Versions;
}

/**
 * Rows per INSERT. For SQLite knex writes a compound SELECT, and the WebAssembly stack limits its depth. On a server
 * each statement costs a round trip, and larger batches are better.
 */
const ROWS_A_STATEMENT = { sqlite: 50, mysql: 500, postgres: 500 } as const;
const MAX_PAGE = 1000;
/** Number of values that every database accepts in one statement. */
const IDS_A_STATEMENT = 500;

export function createActivityRows(
  database: Database,
  getEnvironment: () => Promise<{ readonly environmentId: number }>,
): ActivityRows {
  const { knex, dialect } = database;
  const rowsPerStatement = ROWS_A_STATEMENT[dialect];
  const statements = new WeakMap<SqliteConnection, Statements>();
  const preparedOn = (connection: SqliteConnection): Statements => {
    const prepared = statements.get(connection) ?? prepare(connection);
    statements.set(connection, prepared);
    return prepared;
  };
  const onServer = createServerStatements(database);
  /** Cached, because a process serves one environment. */
  let environment: number | undefined;
  const findEnvironment = async (): Promise<number> => {
    environment = (await getEnvironment()).environmentId;
    return environment;
  };

  /** `outcome`: changes the row only while it has this outcome. */
  const update = async (
    id: number,
    { recordIds, workflow, effects, ...result }: Completed,
    outcome?: 'unknown',
  ): Promise<void> => {
    const where = { id, ...(outcome && { outcome }) };
    const row = {
      outcome: result.outcome,
      code: result.code ?? null,
      duration_ms: result.durationMs,
      ...(recordIds && { record_ids: JSON.stringify(recordIds) }),
    };
    if (!recordIds && !workflow && !effects) await knex(TABLE).where(where).update(row);
    else
      await database.write(async (trx) => {
        if ((await trx(TABLE).where(where).update(row)) === 0) return;
        const marked = await trx(TABLE).where({ id }).first<RecordRow>('environment_id', 'started_at');
        await insertKeys(trx, rowsPerStatement, keysOf({ ...marked, log_id: id }, recordIds));
        if (workflow) await insertWorkflows(trx, [toWorkflowRow(id, workflow)]);
        if (effects) await insertDetails(trx, [toDetailRow(id, { effects })]);
      });
  };

  return {
    async insert(entry): Promise<LogMark> {
      const row = toRow(entry, environment ?? (await findEnvironment()));
      const keys = recordKeysOf(entry.recordIds);
      const done = await database.sqlite?.write(hasMore(entry), (on) => preparedOn(on).mark(row, keys, entry));
      if (done) {
        const [id, ...numbers] = done.answer;
        return { id: id!, versions: versionsOf(numbers) };
      }
      if (onServer) return { id: await onServer.mark({ row, keys, more: entry }) };
      if (!hasMore(entry)) return { id: await database.insert(knex, TABLE, { ...row }) };
      return database.write(async (trx) => {
        const id = await database.insert(trx, TABLE, { ...row });
        await insertKeys(trx, rowsPerStatement, keysOf({ ...row, log_id: id }, entry.recordIds));
        if (entry.workflow) await insertWorkflows(trx, [toWorkflowRow(id, entry.workflow)]);
        if (hasDetails(entry)) await insertDetails(trx, [toDetailRow(id, entry)]);
        return { id };
      });
    },
    async insertAll(entries) {
      const of = environment ?? (await findEnvironment());
      const rows = entries.map((entry) => toRow(entry, of));
      if (onServer && rows.length <= rowsPerStatement)
        await onServer.insertAll(
          rows.map((row, at) => ({ row, keys: recordKeysOf(entries[at]!.recordIds), more: entries[at]! })),
        );
      else if (!database.sqlite?.runSync((on) => preparedOn(on).insertAll(rows, entries)))
        await database.write(async (trx) => {
          for (let at = 0; at < rows.length; at += rowsPerStatement) {
            const [batchRows, batch] = [
              rows.slice(at, at + rowsPerStatement),
              entries.slice(at, at + rowsPerStatement),
            ];
            const ids = await insertRows(database, trx, batchRows, batch.some(hasMore));
            await insertKeys(
              trx,
              rowsPerStatement,
              ids.flatMap((id, n) => keysOf({ ...batchRows[n]!, log_id: id }, batch[n]!.recordIds)),
            );
            await insertWorkflows(
              trx,
              ids.flatMap((id, n) => (batch[n]!.workflow ? [toWorkflowRow(id, batch[n]!.workflow)] : [])),
            );
            await insertDetails(
              trx,
              ids.flatMap((id, n) => (hasDetails(batch[n]!) ? [toDetailRow(id, batch[n]!)] : [])),
            );
          }
        });
    },
    async complete(id, completed) {
      const done = await database.sqlite?.write(hasMore(completed), (on) => preparedOn(on).complete(id, completed));
      if (done) return;
      if (onServer) await onServer.complete({ id, completed });
      else await update(id, completed);
    },
    completeMark: (id, completed) => update(id, completed, 'unknown'),
    async list({ limit, before }) {
      const query = knex(TABLE)
        .orderBy('id', 'desc')
        .limit(Math.min(Math.max(1, limit), MAX_PAGE));
      if (before !== undefined) query.where('id', '<', before);
      const rows = (await query) as StoredEntry[];
      const { workflows, details } = await readRelatedRows(knex, rows);
      return rows.map((row) => fromRow(row, workflows.get(Number(row.id)), details.get(Number(row.id))));
    },
  };
}

interface RelatedRows {
  readonly workflows: ReadonlyMap<number, EntryWorkflow>;
  readonly details: ReadonlyMap<number, EntryDetails>;
}

/** Values that only few entries have, by entry id. They are stored in separate tables. */
export async function readRelatedRows(on: Knex, entries: readonly Pick<StoredEntry, 'id'>[]): Promise<RelatedRows> {
  const workflows = new Map<number, EntryWorkflow>();
  const details = new Map<number, EntryDetails>();
  for (let at = 0; at < entries.length; at += IDS_A_STATEMENT) {
    const ids = entries.slice(at, at + IDS_A_STATEMENT).map(({ id }) => id);
    const rows = await on(WORKFLOWS).whereIn('log_id', ids).select<WorkflowRow[]>();
    for (const row of rows) workflows.set(Number(row.log_id), fromWorkflowRow(row));
    for (const [id, each] of await readDetails(on, ids)) details.set(id, each);
  }
  return { workflows, details };
}

/** Ids of the rows in order, or an empty list when they are not requested. */
async function insertRows(
  { dialect }: Database,
  trx: Knex.Transaction,
  rows: readonly Row[],
  needsIds: boolean,
): Promise<readonly number[]> {
  if (!needsIds) {
    await trx(TABLE).insert(rows);
    return [];
  }
  if (dialect === 'postgres')
    return (await trx(TABLE).insert(rows).returning<{ id: number }[]>('id')).map(({ id }) => id);
  const [firstId] = (await trx(TABLE).insert(rows)) as [number];
  // The ids of one statement are consecutive. MySQL returns the first id, and its increment may exceed 1 in a cluster.
  if (dialect === 'sqlite') return rows.map((_, n) => firstId - rows.length + 1 + n);
  const [[{ step }]] = (await trx.raw('select @@auto_increment_increment as step')) as [[{ step: number }]];
  return rows.map((_, n) => firstId + n * step);
}

interface RecordRow {
  readonly environment_id: number;
  readonly started_at: number;
}

function keysOf(
  { environment_id, started_at, log_id }: RecordRow & { readonly log_id: number },
  recordIds: readonly string[] | undefined,
) {
  return recordKeysOf(recordIds).map((record_key) => ({ environment_id, record_key, started_at, log_id }));
}

/** Ignores existing rows: a record may be in the mark and in the outcome. */
async function insertKeys(
  trx: Knex.Transaction,
  rowsPerStatement: number,
  keys: readonly ReturnType<typeof keysOf>[number][],
): Promise<void> {
  for (let at = 0; at < keys.length; at += rowsPerStatement) {
    await trx(RECORDS)
      .insert(keys.slice(at, at + rowsPerStatement))
      .onConflict([...recordColumns])
      .ignore();
  }
}

async function insertWorkflows(trx: Knex.Transaction, rows: readonly WorkflowRow[]): Promise<void> {
  if (rows.length > 0) await trx(WORKFLOWS).insert(rows).onConflict('log_id').merge();
}

interface WatchedRows {
  readonly rows: ActivityRows;
  /** SOURCE_UNAVAILABLE after a failed write to the log, until a write succeeds again. */
  requireWritable(): Promise<void>;
}

/** Inserts a copy of the last entry, which writes all indexes, and deletes it in the same transaction. */
const probe = ({ write, insert }: Database): Promise<void> =>
  write(async (trx) => {
    const last = await trx(TABLE)
      .orderBy('id', 'desc')
      .first<Row | undefined>(...columns);
    if (!last) return;
    const id = await insert(trx, TABLE, { ...last });
    await trx(TABLE).where({ id }).delete();
  });

export function watchWriting(rows: ActivityRows, database: Database): WatchedRows {
  let hasFailed = false;
  const watched =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      try {
        const answer = await write(...args);
        hasFailed = false;
        return answer;
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    };
  return {
    rows: {
      insert: watched(rows.insert),
      insertAll: watched(rows.insertAll),
      complete: watched(rows.complete),
      completeMark: watched(rows.completeMark),
      list: rows.list,
    },
    async requireWritable() {
      if (!hasFailed) return;
      try {
        await probe(database);
        hasFailed = false;
      } catch (cause) {
        throw new AppError('SOURCE_UNAVAILABLE', {}, cause);
      }
    },
  };
}
