// Builds the SQL of conditions, joins and CountSelect. The text contains no values and is built once for each shape (shape.ts).
// `binds` maps each placeholder to one of the values that the walk of the shape collected.
//
// Tests are two-valued. In SQL, a test on NULL is unknown, which AND, OR and WHERE treat as false; only a negation
// would expose it. Negations are therefore pushed down to the tests, where the SQL states whether NULL passes.

import type { Knex } from 'knex';
import type {
  Comparison,
  Condition,
  CountSelect,
  Exists,
  Filter,
  Join,
  Path,
  Select,
  SourceRelation,
} from '../../statement.ts';
import type { Dialect } from '../codec.ts';
import type { TableLocation } from '../introspection/introspect.ts';
import { writeComparison } from './comparison.ts';
import type { FigureColumn } from './expression.ts';
import { requireWhole } from './fragment.ts';
import { guarded, keepGuards, mayFail, writeAll } from './guard.ts';
import { afterForm, collectVias } from './order.ts';
import { boundValue, type Shapes } from './shape.ts';
import { type Bind, FALSE, isNullable, opposites, parameter, type Term, writeTerm } from './terms.ts';

export interface Statement {
  readonly sql: string;
  readonly binds: readonly Bind[];
}

export interface StatementContext {
  readonly dialect: Dialect;
  /** Only builds statements; it has no connection. */
  readonly knex: Knex;
  readonly shapes: Shapes;
  /** The schema and name of a table in the database. */
  readonly placeOf: (table: string) => TableLocation;
  /** Whether the database computes no figure with doubles (exact.ts). */
  readonly exact?: boolean;
}

export function buildCount(select: CountSelect, context: StatementContext): Statement {
  const writer = createSqlWriter(context);
  const root = writer.root(select.table);
  const joins = writer.joins(root, select.joins);
  const where = writer.where(root, select.where);
  const query = context.knex.select(context.knex.raw('count(*)'));
  const binds = from(query, writer, root, joins, where, context);
  const text = textOf(query, binds);
  return { ...text, sql: placeholdersOf(text.sql, context.dialect) };
}

/** `keys`: finds the keys of the rows as `k`. */
export function from(
  query: Knex.QueryBuilder,
  writer: SqlWriter,
  root: Root,
  joins: readonly Statement[],
  where: Statement,
  { knex }: StatementContext,
  keys?: Statement & { readonly on: string },
): readonly Bind[] {
  // Knex gets the index of each bind, not the bind itself, which it would treat as a value.
  const binds: Bind[] = [];
  const places = (more: readonly Bind[]) => more.map((bind) => binds.push(bind) - 1);
  const table = `${writer.table(root.table)} as ${writer.name(root.alias)}`;
  const tables = keys ? `(${keys.sql}) as k join ${table} on ${keys.on}` : table;
  query.from(knex.raw(tables, keys ? places(keys.binds) : []) as unknown as string);
  for (const join of joins) query.joinRaw(join.sql, places(join.binds));
  if (where.sql !== TRUE) query.whereRaw(where.sql, places(where.binds));
  return binds;
}

/** The text of a query, with `?` for each value. */
export function textOf(query: Knex.QueryBuilder, all: readonly Bind[]): Statement {
  const { sql, bindings } = query.toSQL();
  return { sql, binds: (bindings as readonly number[]).map((place) => all[place]!) };
}

/** Placeholders in the driver's form; restores the question marks in names. */
export function placeholdersOf(text: string, dialect: Dialect): string {
  let at = 0;
  const all = keepGuards(text, dialect);
  const numbered = dialect === 'postgres' ? all.replace(/\?/g, () => `$${++at}`) : all;
  return numbered.replaceAll(QUESTION, '?');
}

/** Replaces `?` in names, which knex would treat as a placeholder. */
const QUESTION = '\uE000';
export const TRUE = '1 = 1';

export interface Root {
  readonly table: string;
  readonly alias: string;
  /** The alias of each joined table, by the names of the relations that lead to it. */
  readonly aliases: Map<string, string>;
  /** The conditions of joined rows, by the same names. */
  readonly scopes: Map<string, Statement>;
  /** The figure of the measure with this index, for conditions that compare figures (`GroupSelect.having`). */
  readonly figure?: (measure: number) => FigureColumn;
}

export interface SqlWriter {
  name(name: string): string;
  /** The quoted table name, with its schema if needed. */
  table(table: string): string;
  root(table: string): Root;
  /** A condition on a row of a statement without joins of its own. */
  condition(root: Root, condition: Pick<CountSelect, 'joins' | 'where'>): Statement;
  column(root: Root, path: Path): string;
  joins(root: Root, joins: readonly Join[]): Statement[];
  where(root: Root, filter: Filter): Statement;
  /** The condition of `select.after`. */
  after(root: Root, select: Select): Statement;
  page(select: Pick<Select, 'limit' | 'skip'>): Statement;
  /** The number of values so far. */
  readonly values: number;
  /** The index of the next value of the shape's walk. */
  nextValue(): number;
}

