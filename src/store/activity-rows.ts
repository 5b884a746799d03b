// How entries of the activity log reach the storage. Every call leaves one, so that on SQLite they go by statements that
// are made once: knex would build, queue and prepare each of them anew, which costs more than SQLite does. The driver is
// synchronous, so that what runs while no transaction is open is one of its own; while one is, and on servers, they go
// through knex.
import type { SqliteConnection } from '../core/sqlite.ts';
import type { Database } from './database.ts';
import type { ActivityEntry, ActivityLog, Intent, Versions } from './store.ts';
import { versionNumbers, versionsOf } from './versions.ts';

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
/** Of a statement made once: a row then costs half of what it does alone. */
const ROWS_TOGETHER = 20;
const TABLE = 'activity_logs';
const PAGE_MOST = 1000;

export function createActivityRows(database: Database): ActivityRows {
  const { knex } = database;
  const statements = new WeakMap<SqliteConnection, Statements>();
  const idle = (): Statements | undefined => {
    const connection = database.sqlite?.idle();
    if (!connection) return undefined;
    const made = statements.get(connection) ?? prepare(connection);
    statements.set(connection, made);
    return made;
  };
  return {
    async insert(entry): Promise<Mark> {
      const row = toRow(entry);
      const ready = idle();
      if (!ready) return { id: await database.insert(knex, TABLE, { ...row }) };
      const [id, ...numbers] = ready.mark.get(valuesOf(row)) as [number, ...number[]];
      return { id, versions: versionsOf(numbers) };
    },
    async insertAll(entries) {
      const rows = entries.map(toRow);
      const ready = idle();
      if (ready) ready.insertAll(rows);
      else
        await database.write(async (trx) => {
          for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT)
            await trx(TABLE).insert(rows.slice(at, at + ROWS_A_STATEMENT));
        });
    },
    async complete(id, { outcome, code, recordIds, durationMs }) {
      const result = { outcome, code: code ?? null, duration_ms: durationMs };
      const ids = recordIds && { record_ids: JSON.stringify(recordIds) };
      const ready = idle();
      if (ready) ready.complete.run({ id, ...result, record_ids: null, ...ids });
      else
        await knex(TABLE)
          .where({ id })
          .update({ ...result, ...ids });
    },
    async completeMark(id, { outcome, code, recordIds, durationMs }) {
      await knex(TABLE)
        .where({ id, outcome: 'unknown' })
        .update({
          outcome,
          code: code ?? null,
          duration_ms: durationMs,
          ...(recordIds && { record_ids: JSON.stringify(recordIds) }),
        });
    },
    async list({ limit, before }) {
      const query = knex(TABLE)
        .orderBy('id', 'desc')
        .limit(Math.min(Math.max(1, limit), PAGE_MOST));
      if (before !== undefined) query.where('id', '<', before);
      return ((await query) as StoredEntry[]).map(fromRow);
    },
  };
}

interface Statements {
  readonly mark: ReturnType<SqliteConnection['prepare']>;
  readonly insertAll: (rows: readonly Row[]) => void;
  readonly complete: ReturnType<SqliteConnection['prepare']>;
}

function prepare(connection: SqliteConnection): Statements {
  const places = `(${columns.map(() => '?').join(', ')})`;
  const insertSome = (rows: number) => {
    const all = new Array<string>(rows).fill(places);
    return connection.prepare(`insert into ${TABLE} (${columns.join(', ')}) values ${all.join(', ')}`);
  };
  const insert = insertSome(1);
  const mark = connection.prepare(`${insert.source} returning id, ${versionNumbers}`).raw();
  const insertTogether = insertSome(ROWS_TOGETHER);
  const insertEach = connection.transaction((rows: readonly Row[]) => {
    const whole = rows.length - (rows.length % ROWS_TOGETHER);
    for (let at = 0; at < whole; at += ROWS_TOGETHER)
      insertTogether.run(rows.slice(at, at + ROWS_TOGETHER).flatMap(valuesOf));
    for (const row of rows.slice(whole)) insert.run(valuesOf(row));
  });
  return {
    mark,
    insertAll: (rows) => insertEach.immediate(rows),
    complete: connection.prepare(
      `update ${TABLE} set outcome = @outcome, code = @code, duration_ms = @duration_ms,
        record_ids = coalesce(@record_ids, record_ids) where id = @id`,
    ),
  };
}

const columns = [
  'user_id',
  'rendering_id',
  'client_id',
  'client_name',
  'action',
  'type',
  'collection',
  'record_ids',
  'outcome',
  'code',
  'started_at',
  'duration_ms',
] as const satisfies readonly (keyof Row)[];

const valuesOf = (row: Row): unknown[] => columns.map((column) => row[column]);

interface StoredEntry extends Row {
  readonly id: number;
}

interface Row {
  readonly user_id: number;
  readonly rendering_id: number;
  readonly client_id: string;
  readonly client_name: string;
  readonly action: string;
  readonly type: ActivityEntry['type'];
  readonly collection: string | null;
  readonly record_ids: string | null;
  readonly outcome: ActivityEntry['outcome'];
  readonly code: string | null;
  readonly started_at: number;
  readonly duration_ms: number;
}

function toRow(entry: ActivityEntry): Row {
  return {
    user_id: entry.userId,
    rendering_id: entry.renderingId,
    client_id: entry.clientId,
    client_name: entry.clientName,
    action: entry.action.slice(0, 100),
    type: entry.type,
    collection: entry.collection?.slice(0, 191) ?? null,
    record_ids: entry.recordIds ? JSON.stringify(entry.recordIds) : null,
    outcome: entry.outcome,
    code: entry.code?.slice(0, 60) ?? null,
    started_at: entry.startedAt,
    duration_ms: entry.durationMs,
  };
}

function fromRow(row: StoredEntry): ActivityEntry & { readonly id: number } {
  return {
    id: Number(row.id),
    userId: row.user_id,
    renderingId: row.rendering_id,
    clientId: row.client_id,
    clientName: row.client_name,
    action: row.action,
    type: row.type,
    ...(row.collection === null ? {} : { collection: row.collection }),
    ...(row.record_ids === null ? {} : { recordIds: JSON.parse(row.record_ids) as string[] }),
    outcome: row.outcome,
    ...(row.code === null ? {} : { code: row.code }),
    startedAt: Number(row.started_at),
    durationMs: row.duration_ms,
  };
}
