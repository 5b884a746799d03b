// How entries of the activity log reach the storage. Every call leaves one, so that on SQLite they go by statements that
// are made once: knex would build, queue and prepare each of them anew, which costs more than SQLite does. The driver is
// synchronous, so that what runs while no transaction is open is one of its own; while one is, and on servers, they go
// through knex.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../core/sqlite.ts';
import { recordKeysOf } from './activity-keys.ts';
import {
  fromRow,
  fromWorkflowRow,
  RECORDS,
  type Row,
  recordColumns,
  type StoredEntry,
  TABLE,
  toRow,
  toWorkflowRow,
  WORKFLOWS,
  type WorkflowRow,
} from './activity-row.ts';
import { prepare, type Statements } from './activity-statements.ts';
import type { ActivityEntry, ActivityLog, Intent } from './activity-types.ts';
import type { Database } from './database.ts';
import type { Versions } from './store.ts';
import { versionsOf } from './versions.ts';
import type { EntryWorkflow } from './workflow-types.ts';

export interface ActivityRows {
  /** The id of the new row, and where it costs nothing the versions at that moment. */
  insert(entry: ActivityEntry): Promise<Mark>;
  /** All or none. */
  insertAll(entries: readonly ActivityEntry[]): Promise<void>;
  complete(id: number, result: Completed): Promise<void>;
  /** The same for another process: only what is still `unknown`, so that no entry is told another way afterwards. */
  completeMark(id: number, result: Completed): Promise<void>;
  readonly list: ActivityLog['list'];
}

export interface Mark {
  readonly id: number;
  readonly versions?: Versions;
}

export type Completed = Parameters<Intent['complete']>[0] & Pick<ActivityEntry, 'durationMs'>;

/**
 * Rows of one INSERT. knex writes them for SQLite as a compound SELECT, whose depth the WebAssembly stack must bear. A server
 * is waited for with each, so that few are better there.
 */
const ROWS_A_STATEMENT = { sqlite: 50, mysql: 500, postgres: 500 } as const;
const PAGE_MOST = 1000;
/** Values that every database takes in one statement. */
const IDS_A_STATEMENT = 500;

export function createActivityRows(
  database: Database,
  getPlace: () => Promise<{ readonly environmentId: number }>,
): ActivityRows {
  const { knex, dialect } = database;
  const together = ROWS_A_STATEMENT[dialect];
  const statements = new WeakMap<SqliteConnection, Statements>();
  const idle = (): Statements | undefined => {
    const connection = database.sqlite?.idle();
    if (!connection) return undefined;
    const made = statements.get(connection) ?? prepare(connection);
    statements.set(connection, made);
    return made;
  };
  /** The process serves one as long as it lives. */
  let environment: number | undefined;
  const findEnvironment = async (): Promise<number> => {
    environment = (await getPlace()).environmentId;
    return environment;
  };

  /** Only what is still `outcome`, where it is given. */
  const update = async (
    id: number,
    { recordIds, workflow, ...result }: Completed,
    outcome?: 'unknown',
  ): Promise<void> => {
    const where = { id, ...(outcome && { outcome }) };
    const row = {
      outcome: result.outcome,
      code: result.code ?? null,
      duration_ms: result.durationMs,
      ...(recordIds && { record_ids: JSON.stringify(recordIds) }),
    };
    if (!recordIds && !workflow) await knex(TABLE).where(where).update(row);
    else
      await database.write(async (trx) => {
        if ((await trx(TABLE).where(where).update(row)) === 0) return;
        const marked = await trx(TABLE).where({ id }).first<RecordRow>('environment_id', 'started_at');
        await insertKeys(trx, together, keysOf({ ...marked, log_id: id }, recordIds));
        if (workflow) await insertWorkflows(trx, [toWorkflowRow(id, workflow)]);
      });
  };

  return {
    async insert(entry): Promise<Mark> {
      const row = toRow(entry, environment ?? (await findEnvironment()));
      const ready = idle();
      if (ready) {
        const [id, ...numbers] = ready.mark(row, recordKeysOf(entry.recordIds), entry.workflow);
        return { id: id!, versions: versionsOf(numbers) };
      }
      if (!hasMore(entry)) return { id: await database.insert(knex, TABLE, { ...row }) };
      return database.write(async (trx) => {
        const id = await database.insert(trx, TABLE, { ...row });
        await insertKeys(trx, together, keysOf({ ...row, log_id: id }, entry.recordIds));
        if (entry.workflow) await insertWorkflows(trx, [toWorkflowRow(id, entry.workflow)]);
        return { id };
      });
    },
    async insertAll(entries) {
      const of = environment ?? (await findEnvironment());
      const rows = entries.map((entry) => toRow(entry, of));
      const ready = idle();
      if (ready) ready.insertAll(rows, entries);
      else
        await database.write(async (trx) => {
          for (let at = 0; at < rows.length; at += together) {
            const [some, told] = [rows.slice(at, at + together), entries.slice(at, at + together)];
            const ids = await insertRows(database, trx, some, told.some(hasMore));
            await insertKeys(
              trx,
              together,
              ids.flatMap((id, n) => keysOf({ ...some[n]!, log_id: id }, told[n]!.recordIds)),
            );
            await insertWorkflows(
              trx,
              ids.flatMap((id, n) => (told[n]!.workflow ? [toWorkflowRow(id, told[n]!.workflow)] : [])),
            );
          }
        });
    },
    async complete(id, completed) {
      const ready = idle();
      if (ready) ready.complete(id, completed);
      else await update(id, completed);
    },
    completeMark: (id, completed) => update(id, completed, 'unknown'),
    async list({ limit, before }) {
      const query = knex(TABLE)
        .orderBy('id', 'desc')
        .limit(Math.min(Math.max(1, limit), PAGE_MOST));
      if (before !== undefined) query.where('id', '<', before);
      const rows = (await query) as StoredEntry[];
      const workflows = await readWorkflows(knex, rows);
      return rows.map((row) => fromRow(row, workflows.get(Number(row.id))));
    },
  };
}

