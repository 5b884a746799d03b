// A random model with its data: tables with composite keys, a self relation, two relations to one table, a one-to-one,
// a table without a key, nulls wherever allowed, and values known to cause errors.

import type { Row } from '../../../src/agent/sources/statement.ts';
import type { Operator } from '../../../src/core/filter.ts';
import type { Filter } from './filters.ts';
import type { Random } from './random.ts';
import type { WriteTwists } from './write-twists.ts';

export type Kind =
  | 'text'
  | 'label'
  | 'whole'
  | 'big'
  | 'decimal'
  | 'flag'
  | 'instant'
  | 'day'
  | 'time'
  | 'choice'
  | 'uuid';

export interface WorldColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly nullable: boolean;
}

export interface WorldRelation {
  readonly name: string;
  readonly to: string;
  readonly from: readonly string[];
  readonly target: readonly string[];
  /** Derived from the foreign key of the other table. */
  readonly inverse: boolean;
  /** Declared by code only: records relate only if this column of the table holds the value. */
  readonly only?: Only;
  /** Declared by code only: several records may hold the key, and the relation leads to the first of them. */
  readonly isFirst?: true;
}

export interface Only {
  readonly column: string;
  readonly value: string;
}

/** A relation to many, through a key of the other table or a table in between. */
export interface WorldMany {
  readonly name: string;
  readonly to: string;
  readonly from: readonly string[];
  readonly target: readonly string[];
  readonly through?: {
    readonly table: string;
    readonly origin: readonly string[];
    readonly foreign: readonly string[];
  };
  /** A column of the other table. */
  readonly only?: Only;
}

export interface WorldTable {
  readonly name: string;
  readonly columns: readonly WorldColumn[];
  readonly key: readonly string[];
  /** Relations to one. */
  readonly relations: WorldRelation[];
  readonly many: WorldMany[];
  readonly rows: Row[];
  readonly twists: Twists;
}

/** The customizations of a table, by the names before any renaming. */
export interface Twists {
  /** From the name in the table to the name for callers. */
  readonly renames: Map<string, string>;
  readonly removed: Set<string>;
  readonly added: Added[];
  /** Columns sorted after reading. */
  readonly sortedHere: Set<string>;
  readonly segments: Map<string, Filter>;
  /** The fields that code reads for the records of the relation `echoes`. If empty, there is no such relation. */
  readonly echoed: string[];
}

/** A field added by code. */
export type Added =
  /** A text built from other fields, filtered and sorted after reading. */
  | {
      readonly how: 'made';
      readonly name: string;
      readonly kind: 'text';
      readonly needs: readonly string[];
      readonly slow: boolean;
    }
  /** The value of a column. The operators and sorting of the field are replaced by those of the column. */
  | { readonly how: 'copied'; readonly name: string; readonly kind: Kind; readonly from: string }
  | { readonly how: 'imported'; readonly name: string; readonly kind: Kind; readonly from: string };

/** The value of a `made` field. */
export function makeText(values: readonly unknown[]): string | null {
  return values.every((value) => value === null) ? null : values.map((value) => value ?? '-').join('|');
}

/** The records of `echoes`: one for each non-null value. */
export function makeEchoes(values: readonly unknown[]): { readonly place: number; readonly text: string }[] {
  return values.flatMap((value, place) => (value === null ? [] : [{ place, text: `${value}` }]));
}

