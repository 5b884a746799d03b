// What a query means, with no plan: one record after another, one condition after another, straight from what the
// caller wrote. It shares no code with the engine: numbers are compared as whole hundredths, texts as bytes of UTF-8,
// patterns as regular expressions, and days in a timezone are what Intl says they are.

import type { Row } from '../../../src/agent/sources/source.ts';
import { isBranch, type PlainFilter, type PlainLeaf, type PlainSort } from '../../../src/core/filter.ts';
import { hasNamed, hasWord, type Sought } from './searches.ts';
import {
  type Kind,
  makeEchoes,
  makeText,
  type World,
  type WorldMany,
  type WorldRelation,
  type WorldTable,
} from './world.ts';

export interface Meaning {
  readonly world: World;
  readonly scopes: Readonly<Record<string, PlainFilter>>;
  /** Of the caller's profile. */
  readonly zone: string;
  /** Whether columns of kind `label` ignore case. */
  readonly ignoresCase: boolean;
  /** Whether columns of kind `choice` are texts like others, as on SQLite. */
  readonly choiceIsText: boolean;
  /** MariaDB keeps and orders UUIDs by their parts from the last to the first. */
  readonly uuidBackwards: boolean;
  /** Names are those of customization code, not of callers. */
  readonly inside?: boolean;
}

export interface Question {
  readonly table: string;
  readonly fields: readonly string[];
  readonly filter?: PlainFilter;
  /** What leads through many may stand beside what is decided after reading, for which more than one statement may be needed. */
  readonly isMixed?: boolean;
  readonly sought?: Sought;
  /** `sought` as a caller types it. */
  readonly search?: string;
  readonly extended?: boolean;
  readonly sort: readonly PlainSort[];
  readonly zone?: string;
  readonly segment?: string;
  /** Only what a relation leads to from the row that has this key. */
  readonly within?: { readonly table: string; readonly relation: string; readonly key: readonly unknown[] };
}

/** Every matching record, in order. */
export function interpret(meaning: Meaning, question: Question): unknown[][] {
  const table = tableOf(meaning, question.table);
  const zone = question.zone ?? meaning.zone;
  const rows = table.rows.filter(
    (row) =>
      visible(meaning, table, row) &&
      (!question.within || belongs(meaning, table, row, question.within)) &&
      (!question.segment || inSegment(meaning, table, row, question.segment, zone)) &&
      (!question.filter || matches(meaning, table, row, question.filter, zone, true)) &&
      (!question.sought || finds(meaning, table, row, question.sought, question.extended ?? false, zone)),
  );
  const last = table.key.length ? table.key : table.columns.map((column) => column.name);
  const inside = { ...meaning, inside: true };
  const sorts = [
    ...question.sort.map((sort) => ({ ...sort, as: meaning })),
    ...last.map((field) => ({ field, ascending: true, as: inside })),
  ];
  rows.sort((a, b) => {
    for (const { field, ascending = true, as } of sorts) {
      const left = look(as, table, a, field, true);
      const right = look(as, table, b, field, true);
      const difference = compare(meaning, left.value, right.value, left.kind);
      if (difference !== 0) return ascending ? difference : -difference;
    }
    return 0;
  });
  return rows.map((row) => question.fields.map((field) => look(meaning, table, row, field, true).value));
}

/** Whether the row is one that the relation leads to; what may not be seen leads nowhere. */
function belongs(meaning: Meaning, table: WorldTable, row: Row, within: NonNullable<Question['within']>): boolean {
  const home = tableOf(meaning, within.table);
  const parent = findParent(meaning, within);
  const relation = home.many.find((each) => each.name === within.relation)!;
  return parent !== undefined && isRelated(meaning, home, parent, relation, table, row, true);
}

function isRelated(
  meaning: Meaning,
  home: WorldTable,
  parent: Row,
  { from, target, through, only }: WorldMany,
  table: WorldTable,
  row: Row,
  scoped: boolean,
): boolean {
  const same = (
    one: WorldTable,
    left: Row,
    leftNames: readonly string[],
    other: WorldTable,
    right: Row,
    names: readonly string[],
  ) =>
    names.every((name, index) => {
      const at = one.columns.findIndex((column) => column.name === leftNames[index]);
      const { kind } = other.columns.find((column) => column.name === name)!;
      const [a, b] = [left[at] ?? null, right[other.columns.findIndex((column) => column.name === name)] ?? null];
      return a !== null && b !== null && compare(meaning, a, b, kind) === 0;
    });
  if (only && row[table.columns.findIndex(({ name }) => name === only.column)] !== only.value) return false;
  if (!through) return same(home, parent, from, table, row, target);
  const between = tableOf(meaning, through.table);
  return between.rows.some(
    (pair) =>
      (!scoped || visible(meaning, between, pair)) &&
      same(home, parent, from, between, pair, through.origin) &&
      same(between, pair, through.foreign, table, row, target),
  );
}

