// A page in the order of computed columns: an aggregate with one group for each record, whose measures are the columns.
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainSort } from '../../../core/filter.ts';
import { fingerprint, readGroupCursor } from '../../encode/cursor.ts';
import { always } from '../../lower/simplify.ts';
import { isSortedInMemory } from '../../plan/residual.ts';
import type { Path } from '../../plan/types.ts';
import type { ListRequest } from '../../requests.ts';
import type { AggregateQuery } from '../../resolve/aggregate.ts';
import type { ResolvedColumn } from '../../resolve/columns.ts';
import { resolveSort } from '../../resolve/names.ts';
import { pathTo } from '../../resolve/paths.ts';
import type { BaseMeasure } from '../../resolve/resolved-measures.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { comparedColumn } from '../../sources/aggregate/expression.ts';
import type { GroupOrder } from '../../sources/statement.ts';
import { type Call, checkLimit, checkSkip, type Restriction } from '../call.ts';
import { readGroups } from '../groups.ts';
import { hasHooks } from '../hooks.ts';

type ListConditions = Omit<ListRequest, 'collection'>;

const invalid = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'sort', problem });

export function sortsByColumn(sort: readonly PlainSort[], columns: readonly ResolvedColumn[]): boolean {
  return sort.some(({ field }) => columns.some(({ name }) => name === field));
}

interface SortedKeys {
  readonly keys: readonly (readonly unknown[])[];
  readonly hasMore: boolean;
  /** The mark of cursors. */
  readonly mark: string;
  /** Records on earlier pages. */
  readonly skip: number;
}

/** The keys of the page. Throws INVALID_ARGUMENT for columns that the database cannot sort by, and INVALID_CURSOR. */
export async function readSortedKeys(
  call: Call,
  view: CollectionView,
  request: ListConditions,
  columns: readonly ResolvedColumn[],
  within: Restriction,
): Promise<SortedKeys> {
  const { fields: _, sort = [], distinct: __, cursor, ...conditions } = request;
  const { collection } = view;
  const limit = checkLimit(request.limit, call.ops.limits.pageSizeLimit);
  if (collection.key.length === 0)
    invalid(`'${collection.name}' has no key, so it cannot be sorted by a computed column. Sort by fields.`);
  const mark = markOf(view, request, within);
  const skip = cursor === undefined ? checkSkip(request.skip ?? 0) : readGroupCursor(cursor, mark);
  const query = { ...resolveOrder(view, sort, columns), limit, skip };
  const page = await readGroups(call, view, { ...conditions, limit, skip }, within, () => query).catch(failOnGroups);
  const from = query.groups.length - collection.key.length;
  return { keys: page.rows.map((row) => row.slice(from, query.groups.length)), hasMore: page.hasMore, mark, skip };
}

/** A cursor is a number of records, so it belongs to the definitions of the columns too. */
function markOf({ collection }: CollectionView, request: ListConditions, within: Restriction): string {
  const { fields = [], sort = [] } = request;
  const used = fields.filter((each) => typeof each !== 'string' && sort.some(({ field }) => field === each.name));
  return fingerprint(collection, ['columns', used, sort], { ...request, ...(within.mark && { within: within.mark }) });
}

/** The sorted fields and the key are groups; the sorted columns are measures. */
function resolveOrder(view: CollectionView, sort: readonly PlainSort[], columns: readonly ResolvedColumn[]) {
  const { collection } = view;
  const paths: Path[] = [];
  const measures: BaseMeasure[] = [];
  const order: GroupOrder[] = [];
  const addPath = (path: Path, ascending: boolean) => {
    if (!paths.includes(path)) order.push({ by: 'group', index: paths.push(path) - 1, ascending });
  };
  for (const { field, ascending = true } of sort) {
    const column = columns.find(({ name }) => name === field);
    if (!column) {
      for (const each of resolveSort(view, [{ field, ascending }])) {
        if (isSortedInMemory(each))
          invalid(
            `'${field}' is sorted after reading, so it cannot be combined with a computed column. Leave one out.`,
          );
        addPath(each.path, each.ascending);
      }
    } else if (!measures.some(({ name }) => name === column.name))
      order.push({ by: 'measure', index: measures.push(toMeasure(column)) - 1, ascending });
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
    having: always,
    order,
    includeEmpty: false,
  };
  return query;
}

function toMeasure(column: ResolvedColumn): BaseMeasure {
  if (column.kind === 'expression') {
    const { type } = comparedColumn(column.of);
    if (type === 'Uuid') invalid(`'${column.name}' is Uuid, which a list cannot be sorted by as an expression.`);
    return {
      kind: 'base',
      name: column.name,
      isShown: true,
      decimals: 10,
      operation: 'Max',
      of: column.of,
      at: column.at,
    };
  }
  const { to } = column.measure.many.relation;
  if (hasHooks(to, 'Aggregate'))
    invalid(`code of the operator checks aggregates of '${to.name}', so a list cannot be sorted by '${column.name}'.`);
  return column.measure;
}

/** Names the sort in errors about groups, which the caller did not send. */
function failOnGroups(error: unknown): never {
  if (isAppError(error, 'INVALID_ARGUMENT') && error.details.argument === 'groups')
    return fail(
      'INVALID_ARGUMENT',
      { argument: 'sort', problem: 'too many records to sort by this column. Narrow the filters, or sort by fields.' },
      error,
    );
  throw error;
}
