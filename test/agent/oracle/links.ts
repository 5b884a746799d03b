// Random associations and dissociations, and their meaning without a plan: the resulting rows, or the expected errors.
import type { Row } from '../../../src/agent/sources/statement.ts';
import { findParent, type Meaning, visible } from './interpreter.ts';
import type { Random } from './random.ts';
import { createValueOf, type World, type WorldMany, type WorldTable } from './world.ts';
import { hasTwins, keyOf, mark, type Outcome, pointsOutOfSight } from './writes.ts';

export interface Link {
  readonly on: boolean;
  readonly table: string;
  readonly relation: string;
  readonly key: readonly unknown[];
  readonly ids: readonly (readonly unknown[])[];
}

export interface LinkOutcome extends Omit<Outcome, 'tables' | 'possible'> {
  /** The rows of the written table after success. */
  readonly rows: Row[];
  readonly table: string;
}

export function createLink(world: World, random: Random): Link {
  const homes = world.tables.filter(({ many, rows }) => many.length > 0 && rows.length > 0);
  const home = random.pick(homes);
  const relation = random.pick(home.many.filter(({ to }) => find(world, to).key.length > 0));
  const foreign = find(world, relation.to);
  const parent = random.pick(home.rows);
  const on = random.chance(0.5);
  const pairs = relation.through ? find(world, relation.through.table) : foreign;
  const near = foreign.rows.filter((row) => !on && isLinked(world, home, parent, relation, pairs, foreign, row));
  const rows = random.some(near.length && random.chance(0.8) ? near : foreign.rows, 1, 3);
  const ids = rows.map((row) => keyOf(foreign, row));
  if (ids.length === 0 || random.chance(0.08)) ids.push(unknown(world, foreign, random));
  const key = random.chance(0.05) ? unknown(world, home, random) : keyOf(home, parent);
  return { on, table: home.name, relation: relation.name, key, ids };
}

const find = (world: World, name: string): WorldTable => world.tables.find((table) => table.name === name)!;
const at = (table: WorldTable, name: string) => table.columns.findIndex((column) => column.name === name);
const pick = (table: WorldTable, row: Row, names: readonly string[]) =>
  names.map((name) => row[at(table, name)] ?? null);

function unknown(world: World, table: WorldTable, random: Random): unknown[] {
  return table.key.map((name) => createValueOf(table.columns[at(table, name)]!.kind, random, world.now));
}

function isLinked(
  world: World,
  home: WorldTable,
  parent: Row,
  { from, target, through }: WorldMany,
  pairs: WorldTable,
  foreign: WorldTable,
  row: Row,
): boolean {
  if (!through) return mark(pick(home, parent, from)) === mark(pick(foreign, row, target));
  return find(world, pairs.name).rows.some(
    (pair) =>
      mark(pick(pairs, pair, through.origin)) === mark(pick(home, parent, from)) &&
      mark(pick(pairs, pair, through.foreign)) === mark(pick(foreign, row, target)),
  );
}

export function interpretLink(meaning: Meaning, link: Link): LinkOutcome {
  const { world } = meaning;
  const home = find(world, link.table);
  const relation = home.many.find(({ name }) => name === link.relation)!;
  const foreign = find(world, relation.to);
  const codes = new Set<string>();
  const parent = findParent(meaning, { table: home.name, relation: relation.name, key: link.key });
  const ids = [...new Map(link.ids.map((id) => [mark(id), id])).values()];
  const seen = foreign.rows.filter((row) => visible(meaning, foreign, row));
  const found = ids.map((id) => seen.find((row) => mark(keyOf(foreign, row)) === mark(id)));
  if (!parent || found.includes(undefined)) codes.add('RECORD_NOT_FOUND');
  const rows = found.filter((row) => row !== undefined);
  const written = relation.through ? find(world, relation.through.table) : foreign;
  const nothing = { codes, table: written.name, rows: written.rows, touched: [] };
  const done = relation.through
    ? linkPairs(meaning, link.on, { home, parent, relation, foreign, rows, pairs: written, codes })
    : pointRows({ home, parent, relation, foreign, rows, on: link.on, codes });
  if (!parent) return nothing;
  const next: World = {
    ...world,
    tables: world.tables.map((each) => (each === written ? { ...written, rows: done.rows } : each)),
  };
  const after = { ...meaning, world: next };
  const table = find(next, written.name);
  if (hasTwins(table)) codes.add('INVALID_RECORD');
  if (done.fresh.some((row) => !visible(after, table, row))) codes.add('FORBIDDEN');
  const names = new Set(done.names);
  if (done.fresh.some((row) => pointsOutOfSight(after, table, row, names))) codes.add('INVALID_RECORD');
  return { codes, table: written.name, rows: done.rows, touched: done.touched };
}

