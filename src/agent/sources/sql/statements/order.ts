// How a page is read in its order. Nulls are first in ascending and last in descending order, which is the order of
// the indexes of SQLite and MySQL. PostgreSQL's indexes have them at the other end. A page there is read in two parts,
// the values and the nulls, each from the index. So are two kinds of pages on SQLite: after a cursor, because it cannot
// read values and nulls as one range, and by a related record, because a left join is not read in the order of the
// other table. MySQL reads the first kind as one range and sorts the second kind in any case.
import { afterFilter } from '../../after.ts';
import { comparedPaths } from '../../aggregate/expression.ts';
import type { CountSelect, Filter, Join, Order, Path, Select, SourceRelation } from '../../statement.ts';
import type { Codec, Dialect } from '../codec.ts';

interface Reading {
  readonly dialect: Dialect;
  readonly codecOf: (path: Path) => Codec;
}

/** The condition of a cursor: a comparison of rows, or of single columns. */
type AfterForm =
  | { readonly row: readonly Path[]; readonly sign: '<' | '>'; readonly values: readonly unknown[] }
  | { readonly row?: undefined; readonly filter: Filter };

/** Whether the value at the path may be null on a row that satisfies the condition. */
export function mayBeNull(path: Path, { joins, where }: CountSelect, reading: Reading): boolean {
  if (excludesNull(where, path)) return false;
  if (path.field.nullable || !isJoinedByAll(path, joins)) return true;
  // SQLite reads an invalid date as null.
  return reading.dialect === 'sqlite' && reading.codecOf(path).ordered !== undefined;
}

function isJoinedByAll({ via }: Path, joins: readonly Join[]): boolean {
  return via.every((_, at) =>
    joins.some(
      (join) => join.isComplete && join.via.length === at + 1 && join.via.every((relation, of) => relation === via[of]),
    ),
  );
}

const acceptsNull: ReadonlySet<string> = new Set(['Missing', 'NotEqual', 'NotIn', 'NotContains', 'NotIContains']);

/** Whether no row with null at the path satisfies the condition. */
function excludesNull(where: Filter, path: Path): boolean {
  switch (where.op) {
    case 'test':
      return where.path.id === path.id && !acceptsNull.has(where.is) && where.value !== null;
    case 'not':
      return isMissing(where.of, path);
    case 'and':
      return where.of.some((part) => excludesNull(part, path));
    case 'or':
      return where.of.length > 0 && where.of.every((part) => excludesNull(part, path));
    default:
      return false;
  }
}

function isMissing(filter: Filter, path: Path): boolean {
  return filter.op === 'test' && filter.path.id === path.id && filter.is === 'Missing';
}

/**
 * The selects whose rows, one after the other, are the page: one, or the values and the nulls of the first column of
 * the order.
 */
export function pageParts(select: Select, reading: Reading): readonly [Select, Select?] {
  const { after, limit, skip = 0, where } = select;
  const order = orderOf(select);
  const [first] = order;
  if (!first || limit === undefined || select.lock || select.referencedBy) return [select];
  const { path, ascending } = first;
  if (reading.dialect === 'mysql') return [select];
  if (reading.dialect === 'sqlite' && !after && isJoinedByAll(path, select.joins)) return [select];
  const isNullable = (each: Order) => mayBeNull(each.path, select, reading);
  // A statement for every combination of nulls would be needed.
  if (!isNullable(first) || order.slice(1).some(isNullable)) return [select];
  const missing: Filter = { op: 'test', path, is: 'Missing', value: null };
  const { after: _, skip: __, ...rest } = select;
  const part = (condition: Filter, isFirst: boolean): Select => ({
    ...rest,
    where: where.op === 'always' ? condition : { op: 'and', of: [where, condition] },
    limit: limit + roundUp(skip),
    ...(isFirst && after && { after }),
  });
  const values = (isFirst: boolean) => part({ op: 'not', of: missing }, isFirst);
  const nulls = (isFirst: boolean) => part(missing, isFirst);
  const isAfterNull = after !== undefined && after[select.order.indexOf(first)] === null;
  if (ascending) return after && !isAfterNull ? [values(true)] : [nulls(true), values(false)];
  return isAfterNull ? [nulls(true)] : [values(true), nulls(false)];
}

