// What callers call a field, and what customization code calls it: the name from before any renaming.
import { isBranch, type PlainFilter } from '../../core/filter.ts';
import type { Collection, Field } from '../model/types.ts';
import { firstOf } from './resolve.ts';
import type { Shape } from './types.ts';
import type { View } from './view.ts';

const kept = new WeakMap<Collection, ReadonlyMap<Field, string>>();

/** What code calls the field of the collection. */
export function insideNameOf(collection: Collection, field: Field): string {
  let names = kept.get(collection);
  if (!names) {
    names = new Map([...collection.inside].map(([name, each]) => [each, name]));
    kept.set(collection, names);
  }
  return names.get(field) ?? field.name;
}

/** `relation:field` as code writes it; what the view does not know stays as it is. */
export function insidePath({ collection: home, sight }: View, text: string): string {
  const names: string[] = [];
  let collection = home;
  let rest = text;
  for (;;) {
    const fields = sight.fields(collection);
    const whole = fields.get(rest);
    if (whole) return [...names, insideNameOf(collection, whole)].join(':');
    const [first, separator] = firstOf(rest);
    const relation = fields.get(first);
    if (!relation || relation.kind === 'column') return [...names, rest].join(':');
    names.push(insideNameOf(collection, relation));
    rest = rest.slice(first.length + separator.length);
    collection = relation.to;
  }
}

export function insideFilter(view: View, plain: PlainFilter): PlainFilter {
  if (!isBranch(plain)) return { ...plain, field: insidePath(view, plain.field) };
  return { ...plain, conditions: plain.conditions.map((each) => insideFilter(view, each)) };
}

/** The same records, as code names them. */
export function insideShape(view: View, { leaves, nested }: Shape, collection = view.collection): Shape {
  const fields = view.sight.fields(collection);
  const nameOf = (name: string): string => {
    const field = fields.get(name);
    return field ? insideNameOf(collection, field) : name;
  };
  return {
    leaves: leaves.map(([name, slot]) => [nameOf(name), slot]),
    nested: nested.map(([name, present, shape]) => {
      const relation = fields.get(name);
      const to = relation && relation.kind !== 'column' ? relation.to : collection;
      return [nameOf(name), present, insideShape(view, shape, to)];
    }),
  };
}
