// Reads the arguments of measures that are neither fields nor measures.
import { fail } from '../../core/errors.ts';
import { type Decimal, readDecimal } from '../sources/values/decimal.ts';
import { readNumber } from './values.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** The other member of a derived measure. */
export const memberOf: Readonly<Record<string, string>> = {
  rank: 'per',
  share: 'per',
  running: 'last',
  movingAverage: 'last',
};

export function readLast(kind: string, of: unknown, last: unknown, at: string): number {
  if (Number.isInteger(last) && Number(last) >= 1 && Number(last) <= 1000) return Number(last);
  return invalid(`${at}.last`, `send the number of groups, at most 1000: ${JSON.stringify({ [kind]: of, last: 7 })}.`);
}

export const half: Decimal = { units: 5n, scale: 1 };

export function readPercentile(given: unknown, at: string): { readonly of: unknown; readonly fraction: Decimal } {
  const form = '{"percentile":["price",0.9]}';
  if (!Array.isArray(given) || given.length !== 2)
    return invalid(at, `takes a field and a number from 0 to 1: ${form}.`);
  const number = readNumber(given[1]);
  const fraction = number === undefined ? undefined : readDecimal(number);
  if (!fraction || Number(number) < 0 || Number(number) > 1 || fraction.scale > 6)
    return invalid(`${at}[1]`, `send a number from 0 to 1 with at most 6 decimals: ${form}.`);
  return { of: given[0], fraction };
}
