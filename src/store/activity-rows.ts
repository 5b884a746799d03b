// How entries of the activity log reach the storage. Every call leaves one, so that on SQLite they go by statements that
// are made once: knex would build, queue and prepare each of them anew, which costs more than SQLite does. The driver is
// synchronous, so that what runs while no transaction is open is one of its own; while one is, and on servers, they go
// through knex.
import type { Knex } from 'knex';
import type { SqliteConnection } from '../core/sqlite.ts';
import { recordKeysOf } from './activity-keys.ts';
import { fromRow, RECORDS, type Row, recordColumns, type StoredEntry, TABLE, toRow } from './activity-row.ts';
import { prepare, type Statements } from './activity-statements.ts';
import type { Database } from './database.ts';
import type { ActivityEntry, ActivityLog, Intent, Versions } from './store.ts';
import { versionsOf } from './versions.ts';

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

/** Rows of one INSERT. knex writes them for SQLite as a compound SELECT, whose depth the WebAssembly stack must bear. */
const ROWS_A_STATEMENT = 50;
const PAGE_MOST = 1000;

export function createActivityRows(
  database: Database,
  getPlace: () => Promise<{ readonly environmentId: number }>,
): ActivityRows {
  const { knex } = database;
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
  const update = async (id: number, { recordIds, ...result }: Completed, outcome?: 'unknown'): Promise<void> => {
    const where = { id, ...(outcome && { outcome }) };
    const row = {
      outcome: result.outcome,
      code: result.code ?? null,
      duration_ms: result.durationMs,
      ...(recordIds && { record_ids: JSON.stringify(recordIds) }),
    };
    if (!recordIds) await knex(TABLE).where(where).update(row);
    else
      await database.write(async (trx) => {
        if ((await trx(TABLE).where(where).update(row)) === 0) return;
        const marked = await trx(TABLE).where({ id }).first<RecordRow>('environment_id', 'started_at');
        await insertKeys(trx, keysOf({ ...marked, log_id: id }, recordIds));
      });
  };

  return {
    async insert(entry): Promise<Mark> {
      const row = toRow(entry, environment ?? (await findEnvironment()));
      const ready = idle();
      if (ready) {
        const [id, ...numbers] = ready.mark(row, recordKeysOf(entry.recordIds));
        return { id: id!, versions: versionsOf(numbers) };
      }
      if (!entry.recordIds?.length) return { id: await database.insert(knex, TABLE, { ...row }) };
      return database.write(async (trx) => {
        const id = await database.insert(trx, TABLE, { ...row });
        await insertKeys(trx, keysOf({ ...row, log_id: id }, entry.recordIds));
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
          for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
            const [some, told] = [rows.slice(at, at + ROWS_A_STATEMENT), entries.slice(at, at + ROWS_A_STATEMENT)];
            const ids = await insertRows(database, trx, some, told.some(hasRecords));
            await insertKeys(
              trx,
              ids.flatMap((id, n) => keysOf({ ...some[n]!, log_id: id }, told[n]!.recordIds)),
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
      return ((await query) as StoredEntry[]).map(fromRow);
    },
  };
}

const hasRecords = ({ recordIds }: ActivityEntry): boolean => recordIds !== undefined && recordIds.length > 0;

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
async function insertKeys(trx: Knex.Transaction, keys: readonly ReturnType<typeof keysOf>[number][]): Promise<void> {
  for (let at = 0; at < keys.length; at += ROWS_A_STATEMENT) {
    await trx(RECORDS)
      .insert(keys.slice(at, at + ROWS_A_STATEMENT))
      .onConflict([...recordColumns])
      .ignore();
  }
}
