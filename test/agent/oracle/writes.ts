// What a write means without a plan: the resulting rows, or the expected errors. It shares no code with the engine.

import type { Row } from '../../../src/agent/sources/statement.ts';
import { type Filter, isRefused } from './filters.ts';
import { type Meaning, matches, visible } from './interpreter.ts';
import { Story } from './nested-writes.ts';
import { createQuantified } from './quantifiers.ts';
import type { Random } from './random.ts';
import { createFilter, manyNamesOf, namesOf } from './requests.ts';
import { createValueOf, isApart, uniqueOf, type World, type WorldRelation, type WorldTable } from './world.ts';

export type Given = Readonly<Record<string, unknown>>;

export type Write =
  | { readonly kind: 'create'; readonly table: string; readonly records: readonly Given[] }
  | {
      readonly kind: 'update';
      readonly table: string;
      readonly ids: readonly (readonly unknown[])[];
      readonly values: Given;
    }
  | { readonly kind: 'filter'; readonly table: string; readonly filter: Filter; readonly values: Given }
  | { readonly kind: 'delete'; readonly table: string; readonly ids: readonly (readonly unknown[])[] };

export interface Outcome {
  /** Any of these codes is correct. If empty, the write must succeed. */
  readonly codes: ReadonlySet<string>;
  /** These codes are also correct, but the write may succeed. */
  readonly possible: ReadonlySet<string>;
  /** The tables with their rows after success. */
  readonly tables: readonly WorldTable[];
  /** The written records in the requested order. For a delete, the records before it. */
  readonly touched: Row[];
}