/** The row that has the key, when it may be seen. */
export function findParent(meaning: Meaning, { table: name, key }: NonNullable<Question['within']>): Row | undefined {
  const table = tableOf(meaning, name);
  const places = table.key.map((column) => table.columns.findIndex((each) => each.name === column));
  return table.rows.find(
    (row) => places.every((at, index) => String(row[at]) === String(key[index])) && visible(meaning, table, row),
  );
}

function tableOf({ world }: Meaning, name: string): WorldTable {
  return world.tables.find((table) => table.name === name)!;
}

/** Scopes are written by someone who sees every row, so that relations in them are followed to any row. */
export function visible(meaning: Meaning, table: WorldTable, row: Row): boolean {
  const scope = meaning.scopes[table.name];
  return !scope || matches({ ...meaning, inside: false }, table, row, scope, meaning.zone, false);
}

function inSegment(meaning: Meaning, table: WorldTable, row: Row, name: string, zone: string): boolean {
  return matches({ ...meaning, inside: true }, table, row, table.twists.segments.get(name)!, zone, true);
}

/** The name of a column in its table; undefined when a caller does not know it. */
function columnNamed({ inside }: Meaning, { columns, twists }: WorldTable, name: string): number {
  if (inside) return columns.findIndex((column) => column.name === name);
  return columns.findIndex(
    (column) => !twists.removed.has(column.name) && (twists.renames.get(column.name) ?? column.name) === name,
  );
}

function look(
  meaning: Meaning,
  table: WorldTable,
  row: Row,
  name: string,
  scoped: boolean,
): { value: unknown; kind: Kind } {
  const at = columnNamed(meaning, table, name);
  if (at >= 0) return { value: row[at] ?? null, kind: table.columns[at]!.kind };
  const inside = { ...meaning, inside: true };
  const added = table.twists.added.find((each) => each.name === name);
  if (added?.how === 'made') {
    const values = added.needs.map((need) => look(inside, table, row, need, true).value);
    return { value: makeText(values), kind: 'text' };
  }
  if (added) return look(inside, table, row, added.from, scoped);
  if (name === 'echoes') {
    const values = table.twists.echoed.map((need) => look(inside, table, row, need, true).value);
    return { value: makeEchoes(values), kind: 'text' };
  }
  const [head, ...rest] = name.split(':');
  const relation = table.relations.find((each) => each.name === head)!;
  const to = tableOf(meaning, relation.to);
  const found = follow(meaning, table, row, relation, scoped);
  if (found) return look(meaning, to, found, rest.join(':'), scoped);
  return { value: null, kind: kindOf(meaning, to, rest.join(':')) };
}

/** The one row that the relation leads to. */
function follow(
  meaning: Meaning,
  table: WorldTable,
  row: Row,
  relation: WorldRelation,
  scoped: boolean,
): Row | undefined {
  const inside = { ...meaning, inside: true };
  const to = tableOf(meaning, relation.to);
  const { only } = relation;
  const isMeant = !only || look(inside, table, row, only.column, scoped).value === only.value;
  const wanted = relation.from.map((column) => look(inside, table, row, column, scoped));
  return to.rows.find(
    (other) =>
      isMeant &&
      relation.target.every((column, index) => {
        const { value, kind } = look(inside, to, other, column, scoped);
        const own = wanted[index]!.value;
        return value !== null && own !== null && compare(meaning, value, own, kind) === 0;
      }) &&
      (!scoped || visible(meaning, to, other)),
  );
}

function kindOf(meaning: Meaning, table: WorldTable, name: string): Kind {
  const column = table.columns[columnNamed(meaning, table, name)];
  if (column) return column.kind;
  const added = table.twists.added.find((each) => each.name === name);
  if (added) return added.kind;
  if (name === 'echoes') return 'text';
  const [head, ...rest] = name.split(':');
  const relation = table.relations.find((each) => each.name === head)!;
  return kindOf(meaning, tableOf(meaning, relation.to), rest.join(':'));
}

/** What is made after reading is not searched; what is asked of a column is. */
function searchedNames({ columns, twists }: WorldTable): { name: string; whole: boolean }[] {
  const own = columns
    .filter(({ name }) => !twists.removed.has(name))
    .map(({ name }) => ({ name: twists.renames.get(name) ?? name, whole: false }));
  const asked = twists.added.filter(({ how }) => how !== 'made');
  return [...own, ...asked.map(({ name, how }) => ({ name, whole: how === 'copied' }))];
}

