// The question as a good analyst would write it in SQL. Rows that the caller may see are views (`with`), and relations
// to one are left joins. A quantifier takes one of three forms at random: a list of keys (`in`), a count, or a left
// join with the distinct keys that is empty if there is no match.
import type { Dialect } from '../../databases.ts';
import { type Filter, isGroup, isLeaf, type Quantified, readQuantified } from './filters.ts';
import type { Question } from './interpreter.ts';
import type { Random } from './random.ts';
import { literal, writeLeaf } from './sql-leaf.ts';
import { quoteName, quoteText } from './sql-values.ts';
import type { Kind, World, WorldRelation, WorldTable } from './world.ts';

/** Thrown for questions that plain SQL cannot express, such as searches and computed fields. */
export class NotInSql extends Error {}

export interface Statements {
  readonly rows: string;
  readonly count: string;
  /** Counts the records that the relation starts from: one or zero. */
  readonly parent?: string;
  /** The kinds of the selected columns. */
  readonly kinds: readonly Kind[];
}

export interface Setting {
  readonly world: World;
  readonly dialect: Dialect;
  readonly scopes: Readonly<Record<string, Filter>>;
  /** The timezone of the caller's profile. */
  readonly zone: string;
  /** Chooses the form of each quantifier. */
  readonly random: Random;
}

/** Throws `NotInSql` if SQL cannot express the question. */
export function writeSql(setting: Setting, question: Question, page: { limit: number; skip: number }): Statements {
  return new Writer(setting).write(question, page);
}

export interface View {
  readonly names: 'caller' | 'code';
  readonly sees: 'allowed' | 'all';
  readonly zone: string;
}

/** A table in the `from` of a select. */
export interface Seat {
  readonly alias: string;
  readonly table: WorldTable;
  readonly block: Block;
}

/** A select under construction. Each relation to one is joined only once. */
interface Block {
  readonly joins: string[];
  readonly seats: Map<string, Seat>;
}

/** Keys of the outer record, and the matching keys of the listed records. */
interface Link {
  readonly outer: readonly string[];
  readonly inner: readonly string[];
  /** A condition on the outer record. */
  readonly onlyIf?: string;
}

/** Writes the parts of one statement, which share views and aliases. */
export class Writer {
  readonly #setting: Setting;
  readonly #views = new Map<string, string>();
  #aliases = 0;

  constructor(setting: Setting) {
    this.#setting = setting;
  }

