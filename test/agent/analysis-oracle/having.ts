// Random conditions on groups, about values that the measures have.
import type { Random } from '../oracle/random.ts';
import { type Exact, show } from './exact.ts';
import type { Answer } from './level.ts';
import type { Aggregate, Having } from './question.ts';

const orders = ['LessThan', 'LessThanOrEqual', 'GreaterThan', 'GreaterThanOrEqual'] as const;

/** Undefined if no measure can be compared. */
export function createHaving(question: Aggregate, answer: Answer, random: Random): Having | undefined {
  const from = (question.groups ?? []).length;
  const usable = Object.keys(question.measures)
    .map((name, at) => ({ name, at: from + at }))
    .filter(({ at }) => ['decimal', 'instant', 'day', 'text'].includes(answer.kinds[at]!));
  if (usable.length === 0) return undefined;
  const leaf = (): Having => {
    const { name: measure, at } = random.pick(usable);
    const values = answer.rows.map((row) => row[at]!).filter((value) => value !== null);
    if (values.length === 0 || random.chance(0.1))
      return { measure, operator: random.pick(['Present', 'Missing', 'Present'] as const) };
    const one = () => {
      const value = random.pick(values);
      if (typeof value !== 'object') return value;
      // JSON numbers hold about 15 digits. Larger whole numbers are sent as their digits.
      const digits = show(value as Exact);
      if (String(Number(digits)) === digits && Math.abs(Number(digits)) < 2 ** 53) return Number(digits);
      return digits.includes('.') ? Math.trunc(Number(digits) / 2 ** 12) % 2 ** 40 : digits;
    };
    const operator = random.pick([...orders, ...orders, 'Equal', 'NotEqual', 'In', 'NotIn'] as const);
    if (operator === 'In' || operator === 'NotIn') return { measure, operator, value: [one(), one()] };
    return { measure, operator, value: one() };
  };
  if (random.chance(0.6)) return leaf();
  const aggregator = random.pick(['And', 'Or', 'Not'] as const);
  const inner = (): Having => (random.chance(0.2) ? { aggregator: 'Not', conditions: [leaf()] } : leaf());
  return { aggregator, conditions: Array.from({ length: 1 + random.number(2) }, inner) };
}