interface Places {
  readonly home: WorldTable;
  readonly parent: Row | undefined;
  readonly relation: WorldMany;
  readonly foreign: WorldTable;
  /** Rows of the foreign table. */
  readonly rows: readonly Row[];
  readonly codes: Set<string>;
}

interface Done {
  readonly rows: Row[];
  readonly fresh: Row[];
  readonly touched: Row[];
  readonly names: readonly string[];
}

function linkPairs(meaning: Meaning, on: boolean, places: Places & { readonly pairs: WorldTable }): Done {
  const { home, parent, relation, foreign, rows, pairs, codes } = places;
  const { origin, foreign: far } = relation.through!;
  const names = [...origin, ...far];
  const values = rows.map((row) => [
    ...(parent ? pick(home, parent, relation.from) : []),
    ...pick(foreign, row, relation.target),
  ]);
  const there = values.map((value) => pairs.rows.find((pair) => mark(pick(pairs, pair, names)) === mark(value)));
  if (!on) {
    const gone = there.filter((pair) => pair !== undefined && visible(meaning, pairs, pair));
    if (gone.length < rows.length) codes.add('RECORD_NOT_FOUND');
    return { rows: pairs.rows.filter((row) => !gone.includes(row)), fresh: [], touched: gone as Row[], names };
  }
  if (there.some((pair) => pair && !visible(meaning, pairs, pair))) codes.add('FORBIDDEN');
  if (pairs.columns.some(({ name, nullable }) => !nullable && !names.includes(name))) codes.add('INVALID_RECORD');
  const fresh = values
    .filter((_, index) => !there[index])
    .map((value) => pairs.columns.map(({ name }) => (names.includes(name) ? value[names.indexOf(name)] : null)));
  return { rows: [...pairs.rows, ...fresh], fresh, touched: fresh, names };
}

function pointRows({ home, parent, relation, foreign, rows, on, codes }: Places & { readonly on: boolean }): Done {
  const { target, from, only } = relation;
  const values = parent ? pick(home, parent, from) : [];
  const taken = target.filter((name) => on || foreign.columns[at(foreign, name)]!.nullable);
  if (!on && only && rows.some((row) => row[at(foreign, only.column)] !== only.value)) codes.add('RECORD_NOT_FOUND');
  if (taken.length === 0) codes.add('INVALID_RECORD');
  if (!on && rows.some((row) => mark(pick(foreign, row, target)) !== mark(values))) codes.add('RECORD_NOT_FOUND');
  const changed = new Map(
    rows.map((row) => [
      row,
      row.map((value, index) => {
        const name = foreign.columns[index]!.name;
        if (on && name === only?.column) return only.value;
        return taken.includes(name) ? (on ? values[target.indexOf(name)] : null) : value;
      }),
    ]),
  );
  const fresh = [...changed.values()];
  return {
    rows: foreign.rows.map((row) => changed.get(row) ?? row),
    fresh,
    touched: fresh,
    names: on && only ? [...taken, only.column] : taken,
  };
}
