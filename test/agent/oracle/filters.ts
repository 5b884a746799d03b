// Filters as callers write them, and whether they are refused, by docs/apis.md and decision 2 of 2026-11-23.
import type { Operator } from '../../../src/core/filter.ts';
import type { World, WorldTable } from './world.ts';

export interface Leaf {
  readonly field: string;
  readonly operator: Operator;
  readonly value?: unknown;
}

export interface Group {
  readonly aggregator: 'And' | 'Or' | 'Not';
  readonly conditions: readonly Filter[];
}

export type Quantified =
  | { readonly some: string; readonly where?: Filter }
  | { readonly none: string; readonly where?: Filter }
  | { readonly every: string; readonly where: Filter };

export type Filter = Leaf | Group | Quantified;

export const isGroup = (filter: Filter): filter is Group => 'aggregator' in filter;
export const isLeaf = (filter: Filter): filter is Leaf => 'field' in filter;

/** Returns the quantifier, its path and its condition. */
export function readQuantified(filter: Quantified): {
  readonly quantifier: 'some' | 'none' | 'every';
  readonly path: string;
  readonly where: Filter | undefined;
} {
  if ('some' in filter) return { quantifier: 'some', path: filter.some, where: filter.where };
  if ('none' in filter) return { quantifier: 'none', path: filter.none, where: filter.where };
  return { quantifier: 'every', path: filter.every, where: filter.where };
}

/** Behind a relation to many, these conditions need a quantifier. */
const negative: readonly Operator[] = [
  'Missing', 'Blank', 'NotEqual', 'NotIn', 'NotContains', 'NotIContains', 'IncludesNone',
]; // biome-ignore format: one family

const tableOf = (world: World, name: string) => world.tables.find((table) => table.name === name)!;

/** The collection at the end of a path of relations. */
export function endOf(world: World, table: WorldTable, path: readonly string[]): WorldTable {
  return path.reduce((at, step) => {
    const { to } = [...at.relations, ...at.many].find(({ name }) => name === step)!;
    return tableOf(world, to);
  }, table);
}

/** The path up to its last relation to many, or an empty path. */
export function manyPartOf(world: World, table: WorldTable, field: string): readonly string[] {
  const steps = field.split(':').slice(0, -1);
  let at = table;
  let length = 0;
  for (const [index, step] of steps.entries()) {
    if (at.many.some(({ name }) => name === step)) length = index + 1;
    const relation = [...at.relations, ...at.many].find(({ name }) => name === step);
    if (!relation) return [];
    at = tableOf(world, relation.to);
  }
  return steps.slice(0, length);
}

/** The path up to its first relation to many. */
function firstManyOf(world: World, table: WorldTable, field: string): string | undefined {
  const steps = manyPartOf(world, table, field);
  for (let length = 1; length <= steps.length; length++)
    if (manyPartOf(world, table, [...steps.slice(0, length), '.'].join(':')).length === length)
      return steps.slice(0, length).join(':');
  return undefined;
}

/** Whether the filter is refused when a caller sends it. */
export function isRefused(world: World, table: WorldTable, filter: Filter): boolean {
  return hasNegativeLeaf(world, table, filter) || hasTwins(world, table, filter);
}

function hasNegativeLeaf(world: World, table: WorldTable, filter: Filter): boolean {
  if (isGroup(filter)) return filter.conditions.some((each) => hasNegativeLeaf(world, table, each));
  if (isLeaf(filter)) {
    const { field, operator, value } = filter;
    const takesNull = operator === 'In' && Array.isArray(value) && value.includes(null);
    const asksNothing = negative.includes(operator) || (operator === 'Equal' && value === null) || takesNull;
    return asksNothing && manyPartOf(world, table, field).length > 0;
  }
  const { path, where } = readQuantified(filter);
  return where !== undefined && hasNegativeLeaf(world, endOf(world, table, path.split(':')), where);
}

/** Two leaves under one And that use the same relation to many are ambiguous: they could mean one record or two. */
function hasTwins(world: World, table: WorldTable, filter: Filter): boolean {
  if (isLeaf(filter)) return false;
  if (!isGroup(filter)) {
    const { path, where } = readQuantified(filter);
    return where !== undefined && hasTwins(world, endOf(world, table, path.split(':')), where);
  }
  if (filter.conditions.some((each) => hasTwins(world, table, each))) return true;
  if (filter.aggregator === 'Or') return false;
  const seen = new Set<string>();
  for (const { field } of filter.conditions.flatMap(joined)) {
    const first = firstManyOf(world, table, field);
    if (first === undefined) continue;
    if (seen.has(first)) return true;
    seen.add(first);
  }
  return false;
}

/** The leaves that an And joins, also in nested Ands, but not across an Or. */
function joined(filter: Filter): readonly Leaf[] {
  if (isLeaf(filter)) return [filter];
  return isGroup(filter) && filter.aggregator !== 'Or' ? filter.conditions.flatMap(joined) : [];
}