function finds(
  meaning: Meaning,
  table: WorldTable,
  row: Row,
  sought: Sought,
  extended: boolean,
  zone: string,
): boolean {
  const found = (each: Sought) => finds(meaning, table, row, each, extended, zone);
  switch (sought.op) {
    case 'all':
      return sought.of.every(found);
    case 'any':
      return sought.of.some(found);
    case 'not':
      return !found(sought.of);
    case 'in':
      return hasNamed(meaning, { ...look(meaning, table, row, sought.field, true), whole: sought.whole }, sought, zone);
    case 'word': {
      const names = searchedNames(table);
      if (extended)
        for (const relation of table.relations)
          for (const { name, whole } of searchedNames(tableOf(meaning, relation.to)))
            names.push({ name: `${relation.name}:${name}`, whole });
      return names.some(({ name, whole }) =>
        hasWord(meaning, { ...look(meaning, table, row, name, true), whole }, sought.text, zone),
      );
    }
  }
}

export function matches(
  meaning: Meaning,
  table: WorldTable,
  row: Row,
  filter: PlainFilter,
  zone: string,
  scoped: boolean,
): boolean {
  if (isBranch(filter)) {
    const each = (condition: PlainFilter) => matches(meaning, table, row, condition, zone, scoped);
    return filter.aggregator === 'And' ? filter.conditions.every(each) : filter.conditions.some(each);
  }
  if (goesThroughMany(meaning, table, filter.field)) {
    const [head, ...rest] = filter.field.split(':');
    const behind = { ...filter, field: rest.join(':') };
    const many = table.many.find((each) => each.name === head);
    if (!many) {
      const relation = table.relations.find((each) => each.name === head)!;
      const one = follow(meaning, table, row, relation, scoped);
      return one !== undefined && matches(meaning, tableOf(meaning, relation.to), one, behind, zone, scoped);
    }
    const to = tableOf(meaning, many.to);
    return to.rows.some(
      (other) =>
        (!scoped || visible(meaning, to, other)) &&
        isRelated(meaning, table, row, many, to, other, scoped) &&
        matches(meaning, to, other, behind, zone, scoped),
    );
  }
  const { value, kind } = look(meaning, table, row, filter.field, scoped);
  return leaf(meaning, value, kind, filter, zone);
}

function goesThroughMany(meaning: Meaning, table: WorldTable, name: string): boolean {
  const [head, ...rest] = name.split(':');
  if (rest.length === 0) return false;
  if (table.many.some((each) => each.name === head)) return true;
  const relation = table.relations.find((each) => each.name === head)!;
  return goesThroughMany(meaning, tableOf(meaning, relation.to), rest.join(':'));
}

function leaf(
  meaning: Meaning,
  value: unknown,
  kind: Kind,
  { operator, value: given }: PlainLeaf,
  zone: string,
): boolean {
  const same = (item: unknown): boolean =>
    item === null || value === null ? item === value : compare(meaning, value, item, kind) === 0;
  switch (operator) {
    case 'Missing':
      return value === null;
    case 'Blank':
      return value === null || value === '';
    case 'Present':
      return value !== null && value !== '';
    case 'Equal':
      return same(given);
    case 'NotEqual':
      return !same(given);
    case 'In':
      return (given as unknown[]).some(same);
    case 'NotIn':
      return !(given as unknown[]).some(same);
    case 'NotContains':
      return value === null || !String(value).includes(String(given));
    case 'NotIContains':
      return value === null || !lower(value).includes(lower(given));
  }
  if (value === null) return false;
  const day = kind === 'instant' && /^\d{4}-\d\d-\d\d$/.test(String(given));
  const difference = (): number =>
    day ? (localDay(String(value), zone) < String(given) ? -1 : 1) : compare(meaning, value, given, kind);
  switch (operator) {
    case 'LessThan':
    case 'Before':
      return difference() < 0;
    case 'GreaterThan':
    case 'After':
      return difference() > 0;
    case 'LessThanOrEqual':
      return difference() <= 0;
    case 'GreaterThanOrEqual':
      return difference() >= 0;
    case 'Like':
      return pattern(String(given), 'su').test(String(value));
    case 'ILike':
      return pattern(String(given), 'siu').test(String(value));
    case 'Match':
      return new RegExp(String(given), 'u').test(String(value));
    case 'Contains':
      return String(value).includes(String(given));
    case 'IContains':
      return lower(value).includes(lower(given));
    case 'StartsWith':
      return String(value).startsWith(String(given));
    case 'EndsWith':
      return String(value).endsWith(String(given));
    case 'IStartsWith':
      return lower(value).startsWith(lower(given));
    case 'IEndsWith':
      return lower(value).endsWith(lower(given));
    case 'LongerThan':
      return Array.from(String(value)).length > Number(given);
    case 'ShorterThan':
      return Array.from(String(value)).length < Number(given);
  }
  return period(meaning.world.now, String(value), kind, operator, Number(given), zone);
}

