// Interns paths: one object per collection and path id. Values derived from a path can therefore be cached by object.

import { always } from '../lower/simplify.ts';
import type { Collection, Column, Relation, TypeCondition } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';

// Relations can form cycles, so the number of paths is unlimited. The cache is cleared at this size.
const MAX_CACHED_PATHS = 10_000;

const interned = new WeakMap<Collection, Map<string, Path>>();

/** The path from the collection `home`. */
export function pathTo(home: Collection, via: readonly Relation[], field: Column): Path {
  let paths = interned.get(home);
  if (!paths) {
    paths = new Map();
    interned.set(home, paths);
  }
  const id = via.length ? `${relationPathId(via)}:${field.name}` : field.name;
  const known = paths.get(id);
  if (known) return known;
  if (paths.size >= MAX_CACHED_PATHS) paths.clear();
  const path: Path = Object.freeze({ id, via: Object.freeze([...via]), field });
  paths.set(id, path);
  return path;
}

export function relationPathId(via: readonly Relation[]): string {
  return via.map((relation) => relation.name).join(':');
}

const unscopedTwins = new WeakMap<Relation, Relation>();
const unscopedRelations = new WeakSet<Relation>();

/**
 * The same relation under another name, for a separate join. A row scope reads all rows of a relation, while the
 * caller's own use of the relation is limited to visible rows.
 */
export function toUnscopedRelation(relation: Relation): Relation {
  let unscoped = unscopedTwins.get(relation);
  if (!unscoped) {
    // Databases reject NUL in names, so this name is unique.
    unscoped = Object.freeze({ ...relation, name: `${relation.name}\0scope` });
    unscopedTwins.set(relation, unscoped);
    unscopedRelations.add(unscoped);
  }
  return unscoped;
}

export function isUnscoped(relation: Relation): boolean {
  return unscopedRelations.has(relation);
}

/** The index of the first relation to another source; -1 if there is no such relation. */
export function crossSourceIndex({ via }: Path): number {
  return findCrossSource(via);
}

export function findCrossSource(via: readonly Relation[]): number {
  for (let at = 0; at < via.length; at++) if (via[at]!.reach === 'fetch') return at;
  return -1;
}

/** The type condition of a polymorphic relation on one side; `via` leads there from `home`. */
export function planTypeCondition(
  { only }: Relation,
  side: TypeCondition['side'],
  home: Collection,
  via: readonly Relation[],
): Filter {
  if (only?.side !== side) return always;
  return { op: 'test', path: pathTo(home, via, only.column), is: 'Equal', value: only.value };
}
