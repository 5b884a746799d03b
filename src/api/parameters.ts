// Query parameters of the public API. One table validates them and describes them in the OpenAPI document. Each has a
// zod schema and a function that parses its text. An unknown, repeated or malformed parameter returns 400 with its
// name: a misspelled filter would otherwise look as if it had been applied.
import { parseISO } from 'date-fns/parseISO';
import { z } from 'zod';
import { fail } from '../core/errors.ts';
import { suggestNames } from '../core/suggestions.ts';

export interface Parameter<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** Returns invalid text unchanged. The schema then rejects it. */
  readonly read: (text: string) => unknown;
  readonly expected: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** The parameters of the request, with defaults for absent ones. */
export type ParameterValues<P extends Parameters> = {
  readonly [K in keyof P]?: P[K] extends Parameter<infer T> ? T : never;
};

const identity = (text: string): string => text;
const MAX_INTEGER = 2_147_483_647;

export function integer(min: number, max = MAX_INTEGER, defaultValue?: number): Parameter<number> {
  const whole = z.int().min(min).max(max);
  return {
    schema: defaultValue === undefined ? whole : whole.default(defaultValue),
    read: (text) => (/^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : text),
    expected: `a whole number from ${min} to ${max}`,
  };
}

export function text(max = 400): Parameter<string> {
  // Names cannot contain a zero character, and PostgreSQL rejects it.
  const schema = z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !value.includes('\0'));
  return { schema, read: identity, expected: `a string of 1 to ${max} characters` };
}

export const email: Parameter<string> = { schema: z.email().max(254), read: identity, expected: 'an e-mail address' };

export function oneOf<const T extends string>(...values: readonly [T, ...T[]]): Parameter<T> {
  return { schema: z.enum(values), read: identity, expected: `one of ${values.join(', ')}` };
}

/**
 * An ISO 8601 date or date-time. Without an offset it is in UTC. A date means its first moment. The original text is
 * preserved for the response.
 */
const time: Parameter<string> = {
  schema: z
    .string()
    .max(64)
    .refine((text) => parseTime(text) !== undefined)
    .meta({
      description: 'An ISO 8601 date or date-time. Without an offset, it is in UTC. A date means its first moment.',
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'string', format: 'date' },
      ],
    }),
  read: identity,
  expected: 'an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T12:00:00Z',
};

/**
 * Returns milliseconds since the epoch, or undefined if the text is not a date. A time of day without a date is
 * invalid.
 */
function parseTime(text: string): number | undefined {
  const form = text.toUpperCase();
  if (!/^\d{4}.*[^T]$/.test(form)) return undefined;
  // Without an offset, parseISO reads the timezone of the process.
  const hasOffset = /T.*(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(form);
  const time = parseISO(hasOffset ? form : form.includes('T') ? `${form}Z` : `${form}T00:00Z`).getTime();
  return Number.isNaN(time) ? undefined : time;
}

const comparisons = ['eq', 'lt', 'lte', 'gt', 'gte'] as const;
type Comparison = (typeof comparisons)[number];

/** Returns the parameters `createdAt.eq`, `createdAt.lt` and so on. */
export function timeParameters<const N extends string>(
  ...names: readonly N[]
): Record<`${N}.${Comparison}`, Parameter<string>> {
  const all = names.flatMap((name) => comparisons.map((comparison) => [`${name}.${comparison}`, time] as const));
  return Object.fromEntries(all) as Record<`${N}.${Comparison}`, Parameter<string>>;
}

/** Throws INVALID_ARGUMENT with the parameter's name. */
export function readParameters<P extends Parameters>(known: P, query: URLSearchParams): ParameterValues<P> {
  for (const name of query.keys()) {
    if (!Object.hasOwn(known, name)) {
      const near = suggestNames(name, Object.keys(known));
      const hint = near.length > 0 ? ` Near: ${near.join(', ')}.` : '';
      fail('INVALID_ARGUMENT', { argument: name, problem: `unknown parameter.${hint}` });
    }
    if (query.getAll(name).length > 1) fail('INVALID_ARGUMENT', { argument: name, problem: 'sent more than once.' });
  }
  const entries = Object.entries(known).flatMap(([name, { schema, read, expected }]): [string, unknown][] => {
    const text = query.get(name);
    const { success, data } = schema.safeParse(text === null ? undefined : read(text));
    if (success) return [[name, data]];
    if (text === null) return [];
    return fail('INVALID_ARGUMENT', { argument: name, problem: `expected ${expected}.` });
  });
  return Object.fromEntries(entries) as ParameterValues<P>;
}

interface Instants {
  /** Milliseconds since the epoch. Both bounds are inclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** Combines `<name>.eq`, `<name>.lt` and so on into one range. Undefined if the request has no such parameter. */
export function parseInstants(query: Readonly<Record<string, unknown>>, name: string): Instants | undefined {
  const bounds = comparisons.flatMap((comparison) => {
    const text = query[`${name}.${comparison}`];
    return typeof text === 'string' ? [toBounds[comparison](parseInstant(text))] : [];
  });
  if (bounds.length === 0) return undefined;
  const lowerBounds = bounds.flatMap(({ from }) => from ?? []);
  const upperBounds = bounds.flatMap(({ to }) => to ?? []);
  return {
    ...(lowerBounds.length > 0 && { from: Math.max(...lowerBounds) }),
    ...(upperBounds.length > 0 && { to: Math.min(...upperBounds) }),
  };
}

interface Instant {
  readonly ms: number;
  /** The first whole millisecond at or after the instant. */
  readonly next: number;
}

/** Stored times have whole milliseconds. A requested time can be more precise. */
function parseInstant(text: string): Instant {
  const ms = parseTime(text)!;
  return { ms, next: /[.,]\d{3}\d*[1-9]/.test(text) ? ms + 1 : ms };
}

const toBounds: Readonly<Record<Comparison, (instant: Instant) => Instants>> = {
  eq: ({ ms, next }) => ({ from: next, to: ms }),
  lt: ({ next }) => ({ to: next - 1 }),
  lte: ({ ms }) => ({ to: ms }),
  gt: ({ ms }) => ({ from: ms + 1 }),
  gte: ({ next }) => ({ from: next }),
};
