// Paths are interned: one object for one id of a collection, so that what is made of a path can be kept with it.
import type { Collection, Column, Only, Relation } from '../model/types.ts';
import { always } from './simplify.ts';
import type { Filter, Path } from './types.ts';

// Relations can be followed in circles, so that the number of paths has no end: past this they are made anew.
const KEPT = 10_000;

const interned = new WeakMap<Collection, Map<string, Path>>();

/** `home` is the collection that the path starts at. */
export function pathTo(home: Collection, via: readonly Relation[], field: Column): Path {
  let paths = interned.get(home);
  if (!paths) {
    paths = new Map();
    interned.set(home, paths);
  }
  const id = via.length ? `${idOf(via)}:${field.name}` : field.name;
  const known = paths.get(id);
  if (known) return known;
  if (paths.size >= KEPT) paths.clear();
  const path: Path = Object.freeze({ id, via: Object.freeze([...via]), field });
  paths.set(id, path);
  return path;
}

export function idOf(via: readonly Relation[]): string {
  return via.map((relation) => relation.name).join(':');
}

const twins = new WeakMap<Relation, Relation>();
const isTwin = new WeakSet<Relation>();

/**
 * The same relation under another name, joined beside it: a row scope looks through relations at every row, while the
 * caller's own use of the relation shows only the rows that the caller may see.
 */
export function twinOf(relation: Relation): Relation {
  let twin = twins.get(relation);
  if (!twin) {
    // No database takes NUL in a name, so that no other relation can have this one.
    twin = Object.freeze({ ...relation, name: `${relation.name}\0scope` });
    twins.set(relation, twin);
    isTwin.add(twin);
  }
  return twin;
}

export function isUnscoped(relation: Relation): boolean {
  return isTwin.has(relation);
}

/** The place of the first relation that leads to another source; -1 for most paths. */
export function awayAt({ via }: Path): number {
  return awayIn(via);
}

export function awayIn(via: readonly Relation[]): number {
  for (let at = 0; at < via.length; at++) if (via[at]!.reach === 'fetch') return at;
  return -1;
}

/** What a polymorphic relation asks of this side; `via` leads there from `home`. */
export function onlyAt({ only }: Relation, side: Only['side'], home: Collection, via: readonly Relation[]): Filter {
  if (only?.side !== side) return always;
  return { op: 'test', path: pathTo(home, via, only.column), is: 'Equal', value: only.value };
}
