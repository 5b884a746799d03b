// Resolves names to Paths. All errors for unknown names come from this file.
import { fail } from '../../core/errors.ts';
import { MAX_SORTS, type PlainSort } from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { Collection, Column, Relation } from '../model/types.ts';
import type { Order, Path, PathSegment, RequestedField } from '../plan/types.ts';
import { pathTo } from './paths.ts';
import type { CollectionView } from './visibility.ts';

export const MAX_PATH_SEGMENTS = 8;
const MAX_CACHED_NAMES = 2_000;

/** Throws UNKNOWN_FIELD, RELATION_NEEDS_FIELD or RELATION_TO_MANY. */
export function resolveName(view: CollectionView, text: string): RequestedField {
  const known = view.names.get(text);
  if (known) return known;
  if (typeof text !== 'string')
    fail('INVALID_ARGUMENT', { argument: 'field', problem: 'expected the name of a field.' });
  const named = findName(view, text);
  if (view.names.size >= MAX_CACHED_NAMES) view.names.clear();
  view.names.set(text, named);
  return named;
}

/** Reads `@@@` as `:`, except in the name of a flattened field. */
function findName(view: CollectionView, text: string): RequestedField {
  const { visibility, collection: home } = view;
  const via: Relation[] = [];
  const through: PathSegment[] = [];
  let collection = home;
  let rest = text;
  for (;;) {
    const field = visibility.fields(collection).get(rest);
    if (field?.kind === 'column' && visibility.canSee(collection, field)) {
      const { route } = field;
      const all = route ? [...via, ...route.via.map((each) => visibility.relationToJoin(each))] : via;
      const named = pathTo(home, all, route?.field ?? field);
      const own = findOwnForeignKey(view, all, named.field);
      return Object.freeze({
        name: joinName(through, rest),
        path: own ?? named,
        ...(own && { named }),
        through: Object.freeze(through),
        leaf: rest,
      });
    }
    const relation = findRelation(view, collection, rest);
    if (!relation) return failUnknownField(view, collection, rest);
    if (relation.recordsColumn) return resolveExternalRecords(view, via, through, rest, relation.recordsColumn);
    if (relation.kind === 'many')
      return fail('RELATION_TO_MANY', {
        collection: collection.name,
        relation: relation.name,
        foreign: relation.to.name,
        ...findVisibleInverse(view, relation),
      });
    // Use the written name: customization code and callers can have different names for the relation.
    const [written, separator] = splitFirst(rest);
    if (rest === written) return failRelationWithoutField(view, collection, relation, written);
    if (via.length === MAX_PATH_SEGMENTS) return failTooManySegments(text);
    via.push(visibility.relationToJoin(relation));
    through.push(Object.freeze({ name: written, present: presencePath(view, via) }));
    rest = rest.slice(written.length + separator.length);
    collection = relation.to;
  }
}

/** The name of the inverse relation, if it exists and the caller can see it. */
function findVisibleInverse({ visibility }: CollectionView, { to, on, kind }: Relation): { readonly back?: string } {
  const found = [...visibility.fields(to)].find(
    ([, field]) =>
      field.kind === 'one' &&
      !field.lowestBy &&
      kind === 'many' &&
      on.length > 0 &&
      field.on.length === on.length &&
      field.on.every(({ from, to: key }, at) => from === on[at]!.to && key === on[at]!.from) &&
      visibility.canSee(to, field),
  );
  return found ? { back: found[0] } : {};
}

export function failTooManySegments(argument: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem: `at most ${MAX_PATH_SEGMENTS} relations can be followed.` });
}

/** All records of a relation that customization code returns, as one value. */
function resolveExternalRecords(
  { collection }: CollectionView,
  via: readonly Relation[],
  through: readonly PathSegment[],
  rest: string,
  recordsColumn: Column,
): RequestedField {
  const name = joinName(through, rest);
  const [leaf] = splitFirst(rest);
  if (leaf === rest)
    return Object.freeze({
      name,
      path: pathTo(collection, via, recordsColumn),
      through: Object.freeze([...through]),
      leaf,
    });
  return fail('INVALID_ARGUMENT', {
    argument: name,
    problem: `'${leaf}' comes from code: request '${leaf}' as a whole, or list it from one record.`,
  });
}

function joinName(through: readonly PathSegment[], leaf: string): string {
  return [...through.map((segment) => segment.name), leaf].join(':');
}

/** The first name of a path, and the separator after it. */
export function splitFirst(text: string): readonly [name: string, separator: string] {
  const [separator = '', index = text.length] = ((found) => [found?.[0], found?.index])(/:|@@@/.exec(text));
  return [text.slice(0, index), separator];
}

