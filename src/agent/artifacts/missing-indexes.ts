// The indexes that relations, sorts and stored filters lack, for `portico doctor --indexes`. The activity log
// does not keep filters, so those of calls are not included.
import { isBranch, isComparison, isQuantified, type PlainFilter, type PlainSort } from '../../core/filter.ts';
import type { Collection, Column, KeyPair, Model, Relation } from '../model/types.ts';

/** A stored filter, such as a row scope. */
export interface KeptFilter {
  readonly collection: string;
  readonly filter: PlainFilter;
  /** For the report, such as `the row scope of team 'Sales'`. */
  readonly what: string;
}

export interface MissingIndexes {
  readonly missing: readonly {
    readonly collection: string;
    /** What would use the index. */
    readonly uses: readonly string[];
    readonly statement: string;
  }[];
  /** The collections whose search reads many records. */
  readonly searched: readonly {
    readonly collection: string;
    /** By the estimate of the database. */
    readonly rows: number;
  }[];
}

const MANY_ROWS = 100_000;

/** `columns` in the order of the index. */
interface Need {
  readonly collection: Collection;
  readonly columns: readonly Column[];
  readonly use: string;
}

export async function findMissingIndexes(model: Model, kept: readonly KeptFilter[]): Promise<MissingIndexes> {
  const collections = [...model.internalCollections.values()];
  const needs = [
    ...collections.flatMap((home) =>
      [...home.internalFields.values()].flatMap((field) =>
        field.kind === 'column' ? sortNeeds(home, field) : relationNeeds(home, field),
      ),
    ),
    ...[...collections.flatMap(segmentFilters), ...kept].flatMap((each) => filterNeeds(model, each)),
  ];
  const missing = new Map<string, { collection: string; uses: string[]; statement: string }>();
  for (const { collection, columns, use } of needs) {
    const { indexing } = collection.source;
    if (!indexing || collection.kind === 'view' || columns.some((column) => column.computedFrom || column.route))
      continue;
    const statement = indexing.createIndex(collection.table, columns);
    if (statement === undefined) continue;
    const found = missing.get(statement) ?? { collection: collection.name, uses: [], statement };
    if (!found.uses.includes(use)) found.uses.push(use);
    missing.set(statement, found);
  }
  return { missing: [...missing.values()], searched: await findSearched([...model.collections.values()]) };
}

/** The foreign side of a relation: the columns by which the related records are found. */
function relationNeeds(home: Collection, relation: Relation): readonly Need[] {
  const { to, on, only, through, name, reach } = relation;
  if (reach === 'call') return [];
  const use = `the relation '${home.name}:${name}'`;
  const need = (collection: Collection, pairs: readonly KeyPair[], type: readonly Column[] = []): readonly Need[] => {
    const columns = pairs.map((pair) => pair.to);
    return isFound(collection, columns, type) ? [] : [{ collection, columns: [...type, ...columns], use }];
  };
  if (through) return [...need(through.collection, through.origin), ...need(to, through.foreign)];
  return need(to, on, only?.side === 'to' ? [only.column] : []);
}

/** Whether an index starts with all of the columns, in any order, and possibly with the others between them. */
function isFound({ indexes = [] }: Collection, columns: readonly Column[], others: readonly Column[]): boolean {
  return indexes.some((index) => {
    const end = index.columns.findIndex((column) => !columns.includes(column) && !others.includes(column));
    const start = end < 0 ? index.columns : index.columns.slice(0, end);
    return columns.every((column) => start.includes(column));
  });
}

/** The fields that code sorts a field by (`replaceFieldSorting`), if they are columns of this table. */
function sortNeeds(home: Collection, { name, order }: Column): readonly Need[] {
  if (order === undefined || order === 'here' || !isOneDirection(order)) return [];
  const columns = order.map(({ field }) => columnOf(home, field));
  if (!columns.every((column) => column !== undefined)) return [];
  const isSorted = (home.indexes ?? []).some(
    (index) => index.sorted && columns.every((column, at) => index.columns[at] === column),
  );
  return isSorted ? [] : [{ collection: home, columns, use: `the sort by '${name}' of '${home.name}'` }];
}

const isOneDirection = (order: readonly PlainSort[]): boolean =>
  new Set(order.map(({ ascending = true }) => ascending)).size === 1;

function segmentFilters({ name: collection, rules }: Collection): readonly KeptFilter[] {
  return [...rules.segments].flatMap(([segment, { definition }]) =>
    typeof definition === 'function'
      ? []
      : [{ collection, filter: definition, what: `the segment '${segment}' of '${collection}'` }],
  );
}

/** An index serves a filter if it starts with one of the columns that must equal a value. */
function filterNeeds(model: Model, { collection: name, filter, what }: KeptFilter): readonly Need[] {
  const collection = model.internalCollections.get(name);
  if (!collection) return [];
  const columns = equalFields(filter).flatMap((field) => columnOf(collection, field) ?? []);
  const [first] = columns;
  if (!first || columns.some((column) => isFound(collection, [column], []))) return [];
  return [{ collection, columns: [first], use: what }];
}

function equalFields(filter: PlainFilter): readonly string[] {
  if (isBranch(filter)) return filter.aggregator === 'And' ? filter.conditions.flatMap(equalFields) : [];
  if (isQuantified(filter) || isComparison(filter)) return [];
  return filter.operator === 'Equal' || filter.operator === 'In' ? [filter.field] : [];
}

/** By the name in code or that of callers. */
function columnOf({ internalFields, fields }: Collection, name: string): Column | undefined {
  const field = internalFields.get(name) ?? fields.get(name);
  return field?.kind === 'column' && !field.computedFrom && !field.route ? field : undefined;
}

async function findSearched(collections: readonly Collection[]): Promise<MissingIndexes['searched']> {
  const searched: { collection: string; rows: number }[] = [];
  for (const { name, table, kind, source, rules } of collections) {
    if (kind === 'view' || rules.search !== 'columns') continue;
    const rows = await source.indexing?.estimateRows(table);
    if (rows !== undefined && rows >= MANY_ROWS) searched.push({ collection: name, rows });
  }
  return searched;
}
