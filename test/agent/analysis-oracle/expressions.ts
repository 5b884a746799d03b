// Random expressions over fields.
import type { Random } from '../oracle/random.ts';
import type { Name } from '../oracle/requests.ts';
import type { Expression, Part, Unit } from './question.ts';

export interface Fields {
  readonly numbers: readonly Name[];
  readonly dates: readonly Name[];
  readonly texts: readonly Name[];
}

const constants = [0, 1, 2, -1, 10, 0.5, 0.1, -2.25, 100];
const parts: readonly Part[] = ['HourOfDay', 'Weekday', 'MonthOfYear'];
const units: readonly Unit[] = ['day', 'hour', 'minute', 'month', 'year'];

/** A number. */
export function createExpression(fields: Fields, random: Random, depth: number): Expression {
  if (depth === 0) {
    if (fields.numbers.length > 0 && random.chance(0.85)) return random.pick(fields.numbers).name;
    if (fields.numbers.length === 0 && fields.dates.length > 0) return createDifference(fields, random);
    return random.chance(0.8) ? random.pick(constants) : { value: random.pick(constants) };
  }
  const next = () => createExpression(fields, random, depth - 1 - random.number(depth));
  const pair = () => [next(), next()] as const;
  switch (
    random.pick([
      ...(['plus', 'minus', 'times', 'times', 'dividedBy', 'abs', 'round', 'coalesce', 'difference', 'part'] as const),
    ])
  ) {
    case 'plus':
      return { plus: pair() };
    case 'minus':
      return { minus: pair() };
    case 'times':
      return { times: pair() };
    case 'dividedBy':
      return { dividedBy: pair() };
    case 'abs':
      return { abs: next() };
    case 'round':
      return { round: random.chance(0.5) ? next() : { dividedBy: [next(), 2] } };
    case 'coalesce':
      return { coalesce: [next(), random.chance(0.6) ? random.pick(constants) : next()] };
    case 'difference':
      return fields.dates.length > 0 ? createDifference(fields, random) : { abs: next() };
    case 'part':
      return fields.dates.length > 0 ? createPart(fields, random) : { abs: next() };
  }
}

function createDifference({ dates }: Fields, random: Random): Expression {
  const first = random.pick(dates);
  const others = dates.filter(({ kind, name }) => kind === first.kind && name !== first.name);
  const date = (): Expression => random.pick(others.length > 0 ? others : [first]).name;
  const pair = random.chance(0.5) ? ([first.name, date()] as const) : ([date(), first.name] as const);
  return { difference: pair, unit: random.pick(units) };
}

function createPart({ dates }: Fields, random: Random): Expression {
  const { name, kind } = random.pick(dates);
  return { field: name, part: random.pick(kind === 'instant' ? parts : parts.slice(1)) };
}

/** A number, a text or a date. */
export function createTyped(fields: Fields, random: Random): Expression {
  const { dates, texts } = fields;
  const wanted = random.pick(['number', 'date', 'text'] as const);
  if (wanted === 'date' && dates.length > 0) {
    const first = random.pick(dates);
    return first.name;
  }
  if (wanted === 'text' && texts.length > 0) {
    const other = random.chance(0.5) ? { value: random.pick(['unknown', '', 'é', "it's"]) } : random.pick(texts).name;
    return random.chance(0.4) ? random.pick(texts).name : { coalesce: [random.pick(texts).name, other] };
  }
  return createExpression(fields, random, random.number(3));
}
