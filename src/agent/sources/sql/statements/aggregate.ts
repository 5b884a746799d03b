// Builds the SQL of a GroupSelect and decodes its rows. A simple statement groups the rows of the tables. With values
// that have parameters or are long, a subquery computes the values of each row once (`rows`), and percentiles add a
// second one with the place of each row in its group (`ranked`). Where SQLite cannot order by a sum, the groups are
// sorted in the process, up to a limit.
import { fail } from '../../../../core/errors.ts';
import { mapInTurns } from '../../../../core/limit/in-turns.ts';
import { createTurns } from '../../../../core/limit/turns.ts';
import { pageTallies } from '../../aggregate.ts';
import type { Expression, GroupKey, GroupSelect, Measure, Path, RelatedRows, Tally } from '../../statement.ts';
import type { Codec, Dialect } from '../codec.ts';
import { type ExpressionContext, writeNumber } from './expression.ts';
import { type Fragment, fragment, plain, requireWhole } from './fragment.ts';
import { mayFail, writeAll } from './guard.ts';
import { bytewise, isOfDoubles, type Ranked, summedScale, type WrittenAggregate, writeMeasure } from './measure.ts';
import { writeMerged, writeTotals } from './merged.ts';
import { writePeriod, writeStart } from './period.ts';
import {
  createSqlWriter,
  placeholdersOf,
  type Root,
  type SqlWriter,
  type Statement,
  type StatementContext,
  TRUE,
} from './read.ts';
import { createRelatedFigures, ownKey, writeBounds } from './related.ts';
import { isNullable } from './terms.ts';

/** The most groups sorted in the process. */
const GROUPS_LIMIT = 100_000;

interface GroupStatement extends Statement {
  /** Converts the driver's rows to groups, in order. */
  readonly read: (rows: readonly unknown[][]) => Promise<Tally[]>;
}

export function buildGroup(group: GroupSelect, context: StatementContext): GroupStatement {
  const { dialect } = context;
  const { measures, groups, totals, having } = group;
  // Doubles of SQLite cannot be summed again or compared.
  const exact = context.exact || totals !== undefined || having !== undefined;
  const writer = createSqlWriter(context);
  const root: Root = { ...writer.root(group.table), figure: (measure) => ofRelated.compared(measure) };
  const joins = writer.joins(root, group.joins);
  const where = writer.where(root, group.where);
  const column = (path: Path) => writer.column(root, path);
  const codecOf = (path: Path): Codec => context.shapes.facts(path, group.table).codec;
  const expressions: ExpressionContext = { dialect, column, codecOf, nextValue: writer.nextValue };
  const isRanked = (measure: Measure) =>
    measure.operation === 'Percentile' && (exact || !isOfDoubles(measure, expressions));
  const rows = new RowValues(measures.some(isRanked) || needsRows(group, expressions, exact), writer, dialect);
  // In the order in which the shape collects values: the measures, then the groups.
  const refer = (value: Fragment) => rows.add(value);
  const ofRelated = createRelatedFigures(group, { writer, root, context: { ...context, exact }, refer });
  const values = measures.map((measure, at) => {
    if (measure.related) {
      ofRelated.add(measure, measure.related, at);
      return undefined;
    }
    const condition = measure.where && writer.where(root, measure.where);
    const written = writeMeasure(measure, { ...expressions, where: condition, exact });
    return { written, reference: written.value && rows.add(written.value) };
  });
  const related = createRelatedJoins(writer, root, context);
  // A group with figures of related rows is one record, which has one row of these figures. Where there are no others, nothing
  // is grouped.
  const isGrouped = measures.length === 0 || measures.some((measure) => !measure.related);
  const keys = groups.map((key) =>
    key.related ? related.add(key, key.related, rows) : writeKey(key, expressions, rows, isGrouped),
  );
  const ranks = values.map((value, at) =>
    value && isRanked(measures[at]!) ? rows.rank(value.reference!, keys) : undefined,
  );
  const aggregatesOf = (isRead: boolean) =>
    values.map((value, at) =>
      value ? value.written.aggregate(value.reference ?? '*', ranks[at]) : ofRelated.aggregate(at, isRead),
    );
  const hidden = group.hidesFigures ? aggregatesOf(false) : undefined;
  const aggregates = !hidden || needsSort(group, hidden) ? aggregatesOf(true) : hidden;
  const sortsHere = needsSort(group, aggregates);
  const conditions = where.sql === TRUE ? [] : [{ ...where, mayFail: mayFail(group.where) }];
  if (having) conditions.push({ ...writer.where(root, having), mayFail: mayFail(having) });
  const list = [
    plain(`from ${writer.table(root.table)} as ${writer.name(root.alias)}`),
    ...joins,
    ...related.joins(),
    ...ofRelated.joins(),
  ];
  if (conditions.length > 0) list.push(fragment`where ${writeAll(conditions)}`);
  const from = rows.from(list.reduce((left, right) => fragment`${left} ${right}`));
  // A sum and an average share columns, which SQLite and MariaDB would compute twice.
  const figures = [...new Set(aggregates.flatMap((aggregate) => aggregate.columns))];
  const placed = aggregates.map(({ columns: own, read }) => ({ read, at: own.map((each) => figures.indexOf(each)) }));
  const counts = ranks.flatMap((rank) => (rank && !rank.place ? rank.count : []));
  // SQLite needs no more than the keys, and would not search the figures by an index.
  const by = isGrouped
    ? [...keys.map((key) => key.by), ...counts, ...(dialect === 'sqlite' ? [] : ofRelated.groupBy)]
    : [];
  const tables = by.length ? `${from.sql} group by ${by.join(', ')}${writeBounds(group, aggregates)}` : from.sql;
  if (totals) {
    const { sql, read } = writeTotals(totals, aggregates, tables, writer.name, dialect);
    return {
      sql: placeholdersOf(sql, dialect),
      binds: from.binds,
      read: async ([row]) => [{ groups: [], figures: read(row!) }],
    };
  }
  const merged = keys.length > 0 ? group.merged : undefined;
  const shown = merged?.map((at) => keys[at]!) ?? keys;
  const columns = [...figures, ...shown.map((key) => key.shown)];
  const decoders = keys.map((key) => ({ decode: key.decode, at: columns.indexOf(key.shown, figures.length) }));
  const statement = merged
    ? [writeMerged(figures, shown, tables, writer.name, dialect), limitOf(group)]
    : [
        `select ${columns.length === 0 ? '1' : columns.join(', ')}`,
        tables,
        ...(keys.length === 0
          ? []
          : [sortsHere ? `limit ${GROUPS_LIMIT + 1}` : orderBy(group, aggregates, keys, dialect)]),
      ];
  return {
    sql: placeholdersOf(statement.join(' '), dialect),
    binds: from.binds,
    async read(found) {
      if (sortsHere && found.length > GROUPS_LIMIT) failTooManyGroups();
      const turn = createTurns();
      const tallies = await mapInTurns(
        found,
        turn,
        (row): Tally => ({
          groups: decoders.map(({ decode, at }) => (at < 0 ? null : decodeWith(decode, row[at]))),
          figures: aggregates === hidden ? [] : placed.map(({ read, at }) => read(at.map((place) => row[place]))),
          ...(merged && { count: Number(row.at(-1)) }),
        }),
      );
      return sortsHere ? pageTallies(tallies, group, turn) : tallies;
    },
  };
}

