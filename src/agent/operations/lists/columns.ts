// Lists with columns that are not fields. The page is read as in other lists, with the values that the columns need.
// Expressions are then computed in the process, and figures of related records are read for the records of the page. A
// sort by such a column finds the keys of the page first (sorted.ts).
import { fail, isAppError } from '../../../core/errors.ts';
import type { PlainColumn } from '../../../core/filter/columns.ts';
import { writeCursor, writeGroupCursor } from '../../encode/cursor.ts';
import { isFile, readyRows, shapeRecords } from '../../encode/records.ts';
import type { Path, Query, ReadPlan, RequestedField } from '../../plan/types.ts';
import { keysFilter } from '../../plan/write.ts';
import type { ListAnswer, ListRequest } from '../../requests.ts';
import { type ResolvedColumn, resolveColumns } from '../../resolve/columns.ts';
import { pathTo } from '../../resolve/paths.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { evaluateExpression, fieldPaths } from '../../sources/aggregate/expression.ts';
import { equalityKey } from '../../sources/evaluate.ts';
import type { Row } from '../../sources/statement.ts';
import { type Call, type Restriction, restrictFurther } from '../call.ts';
import { hasHooks } from '../hooks.ts';
import { ownPaths, readFigures } from './figures.ts';
import { readSortedKeys, sortsByColumn } from './sorted.ts';

/** The conditions of a list whose `fields` are names. */
export type FieldRequest = Omit<ListRequest, 'collection' | 'fields'> & { readonly fields?: readonly string[] };

/** What a page reads beside its fields. */
export interface MoreRead {
  readonly paths: readonly RequestedField[];
  /** The page is known by its keys, so it has no cursor of its own. */
  readonly sorted?: boolean;
}

interface RecordsPage {
  readonly query: Query;
  readonly plan: ReadPlan;
  /** Canonical values. */
  readonly rows: Row[];
  readonly hasMore: boolean;
  readonly mark: () => string;
}

type ReadRecords = (request: FieldRequest, within: Restriction, more: MoreRead) => Promise<RecordsPage>;
type ListConditions = Omit<ListRequest, 'collection'>;

/** Far below SQLite's limit for the depth of a condition, which is relevant for composite keys. */
const KEYS_PER_STATEMENT = 400;

/** `readRecords` reads a page of fields. Throws INVALID_ARGUMENT and the errors of `resolveName`. */
export async function listColumns(
  call: Call,
  view: CollectionView,
  request: ListConditions,
  within: Restriction,
  readRecords: ReadRecords,
): Promise<ListAnswer> {
  const { fields: given = [], sort = [], ...conditions } = request;
  const fields = given.filter((each) => typeof each === 'string');
  const plain = given.filter((each): each is PlainColumn => typeof each !== 'string');
  if (hasHooks(view.collection, 'List'))
    fail('INVALID_ARGUMENT', {
      argument: 'fields',
      problem: `code that checks the records of each list of '${view.collection.name}' cannot check computed columns. Name fields only.`,
    });
  const columns = resolveColumns(view, plain, call.moment);
  const needed = neededPaths(view, columns);
  const read = async (more: FieldRequest, restriction: Restriction, sorted: boolean) =>
    readRecords({ ...more, fields }, restriction, { paths: needed, sorted }).catch((error) =>
      failOnFilter(error, columns),
    );
  if (!sortsByColumn(sort, columns)) {
    const page = await read({ ...conditions, ...(request.sort && { sort }) }, within, false);
    let marked: string | undefined;
    return answer(call, view, given, columns, page, page.hasMore, (index) => {
      const row = page.rows[index];
      if (!row || !page.query.cursor) return undefined;
      marked ??= page.mark();
      return writeCursor(marked, row, page.plan.keys);
    });
  }
  const { keys, hasMore, mark, skip } = await readSortedKeys(call, view, request, columns, within).catch((error) =>
    failOnFilter(error, columns),
  );
  const key = view.collection.key.map((column) => pathTo(view.collection, [], column));
  const { cursor: _, skip: __, ...selection } = conditions;
  const pages: RecordsPage[] = [];
  for (let at = 0; at < Math.max(keys.length, 1); at += KEYS_PER_STATEMENT) {
    const some = keys.slice(at, at + KEYS_PER_STATEMENT);
    const restricted = restrictFurther(within, keysFilter({ key }, some));
    pages.push(await read({ ...selection, limit: Math.max(some.length, 1) }, restricted, true));
  }
  const page = { ...pages[0]!, rows: pages.flatMap(({ rows }) => rows) };
  const rows = inOrder(page, key, keys);
  return answer(call, view, given, columns, { ...page, rows }, hasMore, (index) =>
    rows[index] ? writeGroupCursor(mark, skip + index + 1) : undefined,
  );
}

