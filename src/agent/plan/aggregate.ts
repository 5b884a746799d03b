// Plans an aggregate as one statement for its base measures, and what is done with the groups afterwards. The order is
// total, which makes results the same on every database.
import { fail } from '../../core/errors.ts';
import { always, and, not } from '../lower/simplify.ts';
import type { Collection, Column, Relation, Through } from '../model/types.ts';
import type { AggregateQuery } from '../resolve/aggregate.ts';
import { prependRelations, type ToManySplit } from '../resolve/filter.ts';
import type { ResolvedGroup } from '../resolve/groups.ts';
import { findCrossSource, pathTo, planTypeCondition, relationPathId } from '../resolve/paths.ts';
import type { BaseMeasure, ResolvedMeasure } from '../resolve/resolved-measures.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { comparedColumn, fieldPaths, mapPaths } from '../sources/aggregate/expression.ts';
import type { Source } from '../sources/source.ts';
import type { GroupOrder, SourceColumn, Total } from '../sources/statement.ts';
import { type Planner, planCrossSource } from './cross-source.ts';
import { areSeparate, isDecidable, isOfGroup, planHaving, testsOf } from './having.ts';
import { planParameters, refuseParameters } from './queries.ts';
import { planJoins } from './read.ts';
import { isReadAfterwards, splitFilter } from './residual.ts';
import type { Filter, GroupKey, GroupSelect, Measure, Path } from './types.ts';

/** A planned aggregate, as plain data. */
export interface AggregatePlan {
  readonly source: Source;
  readonly query: AggregateQuery;
  readonly columns: readonly string[];
  /** The result has no groups for values without records, such as a month without orders or an unused enum value. */
  readonly lacksEmpty: boolean;
  /** Warns that a record counts in several groups. */
  readonly manyNote?: string;
  /** The base measures. */
  readonly measures: readonly Measure[];
  /** Null if no record can match. */
  readonly group: GroupSelect | null;
  /** For each measure: the index of its figure in a tally; undefined for measures derived from others. */
  readonly figures: readonly (number | undefined)[];
  /** The source orders and limits the groups. Otherwise it returns all of them. */
  readonly isPaged: boolean;
}

/** The most groups that are ordered in the process. */
export const GROUPS_LIMIT = 100_000;

export function failTooManyGroups(argument: string): never {
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `more than ${GROUPS_LIMIT} groups. Narrow the filters, or group by fewer fields.`,
  });
}

