// Figures of related rows in a GroupSelect whose groups have one record each. A subquery has the figures by the key of the
// record, for all measures of the same rows. The outer statement joins it, and groups by its columns too, which leaves
// the groups as they are.
import { inexactHere } from '../../source.ts';
import type { CountBound, Figure, GroupSelect, Measure, Path, RelatedRows } from '../../statement.ts';
import { toFraction, zero } from '../../values/decimal.ts';
import type { Dialect } from '../codec.ts';
import type { FigureColumn } from './expression.ts';
import { type Fragment, fragment, plain, requireWhole } from './fragment.ts';
import { type WrittenAggregate, writeMeasure } from './measure.ts';
import { type Root, type SqlWriter, type StatementContext, TRUE } from './read.ts';
import { isOfValues, subqueryId } from './shape.ts';

interface Place {
  readonly writer: SqlWriter;
  /** Of the records. */
  readonly root: Root;
  readonly context: StatementContext;
  /** The reference to a value in the outer statement. */
  readonly refer: (value: Fragment) => string;
}

interface RelatedFigures {
  /** Writes the values of the measure, in the order in which the shape collects them. */
  add(measure: Measure, related: RelatedRows, index: number): void;
  /** The measure in the outer statement. `isRead`: the answer has its figures. */
  aggregate(index: number, isRead: boolean): WrittenAggregate;
  /** The figure in conditions of the outer statement. Throws `inexactHere` if the database cannot compare it exactly. */
  compared(index: number): FigureColumn;
  /** The joins, with all columns that were named. */
  joins(): Fragment[];
  /** References to the columns of groups. */
  readonly groupBy: readonly string[];
}

export function createRelatedFigures(group: GroupSelect, { writer, root, context, refer }: Place): RelatedFigures {
  const { dialect, shapes } = context;
  const subqueries = new Map<string, Subquery>();
  const measures = new Map<number, { measure: Measure; inner: WrittenAggregate; subquery: Subquery }>();
  const groupBy: string[] = [];
  const grouped = (column: string): string => {
    const reference = refer(plain(column));
    if (!groupBy.includes(reference)) groupBy.push(reference);
    return reference;
  };
  return {
    groupBy,
    add(measure, related, index) {
      const id = subqueryId(measure, related);
      const known = subqueries.get(id);
      const subquery = known ?? openSubquery(related, writer.name(`m${subqueries.size}`), { writer, root, context });
      if (!known) subqueries.set(id, subquery);
      const written = writeMeasure(measure, {
        dialect,
        column: subquery.column,
        codecOf: (path: Path) => shapes.facts(path, related.collection.table).codec,
        nextValue: writer.nextValue,
        where: undefined,
        exact: context.exact ?? false,
      });
      const { value } = written;
      const inner = written.aggregate(value && isOfValues(measure) ? subquery.name(value) : (value?.sql ?? '*'));
      for (const bound of group.bounds ?? [])
        if (bound.measure === index) subquery.bound(writeBound(inner.columns[0]!, bound));
      measures.set(index, { measure, inner, subquery });
    },
    aggregate(index, isRead) {
      const { measure, inner, subquery } = measures.get(index)!;
      const select = (sql: string) => grouped(subquery.select(sql));
      const none: Figure = isCount(measure) ? toFraction(zero) : null;
      const isOrdered = group.order.some((each) => each.by === 'measure' && each.index === index);
      const order = isOrdered && inner.order !== undefined ? select(inner.order) : inner.order;
      return {
        columns: isRead ? [grouped(subquery.key), ...inner.columns.map(select)] : [],
        order: order !== undefined && isCount(measure) ? `coalesce(${order}, 0)` : order,
        read: ([key, ...found]) => (key === null ? none : inner.read(found)),
      };
    },
    compared(index) {
      const { measure, inner, subquery } = measures.get(index)!;
      const { operation, of } = measure;
      if (isCount(measure) || operation === 'Sum') {
        const { number } = inner;
        if (!number) throw inexactHere;
        const sql = subquery.select(dialect === 'sqlite' && number.isSum ? failOnDouble(number.sql) : number.sql);
        const column = asDecimal[dialect](isCount(measure) ? `coalesce(${sql}, 0)` : sql, !number.isSum);
        return { column, scale: number.scale };
      }
      const codec = of?.op === 'field' ? shapes.facts(of.path, subquery.table).codec : undefined;
      // Their largest and smallest values are converted ones, or lose digits.
      if (!codec || codec.inexact || codec.ranked || codec.grouped || codec.ordered || codec.bounds) throw inexactHere;
      return { column: subquery.select(inner.columns[0]!), codec };
    },
    joins: () => [...subqueries.values()].map((subquery) => subquery.write()),
  };
}