function period(now: number, value: string, kind: Kind, operator: string, count: number, zone: string): boolean {
  const instant = kind === 'instant';
  const today = localDay(new Date(now).toISOString(), zone);
  const day = instant ? localDay(value, zone) : value;
  const begun = instant ? Date.parse(value) < now : day <= today;
  const [, whole, toDate] = /^Previous(Week|Month|Quarter|Year)(ToDate)?$/.exec(operator) ?? [];
  if (whole) {
    const current = startOf(whole, today);
    return toDate ? day >= current && begun : startOf(whole, day) === startOf(whole, addDays(current, -1));
  }
  switch (operator) {
    case 'Today':
      return day === today;
    case 'Yesterday':
      return day === addDays(today, -1);
    case 'PreviousXDays':
      return day >= addDays(today, -count) && day < today;
    case 'PreviousXDaysToDate':
      return day >= addDays(today, -count) && begun;
    case 'BeforeXHoursAgo':
      return Date.parse(value) < now - count * 3_600_000;
    case 'AfterXHoursAgo':
      return Date.parse(value) > now - count * 3_600_000;
    case 'Past':
      return instant ? Date.parse(value) < now : day < today;
    case 'Future':
      return instant ? Date.parse(value) > now : day > today;
    default:
      throw new Error(`the interpreter does not know ${operator}`);
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

export function localDay(instant: string, zone: string): string {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
    formats.set(zone, format);
  }
  return format.format(new Date(instant));
}

function addDays(day: string, count: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + count * 86_400_000).toISOString().slice(0, 10);
}

export function startOf(unit: string, day: string): string {
  const month = Number(day.slice(5, 7));
  switch (unit) {
    case 'Week':
      return addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7));
    case 'Month':
      return `${day.slice(0, 7)}-01`;
    case 'Quarter':
      return `${day.slice(0, 4)}-${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`;
    default:
      return `${day.slice(0, 4)}-01-01`;
  }
}

/** Nulls first. */
export function compare({ ignoresCase, uuidBackwards }: Meaning, a: unknown, b: unknown, kind: Kind): number {
  if (a === null || b === null) return (a === null ? 0 : 1) - (b === null ? 0 : 1);
  switch (kind) {
    case 'whole':
    case 'big':
    case 'decimal': {
      const difference = hundredths(a) - hundredths(b);
      return difference < 0n ? -1 : difference > 0n ? 1 : 0;
    }
    case 'flag':
      return Number(a) - Number(b);
    case 'instant':
      return Date.parse(String(a)) - Date.parse(String(b));
    case 'label':
      return ignoresCase ? bytes(lower(a), lower(b)) : bytes(String(a), String(b));
    case 'uuid':
      return uuidBackwards ? bytes(backwards(a), backwards(b)) : bytes(String(a), String(b));
    default:
      return bytes(String(a), String(b));
  }
}

function backwards(uuid: unknown): string {
  return String(uuid).split('-').reverse().join('-');
}

export function bytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Keys are compared row by row, millions of times in some worlds, and there are few of them. */
const read = new Map<string, bigint>();
const READ_MOST = 10_000;

/** No value of a world has more than four decimals. */
export function hundredths(value: unknown): bigint {
  const text = String(value);
  const known = read.get(text);
  if (known !== undefined) return known;
  const [, sign, whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,4}))?$/.exec(text)!;
  const digits = BigInt(`${whole}${fraction.padEnd(4, '0')}`);
  const number = sign === '-' ? -digits : digits;
  if (read.size >= READ_MOST) read.clear();
  read.set(text, number);
  return number;
}

export function lower(value: unknown): string {
  return String(value).toLowerCase();
}

function pattern(like: string, flags: string): RegExp {
  const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const source = like.replace(/\\(.)|([%_])|([^%_\\]+)/gsu, (_, escaped, wild, plain) =>
    wild === '%' ? '.*' : wild === '_' ? '.' : literal(escaped ?? plain),
  );
  return new RegExp(`^${source}$`, flags);
}