function failTooManyGroups(): never {
  return fail('INVALID_ARGUMENT', {
    argument: 'groups',
    problem: `more than ${GROUPS_LIMIT} groups, too many to order by this value. Narrow the filters, group by fewer fields, or order by 'groups'.`,
  });
}

/** Whether values of rows have parameters, or are too long to be written several times. */
function needsRows({ measures, groups }: GroupSelect, context: ExpressionContext, exact: boolean): boolean {
  const isLong = (of: Expression) => of.op !== 'field';
  const sumsDecimals = measures.some(
    ({ operation, of, related }) => !related && summedScale(operation, of, context) > 0,
  );
  // By the index of a number, such as a foreign key, SQLite would read the rows in random order: twice the time.
  if (sumsDecimals && (exact || groups.some(({ path, by }) => !by && path.field.type === 'Number'))) return true;
  return (
    measures.some(({ where, of, related }) => where || (of && !related && isLong(of))) ||
    groups.some(({ by }) => by?.kind === 'ranges')
  );
}

/** In SQL, ascending. */
const nullsLast: Record<Dialect, (value: string) => string> = {
  sqlite: (value) => `${value} nulls last`,
  mysql: (value) => `case when ${value} is null then 1 else 0 end, ${value}`,
  postgres: (value) => value,
};

/** The values of each row, and references to them. */
class RowValues {
  readonly #isSubquery: boolean;
  readonly #name: SqlWriter['name'];
  readonly #values: Fragment[] = [];
  readonly #ranks: string[] = [];

  readonly #dialect: Dialect;

  constructor(isSubquery: boolean, { name }: SqlWriter, dialect: Dialect) {
    this.#isSubquery = isSubquery;
    this.#name = name;
    this.#dialect = dialect;
  }

  /** The SQL of the value itself, or of the column that holds it. */
  add(value: Fragment): string {
    if (!this.#isSubquery) return value.sql;
    const known = this.#values.findIndex(
      ({ sql, binds }) => sql === value.sql && binds.length === 0 && value.binds.length === 0,
    );
    return this.#name(`c${known >= 0 ? known : this.#values.push(value) - 1}`);
  }

