// The question in plain SQL: one common table expression for each step, and correlated subqueries for the figures.
import type { Dialect } from '../../databases.ts';
import { type Seat, type Setting, type View, Writer } from '../oracle/sql.ts';
import { literal } from '../oracle/sql-leaf.ts';
import { quoteText } from '../oracle/sql-values.ts';
import { choices, type Kind, type WorldTable } from '../oracle/world.ts';
import {
  type Aggregate, type ColumnKind, type Expression, fieldOf, findDate, type Group, isDerived, kindOf, kindOfField, kindOfGroup,
  kindOfMeasure, type Measure, manyPrefixes, orderOf, prefixOf, readArithmetic, readMeasure, type Scale, scaleOfField, scaleOfMeasure,
} from './question.ts'; // biome-ignore format: one family
import { type Read, writeExpression } from './sql-expressions.ts';
import { writeHaving } from './sql-having.ts';
import { type Numbers, numbersOf } from './sql-numbers.ts';
import { bucketSql, clockSql, partSql, shiftSql } from './sql-times.ts';

interface Shape {
  readonly question: Aggregate;
  readonly groupKinds: readonly ColumnKind[];
  readonly measureKinds: readonly Kind[];
  readonly measureScales: readonly number[];
  /** Begins the names of the steps. */
  readonly mark: string;
}

const scalesOf = ({ measures }: Pick<Aggregate, 'measures'>, scale: Scale): number[] =>
  Object.values(measures).map((each) => scaleOfMeasure(each, measures, scale));

/** One statement that selects all rows, in order: groups, measures, previous measures. */
export function writeAnalysis(setting: Setting, question: Aggregate): string {
  return new AnalysisWriter(setting).write(question);
}

