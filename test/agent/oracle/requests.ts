// Random questions about a world, and random row scopes.
import type { Operator, PlainSort } from '../../../src/core/filter.ts';
import { type Filter, isRefused } from './filters.ts';
import type { Question } from './interpreter.ts';
import { createQuantified } from './quantifiers.ts';
import type { Random } from './random.ts';
import { createSought, writeSought } from './searches.ts';
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
const expressions = [
  'a',
  '^a',
  'b$',
  '^[A-Z]',
  '.b',
  '\\d+',
  '^$',
  '^.$',
  '^(?:a|zz)',
  '[%_]',
  '\\\\',
  '\\p{L}{2}',
  '^\\S+ \\S+$',
  '😀b?$',
  "'",
];
export interface Name {
  readonly name: string;
  readonly kind: Kind;
  /** By default, those of the kind. */
  readonly operators?: readonly Operator[];
  /** Computed by code, so no database has it. */
  readonly made?: boolean;
}

/** The operators of a field that copies another. They run on the other field. */
const copied: readonly Operator[] = ['Equal', 'NotEqual', 'In', 'NotIn'];

function ownNames({ columns, twists }: WorldTable): Name[] {
  const added = twists.added.map(
    ({ how, name, kind }): Name => ({
      name,
      kind,
      ...(how === 'copied' && { operators: copied }),
      ...(how !== 'imported' && { made: true }),
    }),
  );
  const own = columns.filter(({ name }) => !twists.removed.has(name));
  return [...own.map(({ name, kind }) => ({ name: twists.renames.get(name) ?? name, kind })), ...added];
}

/** Columns, and those of relations up to two steps away. */
export function namesOf(world: World, table: WorldTable, steps = 2): Name[] {
  const own = ownNames(table);
  if (steps === 0) return own;
  const far = table.relations.flatMap((relation) =>
    namesOf(world, world.tables.find((each) => each.name === relation.to)!, steps - 1).map((each) => ({
      ...each,
      name: `${relation.name}:${each.name}`,
    })),
  );
  return [...own, ...own, ...far];
}

/** Fields behind a relation to many, which may follow a relation to one and lead on. Computed fields are left out. */
export function manyNamesOf(world: World, table: WorldTable): Name[] {
  const find = (name: string) => world.tables.find((each) => each.name === name)!;
  const behind = (home: WorldTable, prefix: string) =>
    home.many.flatMap(({ name, to }) => [
      ...namesOf(world, find(to), 1)
        .filter(isHeld)
        .map((each) => ({ ...each, name: `${prefix}${name}:${each.name}` })),
      ...find(to).many.flatMap((more) =>
        ownNames(find(more.to))
          .filter(isHeld)
          .map((each) => ({ ...each, name: `${prefix}${name}:${more.name}:${each.name}` })),
      ),
    ]);
  return [...behind(table, ''), ...table.relations.flatMap(({ name, to }) => behind(find(to), `${name}:`))];
}

/** A question about the related records of a row, which may not exist. */
export function createRelatedQuestion(world: World, random: Random): Question {
  const home = random.pick(world.tables.filter(({ many, rows }) => many.length > 0 && rows.length > 0));
  const { name, to } = random.pick(home.many);
  const row = random.pick(home.rows);
  const key = home.key.map((column) => {
    const at = home.columns.findIndex((each) => each.name === column);
    return random.chance(0.05) ? createValueOf(home.columns[at]!.kind, random, world.now) : row[at];
  });
  const within = { table: home.name, relation: name, key };
  const question = createQuestion(world, random, world.tables.find((each) => each.name === to)!);
  const { filter: _, isMixed: __, ...open } = question;
  return { ...(random.chance(0.25) ? open : question), within };
}

