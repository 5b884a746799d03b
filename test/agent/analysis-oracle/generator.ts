// Random analytic questions about a world. Most of them have rows and figures that are not null.
import { type Filter, isRefused } from '../oracle/filters.ts';
import type { Random } from '../oracle/random.ts';
import { createFilter, createQuestionFilter, isHeld, manyNamesOf, type Name, namesOf } from '../oracle/requests.ts';
import type { Kind, World, WorldTable } from '../oracle/world.ts';
import { createExpression, createTyped, type Fields } from './expressions.ts';
import {
  type Aggregate, type Bucket, fieldOf, findDate, type Group, isDerived, kindOfGroup, kindOfMeasure, type Measure, type Measures, type Part,
  type Sort,
} from './question.ts'; // biome-ignore format: one family

const buckets: readonly Bucket[] = ['Hour', 'Day', 'Week', 'Month', 'Quarter', 'Year'];
const parts: readonly Part[] = ['HourOfDay', 'Weekday', 'MonthOfYear'];
const names = ['revenue', 'orders', 'so far', 'Größe', 'rate', 'p90', 'count', 'select', 'A', 'a'];
const few: readonly Kind[] = ['choice', 'flag', 'label', 'choice', 'flag', 'text'];
const numbers: readonly Kind[] = ['whole', 'big', 'decimal'];
const compared: readonly Kind[] = ['text', 'instant', 'day', 'time', 'choice', 'flag'];

export function createAggregate(world: World, random: Random): Aggregate {
  const table = random.pick(world.tables);
  const known = namesOf(world, table).filter(isHeld);
  const filters = random.chance(0.4) ? createSelection(world, table, known, random) : undefined;
  const body = { collectionName: table.name, ...(filters && { filters }) };
  if (random.chance(0.1)) return { ...body, ...createNested(world, table, known, random) };
  const groups = createGroups(world, table, known, random, 3);
  const made = createMeasures(world, table, known, random, groups.length);
  const isLoose = groups.some((each) => isLabel(known, each, world, table));
  // Both collections of an imported field could be meant.
  const isImported = groups.some((each) => fieldOf(each).includes('imported'));
  const along = findDate(groups.map((group) => kindOfGroup(world, table, group)));
  // Without a date, totals follow the order. The other sides order the rows before they add up, so no total decides the
  // order; test/agent/measures.test.ts has one that does.
  const measures = isRunning(Object.values(made)[0]!) || (along < 0 && isLoose) ? withoutRunning(made) : made;
  const bucketed = groups.filter((group) => typeof group === 'object' && 'bucket' in group);
  const sort = isLoose || random.chance(0.3) ? undefined : createSort(world, table, groups, measures, random);
  // Then the filters set the periods. Tests of measures have these.
  const isRanged = bucketed.some((each) => JSON.stringify(filters ?? null).includes(JSON.stringify(fieldOf(each))));
  // Which rows come first must be the same everywhere.
  const top = !isLoose && sort && groups.length > 0 && random.chance(0.35);
  return {
    ...body,
    measures,
    ...(groups.length > 0 && { groups }),
    ...(sort && { sort }),
    ...(top && { top: createTop(groups, random) }),
    ...(bucketed.length === 1 && random.chance(0.4) && { compare: { previous: 1 + random.number(3) } }),
    ...(groups.length > 0 &&
      !isLoose &&
      !isImported &&
      !isRanged &&
      random.chance(0.15) && { includeEmpty: true as const }),
  };
}

/** Databases order texts that ignore case differently. */
function isLabel(known: readonly Name[], group: Group, world: World, table: WorldTable): boolean {
  const all = [...known, ...manyNamesOf(world, table)];
  return typeof group === 'string' && all.find(({ name }) => name === group)?.kind === 'label';
}

/** Whether the order of all rows is the same on all databases. */
export function isOrdered(world: World, { collectionName, groups = [], measures, over, sort }: Aggregate): boolean {
  const table = world.tables.find(({ name }) => name === collectionName)!;
  const known = namesOf(world, table);
  if (over !== undefined) return true;
  // Databases order texts that ignore case differently.
  const [first] = Object.values(measures);
  const isByText = !sort && groups.length > 0 && kindOfMeasure(world, table, first!) === 'label';
  return !isByText && !groups.some((each) => isLabel(known, each, world, table));
}

function createSelection(world: World, table: WorldTable, known: readonly Name[], random: Random): Filter | undefined {
  for (let tries = 0; tries < 20; tries++) {
    const one = createQuestionFilter(world, table, known, random, true).filter;
    if (!one || isRefused(world, table, one)) continue;
    if (random.chance(0.5)) return one;
    const conditions = [one, createFilter(world, known, random, 0), createFilter(world, known, random, 0)];
    const wide: Filter = { aggregator: 'Or', conditions };
    if (!isRefused(world, table, wide)) return wide;
  }
  return undefined;
}