const isCount = ({ operation }: Measure): boolean => operation === 'Count' || operation === 'CountDistinct';

/** The lowest integer has no absolute value, so SQLite fails with 'integer overflow'. */
const failOnDouble = (sum: string): string =>
  `case when typeof(${sum}) = 'real' then abs(-9223372036854775807 - 1) else ${sum} end`;

/** Calculations with integers would overflow, and their quotients would be whole. */
const asDecimal: Record<Dialect, (column: string, isInteger: boolean) => string> = {
  sqlite: (column) => column,
  mysql: (column, isInteger) => (isInteger ? `cast(${column} as decimal(20, 0))` : column),
  postgres: (column) => `(${column})::numeric`,
};

/** A subquery with figures of the related rows, by the key of the record. */
interface Subquery {
  readonly table: string;
  /** The reference to its key. */
  readonly key: string;
  column(path: Path): string;
  /** The name of a long value of the rows. */
  name(value: Fragment): string;
  /** The reference to a figure. */
  select(figure: string): string;
  /** Only these keys. The condition excludes zero, so that a record needs related rows. */
  bound(condition: string): void;
  write(): Fragment;
}

function openSubquery(
  related: RelatedRows,
  alias: string,
  { writer, root, context: { dialect } }: Omit<Place, 'refer'>,
): Subquery {
  const { collection, own, keys } = related;
  const { name } = writer;
  const foreign = writer.root(collection.table);
  const joins = writer.joins(foreign, related.joins);
  const where = writer.where(foreign, related.where);
  const ownWhere = writer.where(root, related.ownWhere);
  const keyNames = keys.map((_, at) => name(`k${at}`));
  const values: Fragment[] = [];
  const figures: string[] = [];
  const bounds: string[] = [];
  return {
    table: collection.table,
    key: `${alias}.${keyNames[0]}`,
    column: (path) => writer.column(foreign, path),
    name: (value) => name(`c${values.push(value) - 1}`),
    select(figure) {
      const known = figures.indexOf(figure);
      return `${alias}.${name(`v${known >= 0 ? known : figures.push(figure) - 1}`)}`;
    },
    bound: (condition) => bounds.push(condition),
    write() {
      const keyColumns = keys.map((key) => writer.column(foreign, key));
      const namedKeys = keyColumns.map((column, at) => `${column} as ${keyNames[at]}`);
      const list = [plain(`from ${writer.table(foreign.table)} as ${name(foreign.alias)}`), ...joins];
      if (where.sql !== TRUE) list.push(fragment`where ${where}`);
      const tables = listOf(list, ' ');
      // A long value has a name. Without one, MariaDB groups by the columns themselves, and reads the rows of a key in the
      // order of an index: by the columns of a subquery it would sort them.
      const isNamed = values.length > 0;
      const named = values.map((value, at) => fragment`${value} as ${name(`c${at}`)}`);
      const rows = isNamed
        ? fragment`from (select ${listOf([...namedKeys.map(plain), ...named], ', ')} ${tables}) as ${name('rows')}`
        : tables;
      const shown = figures.map((sql, at) => `${sql} as ${name(`v${at}`)}`);
      const columns = [...(isNamed ? keyNames : namedKeys), ...shown].join(', ');
      const having = bounds.length > 0 ? ` having ${bounds.join(' and ')}` : '';
      const groupBy = `group by ${(isNamed ? keyNames : keyColumns).join(', ')}${having}`;
      const on = keyNames
        .map((key, at) => `${alias}.${key} = ${ownKey(writer.column(root, own[at]!), dialect)}`)
        .join(' and ');
      const only = ownWhere.sql === TRUE ? plain('') : fragment` and ${ownWhere}`;
      const join = bounds.length > 0 ? 'join' : 'left join';
      return fragment`${join} (select ${columns} ${rows} ${groupBy}) as ${alias} on ${on}${only}`;
    },
  };
}

const signs = { Equal: '=', LessThan: '<', LessThanOrEqual: '<=', GreaterThan: '>', GreaterThanOrEqual: '>=' } as const;

const writeBound = (count: string, { is, value }: CountBound): string => `${count} ${signs[is]} ${requireWhole(value)}`;

/** HAVING for the counts of groups that are not of related rows. */
export function writeBounds({ bounds = [], measures }: GroupSelect, aggregates: readonly WrittenAggregate[]): string {
  const own = bounds.filter(({ measure }) => !measures[measure]!.related);
  const tests = own.map((bound) => writeBound(aggregates[bound.measure]!.columns[0]!, bound));
  return tests.length > 0 ? ` having ${tests.join(' and ')}` : '';
}

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
