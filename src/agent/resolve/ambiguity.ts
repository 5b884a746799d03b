// Finds ambiguous filters through to-many relations. There are two kinds: a condition that also holds without related
// records, and two conditions that one record or two different records could satisfy. The error offers the explicit
// forms with `some` and `none`. Only conditions of one author are compared, never a caller's filter with a row scope.
import { fail } from '../../core/errors.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  joinPaths,
  type Operator,
  type PlainFilter,
  type PlainLeaf,
  quantified,
  readQuantified,
} from '../../core/filter.ts';
import type { Moment } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import { findOperator, findToMany, hasToMany, resolveFilter } from './filter.ts';
import { splitFirst } from './names.ts';
import { relationPathId } from './paths.ts';
import type { CollectionView } from './visibility.ts';

/** Why a filter is ambiguous, and an explicit filter for each meaning. */
export interface Ambiguity {
  readonly problem: string;
  readonly forms: readonly PlainFilter[];
}

/** Like `resolveFilter`, but throws AMBIGUOUS_FILTER. For filters of requests and customization code. */
export function resolveUnambiguous(view: CollectionView, plain: PlainFilter, moment: Moment): Filter {
  const resolved = resolveFilter(view, plain, moment);
  const [first] = hasToMany(resolved) ? findAmbiguities(view, plain) : [];
  return first ? fail('AMBIGUOUS_FILTER', first) : resolved;
}

/** All ambiguities of a filter that `resolveFilter` accepts. */
export function findAmbiguities(view: CollectionView, plain: PlainFilter): readonly Ambiguity[] {
  if (isQuantified(plain)) {
    const { path, where } = readQuantified(plain);
    return where ? findAmbiguities(viewAtPath(view, path), where) : [];
  }
  // Comparisons do not go through to-many relations.
  if (isComparison(plain)) return [];
  if (!isBranch(plain)) return findInLeaf(view, plain);
  if (isAggregator(plain, 'or')) return plain.conditions.flatMap((condition) => findAmbiguities(view, condition));
  const parts = plain.conditions.flatMap(conjunctsOf);
  const found = parts.flatMap((part) =>
    isBranch(part) && isAggregator(part, 'not') ? findInNegated(view, part) : findAmbiguities(view, part),
  );
  return [...found, ...findShared(view, plain, parts)];
}

/** The ambiguities of the conditions in a Not within an And. `findShared` compares them with the rest of the And. */
function findInNegated(view: CollectionView, plain: PlainFilter): readonly Ambiguity[] {
  if (!isBranch(plain) || isAggregator(plain, 'or')) return findAmbiguities(view, plain);
  return plain.conditions.flatMap((condition) => findInNegated(view, condition));
}

/**
 * Rewrites every path through a to-many relation as an explicit `some`, one for each condition. The result is
 * unambiguous, also as part of a larger filter.
 */
export function makeExplicit(view: CollectionView, plain: PlainFilter): PlainFilter {
  if (isBranch(plain))
    return { ...plain, conditions: plain.conditions.map((condition) => makeExplicit(view, condition)) };
  if (isQuantified(plain)) {
    const { where, ...parts } = readQuantified(plain);
    return where ? quantified({ ...parts, where: makeExplicit(viewAtPath(view, parts.path), where) }) : plain;
  }
  if (isComparison(plain)) return plain;
  const last = splitPath(view, plain.field).at(-1);
  return last ? { some: last.path, where: { ...plain, field: last.rest } } : plain;
}

/** The view of the collection at the end of `path`; `view` itself for an unknown path. */
export function viewAtPath(view: CollectionView, path: string): CollectionView {
  const [first, separator] = splitFirst(path);
  const relation = view.visibility.fields(view.collection).get(first);
  if (!relation || relation.kind === 'column') return view;
  const rest = path.slice(first.length + separator.length);
  const target = view.forCollection(relation.to);
  return rest === '' ? target : viewAtPath(target, rest);
}

/** A path, split after a to-many relation. */
interface PathSplit {
  /** Equal for paths through the same relations, even if they are written differently. */
  readonly id: string;
  readonly path: string;
  readonly rest: string;
}

function splitPath(view: CollectionView, field: string): readonly PathSplit[] {
  const cuts: PathSplit[] = [];
  let at = view;
  let rest = field;
  for (let behind = findToMany(at, rest); behind; behind = findToMany(at, rest)) {
    const prefix = rest.slice(0, rest.length - behind.rest.length).replace(/(?::|@@@)$/, '');
    const before = cuts.at(-1);
    rest = behind.rest;
    at = at.forCollection(behind.relation.to);
    const id = joinPaths(before?.id ?? '', relationPathId([...behind.via, behind.relation]));
    cuts.push({ id, path: joinPaths(before?.path ?? '', prefix), rest });
  }
  return cuts;
}

const isAggregator = ({ aggregator }: { readonly aggregator: string }, word: string): boolean =>
  String(aggregator).toLowerCase() === word;

const opposites: Partial<Record<Operator, Operator>> = {
  NotEqual: 'Equal',
  NotIn: 'In',
  NotContains: 'Contains',
  NotIContains: 'IContains',
};