export interface World {
  readonly tables: readonly WorldTable[];
  /** Write customizations, by table. */
  readonly writing?: ReadonlyMap<string, WriteTwists>;
  /** The tables in a second source, if there are two. */
  readonly away?: ReadonlySet<string>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Whether the two are in different sources. */
export function isApart({ away }: World, one: string, other: string): boolean {
  return away !== undefined && away.has(one) !== away.has(other);
}

export const choices = ['alpha', 'beta', 'gamma', 'omega'] as const;
const texts = [
  '', ' ', 'a', 'A', 'b', 'ab', 'aB', 'Ab', 'abc', 'zz', 'Zebra', '10%', '100', '%', '_', 'a_b', 'a%b', 'axb', 'x\\y',
  '\\', "O'Brien", '"quoted"', 'été', 'Été', 'ß', 'naïve', '日本', '😀', '😀b', '\uFFFD', 'ﬁn', '*', 'a*b', '[ab]', '?',
  'two words', 'tab\there', 'line\nbreak', '-dash', 'null', '0', '1', '01',
]; // biome-ignore format: a pool
const labels = ['', 'red', 'Red', 'RED', 'green', 'Green', 'blue', 'a_b', '10%'];
const wholes = [0, 1, 2, 3, -1, 7, 42, 100, 2147483647, -2147483648];
const bigs = [0, 1, -1, 42, 9007199254740991, '9007199254740993', '-9007199254740993', '9223372036854775807'];
const decimals = [0, 0.1, 0.2, 0.3, 1, 1.5, -1.5, 10.25, 99999.99, -0.01, 12345678.91];
const times = ['00:00:00', '00:00:01', '08:30:00', '12:00:00', '23:59:59'];
const nows = [
  '2024-03-31T00:30:00.000Z',
  '2024-03-31T22:30:00.000Z',
  '2023-11-05T05:30:00.000Z',
  '2024-01-01T04:30:00.000Z',
  '2024-02-29T12:00:00.000Z',
  '2023-10-29T23:15:00.000Z',
];
/** Instants near early offset changes, some by odd seconds, and near the start of the epoch. */
const oldInstants = [
  '1883-11-18T16:59:59.000Z', '1883-11-18T17:00:00.000Z', '1905-12-31T18:06:31.999Z', '1911-03-10T23:50:38.000Z',
  '1911-03-10T23:50:39.000Z', '1940-06-14T21:59:59.999Z', '1940-06-14T22:00:00.000Z', '1945-10-14T18:29:59.000Z',
  '1967-04-30T07:00:00.000Z', '1969-12-28T23:59:59.999Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z',
  '1978-12-31T23:30:00.000Z', '2039-07-03T22:30:00.000Z', '2062-10-01T23:59:59.999Z', '2099-12-31T23:30:00.000Z',
]; // biome-ignore format: a pool
const HOUR = 3_600_000;

export const kinds: readonly Kind[] = [
  'text',
  'label',
  'whole',
  'big',
  'decimal',
  'flag',
  'instant',
  'day',
  'time',
  'choice',
  'uuid',
];

const equality: readonly Operator[] = ['Present', 'Blank', 'Missing', 'Equal', 'NotEqual', 'In', 'NotIn'];
const order: readonly Operator[] = ['LessThan', 'GreaterThan', 'LessThanOrEqual', 'GreaterThanOrEqual'];
export const patterns: readonly Operator[] = ['Like', 'ILike'];
export const searches: readonly Operator[] = [
  'Contains', 'NotContains', 'IContains', 'NotIContains', 'StartsWith', 'EndsWith', 'IStartsWith', 'IEndsWith',
]; // biome-ignore format: one family a line
export const lengths: readonly Operator[] = ['LongerThan', 'ShorterThan'];
export const plainPeriods: readonly Operator[] = [
  'Today', 'Yesterday', 'PreviousWeek', 'PreviousMonth', 'PreviousQuarter', 'PreviousYear', 'PreviousWeekToDate',
  'PreviousMonthToDate', 'PreviousQuarterToDate', 'PreviousYearToDate', 'Past', 'Future',
]; // biome-ignore format: one family a line
export const countedPeriods: readonly Operator[] = ['PreviousXDays', 'PreviousXDaysToDate'];
export const hours: readonly Operator[] = ['BeforeXHoursAgo', 'AfterXHoursAgo'];
const dates = [...equality, ...order, 'Before', 'After', ...plainPeriods, ...countedPeriods] as const;

export const operatorsOf: { readonly [K in Kind]: readonly Operator[] } = {
  text: [...equality, ...order, ...patterns, ...searches, ...lengths],
  // Databases differ in how far `insensitive` goes, so only equality is tested.
  label: equality,
  whole: [...equality, ...order],
  big: [...equality, ...order],
  decimal: [...equality, ...order],
  flag: equality,
  instant: [...dates, ...hours],
  day: dates,
  time: [...equality, ...order],
  choice: equality,
  uuid: equality,
};

/** A value that a column of the kind may hold. */
export function createValueOf(kind: Kind, random: Random, now: number): unknown {
  switch (kind) {
    case 'text':
      return random.pick(texts);
    case 'label':
      return random.pick(labels);
    case 'whole':
      return random.pick(wholes);
    case 'big':
      return random.pick(bigs);
    case 'decimal':
      return random.pick(decimals);
    case 'flag':
      return random.chance(0.5);
    case 'instant':
      return instantNear(random, now);
    case 'day':
      return instantNear(random, now).slice(0, 10);
    case 'time':
      return random.pick(times);
    case 'choice':
      return random.pick(choices);
    case 'uuid':
      return `${'0123456789abcdef'[random.number(16)]}e7b1d2a-90c4-4f1e-8a3b-00000000000${random.number(4)}`;
  }
}

/** Full hours around now, some slightly shifted. They include the midnights of many zones. */
function instantNear(random: Random, now: number): string {
  if (random.chance(0.08)) return random.pick(oldInstants);
  const hour = Math.floor(now / HOUR) * HOUR;
  const span = random.pick([30, 24 * 10, 24 * 40, 24 * 400]);
  const at = hour + (random.number(span * 2) - Math.floor(span * 1.7)) * HOUR + random.pick([0, 0, 0, -1, 1, HOUR / 2]);
  return new Date(at).toISOString();
}

export function createWorld(random: Random): World {
  const now = Date.parse(random.pick(nows));
  const wide = random.chance(0.5);
  const regions = table('regions', wide ? [column('land', 'text'), column('nr', 'whole')] : [column('id', 'whole')], 2);
  const people = table('people', [column('id', 'whole')], 1);
  const orders = table('orders', [column('id', random.pick(['big', 'whole', 'uuid'] as const))], 1);
  const notes = table('order notes', [column('n', 'whole'), column('order_id', orders.columns[0]!.kind)], 2);
  const log: WorldTable = { ...table('log', [], 0), key: [] };

  const extra = (to: WorldTable, allowed: readonly Kind[] = kinds) => {
    for (const kind of random.some(allowed, 2, 5)) add(to, column(`${kind} ü`, kind, random.chance(0.6)));
  };
  for (const each of [regions, people, orders, notes]) extra(each);
  extra(
    log,
    kinds.filter((kind) => kind !== 'label'),
  );
  const targets = regions.key;
  const toRegion = (owner: WorldTable) => {
    const from = wide ? ['region_land', 'region_nr'] : ['region_id'];
    for (const [index, name] of from.entries())
      add(owner, column(name, regions.columns[index]!.kind, random.chance(0.7)));
    relate(owner, wide ? 'regions' : 'region', from, regions, targets);
  };
  toRegion(people);
  if (random.chance(0.5)) toRegion(orders);
  const link = (owner: WorldTable, name: string, target: WorldTable) => {
    if (!owner.columns.some((known) => known.name === `${name}_id`))
      add(owner, column(`${name}_id`, target.columns[0]!.kind, random.chance(0.8)));
    relate(owner, name, [`${name}_id`], target, [target.columns[0]!.name]);
  };
  link(people, 'manager', people);
  (people.columns as WorldColumn[]).splice(-1, 1, column('manager_id', 'whole', true));
  link(orders, 'person', people);
  link(orders, 'helper', people);
  link(notes, 'order', orders);
  orders.relations.push({ name: 'order notes', to: 'order notes', from: ['id'], target: ['order_id'], inverse: true });
  link(log, 'person', people);

  const members = table(
    'members',
    [column('person_id', people.columns[0]!.kind), column('order_id', orders.columns[0]!.kind)],
    2,
  );
  extra(members);
  relate(members, 'person', ['person_id'], people, ['id']);
  relate(members, 'order', ['order_id'], orders, ['id']);
  const pairs = { table: 'members', origin: ['person_id'], foreign: ['order_id'] };
  people.many.push({ name: 'joined', to: 'orders', from: ['id'], target: ['id'], through: pairs });
  const turned = { table: 'members', origin: pairs.foreign, foreign: pairs.origin };
  orders.many.push({ name: 'members of it', to: 'people', from: ['id'], target: ['id'], through: turned });
  orders.many.push({ name: 'memberships', to: 'members', from: ['id'], target: ['order_id'] });
  regions.many.push({
    name: 'people',
    to: 'people',
    from: regions.key,
    target: wide ? ['region_land', 'region_nr'] : ['region_id'],
  });
  people.many.push({ name: 'entries', to: 'log', from: ['id'], target: ['person_id'] });
  people.many.push({ name: 'reports', to: 'people', from: ['id'], target: ['manager_id'] });

  // Belongs to a person or a region, depending on another column.
  const marks = table('marks', [column('id', 'whole')], 1);
  extra(marks);
  add(marks, column('about', 'text', true));
  add(marks, column('about_id', 'whole', true));
  for (const [value, target] of [['p', people], ...(wide ? [] : [['r', regions] as const])] as const) {
    const only = { column: 'about', value };
    const ends = { from: ['about_id'], target: ['id'] };
    marks.relations.push({ ...ends, name: `of ${target.name}`, to: target.name, inverse: false, only });
    target.many.push({ from: ['id'], target: ['about_id'], name: 'marks of it', to: 'marks', only });
  }

  const tables = [regions, people, orders, notes, members, log, marks];
  for (const each of tables) fill(each, tables, random, now);
  return { tables, now };
}

/** Relations to the first of several: from both sides, to itself, to a composite key, and to a table without a key. */
export function addFirsts(world: World): World {
  const add = (owner: string, relation: Omit<WorldRelation, 'isFirst'>) =>
    world.tables.find(({ name }) => name === owner)!.relations.push({ ...relation, isFirst: true });
  const behind = { from: ['id'], inverse: true };
  add('people', { ...behind, name: 'first report', to: 'people', target: ['manager_id'] });
  add('people', { ...behind, name: 'first entry', to: 'log', target: ['person_id'] });
  add('orders', { ...behind, name: 'first membership', to: 'members', target: ['order_id'] });
  add('log', { name: 'first mark', to: 'marks', from: ['person_id'], target: ['about_id'], inverse: false });
  return world;
}

function column(name: string, kind: Kind, nullable = false): WorldColumn {
  return { name, kind, nullable };
}

function table(name: string, columns: readonly WorldColumn[], keyed: number): WorldTable {
  const key = columns.slice(0, keyed).map((each) => each.name);
  const twists = {
    renames: new Map(),
    removed: new Set<string>(),
    added: [],
    sortedHere: new Set<string>(),
    segments: new Map(),
    echoed: [],
  };
  return { name, columns: [...columns], key, relations: [], many: [], rows: [], twists };
}

function add(to: WorldTable, added: WorldColumn): void {
  (to.columns as WorldColumn[]).push(added);
}

function relate(
  owner: WorldTable,
  name: string,
  from: readonly string[],
  target: WorldTable,
  columns: readonly string[],
): void {
  owner.relations.push({ name, to: target.name, from, target: columns, inverse: false });
}

/** Columns of a one-to-one that are unique in addition to the key. */
export function uniqueOf(owner: WorldTable): readonly string[] | undefined {
  return owner.name === 'order notes' ? ['order_id'] : undefined;
}

function fill(owner: WorldTable, tables: readonly WorldTable[], random: Random, now: number): void {
  const seen = new Set<string>();
  const at = (name: string) => owner.columns.findIndex((each) => each.name === name);
  const wanted = owner.name === 'regions' ? 8 : 14 + random.number(30);
  for (let tries = 0; owner.rows.length < wanted && tries < 200; tries++) {
    const row: Row = owner.columns.map(({ kind, nullable }) =>
      nullable && random.chance(0.3) ? null : createValueOf(kind, random, now),
    );
    if (owner.key.length === 1 && owner.columns[0]!.kind === 'whole') row[0] = owner.rows.length + 1;
    if (owner.name === 'marks') row[at('about')] = random.pick(['p', 'p', 'r', 'P', null]);
    let usable = true;
    for (const relation of owner.relations.filter((each) => !each.inverse)) {
      const target = tables.find((each) => each.name === relation.to)!;
      const found = target.rows.length ? random.pick(target.rows) : undefined;
      for (const [index, name] of relation.from.entries()) {
        const value = found?.[target.columns.findIndex((each) => each.name === relation.target[index])] ?? null;
        const none = owner.columns[at(name)]!.nullable && random.chance(0.25);
        if (value === null && !owner.columns[at(name)]!.nullable) usable = false;
        row[at(name)] = none ? null : value;
      }
    }
    const marks = [owner.key, uniqueOf(owner) ?? []]
      .filter((names) => names.length)
      .map((names) => JSON.stringify([names, names.map((name) => row[at(name)])]));
    if (!usable || marks.some((mark) => seen.has(mark))) continue;
    for (const mark of marks) seen.add(mark);
    owner.rows.push(row);
  }
}