/** The relation at the start of the text. */
export function findRelation(view: CollectionView, collection: Collection, text: string): Relation | undefined {
  const field = view.visibility.fields(collection).get(splitFirst(text)[0]);
  return field && field.kind !== 'column' && view.visibility.canSee(collection, field) ? field : undefined;
}

/**
 * The own foreign key if `field` is the key that it points to. The value is the same, and an enforced foreign key
 * always points to a record, so no join is necessary. Undefined in three cases: if row scope can hide the related
 * record, since it must then look missing; for a composite key with a nullable part, since a null there means no
 * related record; and if the database can treat different texts as equal.
 */
function findOwnForeignKey(view: CollectionView, via: readonly Relation[], field: Column): Path | undefined {
  const last = via.at(-1);
  if (!last?.enforced || last.inverse || view.visibility.hidesRows(last.to)) return undefined;
  const pair = last.on.find(({ to }) => to === field);
  if (!pair || pair.from.type !== field.type) return undefined;
  if (field.type === 'String' && (field.collation !== 'binary' || pair.from.collation !== 'binary')) return undefined;
  if (last.on.some(({ from }) => from !== pair.from && from.nullable)) return undefined;
  return pathTo(view.collection, via.slice(0, -1), pair.from);
}

/** A column that is null exactly if the last relation has no record. */
export function presencePath(view: CollectionView, via: readonly Relation[]): Path {
  const { to } = via.at(-1)!.on[0]!;
  return findOwnForeignKey(view, via, to) ?? pathTo(view.collection, via, to);
}

function failUnknownField(view: CollectionView, collection: Collection, text: string): never {
  const visible = [...view.visibility.fields(collection)].filter(([, field]) =>
    view.visibility.canSee(collection, field),
  );
  const [first] = splitFirst(text);
  const near = suggestNames(
    first,
    visible.map(([name]) => name),
  );
  return fail('UNKNOWN_FIELD', { collection: collection.name, field: text, near });
}

function failRelationWithoutField(
  view: CollectionView,
  collection: Collection,
  relation: Relation,
  written: string,
): never {
  const column = [...view.visibility.fields(relation.to)].find(
    ([, field]) => field.kind === 'column' && view.visibility.canSee(relation.to, field),
  );
  return fail('RELATION_NEEDS_FIELD', {
    collection: collection.name,
    relation: written,
    example: `${written}:${column?.[0] ?? '...'}`,
  });
}

export function failOutputOnly(argument: string, field: string): never {
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `the records of '${field}' come from code, so filters and sorts cannot use them; list them from one record.`,
  });
}

/** Throws FIELD_NOT_SORTABLE and the errors of `resolveName`. Ignores repeated fields. */
export function resolveSort(view: CollectionView, sorts: readonly PlainSort[]): Order[] {
  if (sorts.length > MAX_SORTS)
    fail('INVALID_ARGUMENT', { argument: 'sort', problem: `at most ${MAX_SORTS} fields to sort by.` });
  const order = sorts.flatMap(({ field, ascending = true }) => {
    const { path } = resolveName(view, field);
    if (path.field.computedFrom?.external) failOutputOnly('sort', field);
    if (!path.field.sortable)
      fail('FIELD_NOT_SORTABLE', {
        collection: view.collection.name,
        field,
        sortable: view.columns.filter((column) => column.sortable).map((column) => column.name),
      });
    return expandOrder(view, { path, ascending });
  });
  const distinct = order.filter(({ path }, index) => order.findIndex((other) => other.path.id === path.id) === index);
  // The key follows in the direction of the last field, also if that field is a repetition.
  const last = order.at(-1);
  return last && last.ascending !== distinct.at(-1)?.ascending ? [...distinct, last] : distinct;
}

/** Replaces a field by the fields that define its order. Startup rejects cycles. */
function expandOrder(view: CollectionView, order: Order): Order[] {
  const { path, ascending } = order;
  const by = path.field.order;
  if (typeof by !== 'object') return [order];
  return by.flatMap((clause) => {
    const replaced = resolveInternalPath(view, path.via, clause.field);
    return expandOrder(view, {
      path: replaced,
      ascending: (clause.ascending ?? true) === ascending,
      ...(!isVisible(view, replaced) && { hidden: true }),
    });
  });
}

function isVisible(view: CollectionView, { via, field }: Path): boolean {
  let at = view;
  for (const relation of via) {
    if (!at.relations.includes(relation)) return false;
    at = at.forCollection(relation.to);
  }
  return at.columns.includes(field);
}

/** Resolves an internal name in the collection that the relations lead to. */
function resolveInternalPath(view: CollectionView, via: readonly Relation[], text: string): Path {
  const collection = via.at(-1)?.to ?? view.collection;
  const { path } = resolveName(view.toInternal(collection), text);
  return via.length ? pathTo(view.collection, [...via, ...path.via], path.field) : path;
}