export function createQuestion(world: World, random: Random, table = random.pick(world.tables)): Question {
  const every = namesOf(world, table);
  // Most questions use only stored fields, so plain SQL can check them.
  const isPlain = random.chance(0.75);
  const names = isPlain ? every.filter(isHeld) : every;
  const fields = random.chance(0.15)
    ? (isPlain ? ownNames(table).filter(isHeld) : ownNames(table)).map(({ name }) => name)
    : [...new Set(random.some(names, 1, 6).map((each) => each.name))];
  if (!isPlain && random.chance(0.3)) fields.push(...random.some(echoesOf(world, table), 0, 2));
  const zone = random.chance(0.5) ? random.pick(zones) : undefined;
  return {
    table: table.name,
    fields,
    sort: createSort(names, random),
    ...(random.chance(0.9) && createQuestionFilter(world, table, names, random, isPlain)),
    ...(!isPlain && random.chance(0.6) && createSearch(names, random)),
    ...(zone && { zone }),
    ...(table.twists.segments.size > 0 &&
      random.chance(0.15) && { segment: random.pick([...table.twists.segments.keys()]) }),
  };
}

/** Relations with records from code, on the table and behind its relations to one. They can only be shown. */
function echoesOf(world: World, table: WorldTable): string[] {
  const has = (name: string) => world.tables.some((each) => each.name === name && each.twists.echoed.length > 0);
  const far = table.relations.filter(({ to }) => has(to)).map(({ name }) => `${name}:echoes`);
  return [...(has(table.name) ? ['echoes'] : []), ...far];
}

/** Some filters are refused by chance; most of those are discarded. */
export function createQuestionFilter(
  world: World,
  table: WorldTable,
  names: readonly Name[],
  random: Random,
  isPlain: boolean,
): Pick<Question, 'filter' | 'isMixed'> {
  const far = random.chance(0.12) ? manyNamesOf(world, table) : [];
  const near = names.filter(isHeld);
  const wanted = random.chance(0.6);
  for (let tries = 0; tries < 30; tries++) {
    // Filters that are refused, and filters that are nearly refused.
    const found =
      far.length > 0
        ? { filter: createMany(world, table, random.some(far, 1, 2), near, random) }
        : createAnyFilter(world, table, names, random, isPlain);
    if (isRefused(world, table, found.filter!) === (far.length > 0 && wanted)) return found;
  }
  return {};
}

/** Several leaves behind the same few relations to many, in groups of all kinds. */
function createMany(
  world: World,
  table: WorldTable,
  far: readonly Name[],
  near: readonly Name[],
  random: Random,
): Filter {
  const siblings = manyNamesOf(world, table).filter(({ name }) =>
    far.some((each) => name.startsWith(headOf(each.name))),
  );
  const known = [...siblings, ...siblings, ...random.some(near, 1, 2)];
  const group = (depth: number): Filter => {
    if (depth === 0 || random.chance(0.3)) return createFilter(world, known, random, 0);
    const aggregator = random.pick(['And', 'Or', 'Not'] as const);
    return { aggregator, conditions: Array.from({ length: 1 + random.number(3) }, () => group(depth - 1)) };
  };
  return group(3);
}

const headOf = (name: string): string => `${name.split(':')[0]}:`;

/** Without a key, conditions through many cannot be combined with computed fields. */
function createAnyFilter(
  world: World,
  table: WorldTable,
  names: readonly Name[],
  random: Random,
  isPlain: boolean,
): Pick<Question, 'filter' | 'isMixed'> {
  const isMixed = !isPlain && table.key.length > 0 && random.chance(0.4);
  const withCode = (name: Name) => (isPlain ? name : withMatch(name));
  const many = random.chance(0.3) ? manyNamesOf(world, table) : [];
  const near = isMixed || many.length === 0 ? names.map(withCode) : names.filter(isHeld);
  const quantified = random.chance(0.9) ? createQuantified(world, table, random, 3) : undefined;
  if (many.length === 0 && !quantified) return { filter: createFilter(world, names.map(withCode), random, 2) };
  const known = [
    ...random.some(quantified && !isMixed ? names.filter(isHeld) : near, 1, 3),
    ...random.some(many, 0, 3),
  ];
  const other = createFilter(world, known, random, 2);
  if (!quantified) return { filter: other, isMixed };
  if (random.chance(0.5)) return { filter: quantified };
  const more = random.chance(0.3) ? createQuantified(world, table, random, 2) : undefined;
  const aggregator = random.pick(['And', 'And', 'Or', 'Not'] as const);
  return { filter: { aggregator, conditions: [quantified, other, ...(more ? [more] : [])] }, isMixed };
}