export function createGroups(
  world: World,
  table: WorldTable,
  known: readonly Name[],
  random: Random,
  most: number,
): Group[] {
  const far = random.chance(0.25) ? manyNamesOf(world, table).filter(({ name }) => isReached(world, table, name)) : [];
  const groups: Group[] = [];
  const wanted = random.pick([0, 1, 1, 1, 2, 2, 3].filter((count) => count <= most));
  for (let count = 0; count < wanted; count++) {
    const found = createGroup(far.length > 0 && count === 0 ? far : known, random);
    if (!groups.some((each) => fieldOf(each) === fieldOf(found))) groups.push(found);
  }
  return groups;
}

/** Groups follow one to-many relation. */
function isReached(world: World, table: WorldTable, name: string): boolean {
  let [at, many] = [table, 0];
  for (const step of name.split(':').slice(0, -1)) {
    if (at.many.some((each) => each.name === step)) many++;
    const { to } = [...at.relations, ...at.many].find((each) => each.name === step)!;
    at = world.tables.find((each) => each.name === to)!;
  }
  return many < 2;
}

function createGroup(known: readonly Name[], random: Random): Group {
  const wanted = random.pick(['few', 'date', 'date', 'number', 'any'] as const);
  const fits = ({ kind }: Name) =>
    wanted === 'any' ||
    (wanted === 'few' && few.includes(kind)) ||
    (wanted === 'date' && (kind === 'instant' || kind === 'day')) ||
    (wanted === 'number' && numbers.includes(kind));
  const fitting = known.filter(fits);
  const { name, kind } = random.pick(fitting.length > 0 ? fitting : known);
  if ((kind === 'instant' || kind === 'day') && random.chance(0.9)) {
    if (random.chance(0.3))
      return { field: name, part: random.pick(parts.filter((each) => kind === 'instant' || each !== 'HourOfDay')) };
    return { field: name, bucket: random.pick(buckets.filter((each) => kind === 'instant' || each !== 'Hour')) };
  }
  if (numbers.includes(kind) && random.chance(0.6))
    return { field: name, ranges: random.pick([[0], [0, 10], [0, 10, 100], [-1, 0.5, 1], [1], [-1.5, 0, 42, 1000]]) };
  return name;
}

export function createMeasures(
  world: World,
  table: WorldTable,
  known: readonly Name[],
  random: Random,
  groupCount = 0,
): Measures {
  const fields: Fields = {
    numbers: known.filter(({ kind }) => numbers.includes(kind)),
    dates: known.filter(({ kind }) => kind === 'instant' || kind === 'day'),
    texts: known.filter(({ kind }) => kind === 'text'),
  };
  const wanted = random.some(names, 1, 4);
  const plain = wanted.map((name) => [name, createPlain(world, table, known, fields, random)] as const);
  const derived: [string, Measure][] = [];
  const numeric = plain.filter(([, each]) => kindOfMeasure(world, table, each) === 'decimal').map(([name]) => name);
  const within = () =>
    groupCount > 0 && random.chance(0.5) ? { per: [...Array(groupCount).keys()].filter(() => random.chance(0.5)) } : {};
  const additive = plain.filter(([, each]) => 'count' in each || 'sum' in each).map(([name]) => name);
  if (numeric.length > 1 && random.chance(0.35))
    derived.push(['a ratio', { ratio: [random.pick(numeric), random.pick(numeric)] }]);
  if (additive.length > 0 && random.chance(0.2))
    derived.push(['a share', { share: random.pick(additive), ...within() }]);
  const last = () => (random.chance(0.4) ? { last: random.pick([1, 2, 3, 7]) } : {});
  if (additive.length > 0 && random.chance(0.2))
    derived.push(['running', { running: random.pick(additive), ...last() }]);
  if (numeric.length > 0 && random.chance(0.2))
    derived.push(['moving', { movingAverage: random.pick(numeric), last: random.pick([1, 2, 3, 7]) }]);
  // Products of quotients have more decimals than MariaDB computes.
  const whole = plain.filter(([, each]) => 'count' in each || 'countDistinct' in each).map(([name]) => name);
  const figures = [...numeric, ...derived.filter(([, each]) => !isRunning(each)).map(([name]) => name)];
  if (figures.length > 0 && random.chance(0.35)) derived.push(['computed', createArithmetic(figures, whole, random)]);
  const ranked = [...figures, ...derived.flatMap(([name]) => (name === 'computed' ? [name] : []))];
  if (ranked.length > 0 && random.chance(0.2)) derived.push(['a rank', { rank: random.pick(ranked), ...within() }]);
  const all = [...plain, ...derived];
  return Object.fromEntries(random.chance(0.5) ? all : random.some(all, all.length, all.length));
}

