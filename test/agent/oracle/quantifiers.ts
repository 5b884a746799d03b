// Random filters with quantifiers: over one relation or several, through junctions and back to the same table, nested, and
// beside conditions of every other kind.
import type { Filter } from './filters.ts';
import { endOf } from './filters.ts';
import type { Random } from './random.ts';
import { createFilter, isHeld, type Name, namesOf } from './requests.ts';
import type { World, WorldTable } from './world.ts';

/** Paths of relations with at least one to many in them, of at most three steps; those of one step come more often. */
function pathsOf(world: World, table: WorldTable): string[] {
  const many = (from: WorldTable) => from.many.map(({ name }) => name);
  const one = (from: WorldTable) => from.relations.map(({ name }) => name);
  const next = (path: string, names: (from: WorldTable) => string[]) =>
    names(endOf(world, table, path.split(':'))).map((name) => `${path}:${name}`);
  const first = many(table);
  const far = one(table).flatMap((path) => next(path, many));
  const on = first.flatMap((path) => [...next(path, many), ...next(path, one)]);
  return [...first, ...first, ...first, ...first, ...far, ...on, ...on.slice(0, 3).flatMap((path) => next(path, many))];
}

/** What may be asked of the records of a table. */
type Names = (world: World, table: WorldTable) => readonly Name[];

const namesOfCallers: Names = (world, table) => namesOf(world, table, 1).filter(isHeld);
/** Code does not say what callers do. */
export const namesOfCode: Names = (_, { columns }) => columns.map(({ name, kind }) => ({ name, kind }));

/** Nothing where no relation to many is near. */
export function createQuantified(
  world: World,
  table: WorldTable,
  random: Random,
  depth: number,
  names = namesOfCallers,
): Filter | undefined {
  const paths = pathsOf(world, table);
  // What a relation to one leads to is a set of one record or none.
  const ones = table.relations.map(({ name }) => name);
  if (paths.length === 0) return undefined;
  const path = ones.length > 0 && random.chance(0.1) ? random.pick(ones) : random.pick(paths);
  const end = endOf(world, table, path.split(':'));
  const quantifier = random.pick(['some', 'none', 'every'] as const);
  if (quantifier !== 'every' && random.chance(0.15)) return quantifier === 'some' ? { some: path } : { none: path };
  const where = createWhere(world, end, random, depth - 1, names);
  if (quantifier === 'some') return { some: path, where };
  return quantifier === 'none' ? { none: path, where } : { every: path, where };
}

/** A condition on a record: a leaf, a quantifier or a group of such. */
function createWhere(world: World, table: WorldTable, random: Random, depth: number, names: Names): Filter {
  if (depth > 0 && random.chance(0.45)) {
    const aggregator = random.pick(['And', 'And', 'Or', 'Or', 'Not'] as const);
    const conditions = Array.from({ length: random.number(4) }, () =>
      createWhere(world, table, random, depth - 1, names),
    );
    return { aggregator, conditions };
  }
  const deeper = depth > 0 && random.chance(0.35) ? createQuantified(world, table, random, depth, names) : undefined;
  if (deeper) return deeper;
  const leaf = createFilter(world, names(world, table), random, 0);
  return random.chance(0.15) ? { aggregator: 'Not', conditions: [leaf] } : leaf;
}