/** Match is evaluated after reading, so it is possible wherever a computed field is. */
const withMatch = (name: Name): Name =>
  name.kind === 'text' && !name.operators ? { ...name, operators: [...operatorsOf.text, 'Match', 'Match'] } : name;

function createSearch(names: readonly Name[], random: Random): Pick<Question, 'sought' | 'search' | 'extended'> {
  // Date periods are error-prone, so they come more often.
  const dates = names.filter(({ kind }) => kind === 'instant' || kind === 'day');
  const sought = createSought([...names, ...dates, ...dates, ...dates], random, random.number(3));
  return { sought, search: writeSought(sought, random), extended: random.chance(0.5) };
}

/** `far` adds paths through relations to many. The scope of table `told` uses a computed field. */
export function createScopes(world: World, random: Random, far = false, told?: string): Record<string, Filter> {
  const scopes: Record<string, Filter> = {};
  for (const table of world.tables) {
    const made = ownNames(table).filter(({ name }) => name === 'told');
    if (table.name !== told || made.length === 0) continue;
    // Most rows pass, so most writes succeed.
    const wide = made.map((each) => ({ ...each, operators: ['NotEqual', 'NotContains', 'Present'] as const }));
    const conditions = [
      createFilter(world, random.chance(0.8) ? wide : made, random, 0),
      createFilter(world, namesOf(world, table, 1).filter(isHeld), random, 0),
    ];
    scopes[table.name] = { aggregator: random.chance(0.3) ? 'And' : 'Or', conditions };
  }
  for (const table of world.tables)
    if (random.chance(0.4) && !scopes[table.name])
      scopes[table.name] = {
        aggregator: 'Or',
        conditions: [
          createFilter(world, namesOf(world, table).filter(isHeld), random, 1),
          createFilter(
            world,
            [...namesOf(world, table, 1).filter(isHeld), ...(far ? createFar(world, table, random) : [])],
            random,
            0,
          ),
          ...[far && random.chance(0.3) ? createQuantified(world, table, random, 2) : undefined].filter(
            (each) => each !== undefined,
          ),
        ],
      };
  return scopes;
}

function createFar(world: World, table: WorldTable, random: Random): Name[] {
  return random.chance(0.3) ? manyNamesOf(world, table) : [];
}

/** Row scopes run within joins, where code cannot compute a field. */
export const isHeld = ({ made }: Name): boolean => !made;

export function createZone(random: Random): string {
  return random.pick(zones);
}

function createSort(names: readonly Name[], random: Random): PlainSort[] {
  const usable = names.filter((each) => each.kind !== 'label');
  const picked = random.some(usable, 0, 3).map((each) => each.name);
  return [...new Set(picked)].map((field) =>
    random.chance(0.2) ? { field } : { field, ascending: random.chance(0.5) },
  );
}

export function createFilter(world: World, names: readonly Name[], random: Random, depth: number): Filter {
  if (depth > 0 && random.chance(0.6))
    return {
      aggregator: random.chance(0.5) ? 'And' : 'Or',
      conditions: Array.from({ length: random.number(4) }, () => createFilter(world, names, random, depth - 1)),
    };
  const picked = random.pick(names);
  const { name, kind } = picked;
  const operator = random.pick(picked.operators ?? operatorsOf[kind]);
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
  if (operator === 'Match') return random.pick(expressions);
  if (patterns.includes(operator))
    return random.pick(operator === 'ILike' ? likes.filter((like) => !/😀/u.test(like)) : likes);
  // Beyond ASCII, databases have different rules for upper and lower case.
  if (searches.includes(operator)) return random.pick(/I[CSE]/.test(operator) ? plainNeedles : needles);
  if (operator === 'In' || operator === 'NotIn')
    return Array.from({ length: random.number(5) }, () => (random.chance(0.15) ? null : one()));
  if (operator === 'Equal' || operator === 'NotEqual') return random.chance(0.1) ? null : one();
  if (kind === 'instant' && random.chance(0.3)) return String(one()).slice(0, 10);
  return one();
}
