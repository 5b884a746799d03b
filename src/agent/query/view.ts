// What one caller sees of one collection, kept for as long as the Access lives: an Access answers for one version of the
// permissions, so nothing here can go stale. Names that a caller used are found again by one look into a map.
//
// What is hidden does not exist: a hidden field, a relation to a collection that may not be browsed, and a relation
// whose foreign key is hidden, are unknown names, and no error or list of near names tells them.
import type { Access } from '../../core/caller.ts';
import type { Collection, Column, Field, Relation, Route, Through } from '../model/types.ts';
import { twinOf } from './paths.ts';
import type { Named } from './types.ts';

export interface View {
  readonly collection: Collection;
  /** Visible, in the order of the table. */
  readonly columns: readonly Column[];
  /** Visible. */
  readonly relations: readonly Relation[];
  /** Every visible column, as asked for by its name. */
  readonly everything: readonly string[];
  /** Names that were resolved before. */
  readonly names: Map<string, Named>;
  readonly sight: Sight;
  /** Another collection, seen in the same way. */
  other(collection: Collection): View;
  /** The view of customization code, for the same caller. */
  inside(collection: Collection): View;
}

/** How names are looked up: as a caller does, as a row scope does, or as customization code does. */
export interface Sight {
  /** The names of a collection. */
  fields(collection: Collection): ReadonlyMap<string, Field>;
  sees(collection: Collection, field: Field): boolean;
  /** The relation to join when the name of this one is used. */
  follow(relation: Relation): Relation;
  /** Whether rows of the collection are withheld. */
  withholds(collection: Collection): boolean;
  /** Whether related records are those that the caller may see; a row scope looks at every one. */
  readonly scoped: boolean;
}

/** Weak in the collections too: an Access outlives the models of many restarts, and must not keep them. */
interface Views {
  readonly caller: WeakMap<Collection, View>;
  readonly scope: WeakMap<Collection, View>;
  readonly inside: WeakMap<Collection, View>;
}

const kept = new WeakMap<Access, Views>();

function viewsOf(access: Access): Views {
  let views = kept.get(access);
  if (!views) {
    views = { caller: new WeakMap(), scope: new WeakMap(), inside: new WeakMap() };
    kept.set(access, views);
  }
  return views;
}

/** The collection as the caller sees it. */
export function viewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).caller;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, callerSight(access), viewOf);
    views.set(collection, view);
  }
  return view;
}

/** The collection as row scopes see it: every field, every row. */
export function scopeViewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).scope;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, scopeSight(access), scopeViewOf);
    views.set(collection, view);
  }
  return view;
}

/**
 * The collection as customization code names its fields: every field, by its inside name. Rows that the caller may not
 * see are withheld all the same, since what the code says is part of an answer to the caller.
 */
export function insideViewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).inside;
  let view = views.get(collection);
  if (!view) {
    view = createView(access, collection, insideSight(access), insideViewOf);
    views.set(collection, view);
  }
  return view;
}

function createView(access: Access, collection: Collection, sight: Sight, viewAt: typeof viewOf): View {
  const visible = [...sight.fields(collection).values()].filter((field) => sight.sees(collection, field));
  const columns = visible.filter((field) => field.kind === 'column');
  return {
    collection,
    columns,
    relations: visible.filter((field) => field.kind !== 'column'),
    everything: [...sight.fields(collection)].flatMap(([name, field]) =>
      field.kind === 'column' && sight.sees(collection, field) ? [name] : [],
    ),
    names: new Map(),
    sight,
    other: (other) => viewAt(access, other),
    inside: (other) => insideViewOf(access, other),
  };
}

function callerSight(access: Access): Sight {
  const shown = (collection: Collection, name: string) =>
    collection.isGiven === true || access.field(collection.name, name) !== 'hidden';
  const linked = (collection: Collection, { on, inverse, to: foreign, through, only }: Relation) =>
    through
      ? reaches(through)
      : (!only || shown(only.side === 'from' ? collection : foreign, only.column.name)) &&
        on.every(({ from, to }) => (inverse ? shown(foreign, to.name) : shown(collection, from.name)));
  // Nobody can be given a permission for what is removed; what is hidden there does not link.
  const reaches = ({ collection, origin, foreign }: Through) =>
    (!collection.published || access.can('browse', collection.name)) &&
    [...origin.map(({ to }) => to), ...foreign.map(({ from }) => from)].every((column) =>
      shown(collection, column.name),
    );
  return {
    fields: (collection) => collection.fields,
    sees(collection, field) {
      if (!shown(collection, field.name)) return false;
      if (field.kind === 'column') return !field.route || sees(collection, field.route);
      if (field.given) return true;
      return access.can('browse', field.to.name) && linked(collection, field);
    },
    follow: (relation) => relation,
    withholds: (collection) => !collection.isGiven && access.scope(collection.name) !== null,
    scoped: true,
  };

  /** An imported field shows nothing that is hidden where it comes from. No permission can be given for what is removed. */
  function sees(home: Collection, { via, field }: Route): boolean {
    let at = home;
    for (const relation of via) {
      if (relation.to.published && !access.can('browse', relation.to.name)) return false;
      at = relation.to;
    }
    return !at.published || shown(at, field.name);
  }
}

function insideSight(access: Access): Sight {
  return {
    fields: (collection) => collection.inside,
    sees: () => true,
    follow: (relation) => relation,
    withholds: (collection) => !collection.isGiven && access.scope(collection.name) !== null,
    scoped: true,
  };
}

function scopeSight(access: Access): Sight {
  return {
    fields: (collection) => collection.fields,
    sees: () => true,
    follow: (relation) => (access.scope(relation.to.name) === null ? relation : twinOf(relation)),
    withholds: () => false,
    scoped: false,
  };
}