function findInLeaf(view: CollectionView, leaf: PlainLeaf): readonly Ambiguity[] {
  const { field, value } = leaf;
  const last = splitPath(view, field).at(-1);
  if (!last) return [];
  const is = findOperator(leaf.operator);
  const { path, rest } = last;
  const inner: PlainLeaf = { ...leaf, field: rest, operator: is };
  const some: PlainFilter = { some: path, where: inner };
  const explanation = `'${field}' leads to many records, so ${is} can mean two things.`;
  if (is === 'Missing' || is === 'Blank' || (is === 'Equal' && value === null)) {
    const none: PlainFilter = { none: path };
    const problem = `${explanation} If there must be no record: ${formatFilter(none)}. If one record without '${rest}' is enough: ${formatFilter(some)}.`;
    return [{ problem, forms: [none, some] }];
  }
  if (is === 'In' && Array.isArray(value) && value.includes(null)) {
    const others = value.filter((each) => each !== null);
    const found: PlainFilter = { some: path, where: { ...inner, value: others } };
    const none: PlainFilter = others.length
      ? { aggregator: 'Or', conditions: [{ none: path }, found] }
      : { none: path };
    const problem = `'${field}' leads to many records, so null among the values of In can mean two things. If no record is needed: ${formatFilter(none)}. If one record must exist, with '${rest}' or without: ${formatFilter(some)}.`;
    return [{ problem, forms: [none, some] }];
  }
  const opposite = opposites[is];
  if (!opposite && is !== 'IncludesNone') return [];
  const none: PlainFilter = opposite
    ? { none: path, where: { ...inner, operator: opposite } }
    : { every: path, where: inner };
  const problem = `${explanation} If it must hold for every record: ${formatFilter(none)}. If one record is enough: ${formatFilter(some)}.`;
  return [{ problem, forms: [none, some] }];
}

/** The conditions of an And, with nested Ands flattened. */
function conjunctsOf(filter: PlainFilter): readonly PlainFilter[] {
  return isBranch(filter) && isAggregator(filter, 'and') ? filter.conditions.flatMap(conjunctsOf) : [filter];
}

/** The leaves combined by And, including those in a Not but excluding those in an Or. */
function leavesOf(filter: PlainFilter): readonly PlainLeaf[] {
  if (isQuantified(filter) || isComparison(filter)) return [];
  if (!isBranch(filter)) return [filter];
  return isAggregator(filter, 'or') ? [] : filter.conditions.flatMap(leavesOf);
}

/** Ambiguities between leaves of `parts` that use the same to-many relation. */
function findShared(view: CollectionView, plain: PlainFilter, parts: readonly PlainFilter[]): readonly Ambiguity[] {
  const groups = new Map<string, { readonly leaf: PlainLeaf; readonly cuts: readonly PathSplit[] }[]>();
  for (const leaf of parts.flatMap(leavesOf)) {
    const cuts = splitPath(view, leaf.field);
    const [first] = cuts;
    if (first) groups.set(first.id, [...(groups.get(first.id) ?? []), { leaf, cuts }]);
  }
  return [...groups.values()].flatMap((group) => {
    if (group.length < 2) return [];
    const shared = group[0]!.cuts.filter(({ id }) => group.every(({ cuts }) => cuts.some((cut) => cut.id === id)));
    const { id, path } = shared.at(-1)!;
    const separate = parts.map((part) => makeExplicit(view, part));
    const fields = [...new Set(group.map(({ leaf }) => `'${leaf.field}'`))].join(' and ');
    const explanation = `${fields} lead${fields.includes(' and ') ? '' : 's'} to many records of '${path}', so the conditions can mean one record that satisfies all of them, or a record for each.`;
    const alternative = (conditions: readonly PlainFilter[]): PlainFilter =>
      isBranch(plain) && isAggregator(plain, 'not')
        ? { aggregator: 'Not', conditions }
        : conditions.length === 1
          ? conditions[0]!
          : { aggregator: 'And', conditions };
    const each = alternative(separate);
    const within = parts.map((part) => toRelatedFilter(view, part, id));
    const rest = parts.filter((part) => leavesOf(part).every((leaf) => !group.some((other) => other.leaf === leaf)));
    const inner = within.filter((part) => part !== undefined);
    // A Not on both the record and its related records cannot become part of one `where`.
    if (inner.length + rest.length < parts.length)
      return [
        {
          problem: `${explanation} For a record each: ${formatFilter(each)}. For one record: put the conditions into the where of one {"some":"${path}","where":{...}}.`,
          forms: [each],
        },
      ];
    const where: PlainFilter = inner.length === 1 ? inner[0]! : { aggregator: 'And', conditions: inner };
    const one = alternative([...rest.map((part) => makeExplicit(view, part)), { some: path, where }]);
    return [
      {
        problem: `${explanation} For one record: ${formatFilter(one)}. For a record each: ${formatFilter(each)}.`,
        forms: [one, each],
      },
    ];
  });
}

/** The filter as a condition on the related records. Undefined if it also tests other records. */
function toRelatedFilter(view: CollectionView, filter: PlainFilter, id: string): PlainFilter | undefined {
  if (isQuantified(filter) || isComparison(filter)) return undefined;
  if (isBranch(filter)) {
    const conditions = filter.conditions.map((condition) => toRelatedFilter(view, condition, id));
    return conditions.length > 0 && conditions.every((condition) => condition !== undefined)
      ? { ...filter, conditions }
      : undefined;
  }
  const cut = splitPath(view, filter.field).find((each) => each.id === id);
  return cut && { ...filter, field: cut.rest };
}

/** A filter that the caller can send unchanged. Texts over 80 characters become `...`. */
function formatFilter(filter: PlainFilter): string {
  return JSON.stringify(filter, (_key, value: unknown) =>
    typeof value === 'string' && value.length > 80 ? '...' : value instanceof RegExp ? String(value) : value,
  );
}
