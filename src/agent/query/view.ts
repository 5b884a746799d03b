// What one caller sees of one collection, kept for as long as the Access lives: an Access answers for one version of the
// permissions, so nothing here can go stale. Names that a caller used are found again by one look into a map.
//
// What is hidden does not exist: a hidden field, a relation to a collection that may not be browsed, and a relation
// whose foreign key is hidden, are unknown names, and no error or list of near names tells them.
import type { Access } from '../../core/caller.ts';
import type { Collection, Column, Field, Relation } from '../model/types.ts';
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
}

/** How names are looked up: as a caller does, or as a row scope does. */
export interface Sight {
  sees(collection: Collection, field: Field): boolean;
  /** The relation to join when the name of this one is used. */
  follow(relation: Relation): Relation;
  /** Whether rows of the collection are withheld. */
  withholds(collection: Collection): boolean;
}

interface Views {
  readonly caller: Map<Collection, View>;
  readonly scope: Map<Collection, View>;
}

const kept = new WeakMap<Access, Views>();

function viewsOf(access: Access): Views {
  let views = kept.get(access);
  if (!views) {
    views = { caller: new Map(), scope: new Map() };
    kept.set(access, views);
  }
  return views;
}

/** The collection as the caller sees it. */
export function viewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).caller;
  let view = views.get(collection);
  if (!view) {
    view = createView(collection, callerSight(access));
    views.set(collection, view);
  }
  return view;
}

/** The collection as row scopes see it: every field, every row. */
export function scopeViewOf(access: Access, collection: Collection): View {
  const views = viewsOf(access).scope;
  let view = views.get(collection);
  if (!view) {
    view = createView(collection, scopeSight(access));
    views.set(collection, view);
  }
  return view;
}

function createView(collection: Collection, sight: Sight): View {
  const visible = [...collection.fields.values()].filter((field) => sight.sees(collection, field));
  const columns = visible.filter((field) => field.kind === 'column');
  return {
    collection,
    columns,
    relations: visible.filter((field) => field.kind !== 'column'),
    everything: columns.map((column) => column.name),
    names: new Map(),
    sight,
  };
}

function callerSight(access: Access): Sight {
  const shown = (collection: Collection, name: string) => access.field(collection.name, name) !== 'hidden';
  return {
    sees(collection, field) {
      if (!shown(collection, field.name)) return false;
      if (field.kind === 'column') return true;
      return (
        access.can('browse', field.to.name) &&
        field.on.every(({ from, to }) => (field.inverse ? shown(field.to, to.name) : shown(collection, from.name)))
      );
    },
    follow: (relation) => relation,
    withholds: (collection) => access.scope(collection.name) !== null,
  };
}

function scopeSight(access: Access): Sight {
  return {
    sees: () => true,
    follow: (relation) => (access.scope(relation.to.name) === null ? relation : twinOf(relation)),
    withholds: () => false,
  };
}