/** `wheres`: the planned conditions of the measures, by index. */
export function planAggregate(
  { collection }: CollectionView,
  query: AggregateQuery,
  where: Filter,
  wheres: readonly (Filter | undefined)[],
  planner: Planner,
): AggregatePlan {
  const { groups } = query;
  const measures: Measure[] = [];
  const isOrdered = isOrderedBySource(query);
  const decides = isOrdered && isDecidable(query, collection.source);
  const related = planRelatedMeasures(collection, query.measures, wheres, planner);
  const figures = query.measures.map((measure, index) => {
    if (measure.kind !== 'base' || (decides && measure.isOwn)) return undefined;
    const { operation, of, fraction, many } = measure;
    if (many) return measures.push(related[index]!) - 1;
    const condition = wheres[index];
    return (
      measures.push({
        operation,
        ...(of && { of }),
        ...(fraction && { fraction }),
        ...(condition && condition.op !== 'always' && { where: condition }),
      }) - 1
    );
  });
  if (collection.query) wheres.forEach(refuseParameters);
  const keys = groups.map((group) => planRelatedRows(collection, group, planner));
  const many = groups.filter((group) => group.many).map(({ column }) => column);
  const merged = planMerged(query);
  const { bounds, having, isDecided } = planHaving(query, measures, figures, decides);
  const isPaged = !merged && isDecided && isOrdered;
  const plan = {
    source: collection.source,
    query,
    columns: [
      ...groups.map(({ column }) => column),
      ...query.measures.filter(({ isShown }) => isShown).map(({ name }) => name),
    ],
    ...(many.length > 0 && { manyNote: `A record counts once for each value of ${many.join(' and ')}.` }),
    lacksEmpty:
      !query.includeEmpty &&
      keys.some(({ path, by, related }) => by || related || path.via.length > 0 || path.field.type === 'Enum'),
    measures,
    figures,
    isPaged,
  };
  if (where.op === 'never') return { ...plan, group: null };
  const conditions: Filter = {
    op: 'and',
    of: [
      where,
      ...(having ? [having] : []),
      ...measures.flatMap((measure) => measure.where ?? measure.related?.ownWhere ?? []),
      ...keys.flatMap(({ related }) => related?.ownWhere ?? []),
    ],
  };
  return {
    ...plan,
    group: {
      table: collection.table,
      ...(collection.query && planParameters(collection, where)),
      joins: planJoins(conditions, planner.scope, groupPaths({ measures, groups: keys }), planner),
      where,
      measures,
      groups: keys,
      order: isPaged ? query.order.map((each) => toStatementOrder(each, figures)) : [],
      limit: isPaged ? query.limit + 1 : GROUPS_LIMIT + 1,
      ...(isPaged && query.skip > 0 && { skip: query.skip }),
      ...(merged && { merged }),
      ...(bounds.length > 0 && { bounds }),
      ...(having && { having }),
      ...(isPaged && query.hidesFigures && { hidesFigures: true }),
    },
  };
}

/**
 * The statement for the figures of groups, whose columns `outer` aggregates by their names. Undefined if the source cannot
 * compute it.
 */
export function planTotals(
  { query, group, figures, source }: AggregatePlan,
  outer: AggregatePlan,
): GroupSelect | undefined {
  const { having, includeEmpty, readsAll } = query;
  if (
    !source.usesFigures ||
    !group ||
    includeEmpty ||
    readsAll ||
    testsOf(having).length !== (group.bounds?.length ?? 0)
  )
    return undefined;
  if (outer.group?.groups.length !== 0 || outer.group.where.op !== 'always') return undefined;
  const totals = outer.group.measures.map(({ operation, of, where }): Total | undefined => {
    if (where || operation === 'CountDistinct' || operation === 'Percentile') return undefined;
    if (!of) return { operation };
    const index =
      of.op === 'field' ? query.measures.findIndex(({ name, isShown }) => isShown && name === of.path.field.name) : -1;
    const measure = figures[index];
    const isNumber = measure !== undefined && /^(Count|CountDistinct|Sum)$/.test(group.measures[measure]!.operation);
    return isNumber ? { operation, measure } : undefined;
  });
  if (!totals.every((total) => total !== undefined)) return undefined;
  const { merged, limit, ...groups } = group;
  return { ...groups, order: [], totals };
}

/** The statement that counts the groups. Undefined if the source does not decide which there are. */
export function planCount({ source, group, isPaged, query }: AggregatePlan): GroupSelect | undefined {
  if (!source.usesFigures || !group || !isPaged || query.readsAll) return undefined;
  const { limit, skip, hidesFigures, ...groups } = group;
  return { ...groups, order: [], totals: [{ operation: 'Count' }] };
}

/** The groups that are told apart where others may be merged. Undefined if a measure is about a group among others. */
function planMerged({ isUsed, measures, groups, includeEmpty, readsAll }: AggregateQuery): number[] | undefined {
  if (!isUsed || includeEmpty || readsAll) return undefined;
  const isMergeable = measures.every((measure) => {
    if (measure.kind !== 'base') return isOfGroup(measure.kind);
    // Databases may take different texts for equal.
    const { operation, of } = measure;
    return !/^(Max|Min)$/.test(operation) || !of || !isText(comparedColumn(of));
  });
  return isMergeable ? groups.flatMap(({ column }, at) => (isUsed(column) ? [at] : [])) : undefined;
}

