// Files in transfer to or from an action. Each part is a row, small enough for one statement in every database. The
// state controls which operation is next, and one call at most changes it.
import type { Clock } from '../../core/clock.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import type { FileRow, FileRows } from './types.ts';

export const fileTables: Tables = {
  files(table) {
    table.string('id_hash', 43).primary();
    table.string('kind', 10).notNullable();
    table.integer('user_id').notNullable();
    table.string('state', 10).notNullable();
    table.text('sealed').notNullable();
    table.bigInteger('bytes').notNullable();
    table.integer('parts').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.index(['expires_at']);
    table.index(['user_id', 'expires_at']);
  },
  file_parts(table) {
    table.string('id_hash', 43).notNullable();
    table.integer('part').notNullable();
    table.text('sealed', 'mediumtext').notNullable();
    table.primary(['id_hash', 'part']);
  },
};

interface StoredFile {
  readonly id_hash: string;
  readonly kind: FileRow['kind'];
  readonly user_id: number;
  readonly state: FileRow['state'];
  readonly sealed: string;
  readonly bytes: number | string;
  readonly parts: number;
  readonly expires_at: number | string;
}

const SWEEP_BATCH = 100;

export function createFileRows(database: Database, clock: Clock): FileRows {
  const { knex } = database;
  const alive = (id: string) => knex('files').where({ id_hash: id }).where('expires_at', '>', clock.now());
  const removeAll = (ids: readonly string[]) =>
    database.write(async (trx) => {
      await trx('file_parts').whereIn('id_hash', ids).delete();
      await trx('files').whereIn('id_hash', ids).delete();
    });

  return {
    async add({ id, kind, userId, state, sealed, bytes, parts, expiresAt }) {
      const row = { id_hash: id, kind, user_id: userId, state, sealed, bytes, parts, expires_at: expiresAt };
      await database.retry(() => knex('files').insert(row));
    },
    async find(id) {
      const row = await alive(id).first<StoredFile | undefined>();
      return row && fromStored(row);
    },
    async move(id, from, to) {
      return (await database.retry(() => alive(id).where({ state: from }).update({ state: to }))) === 1;
    },
    async putPart(id, part, sealed) {
      await database.retry(() => knex('file_parts').insert({ id_hash: id, part, sealed }));
    },
    async findPart(id, part) {
      const row = await knex('file_parts').where({ id_hash: id, part }).first<{ sealed: string } | undefined>('sealed');
      return row?.sealed;
    },
    async finish(id, { bytes, parts }) {
      const arriving = () => alive(id).where({ state: 'arriving' });
      return (await database.retry(() => arriving().update({ state: 'ready', bytes, parts }))) === 1;
    },
    async restart(id) {
      await database.write(async (trx) => {
        await trx('file_parts').where({ id_hash: id }).delete();
        await trx('files').where({ id_hash: id, state: 'arriving' }).update({ state: 'asked' });
      });
    },
    async keep(id, until) {
      await database.retry(() => alive(id).where('expires_at', '<', until).update({ expires_at: until }));
    },
    remove: (id) => removeAll([id]),
    async countOf(userId) {
      const row = await knex('files')
        .where({ user_id: userId })
        .where('expires_at', '>', clock.now())
        .count<{ count: number | string }[]>({ count: '*' });
      return Number(row[0]?.count ?? 0);
    },
    async sweep() {
      for (;;) {
        const ids: string[] = await knex('files')
          .where('expires_at', '<=', clock.now())
          .limit(SWEEP_BATCH)
          .pluck('id_hash');
        if (ids.length === 0) return;
        await removeAll(ids);
      }
    },
  };
}

function fromStored(row: StoredFile): FileRow {
  return {
    id: row.id_hash,
    kind: row.kind,
    userId: row.user_id,
    state: row.state,
    sealed: row.sealed,
    bytes: Number(row.bytes),
    parts: row.parts,
    expiresAt: Number(row.expires_at),
  };
}
