// Converts the names of callers to the names of customization code, which are those before any renaming.
import { isBranch, isQuantified, type PlainFilter, quantified, readQuantified } from '../../core/filter.ts';
import type { Collection, Field } from '../model/types.ts';
import type { Shape } from '../plan/types.ts';
import { makeExplicit, viewBehind } from './ambiguity.ts';
import { firstOf } from './names.ts';
import type { View } from './visibility.ts';

const kept = new WeakMap<Collection, ReadonlyMap<Field, string>>();

/** The name of a field in customization code. */
export function insideNameOf(collection: Collection, field: Field): string {
  let names = kept.get(collection);
  if (!names) {
    names = new Map([...collection.inside].map(([name, each]) => [each, name]));
    kept.set(collection, names);
  }
  return names.get(field) ?? field.name;
}

/** A path in the names of customization code. Unknown names stay unchanged. */
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

/**
 * The filter in the names of customization code, with explicit to-many relations. Code may combine it with a filter of
 * its own, and the two must not be interpreted together.
 */
export function insideFilter(view: View, plain: PlainFilter): PlainFilter {
  return rename(view, makeExplicit(view, plain));
}

function rename(view: View, plain: PlainFilter): PlainFilter {
  if (isBranch(plain)) return { ...plain, conditions: plain.conditions.map((each) => rename(view, each)) };
  if (!isQuantified(plain)) return { ...plain, field: insidePath(view, plain.field) };
  const { quantifier, path, where } = readQuantified(plain);
  const inner = where && rename(viewBehind(view, path), where);
  return quantified({ quantifier, path: insidePath(view, path), ...(inner && { where: inner }) });
}

/** The same shape, in the names of customization code. */
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
