// Note visibility. Users see notes of their own team, administrators those of all teams. The user must be allowed to
// browse and read the collection, and the record must be in their row scope. The engine reads the records with the
// user's Access, once per page and collection, so a note never reveals a hidden record.

import { packId } from '../../../agent/encode/record-id.ts';
import type { Engine } from '../../../agent/engine.ts';
import type { Access } from '../../../core/caller.ts';
import { isAppError } from '../../../core/errors.ts';
import type { Note } from '../../../store/notes/types.ts';
import { idsFilter } from '../../records/names.ts';

type EngineReads = Pick<Engine, 'list' | 'get' | 'describe' | 'index'>;

/** Names of the collections with records that the user may read. */
export function readableCollections(engine: EngineReads, access: Access): readonly string[] {
  return engine.index(access).flatMap(({ name }) => (access.can('read', name) ? [name] : []));
}

export async function findVisible(
  engine: EngineReads,
  access: Access,
  notes: readonly Note[],
): Promise<readonly Note[]> {
  const { team, permissionLevel } = access.caller;
  const open = notes.filter(
    (note) =>
      note.collection !== null &&
      (note.team === team || permissionLevel === 'admin') &&
      access.can('browse', note.collection) &&
      access.can('read', note.collection),
  );
  const visibleByCollection = new Map<string, ReadonlySet<string>>();
  for (const collection of new Set(open.map((note) => note.collection!))) {
    const ids = new Set(open.filter((note) => note.collection === collection).map(({ recordId }) => recordId));
    visibleByCollection.set(collection, await visibleIds(engine, access, collection, [...ids]));
  }
  return open.filter((note) => visibleByCollection.get(note.collection!)?.has(note.recordId));
}

async function visibleIds(
  engine: EngineReads,
  access: Access,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  try {
    const { key } = engine.describe(access, collection);
    // Do not let users probe the values of a key that is hidden from them.
    if (key.length === 0) return new Set();
    const filter = idsFilter(key, ids);
    const { rows } = await engine.list(access, { collection, fields: key, filter, limit: ids.length });
    return new Set(rows.map((row) => packId(row)));
  } catch (error) {
    if (isRefused(error)) return ids.length === 1 ? new Set() : readEach(engine, access, collection, ids);
    throw error;
  }
}

/** Checks ids one by one, so an id that no longer fits the key cannot fail the others. */
async function readEach(
  engine: EngineReads,
  access: Access,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const visibleKeys = new Set<string>();
  for (const id of ids) for (const one of await visibleIds(engine, access, collection, [id])) visibleKeys.add(one);
  return visibleKeys;
}

/** An error below 500 counts as an absent record. */
const isRefused = (error: unknown): boolean => isAppError(error) && error.status < 500;
