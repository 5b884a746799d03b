// Random filters with quantifiers: over one relation or several, through junctions, back to the same table, nested, and
// combined with all other conditions.
import type { Filter } from './filters.ts';
import { endOf } from './filters.ts';
import type { Random } from './random.ts';
import { createFilter, isHeld, type Name, namesOf } from './requests.ts';
import type { World, WorldTable } from './world.ts';

/** Paths of at most three relations with at least one to many. Paths of one relation come more often. */
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

/** The fields that conditions on a table may use. */
type Names = (world: World, table: WorldTable) => readonly Name[];

const namesOfCallers: Names = (world, table) => namesOf(world, table, 1).filter(isHeld);
/** Code uses the column names from before customization. */
export const namesOfCode: Names = (_, { columns }) => columns.map(({ name, kind }) => ({ name, kind }));

/** Undefined if no path has a relation to many. */
export function createQuantified(
  world: World,
  table: WorldTable,
  random: Random,
  depth: number,
  names = namesOfCallers,
): Filter | undefined {
  const paths = pathsOf(world, table);
  // A relation to one leads to a set of at most one record.
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

/** A condition on a record: a leaf, a quantifier or a group of them. */
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
