// Lists with columns that are not fields. The page is read as in other lists, with the values that the columns need.
// Expressions are then computed in the process, and figures of related records are read for the records of the page. A
// sort by such a column finds the keys of the page first (sorted.ts).
import { fail } from '../../../core/errors.ts';
import type { PlainColumn } from '../../../core/filter/columns.ts';
import { fingerprint, writeCursor, writeGroupCursor } from '../../encode/cursor.ts';
import { isFile, readyRows, shapeRecords } from '../../encode/records.ts';
import type { Conditions } from '../../lower/filter.ts';
import type { Path, Query, ReadPlan, RequestedField } from '../../plan/types.ts';
import { keysFilter } from '../../plan/write.ts';
import type { CountRequest, ListAnswer, ListRequest } from '../../requests.ts';
import { splitConditions } from '../../resolve/column-conditions.ts';
import { type FigureColumn, type ResolvedColumn, resolveColumns } from '../../resolve/columns.ts';
import { pathTo } from '../../resolve/paths.ts';
import type { CollectionView } from '../../resolve/visibility.ts';
import { evaluateExpression, fieldPaths } from '../../sources/aggregate/expression.ts';
import { equalityKey } from '../../sources/evaluate.ts';
import type { Row, Path as SourcePath } from '../../sources/statement.ts';
import { type Call, type Restriction, restrictFurther } from '../call.ts';
import { hasHooks } from '../hooks.ts';
import { ownPaths, readFigures } from './figures.ts';
import { countKeys, readSortedKeys, sortsByColumn } from './sorted.ts';

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
  const { filter: _filter, ...others } = conditions;
  const { filter, ...onFigures } = splitConditions(view, request.filter, plain, columns, call.moment);
  const selection = { ...others, ...(filter && { filter }) };
  const read = async (more: FieldRequest, restriction: Restriction, sorted: boolean) =>
    readRecords({ ...more, fields }, restriction, { paths: needed, sorted });
  if (onFigures.having.op === 'always' && !sortsByColumn(sort, columns)) {
    const page = await read({ ...selection, ...(request.sort && { sort }) }, within, false);
    let marked: string | undefined;
    return answer(call, view, given, columns, page, page.hasMore, (index) => {
      const row = page.rows[index];
      if (!row || !page.query.cursor) return undefined;
      marked ??= page.mark();
      return writeCursor(marked, row, page.plan.keys);
    });
  }
  const mark = markOf(view, request, within);
  const ofKeys = { ...selection, sort, columns, onFigures, mark };
  const { keys, hasMore, skip } = await readSortedKeys(call, view, ofKeys, within);
  const key = view.collection.key.map((column) => pathTo(view.collection, [], column));
  const { cursor: _, skip: __, ...ofPage } = selection;
  const pages: RecordsPage[] = [];
  for (let at = 0; at < Math.max(keys.length, 1); at += KEYS_PER_STATEMENT) {
    const some = keys.slice(at, at + KEYS_PER_STATEMENT);
    const restricted = restrictFurther(within, keysFilter({ key }, some));
    pages.push(await read({ ...ofPage, limit: Math.max(some.length, 1) }, restricted, true));
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
  const figures = figuresByPath(columns);
  for (const column of columns)
    for (const path of column.kind === 'expression' ? fieldPaths(column.of) : ownPaths(collection, column.measure.many))
      if (!figures.has(path)) paths.set(path.id, path as Path);
  // Databases do not allow NUL in a name.
  return [...paths.values()].map((path, at) => ({ name: `\0${path.id}`, path, through: [], leaf: `\0${at}` }));
}

/** A cursor is a number of records, so it belongs to the definitions of the columns too. */
function markOf({ collection }: CollectionView, request: ListConditions, within: Restriction): string {
  const { fields = [], sort = [] } = request;
  const used = fields.filter((each) => typeof each !== 'string');
  return fingerprint(collection, ['columns', used, sort], { ...request, ...(within.mark && { within: within.mark }) });
}

/** The number of records. The filter may name the columns. Throws INVALID_ARGUMENT for more records than are grouped. */
export async function countColumns(
  call: Call,
  view: CollectionView,
  { fields = [], ...request }: Omit<CountRequest, 'collection'>,
  within: Restriction,
  countRecords: (conditions: Conditions) => Promise<number>,
): Promise<number> {
  const plain = fields.filter((each): each is PlainColumn => typeof each !== 'string');
  const columns = resolveColumns(view, plain, call.moment);
  const { filter, ...onFigures } = splitConditions(view, request.filter, plain, columns, call.moment);
  const { filter: _, ...others } = request;
  const selection = { ...others, ...(filter && { filter }) };
  if (onFigures.having.op === 'always') return countRecords(selection);
  if (hasHooks(view.collection, 'Aggregate'))
    fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `code that checks aggregates of '${view.collection.name}' cannot check conditions on columns, so they are not counted. List the records.`,
    });
  return countKeys(call, view, { ...selection, columns, onFigures }, within);
}

/** The figures that expressions of the list may use. */
const figuresByPath = (columns: readonly ResolvedColumn[]): ReadonlyMap<SourcePath, FigureColumn> =>
  new Map(columns.flatMap((column) => (column.kind === 'figure' ? [[column.path, column] as const] : [])));

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
  const byPath = figuresByPath(columns);
  const computed = new Map(
    columns.map((column): [string, readonly unknown[]] => [
      column.name,
      column.kind === 'expression'
        ? rows.map((row, at) => {
            const value = (path: SourcePath) => {
              const figure = byPath.get(path);
              return figure ? figures.get(figure)![at] : valueAt(row, path as Path);
            };
            return evaluateExpression(column.of, value);
          })
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