/** The values that the columns are computed from, and the key, as further fields of the page. */
function neededPaths({ collection }: CollectionView, columns: readonly ResolvedColumn[]): RequestedField[] {
  const paths = new Map<string, Path>();
  for (const column of collection.key) paths.set(column.name, pathTo(collection, [], column));
  for (const column of columns)
    for (const path of column.kind === 'expression' ? fieldPaths(column.of) : ownPaths(collection, column.measure.many))
      paths.set(path.id, path as Path);
  // Databases do not allow NUL in a name.
  return [...paths.values()].map((path, at) => ({ name: `\0${path.id}`, path, through: [], leaf: `\0${at}` }));
}

/** Filters of a list do not know its columns. */
function failOnFilter(error: unknown, columns: readonly ResolvedColumn[]): never {
  if (isAppError(error, 'UNKNOWN_FIELD') && columns.some(({ name }) => name === error.details.field))
    return fail(
      'INVALID_ARGUMENT',
      {
        argument: 'filter',
        problem: `'${error.details.field}' is a column of this list, and filters take fields. Send {"expression":...}, {"some":"relation"}, or aggregate with having.`,
      },
      error,
    );
  throw error;
}

function inOrder(
  { query, plan, rows }: RecordsPage,
  key: readonly Path[],
  keys: readonly (readonly unknown[])[],
): Row[] {
  const slots = key.map((path) => slotOf(query, plan, path));
  const markOf = (values: readonly unknown[]) =>
    JSON.stringify(values.map((value, at) => equalityKey(value, key[at]!.field)));
  const byKey = new Map(rows.map((row) => [markOf(slots.map((slot) => row[slot])), row]));
  // A record may have been deleted since.
  return keys.map((values) => byKey.get(markOf(values))).filter((row) => row !== undefined);
}

const slotOf = ({ select }: Query, { columns }: ReadPlan, { id }: Path): number =>
  columns[select.findIndex(({ path }) => path.id === id)]!;

async function answer(
  call: Call,
  view: CollectionView,
  given: NonNullable<ListRequest['fields']>,
  columns: readonly ResolvedColumn[],
  { query, plan, rows }: RecordsPage,
  hasMore: boolean,
  cursorAfter: ListAnswer['cursorAfter'],
): Promise<ListAnswer> {
  const valueAt = (row: Row, path: Path): unknown => row[slotOf(query, plan, path)] ?? null;
  const figures = await readFigures(call, view, columns, rows, valueAt);
  const computed = new Map(
    columns.map((column): [string, readonly unknown[]] => [
      column.name,
      column.kind === 'expression'
        ? rows.map((row) => evaluateExpression(column.of, (path) => valueAt(row, path as Path)))
        : figures.get(column)!,
    ]),
  );
  readyRows(rows, plan.binary);
  const shown = query.select.filter(({ name }) => !name.startsWith('\0'));
  const slots = new Map(shown.map(({ name }, at) => [name, plan.columns[at]!]));
  const names = namesOf(given, shown);
  const shape = { ...plan.shape, leaves: plan.shape.leaves.filter(([name]) => !name.startsWith('\0')) };
  return {
    columns: names,
    rows: rows.map((row, at) => names.map((name) => computed.get(name)?.[at] ?? row[slots.get(name)!] ?? null)),
    hasMore,
    files: shown.filter(({ path }) => isFile(path.field)).map(({ name }) => name),
    cursorAfter,
    records: () =>
      shapeRecords(rows, shape).map((record, at) => {
        for (const [name, values] of computed) record[name] = values[at] ?? null;
        return record;
      }),
  };
}

/** In the order of the request. A field that is named twice is shown once. */
function namesOf(given: NonNullable<ListRequest['fields']>, shown: readonly RequestedField[]): string[] {
  const fields = shown.map(({ name }) => name);
  const names = given.flatMap((each) => (typeof each === 'string' ? (fields.shift() ?? []) : [each.name]));
  return [...new Set(names)];
}