export function createWrite(world: World, random: Random): Write {
  const kind = random.pick(['create', 'create', 'update', 'update', 'filter', 'delete'] as const);
  const table = random.pick(world.tables.filter((each) => kind === 'create' || each.key.length > 0));
  if (kind === 'create') {
    const records = Array.from({ length: 1 + random.number(3) }, () => {
      const record = createRecord(world, table, random);
      return table.key.length ? nest(world, table, record, random, true) : record;
    });
    return { kind, table: table.name, records };
  }
  const values = nest(world, table, createValues(world, table, random), random, false);
  if (kind === 'filter') return { kind, table: table.name, filter: createWriteFilter(world, table, random), values };
  // MariaDB checks rows one by one if they point to each other.
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

/** Adds parts of related records. Existing ones are updated, missing ones are created. */
function nest(world: World, table: WorldTable, given: Given, random: Random, isNew: boolean): Given {
  const record: Record<string, unknown> = { ...given };
  const { far } = world.writing?.get(table.name) ?? {};
  if (far && random.chance(0.15)) record[far.field] = createValueOf('text', random, world.now);
  for (const relation of table.relations) {
    // Nested records cannot set the type, and a write does not extend to another source.
    if (relation.only || isApart(world, table.name, relation.to) || !random.chance(isNew ? 0.2 : 0.3)) continue;
    const target = targetOf(world, relation);
    const isWhole = relation.inverse || random.chance(0.5);
    const inner: Record<string, unknown> = isWhole ? { ...createRecord(world, target, random) } : {};
    const extra = target.columns.filter(({ name }) => name.endsWith(' ü'));
    for (const { name, kind, nullable } of random.some(extra, isWhole ? 0 : 1, 2))
      inner[name] = nullable && random.chance(0.2) ? null : createValueOf(kind, random, world.now);
    if (relation.inverse) for (const name of relation.target) delete inner[name];
    else if (isWhole) for (const name of relation.from) delete record[name];
    if (Object.keys(inner).length === 0) continue;
    if (isWhole) record[relation.name] = inner;
    else for (const [name, value] of Object.entries(inner)) record[`${relation.name}:${name}`] = value;
  }
  return record;
}

function point(world: World, relation: WorldRelation, record: Record<string, unknown>, random: Random): void {
  const target = targetOf(world, relation);
  if (target.rows.length === 0) return;
  const row = random.pick(target.rows);
  for (const [index, name] of relation.from.entries()) record[name] = row[at(target, relation.target[index]!)];
  if (relation.only) record[relation.only.column] = relation.only.value;
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

function createWriteFilter(world: World, table: WorldTable, random: Random): Filter {
  const quantified = random.chance(0.3) ? createQuantified(world, table, random, 2) : undefined;
  if (quantified) return quantified;
  const names = random.chance(0.3) ? manyNamesOf(world, table) : [];
  for (;;) {
    const filter = createFilter(world, names.length ? names : namesOf(world, table), random, 1);
    if (!isRefused(world, table, filter)) return filter;
  }
}

export function interpretWrite(meaning: Meaning, write: Write): Outcome {
  const table = meaning.world.tables.find((each) => each.name === write.table)!;
  const found = write.kind === 'create' ? [] : findRows(meaning, table, write);
  const old = found.filter((row) => row !== undefined);
  const story = new Story(meaning);
  if (found.includes(undefined)) story.codes.add('RECORD_NOT_FOUND');
  // Another source is queried about related records before the write starts.
  const given = write.kind === 'create' ? write.records : 'values' in write ? [write.values] : [];
  for (const values of given) {
    const row = table.columns.map(({ name }) => values[name] ?? null);
    const names = new Set(Object.keys(values));
    if (pointsOutOfSight(meaning, table, row, names) || isHalfWritten(meaning, table, names))
      story.possible.add('INVALID_RECORD');
    if (found.includes(undefined) && story.pointsAmiss(table.name, values)) story.possible.add('INVALID_RECORD');
  }
  let touched = old;
  let { tables } = story;
  if (write.kind === 'delete')
    tables = tables.map((each) => ({
      ...each,
      rows: each.rows.filter((row) => each !== story.table(table.name) || !old.includes(row)),
    }));
  else {
    const places = old.map((row) => ({ table: table.name, index: table.rows.indexOf(row) }));
    const written = write.kind === 'create' ? story.create(table.name, write.records) : places;
    if (write.kind !== 'create') story.update(places, table.name, write.values, found.length);
    touched = written.map((place) => story.row(place));
  }
  for (const code of conflictsOf({ ...meaning.world, tables })) story.codes.add(code);
  return { codes: story.codes, possible: story.possible, tables, touched };
}

/** The codes for data that a database rejects. */
export function conflictsOf(world: World): readonly string[] {
  if (hasDangling(world)) return ['INVALID_RECORD', 'RECORD_IN_USE'];
  return world.tables.some(hasTwins) ? ['INVALID_RECORD'] : [];
}

function findRows(meaning: Meaning, table: WorldTable, write: Exclude<Write, { kind: 'create' }>): (Row | undefined)[] {
  const seen = table.rows.filter((row) => visible(meaning, table, row));
  if (write.kind === 'filter')
    return seen.filter((row) => matches(meaning, table, row, write.filter, meaning.zone, true));
  const wanted = new Map(write.ids.map((id) => [mark(id), id]));
  return [...wanted.keys()].map((id) => seen.find((row) => mark(keyOf(table, row)) === id));
}

export const mark = (values: readonly unknown[]): string =>
  JSON.stringify(values.map((value) => (value === null ? null : String(value))));

export function hasTwins(table: WorldTable): boolean {
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
      if (relation.inverse || relation.only || isApart(world, table.name, relation.to)) return false;
      const target = targetOf(world, relation);
      const marks = new Set(target.rows.map((row) => mark(relation.target.map((name) => row[at(target, name)]))));
      return table.rows.some((row) => {
        const values = relation.from.map((name) => row[at(table, name)]);
        return !values.includes(null) && !marks.has(mark(values));
      });
    }),
  );
}

export function pointsOutOfSight(meaning: Meaning, table: WorldTable, row: Row, written: ReadonlySet<string>): boolean {
  return table.relations.some((relation) => {
    const { only } = relation;
    const names = [...relation.from, ...(only ? [only.column] : [])];
    if (relation.inverse || !names.some((name) => written.has(name))) return false;
    if (only && row[at(table, only.column)] !== only.value) return false;
    const values = relation.from.map((name) => row[at(table, name)]);
    const target = targetOf(meaning.world, relation);
    // Only a key that the database enforces distinguishes a missing record from a hidden one.
    const isWithheld = meaning.scopes[relation.to] !== undefined;
    const isEnforced = !only && !isApart(meaning.world, table.name, relation.to);
    const found = target.rows.find(
      (each) => mark(relation.target.map((name) => each[at(target, name)])) === mark(values),
    );
    if (values.includes(null)) return false;
    return found ? !visible(meaning, target, found) : isWithheld && !isEnforced;
  });
}

/** With only half of a polymorphic key to another source, its target is unknown, so the write may be refused. */
export function isHalfWritten({ world, scopes }: Meaning, table: WorldTable, written: ReadonlySet<string>): boolean {
  return table.relations.some(
    ({ from, to, only }) =>
      only && scopes[to] && isApart(world, table.name, to) && written.has(only.column) !== written.has(from[0]!),
  );
}
