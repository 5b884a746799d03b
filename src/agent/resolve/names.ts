// Resolves names to Paths. All errors for unknown names come from this file.
import { fail } from '../../core/errors.ts';
import { type PlainSort, SORTS_MOST } from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { Collection, Column, Relation, Route } from '../model/types.ts';
import type { Hop, Named, Order, Path } from '../plan/types.ts';
import { pathTo } from './paths.ts';
import type { View } from './visibility.ts';

export const HOPS_LIMIT = 8;
const NAMES_KEPT = 2_000;

/** Throws UNKNOWN_FIELD, RELATION_NEEDS_FIELD or RELATION_TO_MANY. */
export function resolveName(view: View, text: string): Named {
  const known = view.names.get(text);
  if (known) return known;
  if (typeof text !== 'string')
    fail('INVALID_ARGUMENT', { argument: 'field', problem: 'expected the name of a field.' });
  const named = findName(view, text);
  if (view.names.size >= NAMES_KEPT) view.names.clear();
  view.names.set(text, named);
  return named;
}

/** Reads `@@@` as `:`, except in the name of a flattened field. */
function findName(view: View, text: string): Named {
  const { sight, collection: home } = view;
  const via: Relation[] = [];
  const through: Hop[] = [];
  let collection = home;
  let rest = text;
  for (;;) {
    const field = sight.fields(collection).get(rest);
    if (field?.kind === 'column' && sight.sees(collection, field)) {
      const path = field.route
        ? routePath(view, via, field.route)
        : (ownColumn(view, via, field) ?? pathTo(home, via, field));
      return Object.freeze({ name: writtenName(through, rest), path, through: Object.freeze(through), leaf: rest });
    }
    const relation = findRelation(view, collection, rest);
    if (!relation) return unknownField(view, collection, rest);
    if (relation.given) return givenRecords(view, via, through, rest, relation.given);
    if (relation.kind === 'many')
      return fail('RELATION_TO_MANY', {
        collection: collection.name,
        relation: relation.name,
        foreign: relation.to.name,
        ...wayBack(view, relation),
      });
    // Use the written name: customization code and callers can have different names for the relation.
    const [written, separator] = firstOf(rest);
    if (rest === written) return relationAlone(view, collection, relation, written);
    if (via.length === HOPS_LIMIT) return tooManyHops(text);
    via.push(sight.follow(relation));
    through.push(Object.freeze({ name: written, present: presence(view, via) }));
    rest = rest.slice(written.length + separator.length);
    collection = relation.to;
  }
}

/** The name of the inverse relation, if it exists and the caller can see it. */
function wayBack({ sight }: View, { to, on, kind }: Relation): { readonly back?: string } {
  const found = [...sight.fields(to)].find(
    ([, field]) =>
      field.kind === 'one' &&
      !field.lowestBy &&
      kind === 'many' &&
      on.length > 0 &&
      field.on.length === on.length &&
      field.on.every(({ from, to: key }, at) => from === on[at]!.to && key === on[at]!.from) &&
      sight.sees(to, field),
  );
  return found ? { back: found[0] } : {};
}

export function tooManyHops(argument: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem: `at most ${HOPS_LIMIT} relations can be followed.` });
}

/** All records of a relation that customization code returns, as one value. */
function givenRecords(
  { collection }: View,
  via: readonly Relation[],
  through: readonly Hop[],
  rest: string,
  given: Column,
): Named {
  const name = writtenName(through, rest);
  const [leaf] = firstOf(rest);
  if (leaf === rest)
    return Object.freeze({ name, path: pathTo(collection, via, given), through: Object.freeze([...through]), leaf });
  return fail('INVALID_ARGUMENT', {
    argument: name,
    problem: `'${leaf}' is given by code: ask for '${leaf}' whole, or list it from one record.`,
  });
}

/** The path to the origin of an imported field. */
function routePath(view: View, via: readonly Relation[], route: Route): Path {
  const all = [...via, ...route.via.map((relation) => view.sight.follow(relation))];
  return ownColumn(view, all, route.field) ?? pathTo(view.collection, all, route.field);
}

function writtenName(through: readonly Hop[], leaf: string): string {
  return [...through.map((hop) => hop.name), leaf].join(':');
}

/** The first name of a path, and the separator after it. */
export function firstOf(text: string): readonly [name: string, separator: string] {
  const [separator = '', index = text.length] = ((found) => [found?.[0], found?.index])(/:|@@@/.exec(text));
  return [text.slice(0, index), separator];
}