/** `first`: the number of values before the first condition. `taken`: a name that aliases must not use. */
export function createSqlWriter(context: StatementContext, first = 0, taken?: string): SqlWriter {
  const { knex, dialect, shapes } = context;
  const client = knex.client as { wrapIdentifier(name: string, context: object): string };
  let aliases = 0;
  // Values are numbered in the order of the shape's walk: joins, then the filter, each from left to right.
  let values = first;

  const name = (text: string): string => client.wrapIdentifier(text.replaceAll('?', QUESTION), {});
  const table = (text: string): string => {
    const { schema, name: own } = context.placeOf(text);
    return schema === undefined ? name(own) : `${name(schema)}.${name(own)}`;
  };
  const nextAlias = (): string => {
    const alias = `t${aliases++}`;
    return alias === taken?.toLowerCase() ? nextAlias() : alias;
  };
  const root = (table: string): Root => ({
    ...{ table, alias: nextAlias() },
    ...{ aliases: new Map<string, string>(), scopes: new Map<string, Statement>() },
  });
  const viaId = (via: readonly SourceRelation[]): string => via.map((relation) => relation.name).join(':');
  const aliasOf = (from: Root, via: readonly SourceRelation[]): string =>
    via.length === 0 ? from.alias : (from.aliases.get(viaId(via)) ?? failMissingJoin(viaId(via)));
  const figureOf = (from: Root, { measure }: Path): FigureColumn | undefined =>
    measure === undefined ? undefined : from.figure?.(measure);
  const column = (from: Root, path: Path): string =>
    figureOf(from, path)?.column ?? `${name(aliasOf(from, path.via))}.${name(path.field.column)}`;

  /** `unless`: a condition that must hold, or else the record has no key. */
  function onPairs(from: Root, via: readonly SourceRelation[], alias: string, unless?: string): string {
    const relation = via.at(-1)!;
    const near = aliasOf(from, via.slice(0, -1));
    const held = (own: string) => (unless === undefined ? own : `case when ${unless} then ${own} end`);
    return relation.on
      .map((pair) => `${name(alias)}.${name(pair.to.column)} = ${held(`${name(near)}.${name(pair.from.column)}`)}`)
      .join(' and ');
  }

  /** Without a key, rows with equal columns are indistinguishable, so they count as one. */
  function joinable({ to, lowestBy }: SourceRelation): string {
    if (!lowestBy || to.key.length > 0) return table(to.table);
    return `(select distinct ${lowestBy.map((each) => name(each.column)).join(', ')} from ${table(to.table)})`;
  }

  /** A polymorphic relation's condition on its type column. */
  function onlyWhere(from: Root, via: readonly SourceRelation[], alias: string): Statement {
    const { only, to } = via.at(-1)!;
    if (!only) return { sql: TRUE, binds: [] };
    const { column: of, value, side } = only;
    const near = via.at(-2)?.to.table ?? from.table;
    const binds: Bind[] = [];
    const raw = `${name(side === 'to' ? alias : aliasOf(from, via.slice(0, -1)))}.${name(of.column)}`;
    const codec = shapes.codecOf(side === 'to' ? to.table : near, of.column);
    const { sql } = writeTerm('Equal', { codec, raw, value, index: values++, binds, dialect });
    return { sql, binds };
  }

  function joins(from: Root, list: readonly Join[], isWithin = false): Statement[] {
    return list.map((join) => {
      const foreign = root(join.via.at(-1)!.to.table);
      const only = onlyWhere(from, join.via, foreign.alias);
      // MariaDB ignores a condition on only the outer record in the ON clause of a join within a condition.
      const isOverlooked = dialect === 'mysql' && isWithin && join.via.at(-1)!.only?.side === 'from';
      const on = onPairs(from, join.via, foreign.alias, isOverlooked ? only.sql : undefined);
      from.aliases.set(viaId(join.via), foreign.alias);
      const where = scope(foreign, join);
      if (where.sql !== TRUE) from.scopes.set(viaId(join.via), where);
      const and = [isOverlooked ? TRUE : only.sql, where.sql].filter((sql) => sql !== TRUE).map((sql) => ` and ${sql}`);
      return {
        sql: `${join.isComplete ? 'join' : 'left join'} ${joinable(join.via.at(-1)!)} as ${name(foreign.alias)} on ${on}${and.join('')}`,
        binds: [...only.binds, ...where.binds],
      };
    });
  }

  /**
   * A condition on a joined row may follow more relations. Their joins are nested within the condition, which keeps a
   * single joined row.
   */
  function scope(foreign: Root, { joins: further, where: filter }: Condition): Statement {
    if (further.length === 0) return where(foreign, filter);
    const inner = joins(foreign, further, true);
    const condition = where(foreign, filter);
    const binds = [...inner.flatMap((join) => join.binds), ...condition.binds];
    return { sql: exists(inner, condition), binds };
  }

  function exists(lookups: readonly Statement[], { sql }: Statement): string {
    const joined = lookups.map((join) => join.sql).join(' ');
    return `exists (select 1 from (select 1 as ${name('one')}) as ${name(nextAlias())} ${joined} where ${sql})`;
  }

  function condition(from: Root, { joins: list, where: filter }: Pick<CountSelect, 'joins' | 'where'>): Statement {
    if (list.length === 0) return where(from, filter);
    const inner = { ...from, aliases: new Map<string, string>(), scopes: new Map<string, Statement>() };
    const lookups = joins(inner, list);
    // Parts on the row itself stay outside the subquery, for indexes. All parts are written in their original order to
    // keep the numbering of values. Parts that guard others stay together.
    const parts = (filter.op === 'and' && !mayFail(filter) ? filter.of : [filter]).map((part) => ({
      ...where(inner, part),
      isOwn: collectVias(part).length === 0,
    }));
    const own = parts.filter(({ isOwn }) => isOwn);
    const further = parts.filter(({ isOwn }) => !isOwn);
    const sqlOf = (some: typeof parts) => some.map(({ sql }) => sql).join(' and ');
    const found = exists(lookups, { sql: sqlOf(further) || TRUE, binds: [] });
    return {
      sql: own.length ? `${sqlOf(own)} and ${found}` : found,
      binds: [...own, ...lookups, ...further].flatMap(({ binds }) => binds),
    };
  }

  function where(from: Root, filter: Filter): Statement {
    const binds: Bind[] = [];
    const sql = write(from, filter, false, binds);
    return { sql, binds };
  }

  function write(from: Root, filter: Filter, negated: boolean, binds: Bind[]): string {
    switch (filter.op) {
      case 'always':
        return negated ? FALSE : TRUE;
      case 'never':
        return negated ? TRUE : FALSE;
      case 'not':
        return write(from, filter.of, !negated, binds);
      case 'test':
        return writeTest(from, filter, negated, binds);
      case 'compare':
        return writeCompare(from, filter, negated, binds);
      case 'some':
        return writeSome(from, filter, negated, binds);
      case 'any':
        throw new Error(`the target of '${filter.relation.name}' has not been planned`);
      case 'found':
        throw new Error(`the values for '${filter.own.id}' have not been looked up`);
      default: {
        const all = (filter.op === 'and') !== negated;
        if (filter.of.length === 0) return all ? TRUE : FALSE;
        if (!all) {
          const parts = filter.of.map((part) => write(from, part, negated, binds));
          return parts.length === 1 ? parts[0]! : `(${parts.join(' or ')})`;
        }
        const written = writeAll(
          filter.of.map((part) => {
            const own: Bind[] = [];
            return { sql: write(from, part, negated, own), binds: own, mayFail: mayFail(part) };
          }),
        );
        binds.push(...written.binds);
        return written.sql;
      }
    }
  }

  function writeTest(from: Root, test: Extract<Filter, { op: 'test' }>, outer: boolean, binds: Bind[]): string {
    const { codec } = shapes.facts(test.path, from.table);
    const raw = column(from, test.path);
    const value = boundValue(test, dialect);
    const opposite = opposites[test.is];
    const negated = outer !== (opposite !== undefined);
    const operator = opposite ?? test.is;
    if (value === undefined) {
      // SQLite reads and sorts an invalid date as null, so it counts as missing.
      const looked = dialect === 'sqlite' ? (codec.ordered?.(raw, '') ?? raw) : raw;
      if (operator === 'Missing' || operator === 'Equal') return `${looked} is ${negated ? 'not ' : ''}null`;
      return negated ? TRUE : FALSE;
    }
    const index = values++;
    const term: Term = { codec, raw, value, index, binds, dialect };
    const { sql, seen } = writeTerm(operator, term);
    if (!negated) return sql;
    const not = operator === 'Equal' ? `${seen} <> ${sql.slice(seen.length + 3)}` : `not (${sql})`;
    if (sql === FALSE) return TRUE;
    return isNullable(test.path) || seen !== raw ? `(${not} or ${seen} is null)` : not;
  }

  function writeCompare(from: Root, comparison: Comparison, negated: boolean, binds: Bind[]): string {
    const of = {
      dialect,
      column: (path: Path) => column(from, path),
      codecOf: (path: Path) => figureOf(from, path)?.codec ?? shapes.facts(path, from.table).codec,
      scaleOf: (path: Path) => figureOf(from, path)?.scale,
      nextValue: () => values++,
    };
    const ids = new Set(collectVias(comparison).map(viaId));
    const written = guarded(
      [...ids].flatMap((id) => from.scopes.get(id) ?? []),
      writeComparison(comparison, of),
    );
    binds.push(...written.binds);
    return negated ? `(${written.sql}) is not true` : written.sql;
  }

  /**
   * A positive test uses IN, which lets the database start with the list instead of scanning every record. A negation
   * uses EXISTS, since a null in the list would make NOT IN unknown. A test that compares both records uses EXISTS too.
   */
  function writeSome(from: Root, { own, other, after }: Exists, negated: boolean, binds: Bind[]): string {
    const foreign = root(other.collection.table);
    const joined = joins(foreign, other.joins);
    const condition = where(foreign, other.where);
    binds.push(...joined.flatMap((join) => join.binds), ...condition.binds);
    const columns = own.map((path) => column(from, path));
    const keys = other.keys.map((path) => column(foreign, path));
    const isList = !negated && !after;
    const same = isList ? [] : keys.map((key, at) => `${key} = ${columns[at]}`);
    const before = after ? [comesBefore(foreign, from, after)] : [];
    const conditions = [...same, ...(condition.sql === TRUE ? [] : [condition.sql]), ...before].join(' and ');
    const tables = [`${table(foreign.table)} as ${name(foreign.alias)}`, ...joined.map((join) => join.sql)].join(' ');
    const rest = `from ${tables}${conditions && ` where ${conditions}`}`;
    if (!isList) return `${negated ? 'not ' : ''}exists (select 1 ${rest})`;
    return `${columns.length === 1 ? columns[0] : `(${columns.join(', ')})`} in (select ${keys.join(', ')} ${rest})`;
  }

  /** Compares two rows of one table by its columns; nulls come first. */
  function comesBefore(one: Root, other: Root, by: readonly Path[]): string {
    const steps = by.flatMap((path) => {
      const { codec } = shapes.facts(path, one.table);
      const ends = [column(one, path), column(other, path)] as const;
      const plain = { ends, isNullable: isNullable(path) };
      if (!codec.ordered) return [plain];
      const ordered = { ends: ends.map((end) => codec.ordered!(end, '')), isNullable: true };
      // In SQLite, different values may compare as equal by `ordered`.
      return dialect === 'sqlite' ? [ordered, plain] : [ordered];
    });
    return steps.reduceRight((rest, { ends: [a, b], isNullable: may }) => {
      const before = may ? `(${a} < ${b} or (${a} is null and ${b} is not null))` : `${a} < ${b}`;
      const same = may ? `(${a} = ${b} or (${a} is null and ${b} is null))` : `${a} = ${b}`;
      return rest === '' ? before : `(${before} or (${same} and ${rest}))`;
    }, '');
  }

  function after(from: Root, select: Select): Statement {
    const codecOf = (path: Path) => shapes.facts(path, from.table).codec;
    const form = afterForm(select, { dialect, codecOf });
    if (!form) return { sql: TRUE, binds: [] };
    if (!form.row) return where(from, form.filter);
    const binds: Bind[] = [];
    const row = form.row.map((path, at) => {
      const value = form.values[at];
      const term: Term = { codec: codecOf(path), raw: column(from, path), value, index: values++, binds, dialect };
      return parameter(term);
    });
    const columns = form.row.map((path) => column(from, path));
    return { sql: `(${columns.join(', ')}) ${form.sign} (${row.join(', ')})`, binds };
  }

  function page(select: Pick<Select, 'limit' | 'skip'>): Statement {
    let sql = select.limit === undefined ? '' : ` limit ${requireWhole(select.limit)}`;
    if (!select.skip) return { sql, binds: [] };
    if (dialect === 'mysql') {
      return { sql: `${sql || ' limit 18446744073709551615'} offset ${requireWhole(select.skip)}`, binds: [] };
    }
    if (dialect === 'sqlite' && sql === '') sql = ' limit -1';
    return { sql: `${sql} offset ?`, binds: [{ value: values++, encode: Number }] };
  }

  return {
    ...{ name, table, root, condition, column, joins, where, after, page },
    nextValue: () => values++,
    get values() {
      return values;
    },
  };
}

function failMissingJoin(via: string): never {
  throw new Error(`the statement uses ${via} but does not join it`);
}
