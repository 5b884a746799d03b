// Random questions about a world, and random row scopes.
import type { Operator, PlainFilter, PlainSort } from '../../../src/core/filter.ts';
import type { Question, Word } from './interpreter.ts';
import type { Random } from './random.ts';
import {
  countedPeriods,
  createValueOf,
  hours,
  type Kind,
  lengths,
  operatorsOf,
  patterns,
  plainPeriods,
  searches,
  type World,
  type WorldTable,
} from './world.ts';

const zones = ['UTC', 'Europe/Paris', 'America/Havana', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland'];
const needles = ['a', 'B', 'ab', 'z', '%', '_', '\\', '0', '10', "'", '"', ' ', 'é', '日', '😀', '*', '[', '?', ''];
const plainNeedles = ['a', 'B', 'aB', 'z', 'Z', '%', '_', '\\', '10', "'", ' ', '*', '[a', '?', 'brien', 'WORDS'];
const likes = [
  '%',
  '_',
  'a%',
  '%b',
  '%a%',
  '_b',
  'a\\_b',
  '10\\%',
  '%\\\\%',
  '__',
  'A_',
  '%😀%',
  '*',
  '[ab]',
  'a%b',
  '',
];
const words = [
  'a',
  'AB',
  'zebra',
  '1',
  '42',
  '-1',
  '10%',
  '_',
  'brien',
  '0.1',
  '9007199254740993',
  'two words',
  'red',
  'gamma',
  '*',
];

interface Name {
  readonly name: string;
  readonly kind: Kind;
}

/** Columns, and those of relations up to two steps away. */
export function namesOf(world: World, table: WorldTable, steps = 2): Name[] {
  const own = table.columns.map(({ name, kind }) => ({ name, kind }));
  if (steps === 0) return own;
  const far = table.relations.flatMap((relation) =>
    namesOf(world, world.tables.find((each) => each.name === relation.to)!, steps - 1).map(({ name, kind }) => ({
      name: `${relation.name}:${name}`,
      kind,
    })),
  );
  return [...own, ...own, ...far];
}

export function createQuestion(world: World, random: Random): Question {
  const table = random.pick(world.tables);
  const names = namesOf(world, table);
  const fields = random.chance(0.15)
    ? table.columns.map((column) => column.name)
    : [...new Set(random.some(names, 1, 6).map((each) => each.name))];
  const zone = random.chance(0.5) ? random.pick(zones) : undefined;
  return {
    table: table.name,
    fields,
    sort: createSort(names, random),
    ...(random.chance(0.7) && { filter: createFilter(world, names, random, 2) }),
    ...(random.chance(0.2) && { words: createWords(random), extended: random.chance(0.5) }),
    ...(zone && { zone }),
  };
}

export function createScopes(world: World, random: Random): Record<string, PlainFilter> {
  const scopes: Record<string, PlainFilter> = {};
  for (const table of world.tables)
    if (random.chance(0.4))
      scopes[table.name] = {
        aggregator: 'Or',
        conditions: [
          createFilter(world, namesOf(world, table), random, 1),
          createFilter(world, namesOf(world, table, 1), random, 0),
        ],
      };
  return scopes;
}

export function createZone(random: Random): string {
  return random.pick(zones);
}

/** As a caller would type them. */
export function writeWords(list: readonly Word[]): string {
  return list.map(({ text, wanted }) => `${wanted ? '' : '-'}${/[\s-]/.test(text) ? `"${text}"` : text}`).join('  ');
}

function createWords(random: Random): Word[] {
  return random.some(words, 1, 2).map((text) => ({ text, wanted: random.chance(0.75) }));
}

function createSort(names: readonly Name[], random: Random): PlainSort[] {
  const usable = names.filter((each) => each.kind !== 'label');
  const picked = random.some(usable, 0, 3).map((each) => each.name);
  return [...new Set(picked)].map((field) =>
    random.chance(0.2) ? { field } : { field, ascending: random.chance(0.5) },
  );
}

export function createFilter(world: World, names: readonly Name[], random: Random, depth: number): PlainFilter {
  if (depth > 0 && random.chance(0.6))
    return {
      aggregator: random.chance(0.5) ? 'And' : 'Or',
      conditions: Array.from({ length: random.number(4) }, () => createFilter(world, names, random, depth - 1)),
    };
  const { name, kind } = random.pick(names);
  const operator = random.pick(operatorsOf[kind]);
  const value = createValue(kind, operator, random, world.now);
  return value === undefined ? { field: name, operator } : { field: name, operator, value };
}

function createValue(kind: Kind, operator: Operator, random: Random, now: number): unknown {
  const one = () => createValueOf(kind, random, now);
  if (operator === 'Present' || operator === 'Blank' || operator === 'Missing') return undefined;
  if (plainPeriods.includes(operator)) return undefined;
  if (countedPeriods.includes(operator)) return 1 + random.number(60);
  if (hours.includes(operator)) return random.number(50);
  if (lengths.includes(operator)) return random.number(5);
  if (patterns.includes(operator))
    return random.pick(operator === 'ILike' ? likes.filter((like) => !/😀/u.test(like)) : likes);
  // Beyond ASCII, the databases do not agree on what is the same letter in another case.
  if (searches.includes(operator)) return random.pick(/I[CSE]/.test(operator) ? plainNeedles : needles);
  if (operator === 'In' || operator === 'NotIn')
    return Array.from({ length: random.number(5) }, () => (random.chance(0.15) ? null : one()));
  if (operator === 'Equal' || operator === 'NotEqual') return random.chance(0.1) ? null : one();
  const half = operator === 'LessThan' || operator === 'Before' || operator === 'GreaterThanOrEqual';
  if (kind === 'instant' && half && random.chance(0.3)) return String(one()).slice(0, 10);
  return one();
}
