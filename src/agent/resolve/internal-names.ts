// Converts the names of callers to the names of customization code, which are those before any renaming.
import {
  isBranch,
  isComparison,
  isQuantified,
  mapCompared,
  type PlainFilter,
  quantified,
  readQuantified,
} from '../../core/filter.ts';
import type { Collection, Field } from '../model/types.ts';
import type { Shape } from '../plan/types.ts';
import { makeExplicit, viewAtPath } from './ambiguity.ts';
import { splitFirst } from './names.ts';
import type { CollectionView } from './visibility.ts';

const cachedNames = new WeakMap<Collection, ReadonlyMap<Field, string>>();

/** The name of a field in customization code. */
export function internalNameOf(collection: Collection, field: Field): string {
  let names = cachedNames.get(collection);
  if (!names) {
    names = new Map([...collection.internalFields].map(([name, each]) => [each, name]));
    cachedNames.set(collection, names);
  }
  return names.get(field) ?? field.name;
}

/** A path in the names of customization code. Unknown names stay unchanged. */
export function toInternalPath({ collection: home, visibility }: CollectionView, text: string): string {
  const names: string[] = [];
  let collection = home;
  let rest = text;
  for (;;) {
    const fields = visibility.fields(collection);
    const whole = fields.get(rest);
    if (whole) return [...names, internalNameOf(collection, whole)].join(':');
    const [first, separator] = splitFirst(rest);
    const relation = fields.get(first);
    if (!relation || relation.kind === 'column') return [...names, rest].join(':');
    names.push(internalNameOf(collection, relation));
    rest = rest.slice(first.length + separator.length);
    collection = relation.to;
  }
}

/**
 * The filter in the names of customization code, with explicit to-many relations. Code may combine it with a filter of
 * its own, and the two must not be interpreted together.
 */
export function toInternalFilter(view: CollectionView, plain: PlainFilter): PlainFilter {
  return renameFields(view, makeExplicit(view, plain));
}

function renameFields(view: CollectionView, plain: PlainFilter): PlainFilter {
  if (isBranch(plain)) return { ...plain, conditions: plain.conditions.map((each) => renameFields(view, each)) };
  if (isComparison(plain)) return mapCompared(plain, (name) => toInternalPath(view, name));
  if (!isQuantified(plain)) return { ...plain, field: toInternalPath(view, plain.field) };
  const { quantifier, path, where } = readQuantified(plain);
  const inner = where && renameFields(viewAtPath(view, path), where);
  return quantified({ quantifier, path: toInternalPath(view, path), ...(inner && { where: inner }) });
}

/** The same shape, in the names of customization code. */
export function toInternalShape(view: CollectionView, { leaves, nested }: Shape, collection = view.collection): Shape {
  const fields = view.visibility.fields(collection);
  const nameOf = (name: string): string => {
    const field = fields.get(name);
    return field ? internalNameOf(collection, field) : name;
  };
  return {
    leaves: leaves.map(([name, slot]) => [nameOf(name), slot]),
    nested: nested.map(([name, present, shape]) => {
      const relation = fields.get(name);
      const to = relation && relation.kind !== 'column' ? relation.to : collection;
      return [nameOf(name), present, toInternalShape(view, shape, to)];
    }),
  };
}