  write(question: Question, page: { limit: number; skip: number }): Statements {
    const { within, segment, filter } = question;
    if (question.sought) throw new NotInSql('a search');
    const table = this.#table(question.table);
    const caller: View = { names: 'caller', sees: 'allowed', zone: question.zone ?? this.#setting.zone };
    const code: View = { ...caller, names: 'code' };
    const seat = this.seat(table, { joins: [], seats: new Map() });
    const cells = question.fields.map((field) => this.cell(seat, caller, field));
    const key = table.key.length > 0 ? table.key : table.columns.map(({ name }) => name);
    const orders = [
      ...question.sort.map(({ field, ascending = true }) => this.order(this.cell(seat, caller, field).sql, ascending)),
      ...key.map((name) => this.order(this.column(seat, name), question.sort.at(-1)?.ascending ?? true)),
    ];
    const conditions = [
      ...(within ? [this.#belongs(seat, code, within)] : []),
      ...(segment ? [this.filter(seat, code, table.twists.segments.get(segment)!)] : []),
      ...(filter ? [this.filter(seat, caller, filter)] : []),
    ];
    const from = `from ${this.source(table, caller)} ${seat.alias} ${seat.block.joins.join(' ')}`;
    const body = `${from} ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}`;
    const parent = within && this.#parent(code, within);
    const views = this.views();
    const start = views.length > 0 ? `with ${views.join(', ')} ` : '';
    return {
      rows: `${start}select ${cells.map(({ sql }) => sql).join(', ')} ${body} order by ${orders.join(', ')} limit ${page.limit} offset ${page.skip}`,
      count: `${start}select count(*) ${body}`,
      ...(parent && { parent: `${start}select count(*) from ${parent}` }),
      kinds: cells.map(({ kind }) => kind),
    };
  }

  /** The views of rows that the caller may see, for the start of the statement. */
  views(): string[] {
    return [...this.#views].map(([name, text]) => `${this.quote(name)} as (${text})`);
  }

  quote(name: string): string {
    return quoteName(this.#setting.dialect, name);
  }

  #table(name: string): WorldTable {
    return this.#setting.world.tables.find((table) => table.name === name)!;
  }

  seat(table: WorldTable, block: Block): Seat {
    return { alias: `t${++this.#aliases}`, table, block };
  }

  column({ alias }: { readonly alias: string }, name: string): string {
    return `${alias}.${this.quote(name)}`;
  }

  order(column: string, ascending: boolean): string {
    const isPostgres = this.#setting.dialect === 'postgres';
    return `${column} ${ascending ? 'asc' : 'desc'}${isPostgres ? ` nulls ${ascending ? 'first' : 'last'}` : ''}`;
  }

  /** The table, or a view of it with the records that the caller may see. */
  source(table: WorldTable, { sees }: View): string {
    const scope = this.#setting.scopes[table.name];
    if (sees === 'all' || !scope) return this.quote(table.name);
    const name = `seen ${table.name}`;
    if (!this.#views.has(name)) {
      const seat = this.seat(table, { joins: [], seats: new Map() });
      const where = this.filter(seat, { names: 'caller', sees: 'all', zone: this.#setting.zone }, scope);
      const joins = seat.block.joins.join(' ');
      this.#views.set(
        name,
        `select ${seat.alias}.* from ${this.quote(table.name)} ${seat.alias} ${joins} where ${where}`,
      );
    }
    return this.quote(name);
  }

  /** The records that a relation to one may lead to, one for each value of its key. */
  ends({ isFirst, target }: Pick<WorldRelation, 'isFirst' | 'target'>, table: WorldTable, view: View): string {
    const source = this.source(table, view);
    if (!isFirst) return source;
    const by = table.key.length > 0 ? table.key : table.columns.map(({ name }) => name);
    const order = by.map((name) => this.order(this.quote(name), true)).join(', ');
    const numbered = `row_number() over (partition by ${target.map((name) => this.quote(name)).join(', ')} order by ${order})`;
    return `(select * from (select a.*, ${numbered} as place_of_it from ${source} a) b where place_of_it = 1)`;
  }

  /** The SQL expression of a field. */
  cell(seat: Seat, view: View, name: string): { readonly sql: string; readonly kind: Kind } {
    const { columns, twists, relations } = seat.table;
    const column = columns.find((each) =>
      view.names === 'code'
        ? each.name === name
        : !twists.removed.has(each.name) && (twists.renames.get(each.name) ?? each.name) === name,
    );
    if (column) return { sql: this.column(seat, column.name), kind: column.kind };
    const added = twists.added.find((each) => each.name === name);
    if (added?.how === 'made' || name === 'echoes') throw new NotInSql('a field that code computes');
    if (added) return this.cell(seat, { ...view, names: 'code' }, added.from);
    const [head, ...rest] = name.split(':') as [string, ...string[]];
    if (!relations.some((each) => each.name === head)) throw new Error(`no field '${name}' in '${seat.table.name}'`);
    return this.cell(this.joined(seat, view, head), view, rest.join(':'));
  }

  /** Joins the record at the end of a relation to one. */
  joined(seat: Seat, view: View, name: string): Seat {
    const { block, table } = seat;
    const mark = `${seat.alias} ${view.sees} ${name}`;
    const known = block.seats.get(mark);
    if (known) return known;
    const relation = table.relations.find((each) => each.name === name)!;
    const joined = this.seat(this.#table(relation.to), block);
    const pairs = relation.from.map(
      (from, at) => `${this.column(joined, relation.target[at]!)} = ${this.column(seat, from)}`,
    );
    if (relation.only) pairs.push(this.isOfType(seat, relation.only));
    block.joins.push(`left join ${this.ends(relation, joined.table, view)} ${joined.alias} on ${pairs.join(' and ')}`);
    block.seats.set(mark, joined);
    return joined;
  }

  isOfType(
    seat: { readonly alias: string },
    { column, value }: { readonly column: string; readonly value: string },
  ): string {
    return `${this.column(seat, column)} = ${quoteText(this.#setting.dialect, value)}`;
  }

  filter(seat: Seat, view: View, filter: Filter): string {
    if (isGroup(filter)) {
      const parts = filter.conditions.map((each) => this.filter(seat, view, each));
      if (filter.aggregator === 'Or') return parts.length > 0 ? `(${parts.join(' or ')})` : '(1 = 0)';
      const all = parts.length > 0 ? `(${parts.join(' and ')})` : '(1 = 1)';
      return filter.aggregator === 'Not' ? `(not ${all})` : all;
    }
    if (!isLeaf(filter)) return this.#quantified(seat, view, filter);
    const names = filter.field.split(':');
    const last = this.#lastMany(seat.table, names);
    if (last >= 0) {
      const where = { ...filter, field: names.slice(last + 1).join(':') };
      return this.#quantified(seat, view, { some: names.slice(0, last + 1).join(':'), where });
    }
    const { dialect, world } = this.#setting;
    if (filter.operator === 'Match') throw new NotInSql('a regular expression');
    const { sql, kind } = this.cell(seat, view, filter.field);
    return writeLeaf({ dialect, zone: view.zone, now: world.now }, sql, kind, filter);
  }

  #lastMany(table: WorldTable, names: readonly string[]): number {
    let [at, last]: [WorldTable, number] = [table, -1];
    for (const [index, name] of names.slice(0, -1).entries()) {
      if (at.many.some((each) => each.name === name)) last = index;
      at = this.#table([...at.many, ...at.relations].find((each) => each.name === name)!.to);
    }
    return last;
  }

  #quantified(seat: Seat, view: View, filter: Quantified): string {
    const { quantifier, path, where } = readQuantified(filter);
    const form = this.#setting.random.pick(['in', 'count', 'join'] as const);
    if (form === 'count') {
      const count = (more: boolean) => {
        const { link, text } = this.#reached(seat, view, path.split(':'), more ? where : undefined);
        const same = link.inner.map((inner, at) => `${inner} = ${link.outer[at]}`);
        return `(select count(*) ${text(['1', ...(link.onlyIf ? [link.onlyIf] : []), ...same])})`;
      };
      if (quantifier === 'every') return `${count(true)} = ${count(false)}`;
      return `${count(true)} ${quantifier === 'some' ? '>' : '='} 0`;
    }
    const wanted = quantifier === 'every' ? ({ aggregator: 'Not', conditions: [where!] } as const) : where;
    const { link, text } = this.#reached(seat, view, path.split(':'), wanted);
    const filled = link.inner.map((inner) => `${inner} is not null`);
    const only = link.onlyIf ? [`coalesce(${link.onlyIf}, ${this.#no()})`] : [];
    if (form === 'join') {
      const alias = `q${++this.#aliases}`;
      const names = link.inner.map((inner, at) => `${inner} as k${at}`);
      const same = link.outer.map((outer, at) => `${alias}.k${at} = ${outer}`);
      const distinct = `(select distinct ${names.join(', ')} ${text(['1', ...filled])})`;
      seat.block.joins.push(`left join ${distinct} ${alias} on ${[...same, ...only].join(' and ')}`);
      return quantifier === 'some' ? `${alias}.k0 is not null` : `${alias}.k0 is null`;
    }
    const list = (names: readonly string[]) => (names.length > 1 ? `(${names.join(', ')})` : names[0]!);
    const keys = `select ${link.inner.join(', ')} ${text(['1', ...filled])}`;
    const known = link.outer.map((outer) => `${outer} is not null`);
    const found = `(${[...only, ...known, `${list(link.outer)} in (${keys})`].join(' and ')})`;
    return quantifier === 'some' ? found : `(not ${found})`;
  }

  #no(): string {
    return this.#setting.dialect === 'postgres' ? 'false' : '0';
  }

  /** The records at the end of the path that satisfy the filter, and the keys that link them to the starting record. */
  #reached(
    outer: Seat,
    view: View,
    path: readonly string[],
    where: Filter | undefined,
  ): { readonly link: Link; readonly text: (conditions: readonly string[]) => string } {
    const block: Block = { joins: [], seats: new Map() };
    const parts: string[] = [];
    let link: Link | undefined;
    let from = outer;
    const enter = (
      table: WorldTable,
      names: readonly string[],
      starts: readonly string[],
      only: readonly string[],
      isFirst?: true,
    ) => {
      const seat = this.seat(table, block);
      const inner = names.map((name) => this.column(seat, name));
      const source = `${this.ends({ target: names, ...(isFirst && { isFirst }) }, table, view)} ${seat.alias}`;
      const same = inner.map((each, at) => `${each} = ${starts[at]}`);
      if (link) parts.push(`join ${source} on ${[...same, ...only].join(' and ')}`);
      else {
        parts.push(source);
        link = { outer: starts, inner, ...(only.length > 0 && { onlyIf: only.join(' and ') }) };
      }
      return seat;
    };
    const conditions: string[] = [];
    for (const name of path) {
      const one = from.table.relations.find((each) => each.name === name);
      const many = from.table.many.find((each) => each.name === name);
      if (!one && !many) throw new Error(`no relation '${name}' in '${from.table.name}'`);
      const relation = one ?? many!;
      const starts = relation.from.map((each) => this.column(from, each));
      const only = one?.only ? [this.isOfType(from, one.only)] : [];
      const to = this.#table(relation.to);
      if (many?.through) {
        const pairs = enter(this.#table(many.through.table), many.through.origin, starts, only);
        from = enter(
          to,
          relation.target,
          many.through.foreign.map((each) => this.column(pairs, each)),
          [],
        );
      } else from = enter(to, relation.target, starts, only, one?.isFirst);
      if (many?.only) conditions.push(this.isOfType(from, many.only));
    }
    if (where) conditions.push(this.filter(from, view, where));
    return {
      link: link!,
      text: (more) => {
        const all = [...conditions, ...more.filter((each) => each !== '1')];
        return `from ${parts.join(' ')} ${block.joins.join(' ')} ${all.length > 0 ? `where ${all.join(' and ')}` : ''}`;
      },
    };
  }

  #parent(view: View, { table: name, key }: NonNullable<Question['within']>): string {
    const { dialect } = this.#setting;
    const table = this.#table(name);
    const conditions = table.key.map((column, at) => {
      const { kind } = table.columns.find((each) => each.name === column)!;
      return `h.${this.quote(column)} = ${literal(dialect, kind, key[at])}`;
    });
    return `${this.source(table, view)} h where ${conditions.join(' and ')}`;
  }

  /** Whether the relation leads to the record. */
  #belongs(seat: Seat, view: View, within: NonNullable<Question['within']>): string {
    const { from, target, through, only } = this.#table(within.table).many.find(
      ({ name }) => name === within.relation,
    )!;
    const quoted = (names: readonly string[], alias: string) => names.map((name) => `${alias}.${this.quote(name)}`);
    const inList = (names: readonly string[], list: string) =>
      `${names.length > 1 ? `(${names.join(', ')})` : names[0]} in (${list})`;
    const starts = `select ${quoted(from, 'h').join(', ')} from ${this.#parent(view, within)}`;
    const ends = target.map((name) => this.column(seat, name));
    const type = only ? ` and ${this.isOfType(seat, only)}` : '';
    if (!through) return `${inList(ends, starts)}${type}`;
    const pairs = `select ${quoted(through.foreign, 'b').join(', ')} from ${this.source(this.#table(through.table), view)} b`;
    return `${inList(ends, `${pairs} where ${inList(quoted(through.origin, 'b'), starts)}`)}${type}`;
  }
}