/** Than its row. */
const hasMore = ({ recordIds, workflow }: ActivityEntry): boolean =>
  workflow !== undefined || (recordIds !== undefined && recordIds.length > 0);

/** By the id of the entry, of those that are of a run. */
export async function readWorkflows(
  on: Knex,
  entries: readonly Pick<StoredEntry, 'id'>[],
): Promise<ReadonlyMap<number, EntryWorkflow>> {
  const found = new Map<number, EntryWorkflow>();
  for (let at = 0; at < entries.length; at += IDS_A_STATEMENT) {
    const ids = entries.slice(at, at + IDS_A_STATEMENT).map(({ id }) => id);
    const rows = await on(WORKFLOWS).whereIn('log_id', ids).select<WorkflowRow[]>();
    for (const row of rows) found.set(Number(row.log_id), fromWorkflowRow(row));
  }
  return found;
}

/** Ids of the rows, in their order; none where they are not asked for. */
async function insertRows(
  { dialect }: Database,
  trx: Knex.Transaction,
  rows: readonly Row[],
  wantsIds: boolean,
): Promise<readonly number[]> {
  if (!wantsIds) {
    await trx(TABLE).insert(rows);
    return [];
  }
  if (dialect === 'postgres')
    return (await trx(TABLE).insert(rows).returning<{ id: number }[]>('id')).map(({ id }) => id);
  const [told] = (await trx(TABLE).insert(rows)) as [number];
  // Ids of one statement follow one another. MySQL tells the first, and by how much they grow (more than 1 in a cluster).
  if (dialect === 'sqlite') return rows.map((_, n) => told - rows.length + 1 + n);
  const [[{ step }]] = (await trx.raw('select @@auto_increment_increment as step')) as [[{ step: number }]];
  return rows.map((_, n) => told + n * step);
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

/** One that is there already is left: the same record may be told of by the mark and at the end. */
async function insertKeys(
  trx: Knex.Transaction,
  together: number,
  keys: readonly ReturnType<typeof keysOf>[number][],
): Promise<void> {
  for (let at = 0; at < keys.length; at += together) {
    await trx(RECORDS)
      .insert(keys.slice(at, at + together))
      .onConflict([...recordColumns])
      .ignore();
  }
}

async function insertWorkflows(trx: Knex.Transaction, rows: readonly WorkflowRow[]): Promise<void> {
  if (rows.length > 0) await trx(WORKFLOWS).insert(rows).onConflict('log_id').merge();
}