const isText = ({ type }: Pick<SourceColumn, 'type'>): boolean => type === 'String' || type === 'Enum';

/** The paths of the record whose values the groups and measures need, without conditions. */
export function groupPaths({ measures, groups }: Pick<GroupSelect, 'measures' | 'groups'>): Path[] {
  const ofGroups = groups.flatMap(({ path, related }) => related?.own ?? [path]);
  return [
    ...new Set([...ofGroups, ...measures.flatMap(({ of, related }) => related?.own ?? (of ? fieldPaths(of) : []))]),
  ];
}

/** The key of a group with the rows of the to-many relation that it goes through. */
function planRelatedRows(home: Collection, { key, many }: ResolvedGroup, planner: Planner): GroupKey {
  if (!many) return key;
  const { collection, further } = startOf(many);
  const where = planVisible(many, always, planner);
  // Fail closed: a statement cannot apply a row scope that is decided after reading.
  if (splitFilter(where).residual.op !== 'always') failOnScope(many, 'groups cannot go through');
  const path = pathTo(collection, [...further, ...key.path.via], key.path.field);
  const id = relationPathId([...many.via, many.relation]);
  return {
    ...key,
    path,
    related: { ...linkRows(home, many, id), where, joins: planJoins(where, planner.scope, [path], planner) },
  };
}

interface RelatedMeasure extends Measure {
  readonly related: NonNullable<Measure['related']>;
}

/** The measures of related rows, by index. Those of the same rows share them. */
function planRelatedMeasures(
  home: Collection,
  measures: readonly ResolvedMeasure[],
  wheres: readonly (Filter | undefined)[],
  planner: Planner,
): (RelatedMeasure | undefined)[] {
  const planned = measures.map((measure, index) => {
    if (measure.kind !== 'base' || !measure.many) return undefined;
    return planRelatedMeasure(home, { ...measure, many: measure.many }, wheres[index] ?? always, planner, index);
  });
  return planned.map((measure) => {
    if (!measure) return undefined;
    const { related } = measure;
    const same = planned.flatMap((other) => (other && other.related.id === related.id ? [other] : []));
    const paths = [...related.keys, ...same.flatMap(({ of }) => (of ? fieldPaths(of) : []))];
    return { ...measure, related: { ...related, joins: planJoins(related.where, planner.scope, paths, planner) } };
  });
}

/** A measure of the related rows of each record, without the joins. Throws INVALID_ARGUMENT if the source cannot compute it. */
function planRelatedMeasure(
  home: Collection,
  { operation, of, many, at, name }: BaseMeasure & { readonly many: ToManySplit },
  condition: Filter,
  planner: Planner,
  index: number,
): RelatedMeasure {
  const { collection, further } = startOf(many);
  const refuse = (problem: string): never =>
    fail('INVALID_ARGUMENT', { argument: at, problem: `'${name}' ${problem}` });
  const { through, to } = many.relation;
  if (findCrossSource(many.via) >= 0 || collection.source !== home.source || to.source !== home.source)
    refuse('is about records of another source, so a list cannot be sorted or filtered by it. It can be shown.');
  if (through && !isPair(through))
    refuse(
      'may count a record twice, because pairs of records may repeat, so a list cannot be sorted or filtered by it. It can be shown.',
    );
  const move = (path: Path) => pathTo(collection, [...further, ...path.via], path.field);
  const moved = of && mapPaths(of, move);
  const paths = moved ? fieldPaths(moved) : [];
  if (paths.some(isReadAfterwards))
    refuse(
      'uses a field that the database cannot evaluate, so a list cannot be sorted or filtered by it. It can be shown.',
    );
  if (splitFilter(planVisible(many, always, planner)).residual.op !== 'always')
    failOnScope(many, 'lists cannot be sorted or filtered through');
  const where = planVisible(many, prependRelations(condition, collection, further), planner);
  if (splitFilter(where).residual.op !== 'always')
    fail('INVALID_ARGUMENT', {
      argument: `${at}.where`,
      problem: `the database cannot evaluate it, so a list cannot be sorted or filtered by '${name}'. It can be shown.`,
    });
  const id = condition.op === 'always' ? relationPathId([...many.via, many.relation]) : `measure ${index}`;
  return {
    operation,
    ...(moved && { of: moved }),
    related: { ...linkRows(home, many, id), where, joins: [] },
  };
}