/** The relation at the start of the text. */
export function findRelation(view: View, collection: Collection, text: string): Relation | undefined {
  const field = view.sight.fields(collection).get(firstOf(text)[0]);
  return field && field.kind !== 'column' && view.sight.sees(collection, field) ? field : undefined;
}

/**
 * The own foreign key if `field` is the key that it points to. The value is the same, and an enforced foreign key
 * always points to a record, so no join is necessary. Undefined in three cases: if row scope can hide the related
 * record, since it must then look missing; for a composite key with a nullable part, since a null there means no
 * related record; and if the database can treat different texts as equal.
 */
function ownColumn(view: View, via: readonly Relation[], field: Column): Path | undefined {
  const last = via.at(-1);
  if (!last?.enforced || last.inverse || view.sight.withholds(last.to)) return undefined;
  const pair = last.on.find(({ to }) => to === field);
  if (!pair || pair.from.type !== field.type) return undefined;
  if (field.type === 'String' && (field.collation !== 'binary' || pair.from.collation !== 'binary')) return undefined;
  if (last.on.some(({ from }) => from !== pair.from && from.nullable)) return undefined;
  return pathTo(view.collection, via.slice(0, -1), pair.from);
}

/** A column that is null exactly if the last relation has no record. */
export function presence(view: View, via: readonly Relation[]): Path {
  const { to } = via.at(-1)!.on[0]!;
  return ownColumn(view, via, to) ?? pathTo(view.collection, via, to);
}

function unknownField(view: View, collection: Collection, text: string): never {
  const visible = [...view.sight.fields(collection)].filter(([, field]) => view.sight.sees(collection, field));
  const [first] = firstOf(text);
  const near = nearNames(
    first,
    visible.map(([name]) => name),
  );
  return fail('UNKNOWN_FIELD', { collection: collection.name, field: text, near });
}

function relationAlone(view: View, collection: Collection, relation: Relation, written: string): never {
  const column = [...view.sight.fields(relation.to)].find(
    ([, field]) => field.kind === 'column' && view.sight.sees(relation.to, field),
  );
  return fail('RELATION_NEEDS_FIELD', {
    collection: collection.name,
    relation: written,
    example: `${written}:${column?.[0] ?? '...'}`,
  });
}

export function onlyShown(argument: string, field: string): never {
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `the records of '${field}' are given by code, so that nothing can be filtered or sorted by them; list them from one record.`,
  });
}

/** Throws FIELD_NOT_SORTABLE and the errors of `resolveName`. Ignores repeated fields. */
export function resolveSort(view: View, sorts: readonly PlainSort[]): Order[] {
  if (sorts.length > SORTS_MOST)
    fail('INVALID_ARGUMENT', { argument: 'sort', problem: `at most ${SORTS_MOST} fields to sort by.` });
  const order: Order[] = [];
  for (const { field, ascending = true } of sorts) {
    const { path } = resolveName(view, field);
    if (path.field.made?.external) onlyShown('sort', field);
    if (!path.field.sortable)
      fail('FIELD_NOT_SORTABLE', {
        collection: view.collection.name,
        field,
        sortable: view.columns.filter((column) => column.sortable).map((column) => column.name),
      });
    for (const each of expandOrder(view, { path, ascending }))
      if (!order.some((other) => other.path.id === each.path.id)) order.push(each);
  }
  return order;
}

/** Replaces a field by the fields that define its order. Startup rejects cycles. */
function expandOrder(view: View, order: Order): Order[] {
  const { path, ascending } = order;
  const by = path.field.order;
  if (typeof by !== 'object') return [order];
  return by.flatMap((clause) => {
    const replaced = insidePath(view, path.via, clause.field);
    return expandOrder(view, {
      path: replaced,
      ascending: (clause.ascending ?? true) === ascending,
      ...(!isSeen(view, replaced) && { hidden: true }),
    });
  });
}

function isSeen(view: View, { via, field }: Path): boolean {
  let at = view;
  for (const relation of via) {
    if (!at.relations.includes(relation)) return false;
    at = at.other(relation.to);
  }
  return at.columns.includes(field);
}

/** Resolves an internal name in the collection that the relations lead to. */
function insidePath(view: View, via: readonly Relation[], text: string): Path {
  const collection = via.at(-1)?.to ?? view.collection;
  const { path } = resolveName(view.inside(collection), text);
  return via.length ? pathTo(view.collection, [...via, ...path.via], path.field) : path;
}
