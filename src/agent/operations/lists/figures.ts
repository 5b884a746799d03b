// Figures of related records for the records of a page: one statement for each relation and batch of records, which groups
// the related records by their foreign key. It starts at the related records, so it follows to other sources, and figures
// of fields that code computes are computed in the process.
import { fail, isAppError } from '../../../core/errors.ts';
import { inBatches, MAX_CONCURRENT_STATEMENTS } from '../../execute/fetch-related.ts';
import { finishGroups } from '../../execute/figures.ts';
import { always, and } from '../../lower/simplify.ts';
import type { Collection, Column, KeyPair } from '../../model/types.ts';
import { GROUPS_LIMIT, planAggregate } from '../../plan/aggregate.ts';
import { planCrossSource, planExistsIn, toColumnPairs } from '../../plan/cross-source.ts';
import { createPlanner } from '../../plan/read.ts';
import { splitFilter } from '../../plan/residual.ts';
import type { Filter, GroupKey, Path } from '../../plan/types.ts';
import { keysFilter } from '../../plan/write.ts';
import type { AggregateQuery } from '../../resolve/aggregate.ts';
import type { ResolvedColumn } from '../../resolve/columns.ts';
import type { ToManySplit } from '../../resolve/filter.ts';
import { pathTo, planTypeCondition, relationPathId } from '../../resolve/paths.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { equalityKey } from '../../sources/evaluate.ts';
import type { Row } from '../../sources/statement.ts';
import { lowerWhere, runGroup } from '../aggregates/run-group.ts';
import { type Call, rowsLimitOf, scopesOf } from '../call.ts';
import { hasHooks } from '../hooks.ts';

type FigureColumn = Extract<ResolvedColumn, { kind: 'figure' }>;

/** Records per statement. Far below the limit of any database, also for composite keys. */
const RECORDS_PER_STATEMENT = 400;

/** From the record to the related one, or to that of the through collection. */
const pairsOf = ({ relation: { on, through } }: ToManySplit): readonly KeyPair[] => through?.origin ?? on;

/** The values of a record that decide which records are related. */
export function ownPaths(home: Collection, many: ToManySplit): Path[] {
  const { via, relation } = many;
  const type = relation.only?.side === 'from' ? [pathTo(home, via, relation.only.column)] : [];
  return [...pairsOf(many).map(({ from }) => pathTo(home, via, from)), ...type];
}

/** The figures of each column, by row. Throws TOO_MANY_ROWS if the process must read too many related records. */
export async function readFigures(
  call: Call,
  view: CollectionView,
  columns: readonly ResolvedColumn[],
  rows: readonly Row[],
  valueAt: (row: Row, path: Path) => unknown,
): Promise<ReadonlyMap<ResolvedColumn, readonly unknown[]>> {
  const figures = columns.filter((column) => column.kind === 'figure');
  const relations = new Map<string, [FigureColumn, ...FigureColumn[]]>();
  for (const column of figures) {
    const { via, relation } = column.measure.many;
    const id = relationPathId([...via, relation]);
    const known = relations.get(id);
    if (known) known.push(column);
    else relations.set(id, [column]);
  }
  const all = new Map<ResolvedColumn, unknown[]>();
  for (const same of relations.values()) {
    const { many } = same[0].measure;
    const marks = rows.map((row) => keyOf(view.collection, many, (path) => valueAt(row, path)));
    const found = await readRelated(
      call,
      view,
      same,
      new Map(marks.flatMap((key) => (key ? [[key.mark, key.values]] : []))),
    );
    for (const [at, column] of same.entries())
      all.set(
        column,
        marks.map((key) => (key && found.get(key.mark)?.[at]) ?? emptyFigure(column)),
      );
  }
  return all;
}

const emptyFigure = ({ measure: { operation } }: FigureColumn): unknown =>
  operation === 'Count' || operation === 'CountDistinct' ? 0 : null;

/** Undefined for a record that has no related records: a part of the key is null, or its type is another. */
function keyOf(home: Collection, many: ToManySplit, read: (path: Path) => unknown) {
  const { via, relation } = many;
  const pairs = pairsOf(many);
  const values = pairs.map(({ from }) => read(pathTo(home, via, from)));
  if (values.includes(null)) return undefined;
  const { only } = relation;
  if (only?.side === 'from') {
    const type = read(pathTo(home, via, only.column));
    if (type === null || equalityKey(type, only.column) !== equalityKey(only.value, only.column)) return undefined;
  }
  return {
    mark: markOf(
      values,
      pairs.map(({ to }) => to),
    ),
    values,
  };
}

const markOf = (values: readonly unknown[], columns: readonly Column[]): string =>
  JSON.stringify(values.map((value, at) => equalityKey(value, columns[at]!)));