/** Where the rows of a to-many relation are, and the relations from there to the foreign records. */
function startOf({ relation }: ToManySplit): {
  readonly collection: Collection;
  readonly further: readonly Relation[];
} {
  const { through, to } = relation;
  return { collection: through?.collection ?? to, further: through ? [toForeign(relation, through)] : [] };
}

/** The condition of rows that lead to a record which the caller may see. */
function planVisible(many: ToManySplit, more: Filter, planner: Planner): Filter {
  const { relation, back } = many;
  const { collection, further } = startOf(many);
  const present = [...further, ...(back ? [back] : [])].map((each): Filter => {
    const path = pathTo(collection, [each], each.on[0]!.to);
    return not({ op: 'test', path, is: 'Missing', value: null });
  });
  const visible = and(planner.scope(collection), planTypeCondition(relation, 'to', relation.to, []), ...present, more);
  return planCrossSource(collection, visible, planner);
}

function linkRows(home: Collection, { via, relation, back }: ToManySplit, id: string) {
  const { through, to } = relation;
  const collection = through?.collection ?? to;
  const pairs = through?.origin ?? relation.on;
  const toKeys = back ? [back] : [];
  return {
    id,
    collection,
    own: pairs.map(({ from }) => pathTo(home, via, from)),
    keys: pairs.map(({ to: column }) => pathTo(collection, toKeys, column)),
    ownWhere: planTypeCondition(relation, 'from', home, via),
  };
}

/** Whether the through collection has one record for each pair. */
function isPair({ collection, origin, foreign }: Through): boolean {
  const columns: readonly Column[] = [...origin.map(({ to }) => to), ...foreign.map(({ from }) => from)];
  return [collection.key, ...collection.uniqueKeys].some(
    (key) => key.length > 0 && key.every((column) => columns.includes(column)),
  );
}

function failOnScope(many: ToManySplit, what: string): never {
  return fail('CONFIGURATION', {
    problem: `The row scope of '${startOf(many).collection.name}' uses a field that the database cannot evaluate, so ${what} '${many.relation.name}'. An administrator must correct it.`,
  });
}

const foreignRelations = new WeakMap<Relation, Relation>();

/** The to-one relation from the through collection to the foreign one. */
function toForeign(relation: Relation, { foreign }: Through): Relation {
  let known = foreignRelations.get(relation);
  if (!known) {
    // Databases reject NUL in names, so this name is unique.
    const { lowestBy: _, through: __, only: ___, ...plain } = relation;
    known = Object.freeze({
      ...plain,
      kind: 'one',
      name: `${relation.name}\0foreign`,
      on: foreign,
      inverse: false,
      enforced: false,
    });
    foreignRelations.set(relation, known);
  }
  return known;
}

/** Whether a page of groups depends on base measures only, each in a form that a statement can order by. */
function isOrderedBySource(query: AggregateQuery): boolean {
  const { measures, order, top } = query;
  if (top || !areSeparate(query)) return false;
  return order.every(({ by, index }) => {
    if (by === 'group') return true;
    const measure = measures[index]!;
    return measure.kind === 'base' && measure.operation !== 'Percentile';
  });
}

function toStatementOrder(order: GroupOrder, figures: readonly (number | undefined)[]): GroupOrder {
  return order.by === 'group' ? order : { ...order, index: figures[order.index]! };
}