function createArithmetic(names: readonly string[], whole: readonly string[], random: Random): Measure {
  const operand = () => (random.chance(0.3) ? random.pick([0, 1, 2.5, 100]) : random.pick(names));
  const operator = random.pick(['plus', 'minus', 'coalesce', 'abs', 'round', 'times'] as const);
  if (operator === 'abs' || operator === 'round') return { [operator]: random.pick(names) } as unknown as Measure;
  if (operator !== 'times' || whole.length === 0)
    return { [operator === 'times' ? 'minus' : operator]: [random.pick(names), operand()] } as unknown as Measure;
  return { times: [random.pick(whole), random.chance(0.5) ? 100 : random.pick(whole)] };
}

const isRunning = (each: Measure) => 'running' in each || 'movingAverage' in each;

function withoutRunning(measures: Measures): Measures {
  return Object.fromEntries(Object.entries(measures).filter(([, each]) => !isRunning(each)));
}

function createPlain(world: World, table: WorldTable, known: readonly Name[], fields: Fields, random: Random): Measure {
  const where = random.chance(0.25) ? createSelection(world, table, known, random) : undefined;
  return { ...createOperation(known, fields, random), ...(where && { where }) };
}

function createOperation(known: readonly Name[], fields: Fields, random: Random): Measure {
  const operation = random.pick([
    'count', 'count', 'sum', 'sum', 'sum', 'avg', 'avg', 'min', 'max', 'countDistinct', 'median', 'percentile',
  ] as const); // biome-ignore format: one family
  const number = () => createExpression(fields, random, random.pick([0, 0, 1, 2, 3]));
  switch (operation) {
    case 'count':
      return { count: random.chance(0.7) ? true : random.pick(known).name };
    case 'countDistinct':
      return { countDistinct: random.chance(0.8) ? random.pick(known).name : createTyped(fields, random) };
    case 'min':
    case 'max': {
      const others = known.filter(({ kind }) => compared.includes(kind));
      const of = random.chance(0.5) && others.length > 0 ? random.pick(others).name : createTyped(fields, random);
      return operation === 'min' ? { min: of } : { max: of };
    }
    case 'percentile':
      return { percentile: [number(), random.pick([0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1])] };
    default:
      return { [operation]: number() } as unknown as Measure;
  }
}

function createSort(
  world: World,
  table: WorldTable,
  groups: readonly Group[],
  measures: Measures,
  random: Random,
): Sort[] | undefined {
  const usable = Object.entries(measures).filter(([, each]) => !isRunning(each));
  const choices: Sort[] = [
    ...usable.filter(([, each]) => kindOfMeasure(world, table, each) !== 'label').map(([measure]) => ({ measure })),
    ...groups.map((_, group) => ({ group })),
  ];
  if (choices.length === 0) return undefined;
  return random
    .some(choices, 1, 2)
    .map((each) => (random.chance(0.3) ? each : { ...each, ascending: random.chance(0.4) }));
}

function createTop(groups: readonly Group[], random: Random): NonNullable<Aggregate['top']> {
  const per = random.some(groups.map((_, at) => at), 0, groups.length - 1); // biome-ignore format: short
  return { n: 1 + random.number(3), ...(per.length > 0 && { per }) };
}

/** A group of groups. */
function createNested(
  world: World,
  table: WorldTable,
  known: readonly Name[],
  random: Random,
): Pick<Aggregate, 'measures' | 'over'> {
  const made = createMeasures(world, table, known, random);
  const usable = Object.entries(made).filter(
    ([, each]) => !isDerived(each) && kindOfMeasure(world, table, each) === 'decimal',
  );
  const inner: Measures = usable.length > 0 ? Object.fromEntries(usable) : { orders: { count: true } };
  let groups = createGroups(world, table, known, random, 3);
  while (groups.length === 0) groups = createGroups(world, table, known, random, 3);
  const fields: Fields = {
    numbers: Object.keys(inner).map((name) => ({ name, kind: 'decimal' })),
    dates: [],
    texts: [],
  };
  const operations = random.some(['sum', 'avg', 'min', 'max', 'median', 'countDistinct'] as const, 1, 3);
  const measures: [string, Measure][] = operations.map((operation) => [
    `${operation} of it`,
    { [operation]: createExpression(fields, random, random.number(2)) } as unknown as Measure,
  ]);
  if (random.chance(0.5)) measures.push(['groups', { count: true }]);
  return { measures: Object.fromEntries(measures), over: { groups, measures: inner } };
}