/** Below this, skipping rows takes about as long as finding their keys first. */
const LATE = 1000;

/**
 * A page that starts far into its order: the database finds the keys of its rows, often in an index, and then reads
 * these rows only. Otherwise it reads every row that it skips, with the joins of all columns.
 */
export function latePage(select: Select): { readonly keys: Select; readonly rows: Select } | undefined {
  const { table, columns, joins, where, order, after, limit, skip = 0, cut, key } = select;
  if (!key || limit === undefined || skip < LATE) return undefined;
  return {
    keys: { table, columns: key, joins: decidingJoins(select), where, order, limit, skip, ...(after && { after }) },
    rows: { table, columns, joins, where: { op: 'always' }, order, ...(cut && { cut }) },
  };
}

/** To the next power of two, so that the pages of a list share few texts. */
function roundUp(skip: number): number {
  return skip === 0 ? 0 : 2 ** Math.ceil(Math.log2(skip));
}

/** The order of a select, without columns that are null on all of its rows. */
export function orderOf({ order, where }: Select): readonly Order[] {
  const isNull = (path: Path) =>
    isMissing(where, path) || (where.op === 'and' && where.of.some((part) => isMissing(part, path)));
  return order.filter(({ path }) => !isNull(path));
}

/** MySQL finds the start of the comparison of single columns in an index, but not that of rows. */
export function afterForm(select: Select, reading: Reading): AfterForm | undefined {
  const { after } = select;
  if (!after) return undefined;
  const order = orderOf(select);
  const values = after.filter((_, at) => order.includes(select.order[at]!));
  const hasValue = (path: Path) => !mayBeNull(path, select, reading);
  const [first] = order;
  const isRow =
    reading.dialect !== 'mysql' &&
    order.length > 1 &&
    order.every(({ path, ascending }, at) => {
      const { bounds, ranked, equal, ordered } = reading.codecOf(path);
      const isPlain = !(bounds || ranked || equal || ordered);
      const isOfOneTable = path.via.length === 0 && first!.path.via.length === 0;
      return isPlain && isOfOneTable && ascending === first!.ascending && values[at] !== null && hasValue(path);
    });
  if (isRow) return { row: order.map(({ path }) => path), sign: first!.ascending ? '>' : '<', values };
  const filter = afterFilter(order, values, hasValue);
  if (!first || order.length === 1 || values[0] === null || !(first.ascending || hasValue(first.path)))
    return { filter };
  // Repeats what the condition implies, so a database that does not infer it can still start within an index.
  const is = first.ascending ? 'GreaterThanOrEqual' : 'LessThanOrEqual';
  return { filter: { op: 'and', of: [{ op: 'test', path: first.path, is, value: values[0] }, filter] } };
}

/** The joins that decide which rows are in the page. Each of the others finds at most one row, and removes none. */
function decidingJoins({ joins, where, order }: Select): readonly Join[] {
  const idOf = (via: readonly SourceRelation[]) => via.map(({ name }) => name).join(':');
  const chains = [...collectVias(where), ...order.map(({ path }) => path.via)];
  const needed = new Set(chains.flatMap((via) => via.map((_, at) => idOf(via.slice(0, at + 1)))));
  return joins.filter(({ via }) => needed.has(idOf(via)));
}

/** Every chain of relations in the filter's paths, parents before children. */
export function collectVias(filter: Filter): (readonly SourceRelation[])[] {
  const found = new Map<string, readonly SourceRelation[]>();
  const add = ({ via: whole }: Path): void =>
    whole.forEach((_, at) => {
      const via = whole.slice(0, at + 1);
      const id = via.map((relation) => relation.name).join(':');
      if (!found.has(id)) found.set(id, via);
    });
  const visit = (part: Filter): void => {
    if (part.op === 'test') add(part.path);
    else if (part.op === 'compare') comparedPaths(part).forEach(add);
    else if (part.op === 'some') part.own.forEach(add);
    else if (part.op === 'not') visit(part.of);
    else if (part.op === 'and' || part.op === 'or') part.of.forEach(visit);
  };
  visit(filter);
  return [...found.values()];
}