  /** Columns with the number of values of the group, and the place of the row among them where that is needed. */
  rank(value: string, keys: readonly Key[]): Ranked {
    const at = this.#ranks.length;
    const within = keys.length ? `partition by ${keys.map(({ by }) => by).join(', ')}` : '';
    const [place, count] = [this.#name(`p${at}`), this.#name(`n${at}`)];
    const counted = `count(${value}) over (${within}) as ${count}`;
    // PostgreSQL finds a value by its place itself, where it can group by the number of values: 1.5 times as fast.
    if (this.#dialect === 'postgres' && keys.length > 0) {
      this.#ranks.push(counted);
      return { count };
    }
    this.#ranks.push(
      `row_number() over (${within} order by ${nullsLast[this.#dialect](value)}) as ${place}, ${counted}`,
    );
    return { place, count };
  }

  /** The FROM clause. */
  from(tables: Fragment): Fragment {
    if (!this.#isSubquery) return tables;
    const columns = this.#values.map((value, at) => fragment`${value} as ${this.#name(`c${at}`)}`);
    const list = columns.length ? columns.reduce((left, right) => fragment`${left}, ${right}`) : plain('1 as c');
    // Without a limit, SQLite merges the subquery into the statement, and computes a value each time it is named.
    const once = plain(this.#dialect === 'sqlite' ? ' limit -1' : '');
    const rows = fragment`(select ${list} ${tables}${once}) as ${this.#name('rows')}`;
    if (this.#ranks.length === 0) return fragment`from ${rows}`;
    return fragment`from (select ${this.#name('rows')}.*, ${this.#ranks.join(', ')} from ${rows}) as ${this.#name('ranked')}`;
  }
}

/** Whether the process must sort: the statement cannot order by a measure that the order needs. */
function needsSort({ groups, order }: GroupSelect, aggregates: readonly WrittenAggregate[]): boolean {
  const at = order.findIndex(({ by, index }) => by === 'measure' && aggregates[index]!.order === undefined);
  const before = order.slice(0, Math.max(at, 0));
  // After all groups, a measure never decides.
  return at >= 0 && !groups.every((_, group) => before.some(({ by, index }) => by === 'group' && index === group));
}

function orderBy(
  group: GroupSelect,
  aggregates: readonly WrittenAggregate[],
  keys: readonly Key[],
  dialect: Dialect,
): string {
  const clauses = group.order.flatMap(({ by, index, ascending }) => {
    const sql = by === 'measure' ? aggregates[index]!.order : keys[index]!.by;
    if (sql === undefined) return [];
    const nullable = by === 'measure' ? !/^Count/.test(group.measures[index]!.operation) : keys[index]!.nullable;
    const nulls = dialect === 'postgres' && nullable ? (ascending ? ' nulls first' : ' nulls last') : '';
    return [`${sql} ${ascending ? 'asc' : 'desc'}${nulls}`];
  });
  return `${clauses.length ? `order by ${clauses.join(', ')}` : ''}${limitOf(group)}`;
}

function limitOf({ limit, skip = 0 }: GroupSelect): string {
  if (limit === undefined) return '';
  return ` limit ${requireWhole(limit)}${skip === 0 ? '' : ` offset ${requireWhole(skip)}`}`;
}

/** Joins the different groups of the related rows, one subquery for each relation. */
function createRelatedJoins(writer: SqlWriter, root: Root, { dialect, shapes }: StatementContext) {
  const open = new Map<
    string,
    {
      readonly columns: RelatedColumn[];
      finish(): Fragment;
      readonly alias: string;
      readonly context: ExpressionContext;
    }
  >();
  return {
    add(key: GroupKey, related: RelatedRows, rows: RowValues): Key {
      const join = open.get(related.id) ?? openJoin(related);
      const value = writeValueOfKey(key, join.context);
      const at = join.columns.length;
      const [name, text] = [writer.name(`g${at}`), writer.name(`s${at}`)];
      join.columns.push({
        by: fragment`${value.by} as ${name}`,
        ...(value.text && { shown: fragment`min(${value.text} collate ${bytewise[dialect]}) as ${text}` }),
      });
      const alias = writer.name(join.alias);
      const by = rows.add(plain(`${alias}.${name}`));
      const shown = value.text
        ? `min(${rows.add(plain(`${alias}.${text}`))} collate ${bytewise[dialect]})`
        : value.shown(by);
      return { by, shown, nullable: true, decode: value.decode };
    },
    joins: () => [...open.values()].map((join) => join.finish()),
  };

  function openJoin(related: RelatedRows) {
    const { collection, own, keys } = related;
    const foreign = writer.root(collection.table);
    const joins = writer.joins(foreign, related.joins);
    const where = writer.where(foreign, related.where);
    const ownWhere = writer.where(root, related.ownWhere);
    const alias = `j${open.size}`;
    const columns: RelatedColumn[] = [];
    const pairs = keys.map(
      (key, at) => [writer.column(foreign, key), `k${at}`, writer.column(root, own[at]!)] as const,
    );
    const finish = (): Fragment => {
      const keyed = [
        ...pairs.map(([column, name]) => plain(`${column} as ${writer.name(name)}`)),
        ...columns.map((column) => column.by),
      ];
      const tables = [plain(`from ${writer.table(foreign.table)} as ${writer.name(foreign.alias)}`), ...joins];
      if (where.sql !== TRUE) tables.push(fragment`where ${where}`);
      const list = [...keyed, ...columns.flatMap(({ shown }) => shown ?? [])].reduce(
        (left, right) => fragment`${left}, ${right}`,
      );
      // By position: databases do not see that two expressions with parameters are the same.
      const groupBy = keyed.map((_, at) => at + 1).join(', ');
      const rows = fragment`(select ${list} ${tables.reduce((left, right) => fragment`${left} ${right}`)} group by ${groupBy})`;
      const on = pairs
        .map(([, name, column]) => `${writer.name(alias)}.${writer.name(name)} = ${ownKey(column, dialect)}`)
        .join(' and ');
      const only = ownWhere.sql === TRUE ? plain('') : fragment` and ${ownWhere}`;
      return fragment`left join ${rows} as ${writer.name(alias)} on ${on}${only}`;
    };
    const column = (path: Path) => writer.column(foreign, path);
    const codecOf = (path: Path): Codec => shapes.facts(path, collection.table).codec;
    const context: ExpressionContext = { dialect, column, codecOf, nextValue: writer.nextValue };
    const join = { columns, finish, alias, context };
    open.set(related.id, join);
    return join;
  }
}

interface RelatedColumn {
  readonly by: Fragment;
  /** The text that represents the group. */
  readonly shown?: Fragment;
}

interface Key {
  readonly by: string;
  readonly shown: string;
  readonly nullable: boolean;
  readonly decode: ((value: unknown) => unknown) | undefined;
}

interface KeyValue {
  readonly by: Fragment;
  /** The text that represents a group of texts whose case is ignored. */
  readonly text?: Fragment;
  /** What is read of `by`. */
  readonly shown: (by: string) => string;
  readonly nullable: boolean;
  readonly decode: ((value: unknown) => unknown) | undefined;
}

const asIs = (by: string): string => by;

function writeKey(key: GroupKey, context: ExpressionContext, rows: RowValues, isGrouped: boolean): Key {
  const value = writeValueOfKey(key, context);
  const by = rows.add(value.by);
  const text = value.text && rows.add(value.text);
  const least = text !== undefined && isGrouped ? `min(${text} collate ${bytewise[context.dialect]})` : text;
  const shown = least ?? value.shown(by);
  return { by, shown, nullable: value.nullable, decode: value.decode };
}

function writeValueOfKey({ path, by }: GroupKey, context: ExpressionContext): KeyValue {
  const codec = context.codecOf(path);
  const column = context.column(path);
  if (by?.kind === 'ranges')
    return { by: writeRange(path, by.bounds, context), shown: asIs, nullable: isNullable(path), decode: Number };
  if (by) {
    return {
      by: plain(writePeriod(by, column, codec, context.dialect)),
      shown: (period) => writeStart(by, period, context.dialect),
      nullable: true,
      decode: by.kind === 'part' ? Number : undefined,
    };
  }
  const folds = codec.type === 'String' && path.field.collation === 'insensitive';
  return {
    by: plain(codec.grouped?.(column) ?? codec.ordered?.(column, '') ?? column),
    ...(folds && { text: plain(codec.text?.(column) ?? column) }),
    shown: asIs,
    nullable: isNullable(path),
    decode: codec.decode,
  };
}

/** The number of bounds that are not above the value. */
function writeRange(path: Path, bounds: readonly (number | string)[], context: ExpressionContext): Fragment {
  const { dialect } = context;
  const codec = context.codecOf(path);
  const column = context.column(path);
  const value = codec.ordered?.(column, '') ?? column;
  const tests = bounds.map((bound, at) => {
    const constant = writeNumber({ op: 'constant', type: 'Number', value: bound }, context);
    const limit =
      dialect === 'sqlite' && constant.scale > 0 ? fragment`${constant} / ${10 ** constant.scale}.0` : constant;
    return fragment` when ${value} >= ${limit} then ${at + 1}`;
  });
  const largestFirst = tests.reverse().reduce((left, right) => fragment`${left}${right}`);
  return fragment`(case${largestFirst} when ${value} is not null then 0 end)`;
}

function decodeWith(decode: ((value: unknown) => unknown) | undefined, value: unknown): unknown {
  return value === null || !decode ? value : decode(value);
}
