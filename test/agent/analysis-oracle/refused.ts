// Random questions that must be refused, each for one reason.
import { isRefused } from '../oracle/filters.ts';
import type { Random } from '../oracle/random.ts';
import { createFilter, isHeld, manyNamesOf, type Name, namesOf } from '../oracle/requests.ts';
import type { World, WorldTable } from '../oracle/world.ts';
import { createAggregate } from './generator.ts';

export interface Refused {
  readonly reason: string;
  /** What the error begins with. */
  readonly code: RegExp;
  readonly body: unknown;
}

/** Any code but INTERNAL. */
const anyCode = /^(?!INTERNAL)[A-Z_]+: /;

export function createRefused(world: World, random: Random): Refused {
  for (;;) {
    const made = random.pick(makers)(world, random);
    if (made) return made;
  }
}

type Maker = (world: World, random: Random) => Refused | undefined;

function pickTable(world: World, random: Random): { readonly table: WorldTable; readonly known: readonly Name[] } {
  const table = random.pick(world.tables);
  return { table, known: namesOf(world, table).filter(isHeld) };
}

const makers: readonly Maker[] = [
  function ambiguous(world, random) {
    const { table, known } = pickTable(world, random);
    const many = manyNamesOf(world, table);
    if (many.length === 0) return undefined;
    for (let tries = 0; tries < 50; tries++) {
      const filter = createFilter(world, [...many, ...random.some(known, 0, 2)], random, 2);
      // A group without conditions is always true or always false, and may hide the others.
      if (!isRefused(world, table, filter) || JSON.stringify(filter).includes('[]')) continue;
      const conditions = random.chance(0.5)
        ? { measures: { n: { count: true, where: filter } } }
        : { measures: { n: { count: true } }, filters: filter };
      const body = { collectionName: table.name, ...conditions };
      return { reason: 'an ambiguous filter', code: /^AMBIGUOUS_FILTER: /, body };
    }
    return undefined;
  },
  function removed(world, random) {
    const { table } = pickTable(world, random);
    const hidden = random.pick([...table.twists.removed, 'no such field']);
    const [known] = namesOf(world, table, 0).filter(isHeld);
    const body = random.pick<object>([
      { measures: { n: { count: true } }, groups: [hidden] },
      { measures: { n: { countDistinct: hidden } } },
      { measures: { n: { count: true, where: { field: hidden, operator: 'Present' } } } },
      { measures: { n: { max: { coalesce: [known!.name, hidden] } } } },
      { measures: { n: { count: true } }, groups: [{ field: hidden, bucket: 'Month' }] },
    ]);
    return {
      reason: 'a field that does not exist',
      code: /^UNKNOWN_FIELD: /,
      body: { collectionName: table.name, ...body },
    };
  },
  function kinds(world, random) {
    const { table, known } = pickTable(world, random);
    const text = known.find(({ kind }) => kind === 'text');
    const date = known.find(({ kind }) => kind === 'day' || kind === 'instant');
    if (!text || !date) return undefined;
    const measure = random.pick<unknown>([
      { sum: text.name },
      { avg: date.name },
      { median: text.name },
      { sum: { plus: [text.name, 1] } },
      { max: { times: [date.name, 2] } },
      { sum: { difference: [date.name, text.name], unit: 'day' } },
      { min: { coalesce: [date.name, 1] } },
    ]);
    return { reason: 'a wrong kind', code: anyCode, body: { collectionName: table.name, measures: { n: measure } } };
  },
  function forms(world, random) {
    const asked = createAggregate(world, random);
    const n = { count: true };
    const { collectionName } = asked;
    const body = random.pick<unknown>([
      { collectionName, measures: { n }, top: { n: 2 } },
      { collectionName, measures: { n }, compare: { previous: 1 } },
      { collectionName, measures: { n, r: { running: 'n' } }, sort: [{ measure: 'r' }] },
      { collectionName, measures: { r: { ratio: ['n', 'm'] } } },
      { collectionName, measures: { n }, operation: 'count' },
      { collectionName, measures: { n }, sort: [{ group: 0 }] },
      { collectionName, measures: { n }, having: { measure: 'm', operator: 'GreaterThan', value: 1 } },
      { collectionName, measures: {} },
      { collectionName, measures: { n: { percentile: ['id', random.pick([100.5, 200, -0.5])] } } },
    ]);
    return { reason: 'a form without a meaning', code: anyCode, body };
  },
];
