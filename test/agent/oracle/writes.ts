// What a write means, with no plan: the rows afterwards, or why there can be none. It shares no code with the engine.
import type { Row } from '../../../src/agent/sources/source.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import { type Meaning, matches, visible } from './interpreter.ts';
import type { Random } from './random.ts';
import { createFilter, namesOf } from './requests.ts';
import { createValueOf, uniqueOf, type World, type WorldRelation, type WorldTable } from './world.ts';

export type Given = Readonly<Record<string, unknown>>;

export type Write =
  | { readonly kind: 'create'; readonly table: string; readonly records: readonly Given[] }
  | {
      readonly kind: 'update';
      readonly table: string;
      readonly ids: readonly (readonly unknown[])[];
      readonly values: Given;
    }
  | { readonly kind: 'filter'; readonly table: string; readonly filter: PlainFilter; readonly values: Given }
  | { readonly kind: 'delete'; readonly table: string; readonly ids: readonly (readonly unknown[])[] };

export interface Outcome {
  /** Any of these codes is right; none when it must succeed. */
  readonly codes: ReadonlySet<string>;
  /** The rows of the written table afterwards, when it succeeds. */
  readonly rows: Row[];
  /** Those that were written, in the order asked for; before, for a delete. */
  readonly touched: Row[];
}

export function createWrite(world: World, random: Random): Write {
  const kind = random.pick(['create', 'create', 'update', 'update', 'filter', 'delete'] as const);
  const table = random.pick(world.tables.filter((each) => kind === 'create' || each.key.length > 0));
  if (kind === 'create') {
    const records = Array.from({ length: 1 + random.number(3) }, () => createRecord(world, table, random));
    return { kind, table: table.name, records };
  }
  const values = createValues(world, table, random);
  if (kind === 'filter')
    return { kind, table: table.name, filter: createFilter(world, namesOf(world, table), random, 1), values };
  // MariaDB looks at rows one by one where they point to each other.
  const most = table.name === 'people' ? 1 : 3;
  const ids = random.some(table.rows, 1, most).map((row) => keyOf(table, row));
  if (ids.length === 0 || random.chance(0.1))
    ids.push(table.key.map((name) => createValueOf(columnOf(table, name).kind, random, world.now)));
  return kind === 'update' ? { kind, table: table.name, ids, values } : { kind, table: table.name, ids };
}

const columnOf = (table: WorldTable, name: string) => table.columns.find((column) => column.name === name)!;
const at = (table: WorldTable, name: string) => table.columns.findIndex((column) => column.name === name);
const targetOf = (world: World, relation: WorldRelation) => world.tables.find((each) => each.name === relation.to)!;
export const keyOf = (table: WorldTable, row: Row): unknown[] => table.key.map((name) => row[at(table, name)]);

function createRecord(world: World, table: WorldTable, random: Random): Given {
  const record: Record<string, unknown> = {};
  for (const { name, kind, nullable } of table.columns) {
    if (nullable && random.chance(0.3)) continue;
    record[name] = nullable && random.chance(0.1) ? null : createValueOf(kind, random, world.now);
    if (table.key.includes(name) && kind === 'whole' && random.chance(0.9))
      record[name] = 1000 + random.number(100_000);
  }
  for (const relation of table.relations)
    if (!relation.inverse && random.chance(0.9)) point(world, relation, record, random);
  return record;
}

function point(world: World, relation: WorldRelation, record: Record<string, unknown>, random: Random): void {
  const target = targetOf(world, relation);
  if (target.rows.length === 0) return;
  const row = random.pick(target.rows);
  for (const [index, name] of relation.from.entries()) record[name] = row[at(target, relation.target[index]!)];
}

function createValues(world: World, table: WorldTable, random: Random): Given {
  const values: Record<string, unknown> = {};
  const usual = table.columns.filter(({ name }) => !table.key.includes(name) || random.chance(0.1));
  for (const { name, kind, nullable } of random.some(usual, 1, 2))
    values[name] = nullable && random.chance(0.2) ? null : createValueOf(kind, random, world.now);
  for (const relation of table.relations)
    if (!relation.inverse && relation.from.some((name) => name in values) && random.chance(0.8))
      point(world, relation, values, random);
  return values;
}

