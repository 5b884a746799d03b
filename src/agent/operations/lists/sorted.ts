// The records of a list that is sorted by its columns, or that has conditions on figures of related records: an aggregate
// with one group for each record, whose measures are the columns.
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainSort } from '../../../core/filter.ts';
import { readGroupCursor } from '../../encode/cursor.ts';
import type { Conditions } from '../../lower/filter.ts';
import { GROUPS_LIMIT, planCount } from '../../plan/aggregate.ts';
import { isSortedInMemory } from '../../plan/residual.ts';
import type { Path } from '../../plan/types.ts';
import type { ListRequest } from '../../requests.ts';
import type { AggregateQuery } from '../../resolve/aggregate.ts';
import type { ColumnConditions, FigureMeasures } from '../../resolve/column-conditions.ts';
import type { ResolvedColumn } from '../../resolve/columns.ts';
import { columnOf } from '../../resolve/expression.ts';
import { resolveSort } from '../../resolve/names.ts';
import { pathTo } from '../../resolve/paths.ts';
import type { BaseMeasure, ExpressionMeasure, ResolvedMeasure } from '../../resolve/resolved-measures.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { comparedColumn } from '../../sources/aggregate/expression.ts';
import { inexactHere } from '../../sources/source.ts';
import type { GroupOrder } from '../../sources/statement.ts';
import { type Fraction, formatDecimal } from '../../sources/values/decimal.ts';
import { type Call, checkLimit, checkSkip, type Restriction } from '../call.ts';
import { prepareGroups, readGroups, readTallies } from '../groups.ts';
import { hasHooks } from '../hooks.ts';

type ListConditions = Omit<ListRequest, 'collection'>;

const invalid = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'sort', problem });

export function sortsByColumn(sort: readonly PlainSort[], columns: readonly ResolvedColumn[]): boolean {
  return sort.some(({ field }) => columns.some(({ name }) => name === field));
}

/** What decides which records a list has, in which order. */
interface KeysRequest extends Omit<ListConditions, 'fields' | 'distinct'> {
  readonly columns: readonly ResolvedColumn[];
  readonly onFigures: Omit<ColumnConditions, 'filter'>;
  /** The mark of cursors. */
  readonly mark: string;
}

interface SortedKeys {
  readonly keys: readonly (readonly unknown[])[];
  readonly hasMore: boolean;
  /** Records on earlier pages. */
  readonly skip: number;
}

/** The keys of the page. Throws INVALID_ARGUMENT for columns that the database cannot group by, and INVALID_CURSOR. */
export async function readSortedKeys(
  call: Call,
  view: CollectionView,
  { sort = [], cursor, columns, onFigures, mark, ...request }: KeysRequest,
  within: Restriction,
): Promise<SortedKeys> {
  const limit = checkLimit(request.limit, call.ops.limits.pageSizeLimit);
  const skip = cursor === undefined ? checkSkip(request.skip ?? 0) : readGroupCursor(cursor, mark);
  const query = { ...resolveOrder(view, sort, columns, onFigures), limit, skip };
  return { ...(await readKeys(call, view, request, query, within)), skip };
}

/** The number of records. Throws INVALID_ARGUMENT for more than the process counts, where the source does not. */
export async function countKeys(
  call: Call,
  view: CollectionView,
  { columns, onFigures, ...conditions }: Conditions & Pick<KeysRequest, 'columns' | 'onFigures'>,
  within: Restriction,
): Promise<number> {
  const query = { ...resolveOrder(view, [], columns, onFigures), limit: GROUPS_LIMIT, skip: 0 };
  const request = { ...conditions, limit: GROUPS_LIMIT };
  const prepared = await prepareGroups(call, view, request, within, () => ({ ...query, hidesFigures: true }));
  const { plan, scope } = prepared;
  const group = planCount(plan);
  try {
    if (group) {
      const [tally] = await readTallies(call, view, { ...plan, group }, scope);
      return Number(formatDecimal((tally!.figures[0] as Fraction).over));
    }
  } catch (error) {
    if (error !== inexactHere) throw error;
  }
  const { keys, hasMore } = await readKeys(call, view, conditions, query, within);
  if (hasMore) failOnTooMany();
  return keys.length;
}

