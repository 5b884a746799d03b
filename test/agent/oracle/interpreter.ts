// What a question means, read from the docs. Each record is tested against each condition separately. A path is the set
// of records that it leads to; conditions on it and quantifiers over it are statements about that set.
import type { Row } from '../../../src/agent/sources/statement.ts';
import type { PlainSort } from '../../../src/core/filter.ts';
import { type Filter, isGroup, isLeaf, type Quantified, readQuantified } from './filters.ts';
import { test } from './operators.ts';
import { hasNamed, hasWord, type Sought } from './searches.ts';
import { compare, type Habits } from './values.ts';
import { type Kind, makeEchoes, makeText, type World, type WorldTable } from './world.ts';

export interface Meaning extends Habits {
  readonly world: World;
  readonly scopes: Readonly<Record<string, Filter>>;
  /** The timezone of the caller's profile. */
  readonly zone: string;
  /** Whether columns of kind `choice` are ordinary texts, as on SQLite. */
  readonly choiceIsText: boolean;
  /** Cached results; valid only while no row changes. */
  readonly known?: Known;
}

interface Known {
  /** Whether the caller may see each row. */
  readonly seen: Map<Row, boolean>;
  /** By relation and view: the records that each row leads to. */
  readonly steps: Map<string, Map<Row, Place[]>>;
}

export interface Question {
  readonly table: string;
  readonly fields: readonly string[];
  readonly filter?: Filter;
  /** Conditions through many may be combined with ones evaluated after reading. That may take several statements. */
  readonly isMixed?: boolean;
  readonly sought?: Sought;
  /** `sought` as a caller types it. */
  readonly search?: string;
  readonly extended?: boolean;
  readonly sort: readonly PlainSort[];
  readonly zone?: string;
  readonly segment?: string;
  /** Only the records that a relation leads to from the row with this key. */
  readonly within?: { readonly table: string; readonly relation: string; readonly key: readonly unknown[] };
}

/** Whether names are those of the caller or of code, and whether records are included that the caller may not see. */
export interface View {
  readonly names: 'caller' | 'code';
  readonly sees: 'allowed' | 'all';
  readonly zone: string;
}

export interface Cell {
  readonly value: unknown;
  readonly kind: Kind;
}

/** A record and its table. */
export interface Place {
  readonly table: WorldTable;
  readonly row: Row;
}

/** Every matching record, in order. */
export function interpret(given: Meaning, question: Question): unknown[][] {
  const meaning = { ...given, known: { seen: new Map(), steps: new Map() } };
  const { within, segment, filter, sought } = question;
  const table = tableOf(meaning, question.table);
  const caller: View = { names: 'caller', sees: 'allowed', zone: question.zone ?? meaning.zone };
  const code: View = { ...caller, names: 'code' };
  const parent = within && findParent(meaning, within);
  const home = within && tableOf(meaning, within.table);
  const related = parent && home && new Set(step(meaning, code, { table: home, row: parent }, within.relation));
  const found: Place[] = [];
  for (const row of table.rows) {
    const place = { table, row };
    if (!visible(meaning, table, row)) continue;
    if (within && ![...(related ?? [])].some((each) => each.row === row)) continue;
    if (segment && !holds(meaning, code, place, table.twists.segments.get(segment)!)) continue;
    if (filter && !holds(meaning, caller, place, filter)) continue;
    if (sought && !finds(meaning, caller, place, sought, question.extended ?? false)) continue;
    found.push(place);
  }
  const key = table.key.length > 0 ? table.key : table.columns.map(({ name }) => name);
  const orders = [
    ...question.sort.map(({ field, ascending = true }) => ({ field, ascending, view: caller })),
    ...key.map((field) => ({ field, ascending: question.sort.at(-1)?.ascending ?? true, view: code })),
  ];
  const keyed = found.map((place) => ({
    place,
    cells: orders.map(({ field, view }) => look(meaning, view, place, field)),
  }));
  keyed.sort((a, b) => {
    for (const [index, { ascending }] of orders.entries()) {
      const [left, right] = [a.cells[index]!, b.cells[index]!];
      const order = compare(meaning, left.value, right.value, left.kind);
      if (order !== 0) return ascending ? order : -order;
    }
    return 0;
  });
  return keyed.map(({ place }) => question.fields.map((field) => look(meaning, caller, place, field).value));
}

/** The row with this key, if the caller may see it. */
export function findParent(meaning: Meaning, { table: name, key }: NonNullable<Question['within']>): Row | undefined {
  const table = tableOf(meaning, name);
  const has = (row: Row) => table.key.every((column, at) => String(own(table, row, column)) === String(key[at]));
  return table.rows.find((row) => has(row) && visible(meaning, table, row));
}