/** The figures by the mark of the key. */
async function readRelated(
  call: Call,
  view: CollectionView,
  columns: readonly [FigureColumn, ...FigureColumn[]],
  keys: ReadonlyMap<string, readonly unknown[]>,
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { many } = columns[0].measure;
  const related = view.forCollection(many.relation.to);
  if (hasHooks(related.collection, 'Aggregate'))
    fail('INVALID_ARGUMENT', {
      argument: columns[0].at,
      problem: `code of the operator checks aggregates of '${related.collection.name}', and it cannot check columns. Send aggregate to '${related.collection.name}'.`,
    });
  const { moment, code } = call;
  const wheres = await Promise.all(columns.map(({ measure }) => lowerWhere(measure, { view, moment, code })));
  const all = [...keys.values()];
  const batches = Array.from({ length: Math.ceil(all.length / RECORDS_PER_STATEMENT) }, (_, at) =>
    all.slice(at * RECORDS_PER_STATEMENT, (at + 1) * RECORDS_PER_STATEMENT),
  );
  const ends = pairsOf(many).map(({ to }) => to);
  const found = new Map<string, readonly unknown[]>();
  await inBatches(batches, MAX_CONCURRENT_STATEMENTS, async (batch) => {
    for (const row of await readBatch(call, related, columns, wheres, batch))
      if (!row.slice(0, ends.length).includes(null))
        found.set(markOf(row.slice(0, ends.length), ends), row.slice(ends.length));
  });
  return found;
}

/** Rows of a key and its figures. */
async function readBatch(
  call: Call,
  related: CollectionView,
  columns: readonly [FigureColumn, ...FigureColumn[]],
  wheres: readonly Filter[],
  keys: readonly (readonly unknown[])[],
): Promise<readonly Row[]> {
  const scope = scopesOf(call);
  const planner = createPlanner(scope, rowsLimitOf(call.ops));
  const { many } = columns[0].measure;
  const { relation, back } = many;
  const { to, through } = relation;
  const holder = through?.collection ?? to;
  // A record that the caller may not see has no key.
  const ends = pairsOf(many).map(({ to: column }) => pathTo(holder, back ? [back] : [], column));
  const ofKeys = keysFilter({ key: ends }, keys);
  const own = and(scope(to), planTypeCondition(relation, 'to', to, []));
  const { condition, groups } = through
    ? planPairs(columns[0], and(scope(holder), ofKeys), ends)
    : { condition: ofKeys, groups: ends.map((path): GroupKey => ({ path })) };
  const query: AggregateQuery = {
    measures: columns.map(({ measure: { many: _, ...measure } }) => ({ ...measure, isShown: true })),
    groups: groups.map((key) => ({ column: key.path.id, field: key.path.id, key })),
    having: always,
    order: [],
    includeEmpty: false,
    limit: GROUPS_LIMIT,
    skip: 0,
  };
  const where = planCrossSource(to, and(own, condition), planner);
  const planned = wheres.map((each) => planCrossSource(to, each, planner));
  const plan = planAggregate(related, query, where, planned, planner);
  if (!plan.group) return [];
  const tallies = await runGroup(call, plan, plan.group, related, scope).catch((error) =>
    failOnColumn(error, columns[0].at),
  );
  return (await finishGroups(plan, tallies)).rows;

  /** Groups by the pairs of the through collection, so that each related record counts once. */
  function planPairs({ at }: FigureColumn, visible: Filter, keys: readonly Path[]) {
    const { collection, foreign } = through!;
    const rows = planCrossSource(collection, visible, planner);
    if (collection.source !== to.source || splitFilter(rows).residual.op !== 'always')
      fail('INVALID_ARGUMENT', {
        argument: at,
        problem: `the database of '${to.name}' cannot decide which of its records are related, so columns cannot follow '${relation.name}'. Send listRelated for one record.`,
      });
    const inverse = foreign.map(({ from, to: end }): KeyPair => ({ from: end, to: from }));
    const link = toColumnPairs(to, [], inverse);
    const pairs = {
      id: relation.name,
      collection,
      own: link.own,
      keys: link.to.map((column) => pathTo(collection, [], column)),
      ownWhere: always,
      where: rows,
      joins: planner.joins(rows),
    };
    return {
      condition: planExistsIn(link, collection, visible, planner, { collection: to.name, name: relation.name }),
      groups: keys.map((path): GroupKey => ({ path, related: pairs })),
    };
  }
}

/** Names the column in errors about groups, which the caller did not send. */
function failOnColumn(error: unknown, at: string): never {
  if (isAppError(error, 'INVALID_ARGUMENT') && /^(groups|measures)$/.test(error.details.argument))
    return fail(
      'INVALID_ARGUMENT',
      {
        argument: at,
        problem:
          'the database cannot compute it: leave out fields that code computes, and conditions on further related records.',
      },
      error,
    );
  throw error;
}