async function readKeys(
  call: Call,
  view: CollectionView,
  conditions: Conditions,
  query: AggregateQuery,
  within: Restriction,
): Promise<Omit<SortedKeys, 'skip'>> {
  const { limit, skip, groups } = query;
  const read = (each: AggregateQuery) => readGroups(call, view, { ...conditions, limit, skip }, within, () => each);
  const page = await read({ ...query, hidesFigures: true })
    .catch((error: unknown) => {
      if (error === inexactHere) return read(query);
      throw error;
    })
    .catch(failOnGroups);
  const from = groups.length - view.collection.key.length;
  return { keys: page.rows.map((row) => row.slice(from, groups.length)), hasMore: page.hasMore };
}

/** The sorted fields and the key are groups; the sorted columns are measures. */
function resolveOrder(
  view: CollectionView,
  sort: readonly PlainSort[],
  columns: readonly ResolvedColumn[],
  { having, figures }: KeysRequest['onFigures'],
) {
  const { collection } = view;
  if (collection.key.length === 0)
    invalid(
      `'${collection.name}' has no key, so it has no order by a computed column and no condition on figures of related records.`,
    );
  const paths: Path[] = [];
  const sorted = new Map(
    columns.flatMap((column) =>
      sort.some(({ field }) => field === column.name) ? [[column.name, toMeasure(column, figures)]] : [],
    ),
  );
  const measures: ResolvedMeasure[] = figures.measures.map(checkHooks);
  const order: GroupOrder[] = [];
  const addPath = (path: Path, ascending: boolean) => {
    if (!paths.includes(path)) order.push({ by: 'group', index: paths.push(path) - 1, ascending });
  };
  for (const { field, ascending = true } of sort) {
    const measure = sorted.get(field);
    if (!measure) {
      for (const each of resolveSort(view, [{ field, ascending }])) {
        if (isSortedInMemory(each))
          invalid(
            `'${field}' is sorted after reading, so it cannot be combined with a computed column. Leave one out.`,
          );
        addPath(each.path, each.ascending);
      }
    } else {
      const known = measures.findIndex(({ name }) => name === field);
      const index = known >= 0 ? known : measures.push(measure) - 1;
      if (!order.some((each) => each.by === 'measure' && each.index === index))
        order.push({ by: 'measure', index, ascending });
    }
  }
  const last = sort.at(-1)?.ascending ?? true;
  const keys = collection.key.map((column) => pathTo(collection, [], column));
  // The key is last among the groups, also if the sort names a part of it.
  const groups = [...paths, ...keys];
  for (const at of keys.keys())
    if (!paths.includes(keys[at]!)) order.push({ by: 'group', index: paths.length + at, ascending: last });
  const query: Omit<AggregateQuery, 'limit' | 'skip'> = {
    measures,
    groups: groups.map((path) => ({ column: path.id, field: path.id, key: { path } })),
    having,
    order,
    includeEmpty: false,
  };
  return query;
}

function toMeasure(column: ResolvedColumn, figures: FigureMeasures): BaseMeasure | ExpressionMeasure {
  if (column.kind === 'figure') return checkHooks(column.measure);
  const { name, of, at } = column;
  const compared = columnOf(of);
  if (comparedColumn(of).type === 'Uuid')
    invalid(`'${name}' is Uuid, which a list cannot be sorted by as an expression.`);
  const measure = { name, isShown: true, decimals: 10, ...(compared && { column: compared }) };
  return figures.isUsedBy(of)
    ? { ...measure, kind: 'expression', of: figures.toMeasures(of) }
    : { ...measure, kind: 'base', operation: 'Max', of, at };
}

function checkHooks(measure: BaseMeasure): BaseMeasure {
  const to = measure.many?.relation.to;
  if (to && hasHooks(to, 'Aggregate'))
    fail('INVALID_ARGUMENT', {
      argument: measure.at,
      problem: `code of the operator checks aggregates of '${to.name}', so a list cannot be sorted or filtered by '${measure.name}'.`,
    });
  return measure;
}

/** Errors about groups, which the caller did not send, name what they sent. */
function failOnGroups(error: unknown): never {
  if (isAppError(error, 'INVALID_ARGUMENT') && error.details.argument === 'groups') return failOnTooMany(error);
  throw error;
}

function failOnTooMany(cause?: Error): never {
  const problem = 'too many records for a sort or condition on this column. Narrow the filters.';
  return fail('INVALID_ARGUMENT', { argument: 'fields', problem }, cause);
}