class AnalysisWriter {
  readonly #setting: Setting;
  readonly #dialect: Dialect;
  readonly #numbers: Numbers;
  readonly #writer: Writer;
  readonly #steps: string[] = [];

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#dialect = setting.dialect;
    this.#numbers = numbersOf[setting.dialect];
    this.#writer = new Writer(setting);
  }

  write(question: Aggregate): string {
    const { over, collectionName, filters } = question;
    const inner: Aggregate = over ? { ...over, collectionName, ...(filters && { filters }) } : question;
    const view: View = { names: 'caller', sees: 'allowed', zone: question.timezone ?? this.#setting.zone };
    const table = this.#table(collectionName);
    const shape: Shape = {
      question: inner,
      groupKinds: (inner.groups ?? []).map((group) => kindOfGroup(this.#setting.world, table, group)),
      measureKinds: Object.values(inner.measures).map((each) => kindOfMeasure(this.#setting.world, table, each)),
      measureScales: scalesOf(inner, scaleOfField(this.#setting.world, table)),
      mark: 'a',
    };
    this.#records(shape, view, table);
    this.#keys(shape, view, table);
    const last = this.#finish(shape);
    if (!over) return this.#statement(shape, last);
    const names = Object.keys(inner.measures);
    const scale: Scale = (name) => shape.measureScales[names.indexOf(name)]!;
    const outer: Shape = {
      question,
      groupKinds: [],
      measureKinds: Object.keys(question.measures).map(() => 'decimal' as const),
      measureScales: scalesOf(question, scale),
      mark: 'b',
    };
    const read: Read = (name) => {
      const at = names.indexOf(name);
      return { sql: this.#shown(shape, `s.m${at}`, at), kind: 'decimal', exactScale: scale(name) };
    };
    const columns = ['1 as n', ...this.#arguments(outer, read, 'UTC')];
    this.#steps.push(`b_records as (select ${columns.join(', ')} from ${last} s)`, 'b_keys as (select 1 as one)');
    return this.#statement(outer, this.#finish(outer));
  }

  #table(name: string): WorldTable {
    return this.#setting.world.tables.find((table) => table.name === name)!;
  }

  #statement(shape: Shape, last: string): string {
    const { question, groupKinds, measureKinds } = shape;
    const shown = (name: string, at: number) => `${this.#shown(shape, name, at)} as ${name}`;
    const names = [
      ...groupKinds.map((_, at) => `g${at}`),
      ...measureKinds.map((_, at) => shown(`m${at}`, at)),
      ...(question.compare ? measureKinds.map((_, at) => shown(`p${at}`, at)) : []),
    ];
    // The views that the steps need come first.
    const steps = [...this.#writer.views(), ...this.#steps];
    return `with recursive ${steps.join(',\n')}\nselect ${names.join(', ')} from ${last} order by place`;
  }

  /** Quotients are exact until they are shown or compared with a value. */
  #shown({ question, measureScales }: Shape, sql: string, at: number): string {
    const { operation } = readMeasure(Object.values(question.measures)[at]!);
    const isQuotient = ['avg', 'ratio', 'share', 'movingAverage', 'plus', 'minus', 'times', 'coalesce', 'abs'].includes(
      operation,
    );
    return isQuotient ? this.#numbers.round(sql, measureScales[at]!) : sql;
  }

  /** The matching records, once for each combination of values of their groups. */
  #records(shape: Shape, view: View, table: WorldTable): void {
    const { question, mark } = shape;
    const { world } = this.#setting;
    const groups = question.groups ?? [];
    const seat = this.#writer.seat(table, { joins: [], seats: new Map() });
    const prefixes = manyPrefixes(world, table, groups);
    const seats = new Map([['', seat]]);
    for (const prefix of prefixes) {
      const steps = prefix.split(':');
      const from = seats.get(steps.slice(0, -1).join(':'))!;
      seats.set(prefix, this.#step(from, view, steps.at(-1)!));
    }
    const columns = groups.map((group, at) => {
      const prefix = prefixOf(prefixes, fieldOf(group));
      const field = fieldOf(group).slice(prefix ? prefix.length + 1 : 0);
      return `${this.#group(seats.get(prefix)!, view, group, field)} as g${at}`;
    });
    const read: Read = (name) => this.#writer.cell(seat, view, name);
    columns.push(...this.#arguments(shape, read, view.zone));
    for (const [at, { where }] of Object.values(question.measures).entries())
      if (where) columns.push(`case when ${this.#writer.filter(seat, view, where)} then 1 else 0 end as c${at}`);
    const conditions = question.filters ? `where ${this.#writer.filter(seat, view, question.filters)}` : '';
    const numbered = `(select x.*, row_number() over () as row_no from ${this.#writer.source(table, view)} x)`;
    const joins = seat.block.joins.join(' ');
    const all = [`${seat.alias}.row_no as n`, ...columns];
    const reached = `select ${all.join(', ')} from ${numbered} ${seat.alias} ${joins} ${conditions}`;
    this.#steps.push(`${mark}_records as (${prefixes.length > 0 ? this.#once(shape, reached, all) : reached})`);
  }

  /** A record counts once in a group, also if it reaches several spellings of a text. */
  #once(shape: Shape, reached: string, columns: readonly string[]): string {
    if (this.#dialect === 'postgres') return `select distinct x.* from (${reached}) x`;
    const names = columns.map((each) => each.slice(each.lastIndexOf(' as ') + 4));
    const groups = shape.groupKinds.map((_, at) => this.#folded(shape, `x.g${at}`, at));
    const shown = names.map((name) =>
      name.startsWith('g') && shape.groupKinds[Number(name.slice(1))] === 'label'
        ? `${this.#lowest(`x.${name}`)} as ${name}`
        : `x.${name}`,
    );
    return `select ${shown.join(', ')} from (${reached}) x group by ${['x.n', ...groups].join(', ')}`;
  }

  /** Joins the records that a relation leads to, of which there may be several or none. */
  #step(from: Seat, view: View, name: string): Seat {
    const many = from.table.many.find((each) => each.name === name);
    if (!many) return this.#writer.joined(from, view, name);
    const seat = this.#writer.seat(this.#table(many.to), from.block);
    const { through, target, only } = many;
    const start = (at: number) => this.#writer.column(from, many.from[at]!);
    if (!through) {
      const pairs = target.map((each, at) => `${this.#writer.column(seat, each)} = ${start(at)}`);
      if (only) pairs.push(this.#writer.isOfType(seat, only));
      from.block.joins.push(
        `left join ${this.#writer.source(seat.table, view)} ${seat.alias} on ${pairs.join(' and ')}`,
      );
      return seat;
    }
    const quoted = (alias: string, each: string) => `${alias}.${this.#writer.quote(each)}`;
    const via = through.origin.map((each, at) => `${quoted('b', each)} as via${at}`);
    const ends = target.map((each, at) => `${quoted('e', each)} = ${quoted('b', through.foreign[at]!)}`);
    const between = this.#writer.source(this.#table(through.table), view);
    const reached = `(select e.*, ${via.join(', ')} from ${between} b join ${this.#writer.source(seat.table, view)} e on ${ends.join(' and ')})`;
    const pairs = through.origin.map((_, at) => `${seat.alias}.via${at} = ${start(at)}`);
    from.block.joins.push(`left join ${reached} ${seat.alias} on ${pairs.join(' and ')}`);
    return seat;
  }

  #group(seat: Seat, view: View, group: Group, field: string): string {
    const { sql, kind } = this.#writer.cell(seat, view, field);
    if (typeof group === 'string') return sql;
    if ('bucket' in group) return bucketSql(this.#dialect, clockSql(this.#dialect, sql, kind, view.zone), group.bucket);
    if ('part' in group) return partSql(this.#dialect, clockSql(this.#dialect, sql, kind, view.zone), group.part);
    const starts = group.ranges.map((start, at) => `when ${sql} < (${start}) then ${at}`);
    return `case when ${sql} is null then null ${starts.join(' ')} else ${group.ranges.length} end`;
  }

  /** The arguments of the measures, v0 and so on, which `read` finds. */
  #arguments({ question }: Shape, read: Read, zone: string): string[] {
    return Object.values(question.measures).flatMap((each, at) => {
      const { argument } = readMeasure(each);
      if (isDerived(each) || argument === true) return [];
      return [`${writeExpression(this.#dialect, argument as Expression, read, zone)} as v${at}`];
    });
  }

  /** The combinations of groups, those without records included if asked. */
  #keys(shape: Shape, view: View, table: WorldTable): void {
    const { question, groupKinds, mark } = shape;
    if (groupKinds.length === 0) {
      this.#steps.push(`${mark}_keys as (select 1 as one)`);
      return;
    }
    const names = groupKinds.map((_, at) => `g${at}`);
    const shown = groupKinds.map((kind, at) => (kind === 'label' ? `${this.#lowest(`g${at}`)} as g${at}` : `g${at}`));
    const folded = groupKinds.map((_, at) => this.#folded(shape, `g${at}`, at));
    const found = `select ${shown.join(', ')} from ${mark}_records group by ${folded.join(', ')}`;
    if (!question.includeEmpty) {
      this.#steps.push(`${mark}_keys as (${found})`);
      return;
    }
    for (const [at, group] of (question.groups ?? []).entries())
      this.#steps.push(`${mark}_all${at} as (${this.#domain(shape, view, table, group, at)})`);
    const all = names.map((name, at) => `d${at}.${name}`).join(', ');
    const from = names.map((_, at) => `${mark}_all${at} d${at}`).join(' cross join ');
    this.#steps.push(`${mark}_keys as (${found} union select ${all} from ${from})`);
  }

  #folded({ groupKinds }: Shape, column: string, at: number): string {
    return groupKinds[at] === 'label' && this.#dialect === 'sqlite' ? `${column} collate nocase` : column;
  }

  /** Of texts that differ in case only, the lowest by its bytes. */
  #lowest(column: string): string {
    if (this.#dialect === 'mariadb') return `cast(min(cast(${column} as binary)) as char character set utf8mb4)`;
    return this.#dialect === 'sqlite' ? `min(${column} collate binary)` : `min(${column})`;
  }

  /** Whether the groups of both sides are equal: all of them, or those that `isCompared` chooses. */
  #same(shape: Shape, left: string, right: string, isCompared = (_group: number) => true): string {
    const sign = { postgres: 'is not distinct from', mariadb: '<=>', sqlite: 'is' }[this.#dialect];
    const pairs = shape.groupKinds.flatMap((_, at) => {
      if (!isCompared(at)) return [];
      const isLabel = shape.groupKinds[at] === 'label';
      const collation = isLabel && this.#dialect === 'mariadb' ? ' collate utf8mb4_unicode_ci' : '';
      return [`${this.#folded(shape, `${left}.g${at}`, at)}${collation} ${sign} ${right}.g${at}`];
    });
    return pairs.length > 0 ? pairs.join(' and ') : '1 = 1';
  }

  /** Every value that a group may have. */
  #domain(shape: Shape, view: View, table: WorldTable, group: Group, at: number): string {
    const list = (values: readonly string[]) => values.map((value) => `select ${value} as g${at}`).join(' union all ');
    const numbers = (from: number, count: number) =>
      list(Array.from({ length: count }, (_, index) => String(from + index)));
    if (typeof group === 'string') {
      const kind = kindOfField(this.#setting.world, table, group);
      if (kind === 'flag') return list([literal(this.#dialect, kind, false), literal(this.#dialect, kind, true)]);
      if (kind === 'choice' && this.#dialect !== 'sqlite') {
        const words = choices.map((word) => quoteText(this.#dialect, word));
        return list(this.#dialect === 'postgres' ? words.map((word) => `${word}::choice`) : words);
      }
      const steps = group.split(':');
      const end = steps.slice(0, -1).reduce((from, name) => {
        const { to } = [...from.relations, ...from.many].find((each) => each.name === name)!;
        return this.#table(to);
      }, table);
      const seat = this.#writer.seat(end, { joins: [], seats: new Map() });
      const { sql } = this.#writer.cell(seat, view, steps.at(-1)!);
      return `select distinct ${sql} as g${at} from ${this.#writer.source(end, view)} ${seat.alias} ${seat.block.joins.join(' ')} where ${sql} is not null`;
    }
    if ('ranges' in group) return numbers(0, group.ranges.length + 1);
    if ('part' in group) {
      const [from, count] = { HourOfDay: [0, 24], Weekday: [1, 7], MonthOfYear: [1, 12] }[group.part] as [
        number,
        number,
      ];
      return numbers(from, count);
    }
    const next = shiftSql(this.#dialect, `g${at}`, group.bucket, 1);
    const bounds = (name: string) => `(select ${name}(g${at}) from ${shape.mark}_records)`;
    return `select ${bounds('min')} as g${at} where ${bounds('min')} is not null union all select ${next} from ${shape.mark}_all${at} where g${at} < ${bounds('max')}`;
  }

  /** The steps from the plain measures on. Returns the name of the last, which has the column `place`. */
  #finish(shape: Shape): string {
    const { question, groupKinds, measureKinds, mark } = shape;
    const names = Object.keys(question.measures);
    const all = Object.values(question.measures);
    const groups = groupKinds.map((_, at) => `k.g${at}`);
    const plain = all.map((each, at) => `${this.#measure(shape, each, at)} as m${at}`);
    const averages = all.flatMap((each, at) => ('avg' in each ? this.#average(shape, each, at) : []));
    this.#steps.push(`${mark}_plain as (select ${[...groups, ...plain, ...averages].join(', ')} from ${mark}_keys k)`);
    /** The dividend and the divisor of an average, which a ratio takes exactly. */
    const parts = (name: string) => {
      const at = names.indexOf(name);
      return 'avg' in all[at]! ? ([`k.s${at}`, `k.n${at}`] as const) : ([`k.m${at}`, '1'] as const);
    };
    const column = (name: string, alias = 'k') => `${alias}.m${names.indexOf(name)}`;
    const quotients = all.map((each, at) => {
      if ('ratio' in each) {
        const [[a, by], [b, under]] = [parts(each.ratio[0]), parts(each.ratio[1])];
        const { dividedBy, times } = this.#numbers;
        return `${dividedBy(times(a, under), times(b, by))} as m${at}`;
      }
      if ('share' in each) {
        const among = this.#same(shape, 'o', 'k', (group) => each.per?.includes(group) ?? false);
        const total = `(select ${this.#numbers.sum(column(each.share, 'o'))} from ${mark}_plain o where ${among})`;
        return `${this.#numbers.dividedBy(column(each.share), total)} as m${at}`;
      }
      return `k.m${at}`;
    });
    const computed = all.map((each, at) => `${this.#computed(each, names) ?? `k.m${at}`} as m${at}`);
    const ranked = all.map((each, at) =>
      'rank' in each ? `${this.#rank(shape, column(each.rank), each.per)} as m${at}` : `k.m${at}`,
    );
    const place = `row_number() over (order by ${this.#order(shape, names)}) as place`;
    this.#steps.push(
      `${mark}_quotients as (select ${[...groups, ...quotients].join(', ')} from ${mark}_plain k)`,
      `${mark}_computed as (select ${[...groups, ...computed].join(', ')} from ${mark}_quotients k)`,
      `${mark}_among as (select ${[...groups, ...ranked].join(', ')} from ${mark}_computed k)`,
      `${mark}_placed as (select k.*, ${place} from ${mark}_among k)`,
    );
    const along = findDate(groupKinds);
    const others = groupKinds.flatMap((_, at) => (at === along ? [] : [this.#folded(shape, `k.g${at}`, at)]));
    const within = along >= 0 && others.length > 0 ? `partition by ${others.join(', ')} ` : '';
    const date = along < 0 ? 'k.place' : `case when k.g${along} is null then 0 else 1 end, k.g${along}`;
    this.#steps.push(
      `${mark}_along as (select k.*, row_number() over (${within}order by ${date}) as nth from ${mark}_placed k)`,
    );
    const isWithin = along < 0 ? '1 = 1' : this.#same(shape, 'o', 'k', (group) => group !== along);
    const running = all.map((each, at) => {
      const of = 'running' in each ? each.running : 'movingAverage' in each ? each.movingAverage : undefined;
      if (of === undefined) return `k.m${at}`;
      const { last } = each as { readonly last?: number };
      const since = last === undefined ? '' : ` and o.nth > k.nth - ${last}`;
      const from = `from ${mark}_along o where ${isWithin} and o.nth <= k.nth${since}`;
      const total = `(select ${this.#numbers.sum(column(of, 'o'))} ${from})`;
      if ('running' in each) return `${total} as m${at}`;
      return `${this.#numbers.dividedBy(total, `(select count(${column(of, 'o')}) ${from})`)} as m${at}`;
    });
    this.#steps.push(`${mark}_ran as (select ${[...groups, ...running, 'k.place'].join(', ')} from ${mark}_along k)`);
    const previous = question.compare ? measureKinds.map((_, at) => this.#previous(shape, at)) : [];
    this.#steps.push(`${mark}_compared as (select ${['k.*', ...previous].join(', ')} from ${mark}_ran k)`);
    const having = question.having
      ? `where ${writeHaving(this.#setting, (name) => this.#column(shape, names, name), question.having)}`
      : '';
    this.#steps.push(`${mark}_had as (select k.* from ${mark}_compared k ${having})`);
    if (!question.top) return `${mark}_had`;
    const per = (question.top.per ?? []).map((at) => `k.g${at}`);
    const nth = `row_number() over (${per.length > 0 ? `partition by ${per.join(', ')} ` : ''}order by k.place) as nth`;
    this.#steps.push(
      `${mark}_nth as (select k.*, ${nth} from ${mark}_had k)`,
      `${mark}_top as (select * from ${mark}_nth where nth <= ${question.top.n})`,
    );
    return `${mark}_top`;
  }

  /** The arithmetic of a measure. */
  #computed(measure: Measure, names: readonly string[]): string | undefined {
    const found = readArithmetic(measure);
    if (!found) return undefined;
    const numbers = this.#numbers;
    const [a = '', b = ''] = found.operands.map((each) =>
      typeof each === 'number' ? numbers.constant(String(each)) : `k.m${names.indexOf(each)}`,
    );
    if (found.operator === 'coalesce') return `coalesce(${a}, ${b})`;
    if (found.operator === 'abs') return numbers.abs(a);
    return found.operator === 'round' ? numbers.round(a, 0) : numbers[found.operator](a, b);
  }

  #rank(shape: Shape, column: string, per: readonly number[] = []): string {
    const key = this.#numbers.key(column);
    const within =
      per.length > 0 ? `partition by ${per.map((at) => this.#folded(shape, `k.g${at}`, at)).join(', ')} ` : '';
    return `case when ${column} is null then null else rank() over (${within}order by case when ${column} is null then 1 else 0 end, ${key} desc) end`;
  }

  /** A subquery for one measure of the group `k`. */
  #measure(shape: Shape, measure: Measure, at: number): string {
    const { operation, argument, fraction } = readMeasure(measure);
    const { mark } = shape;
    if (isDerived(measure)) return 'null';
    const kind = shape.measureKinds[at]!;
    const where = [this.#same(shape, 'r', 'k'), ...(measure.where ? [`r.c${at} = 1`] : [])].join(' and ');
    const from = `from ${mark}_records r where ${where}`;
    if (argument === true) return `(select count(*) ${from})`;
    const value = `r.v${at}`;
    const numbers = this.#numbers;
    switch (operation) {
      case 'count':
        return `(select count(${value}) ${from})`;
      case 'countDistinct':
        return `(select count(distinct ${this.#distinct(argument as Expression, value, shape)}) ${from})`;
      case 'min':
      case 'max':
        return this.#extreme(operation, kind, value, from);
      case 'sum':
        return `(select ${numbers.sum(value)} ${from})`;
      case 'avg':
        return numbers.dividedBy(`(select ${numbers.sum(value)} ${from})`, `(select count(${value}) ${from})`);
      default:
        return this.#percentile(shape, measure, at, fraction!);
    }
  }

  #average(shape: Shape, { where }: Measure, at: number): string[] {
    const condition = [this.#same(shape, 'r', 'k'), ...(where ? [`r.c${at} = 1`] : [])].join(' and ');
    const from = `from ${shape.mark}_records r where ${condition}`;
    return [
      `(select ${this.#numbers.sum(`r.v${at}`)} ${from}) as s${at}`,
      `(select count(r.v${at}) ${from}) as n${at}`,
    ];
  }

  #distinct(argument: Expression, value: string, { question }: Shape): string {
    if (this.#dialect !== 'sqlite' || question.over) return value;
    const isLabel = kindOf(this.#setting.world, this.#table(question.collectionName), argument) === 'label';
    return isLabel ? `lower(${value})` : value;
  }

  #extreme(operation: 'min' | 'max', kind: Kind, value: string, from: string): string {
    if (kind === 'flag' && this.#dialect === 'postgres')
      return `(select ${operation === 'min' ? 'bool_and' : 'bool_or'}(${value}) ${from})`;
    if (kind !== 'decimal') return `(select ${operation}(${value}) ${from})`;
    const direction = operation === 'min' ? 'asc' : 'desc';
    return `(select ${value} ${from} and ${value} is not null order by ${this.#numbers.key(value)} ${direction} limit 1)`;
  }

  /** Each value counts by its closeness to the wanted position: one at it, none at a distance of one or more. */
  #percentile(shape: Shape, { where }: Measure, at: number, fraction: number): string {
    const { mark, groupKinds } = shape;
    const numbers = this.#numbers;
    const groups = groupKinds.map((_, index) => `r.g${index}`);
    const folded = groupKinds.map((_, index) => this.#folded(shape, `r.g${index}`, index));
    const partition = folded.length > 0 ? `partition by ${folded.join(', ')}` : '';
    const value = `r.v${at}`;
    const condition = [`${value} is not null`, ...(where ? [`r.c${at} = 1`] : [])].join(' and ');
    const columns = [
      ...groups,
      `${value} as v`,
      `row_number() over (${partition} order by ${numbers.key(value)}) - 1 as nth`,
      `count(*) over (${partition}) - 1 as last`,
    ];
    this.#steps.push(`${mark}_ranked${at} as (select ${columns.join(', ')} from ${mark}_records r where ${condition})`);
    const distance = numbers.abs(numbers.minus('s.nth', numbers.times(numbers.constant(String(fraction)), 's.last')));
    const weight = numbers.clamp(numbers.minus(numbers.constant('1'), distance));
    const weighted = numbers.sum(numbers.times('s.v', weight));
    return `(select ${weighted} from ${mark}_ranked${at} s where ${this.#same(shape, 's', 'k')})`;
  }

  #order({ question, groupKinds, measureKinds }: Shape, names: readonly string[]): string {
    if (groupKinds.length === 0) return '1';
    return orderOf(question)
      .map((each) => {
        const isAscending = each.ascending !== false;
        if ('group' in each) return this.#writer.order(`k.g${each.group}`, isAscending);
        const at = names.indexOf(each.measure);
        const key = measureKinds[at] === 'decimal' ? this.#numbers.key(`k.m${at}`) : `k.m${at}`;
        return this.#writer.order(key, isAscending);
      })
      .join(', ');
  }

  #previous(shape: Shape, at: number): string {
    const groups = shape.question.groups!;
    const index = groups.findIndex((group) => typeof group === 'object' && 'bucket' in group);
    const { bucket } = groups[index] as Extract<Group, { readonly bucket: unknown }>;
    const before = shiftSql(this.#dialect, `k.g${index}`, bucket, -shape.question.compare!.previous);
    const others = this.#same(shape, 'o', 'k', (group) => group !== index);
    return `(select o.m${at} from ${shape.mark}_ran o where o.g${index} = ${before} and ${others}) as p${at}`;
  }

  #column(shape: Shape, names: readonly string[], name: string): { sql: string; kind: Kind } {
    const at = names.indexOf(name);
    return { sql: this.#shown(shape, `k.m${at}`, at), kind: shape.measureKinds[at]! };
  }
}
