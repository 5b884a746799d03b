// Which notes somebody sees: those of his team (an administrator those of all), on collections that he may browse and read,
// about records within his rows. The engine is asked for the records with his Access, all of a page and a collection at
// once, so that a note never tells of a record that its reader may not see.
import type { Engine } from '../../agent/engine.ts';
import { packId, splitId } from '../../agent/record-id.ts';
import type { Access } from '../../core/caller.ts';
import { isAppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { Note } from '../../store/note-types.ts';

type Asked = Pick<Engine, 'list' | 'get' | 'describe' | 'index'>;

/** Names of the collections whose records one may read. */
export function readableCollections(engine: Asked, access: Access): readonly string[] {
  return engine.index(access).flatMap(({ name }) => (access.can('read', name) ? [name] : []));
}

export async function findVisible(engine: Asked, access: Access, notes: readonly Note[]): Promise<readonly Note[]> {
  const { team, permissionLevel } = access.caller;
  const open = notes.filter(
    (note) =>
      note.collection !== null &&
      (note.team === team || permissionLevel === 'admin') &&
      access.can('browse', note.collection) &&
      access.can('read', note.collection),
  );
  const seen = new Map<string, ReadonlySet<string>>();
  for (const collection of new Set(open.map((note) => note.collection!))) {
    const ids = new Set(open.filter((note) => note.collection === collection).map(({ recordId }) => recordId));
    seen.set(collection, await visibleIds(engine, access, collection, [...ids]));
  }
  return open.filter((note) => seen.get(note.collection!)?.has(note.recordId));
}

async function visibleIds(
  engine: Asked,
  access: Access,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  try {
    const { key } = engine.describe(access, collection);
    // Nobody may try out the values of a key that is hidden from him.
    if (key.length === 0) return new Set();
    const filter = idsFilter(key, ids);
    const { rows } = await engine.list(access, { collection, fields: key, filter, limit: ids.length });
    return new Set(rows.map((row) => packId(row)));
  } catch (error) {
    if (isRefused(error)) return ids.length === 1 ? new Set() : eachOf(engine, access, collection, ids);
    throw error;
  }
}

/** One by one: an id that the key cannot hold any more takes no other one along. */
async function eachOf(
  engine: Asked,
  access: Access,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (const id of ids) for (const one of await visibleIds(engine, access, collection, [id])) seen.add(one);
  return seen;
}

/** What is refused is as if it were not there; what may pass is told. */
const isRefused = (error: unknown): boolean => isAppError(error) && error.status < 500;

function idsFilter(key: readonly string[], ids: readonly string[]): PlainFilter {
  if (key.length === 1) return { field: key[0]!, operator: 'In', value: ids };
  const conditions = ids.map((id): PlainFilter => {
    const values = splitId(id);
    return {
      aggregator: 'And',
      conditions: key.map((field, at) => ({ field, operator: 'Equal', value: values[at] ?? null })),
    };
  });
  return { aggregator: 'Or', conditions };
}