/** Whether the caller may see the row. Within a scope every record is visible, so other scopes do not apply there. */
export function visible(meaning: Meaning, table: WorldTable, row: Row): boolean {
  const scope = meaning.scopes[table.name];
  if (!scope) return true;
  const known = meaning.known?.seen.get(row);
  if (known !== undefined) return known;
  const isSeen = holds(meaning, { names: 'caller', sees: 'all', zone: meaning.zone }, { table, row }, scope);
  meaning.known?.seen.set(row, isSeen);
  return isSeen;
}

export function matches(
  meaning: Meaning,
  table: WorldTable,
  row: Row,
  filter: Filter,
  zone: string,
  scoped: boolean,
): boolean {
  return holds(meaning, { names: 'caller', sees: scoped ? 'allowed' : 'all', zone }, { table, row }, filter);
}

export function holds(meaning: Meaning, view: View, place: Place, filter: Filter): boolean {
  if (isGroup(filter)) {
    const answers = filter.conditions.map((each) => holds(meaning, view, place, each));
    if (filter.aggregator === 'Or') return answers.includes(true);
    return answers.includes(false) === (filter.aggregator === 'Not');
  }
  if (!isLeaf(filter)) return holdsFor(meaning, view, place, filter);
  const moment = { now: meaning.world.now, zone: view.zone };
  const is = ({ value, kind }: Cell) => test(meaning, moment, value, kind, filter);
  const names = filter.field.split(':');
  const last = lastMany(meaning, place.table, names);
  if (last < 0) return is(look(meaning, view, place, filter.field));
  // At least one record behind the last relation to many satisfies it.
  const rest = names.slice(last + 1).join(':');
  return walk(meaning, view, place, names.slice(0, last + 1)).some((each) => is(look(meaning, view, each, rest)));
}

/** At least one record satisfies it, no record does, or every record does. */
function holdsFor(meaning: Meaning, view: View, place: Place, filter: Quantified): boolean {
  const { quantifier, path, where } = readQuantified(filter);
  const reached = walk(meaning, view, place, path.split(':'));
  const satisfying = where ? reached.filter((each) => holds(meaning, view, each, where)) : reached;
  if (quantifier === 'every') return satisfying.length === reached.length;
  return satisfying.length > 0 === (quantifier === 'some');
}

/** The index of the last relation to many in the path, or -1. */
function lastMany(meaning: Meaning, table: WorldTable, names: readonly string[]): number {
  let [at, last]: [WorldTable, number] = [table, -1];
  for (const [index, name] of names.slice(0, -1).entries()) {
    if (at.many.some((each) => each.name === name)) last = index;
    at = tableOf(meaning, [...at.many, ...at.relations].find((each) => each.name === name)!.to);
  }
  return last;
}

/** Every record at the end of a path of relations. */
function walk(meaning: Meaning, view: View, from: Place, path: readonly string[]): Place[] {
  return path.reduce<Place[]>((places, name) => places.flatMap((each) => step(meaning, view, each, name)), [from]);
}

/** The records that one relation leads to, without records and junction records that the view does not see. */
export function step(meaning: Meaning, view: View, place: Place, name: string): Place[] {
  if (!meaning.known) return follow(meaning, view, place, name);
  const { steps } = meaning.known;
  const mark = JSON.stringify([place.table.name, name, view.sees]);
  const ends = steps.get(mark) ?? new Map<Row, Place[]>();
  steps.set(mark, ends);
  const found = ends.get(place.row) ?? follow(meaning, view, place, name);
  ends.set(place.row, found);
  return found;
}

function follow(meaning: Meaning, view: View, { table, row }: Place, name: string): Place[] {
  const one = table.relations.find((each) => each.name === name);
  const many = table.many.find((each) => each.name === name);
  const { to: end, from, target, only } = one ?? many!;
  const to = tableOf(meaning, end);
  // The type is stored on the side that holds the key.
  if (one && only && own(table, row, only.column) !== only.value) return [];
  const isOfType = (each: Row) => !many || !only || own(to, each, only.column) === only.value;
  const sees = (other: WorldTable, each: Row) => view.sees === 'all' || visible(meaning, other, each);
  const { through } = many ?? {};
  const between = through && tableOf(meaning, through.table);
  const pairs = (between?.rows ?? [])
    .filter((pair) => agree(meaning, table, row, from, between!, pair, through!.origin))
    .filter((pair) => sees(between!, pair));
  const isMeant = (each: Row) =>
    between
      ? pairs.some((pair) => agree(meaning, between, pair, through!.foreign, to, each, target))
      : agree(meaning, table, row, from, to, each, target);
  const found = to.rows.filter((each) => isMeant(each) && isOfType(each) && sees(to, each));
  const ends = one?.isFirst && found.length > 1 ? [firstOf(meaning, to, found)] : found;
  return ends.map((each) => ({ table: to, row: each }));
}