export function interpretWrite(meaning: Meaning, write: Write): Outcome {
  const { world } = meaning;
  const table = world.tables.find((each) => each.name === write.table)!;
  const codes = new Set<string>();
  const found = write.kind === 'create' ? [] : findRows(meaning, table, write);
  if (found.includes(undefined)) codes.add('RECORD_NOT_FOUND');
  const old = found.filter((row) => row !== undefined);
  const written = write.kind === 'create' ? write.records.map((record) => rowOf(table, record)) : [];
  const changed = new Map<Row, Row>();
  if (write.kind === 'update' || write.kind === 'filter')
    for (const row of old) changed.set(row, rowOf(table, write.values, row));
  const gone = new Set(write.kind === 'delete' ? old : []);
  const rows = [...table.rows.filter((row) => !gone.has(row)).map((row) => changed.get(row) ?? row), ...written];
  const fresh = [...changed.values(), ...written];

  const after: World = { ...world, tables: world.tables.map((each) => (each === table ? { ...table, rows } : each)) };
  const next = { ...meaning, world: after };
  const now = after.tables.find((each) => each.name === table.name)!;
  const names = new Set(
    write.kind === 'create' ? write.records.flatMap(Object.keys) : 'values' in write ? Object.keys(write.values) : [],
  );
  if (write.kind !== 'delete' && found.length > 1 && table.key.some((name) => names.has(name)))
    codes.add('INVALID_ARGUMENT');
  if (hasTwins(now)) codes.add('INVALID_RECORD');
  if (hasDangling(after)) {
    codes.add('INVALID_RECORD');
    codes.add('RECORD_IN_USE');
  }
  if (fresh.some((row) => !visible(next, now, row))) codes.add('FORBIDDEN');
  if (fresh.some((row) => pointsOutOfSight(next, now, row, names))) codes.add('INVALID_RECORD');
  return { codes, rows, touched: write.kind === 'delete' ? old : fresh };
}

function rowOf(table: WorldTable, given: Given, row?: Row): Row {
  return table.columns.map(({ name }, index) => (name in given ? given[name] : (row?.[index] ?? null)));
}

function findRows(meaning: Meaning, table: WorldTable, write: Exclude<Write, { kind: 'create' }>): (Row | undefined)[] {
  const seen = table.rows.filter((row) => visible(meaning, table, row));
  if (write.kind === 'filter')
    return seen.filter((row) => matches(meaning, table, row, write.filter, meaning.zone, true));
  const wanted = new Map(write.ids.map((id) => [mark(id), id]));
  return [...wanted.keys()].map((id) => seen.find((row) => mark(keyOf(table, row)) === id));
}

const mark = (values: readonly unknown[]): string => JSON.stringify(values.map(String));

function hasTwins(table: WorldTable): boolean {
  return [table.key, uniqueOf(table) ?? []].some((names) => {
    if (names.length === 0) return false;
    const marks = table.rows
      .map((row) => names.map((name) => row[at(table, name)]))
      .filter((values) => !values.includes(null))
      .map(mark);
    return new Set(marks).size < marks.length;
  });
}

function hasDangling(world: World): boolean {
  return world.tables.some((table) =>
    table.relations.some((relation) => {
      if (relation.inverse) return false;
      const target = targetOf(world, relation);
      const marks = new Set(target.rows.map((row) => mark(relation.target.map((name) => row[at(target, name)]))));
      return table.rows.some((row) => {
        const values = relation.from.map((name) => row[at(table, name)]);
        return !values.includes(null) && !marks.has(mark(values));
      });
    }),
  );
}

function pointsOutOfSight(meaning: Meaning, table: WorldTable, row: Row, written: ReadonlySet<string>): boolean {
  return table.relations.some((relation) => {
    if (relation.inverse || !relation.from.some((name) => written.has(name))) return false;
    const values = relation.from.map((name) => row[at(table, name)]);
    const target = targetOf(meaning.world, relation);
    const found = target.rows.find(
      (each) => mark(relation.target.map((name) => each[at(target, name)])) === mark(values),
    );
    return !values.includes(null) && found !== undefined && !visible(meaning, target, found);
  });
}
