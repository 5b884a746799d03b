// Figures of related rows in a GroupSelect whose groups have one record each. A subquery has the figures by the key of the
// record. The outer statement joins it, and groups by its columns too, which leaves the groups as they are.
import type { CountBound, Figure, Measure, Path, RelatedRows } from '../../statement.ts';
import { toFraction, zero } from '../../values/decimal.ts';
import type { Dialect } from '../codec.ts';
import { type Fragment, fragment, plain, requireWhole } from './fragment.ts';
import { type WrittenAggregate, writeMeasure } from './measure.ts';
import { type Root, type SqlWriter, type StatementContext, TRUE } from './read.ts';

interface RelatedFigure {
  readonly join: Fragment;
  readonly aggregate: WrittenAggregate;
  /** References to its columns. */
  readonly groupBy: readonly string[];
}

/** `alias`: of the subquery. `refer`: the reference to a value in the outer statement. */
export function writeRelatedMeasure(
  measure: Measure,
  related: RelatedRows,
  {
    writer,
    root,
    context,
    alias,
    refer,
    bounds,
  }: {
    readonly writer: SqlWriter;
    readonly root: Root;
    readonly context: StatementContext;
    readonly alias: string;
    readonly refer: (value: Fragment) => string;
    /** Of this measure. */
    readonly bounds: readonly CountBound[];
  },
): RelatedFigure {
  const { dialect, shapes } = context;
  const { name } = writer;
  const { collection, own, keys } = related;
  // In the order in which the shape collects values.
  const foreign = writer.root(collection.table);
  const joins = writer.joins(foreign, related.joins);
  const where = writer.where(foreign, related.where);
  const ownWhere = writer.where(root, related.ownWhere);
  const written = writeMeasure(measure, {
    dialect,
    column: (path: Path) => writer.column(foreign, path),
    codecOf: (path: Path) => shapes.facts(path, collection.table).codec,
    nextValue: writer.nextValue,
    where: undefined,
    exact: context.exact ?? false,
  });
  const keyNames = keys.map((_, at) => name(`k${at}`));
  const keyColumns = keys.map((key) => writer.column(foreign, key));
  const namedKeys = keyColumns.map((column, at) => `${column} as ${keyNames[at]}`);
  const list = [plain(`from ${writer.table(foreign.table)} as ${name(foreign.alias)}`), ...joins];
  if (where.sql !== TRUE) list.push(fragment`where ${where}`);
  const tables = listOf(list, ' ');
  const { value } = written;
  // A long value has a name. Without one, MariaDB groups by the columns themselves, and reads the rows of a key in the order
  // of an index: by the columns of a subquery it would sort them.
  const isNamed = value !== undefined && (measure.of?.op !== 'field' || value.binds.length > 0);
  const inner = written.aggregate(isNamed ? name('c') : (value?.sql ?? '*'));
  const figures = inner.columns.map((sql, at) => `${sql} as ${name(`v${at}`)}`);
  const order = inner.order === undefined ? [] : [`${inner.order} as ${name('o')}`];
  const columns = [...(isNamed ? keyNames : namedKeys), ...figures, ...order].join(', ');
  const rows = isNamed
    ? fragment`from (select ${namedKeys.join(', ')}, ${value} as ${name('c')} ${tables}) as ${name('rows')}`
    : tables;
  const groupBy = (isNamed ? keyNames : keyColumns).join(', ');
  // They exclude zero, so that a record needs related rows.
  const having = bounds.map((bound, at) => `${at ? 'and' : 'having'} ${writeBound(inner.columns[0]!, bound)}`);
  const grouped = [`group by ${groupBy}`, ...having].join(' ');
  const subquery = fragment`(select ${columns} ${rows} ${grouped}) as ${name(alias)}`;
  const on = keyNames
    .map((key, at) => `${name(alias)}.${key} = ${ownKey(writer.column(root, own[at]!), dialect)}`)
    .join(' and ');
  const only = ownWhere.sql === TRUE ? plain('') : fragment` and ${ownWhere}`;
  const reference = (column: string) => refer(plain(`${name(alias)}.${name(column)}`));
  const references = ['k0', ...inner.columns.map((_, at) => `v${at}`)].map(reference);
  const counts = measure.operation === 'Count' || measure.operation === 'CountDistinct';
  const sortedBy = inner.order === undefined ? undefined : reference('o');
  const none: Figure = counts ? toFraction(zero) : null;
  return {
    join: fragment`${bounds.length > 0 ? 'join' : 'left join'} ${subquery} on ${on}${only}`,
    groupBy: [...references, ...(sortedBy === undefined ? [] : [sortedBy])],
    aggregate: {
      columns: references,
      order: counts && sortedBy !== undefined ? `coalesce(${sortedBy}, 0)` : sortedBy,
      read: ([key, ...found]) => (key === null ? none : inner.read(found)),
    },
  };
}

const signs = { Equal: '=', LessThan: '<', LessThanOrEqual: '<=', GreaterThan: '>', GreaterThanOrEqual: '>=' } as const;

export const writeBound = (count: string, { is, value }: CountBound): string =>
  `${count} ${signs[is]} ${requireWhole(value)}`;

/**
 * The key that a grouped subquery is joined by. MariaDB groups only the rows of one key at a time, and may take the key from
 * an equal column of a subquery that it has already read to its end: all records then get the rows of one key (seen in
 * 10.11.19). It sees no equal column of an expression.
 */
export const ownKey = (column: string, dialect: Dialect): string =>
  dialect === 'mysql' ? `coalesce(${column})` : column;

function listOf(parts: readonly Fragment[], separator: string): Fragment {
  return parts.reduce((left, right) => fragment`${left}${separator}${right}`);
}