/** The record with the lowest key; without a key, the one with the lowest values. */
function firstOf(habits: Habits, { columns, key }: WorldTable, rows: readonly Row[]): Row {
  const by = key.length > 0 ? key : columns.map(({ name }) => name);
  const places = by.map((name) => columns.findIndex((column) => column.name === name));
  return rows.reduce((first, row) => {
    const orders = places.map((at) => compare(habits, row[at], first[at], columns[at]!.kind));
    return (orders.find((order) => order !== 0) ?? 0) < 0 ? row : first;
  });
}

/** Whether the columns of both rows hold the same values. Null never relates to a record. */
function agree(
  habits: Habits,
  table: WorldTable,
  row: Row,
  names: readonly string[],
  other: WorldTable,
  otherRow: Row,
  otherNames: readonly string[],
): boolean {
  return names.every((name, index) => {
    const [value, wanted] = [own(table, row, name), own(other, otherRow, otherNames[index]!)];
    const { kind } = other.columns.find((column) => column.name === otherNames[index])!;
    return value !== null && wanted !== null && compare(habits, value, wanted, kind) === 0;
  });
}

function tableOf({ world }: Meaning, name: string): WorldTable {
  return world.tables.find((table) => table.name === name)!;
}

/** The value of a column in the row. */
function own(table: WorldTable, row: Row, column: string): unknown {
  return row[table.columns.findIndex(({ name }) => name === column)] ?? null;
}

/** The column with this name. Callers do not see removed columns, and use the new names of renamed ones. */
function columnOf({ names }: View, { columns, twists }: WorldTable, name: string) {
  if (names === 'code') return columns.find((column) => column.name === name);
  const shown = columns.filter((column) => !twists.removed.has(column.name));
  return shown.find((column) => (twists.renames.get(column.name) ?? column.name) === name);
}

/** The value of a field, also through relations to one. It is null if one of them leads to no record. */
export function look(meaning: Meaning, view: View, place: Place, name: string): Cell {
  const { table, row } = place;
  const column = columnOf(view, table, name);
  if (column) return { value: own(table, row, column.name), kind: column.kind };
  const code: View = { ...view, names: 'code' };
  // Code computes values only from what the caller may see.
  const read = (each: string) => look(meaning, { ...code, sees: 'allowed' }, place, each).value;
  if (name === 'echoes') return { value: makeEchoes(table.twists.echoed.map(read)), kind: 'text' };
  const added = table.twists.added.find((each) => each.name === name);
  if (added?.how === 'made') return { value: makeText(added.needs.map(read)), kind: 'text' };
  if (added) return look(meaning, code, place, added.from);
  const [head, ...rest] = name.split(':') as [string, ...string[]];
  const [end] = step(meaning, view, place, head);
  const path = rest.join(':');
  if (end) return look(meaning, view, end, path);
  return {
    value: null,
    kind: kindOf(meaning, view, tableOf(meaning, table.relations.find((each) => each.name === head)!.to), path),
  };
}

function kindOf(meaning: Meaning, view: View, table: WorldTable, name: string): Kind {
  const found = columnOf(view, table, name) ?? table.twists.added.find((each) => each.name === name);
  if (found) return found.kind;
  if (name === 'echoes') return 'text';
  const [head, ...rest] = name.split(':');
  return kindOf(
    meaning,
    view,
    tableOf(meaning, table.relations.find((each) => each.name === head)!.to),
    rest.join(':'),
  );
}

function finds(meaning: Meaning, view: View, place: Place, sought: Sought, extended: boolean): boolean {
  switch (sought.op) {
    case 'all':
      return sought.of.every((each) => finds(meaning, view, place, each, extended));
    case 'any':
      return sought.of.some((each) => finds(meaning, view, place, each, extended));
    case 'not':
      return !finds(meaning, view, place, sought.of, extended);
    case 'in':
      return hasNamed(meaning, { ...look(meaning, view, place, sought.field), whole: sought.whole }, sought, view.zone);
    case 'word':
      return searchedNames(meaning, place.table, extended).some(({ name, whole }) =>
        hasWord(meaning, { ...look(meaning, view, place, name), whole }, sought.text, view.zone),
      );
  }
}

/** Columns that the caller sees, and added fields that lead to a column. `extended` adds those of relations to one. */
function searchedNames(
  meaning: Meaning,
  { columns, twists, relations }: WorldTable,
  extended: boolean,
): { name: string; whole: boolean }[] {
  const shown = columns.filter(({ name }) => !twists.removed.has(name));
  return [
    ...shown.map(({ name }) => ({ name: twists.renames.get(name) ?? name, whole: false })),
    ...twists.added.filter(({ how }) => how !== 'made').map(({ name, how }) => ({ name, whole: how === 'copied' })),
    ...(extended ? relations : []).flatMap((relation) =>
      searchedNames(meaning, tableOf(meaning, relation.to), false).map((each) => ({
        ...each,
        name: `${relation.name}:${each.name}`,
      })),
    ),
  ];
}
