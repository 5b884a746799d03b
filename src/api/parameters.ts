// Query parameters of the public API. One table validates them and describes them in the OpenAPI document. Each has a
// zod schema and a function that parses its text. An unknown, repeated or malformed parameter returns 400 with its
// name: a misspelled filter would otherwise look as if it had been applied.
import { DateTime } from 'luxon';
import { z } from 'zod';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/suggestions.ts';

export interface Parameter<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** Returns invalid text unchanged. The schema then rejects it. */
  readonly read: (text: string) => unknown;
  readonly expected: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** The parameters of the request, with defaults for absent ones. */
export type Read<P extends Parameters> = {
  readonly [K in keyof P]?: P[K] extends Parameter<infer T> ? T : never;
};

const asIs = (text: string): string => text;
const LARGEST = 2_147_483_647;

export function integer(min: number, max = LARGEST, standard?: number): Parameter<number> {
  const whole = z.int().min(min).max(max);
  return {
    schema: standard === undefined ? whole : whole.default(standard),
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
    .refine((sent) => !sent.includes('\0'));
  return { schema, read: asIs, expected: `a text of 1 to ${max} characters` };
}

export const email: Parameter<string> = { schema: z.email().max(254), read: asIs, expected: 'an e-mail address' };

export function oneOf<const T extends string>(...values: readonly [T, ...T[]]): Parameter<T> {
  return { schema: z.enum(values), read: asIs, expected: `one of ${values.join(', ')}` };
}

/**
 * An ISO 8601 date or date-time. Without an offset it is in UTC. A date means its first moment. The original text is
 * preserved for the response.
 */
export const time: Parameter<string> = {
  schema: z
    .string()
    .max(64)
    .refine((sent) => readTime(sent) !== undefined)
    .meta({
      description: 'A date or date-time of ISO 8601. Without an offset it is in UTC; a date is its first moment.',
      anyOf: [
        { type: 'string', format: 'date-time' },
        { type: 'string', format: 'date' },
      ],
    }),
  read: asIs,
  expected: 'a date or time of ISO 8601, such as 2026-01-31 or 2026-01-31T12:00:00Z',
};

/**
 * Returns milliseconds since the epoch, or undefined if the text is not a date. A time of day without a date is
 * invalid.
 */
function readTime(sent: string): number | undefined {
  if (!/^\d{4}/.test(sent)) return undefined;
  const time = DateTime.fromISO(sent, { zone: 'utc' });
  return time.isValid ? time.toMillis() : undefined;
}

const comparisons = ['eq', 'lt', 'lte', 'gt', 'gte'] as const;
export type Comparison = (typeof comparisons)[number];

/** Returns the parameters `createdAt.eq`, `createdAt.lt` and so on. */
export function times<const N extends string>(...names: readonly N[]): Record<`${N}.${Comparison}`, Parameter<string>> {
  const all = names.flatMap((name) => comparisons.map((comparison) => [`${name}.${comparison}`, time] as const));
  return Object.fromEntries(all) as Record<`${N}.${Comparison}`, Parameter<string>>;
}

/** Throws INVALID_ARGUMENT with the parameter's name. */
export function readParameters<P extends Parameters>(known: P, query: URLSearchParams): Read<P> {
  for (const name of query.keys()) {
    if (!Object.hasOwn(known, name)) {
      const near = nearNames(name, Object.keys(known));
      const hint = near.length > 0 ? ` Near: ${near.join(', ')}.` : '';
      fail('INVALID_ARGUMENT', { argument: name, problem: `there is no such parameter here.${hint}` });
    }
    if (query.getAll(name).length > 1) fail('INVALID_ARGUMENT', { argument: name, problem: 'it came more than once.' });
  }
  const entries = Object.entries(known).flatMap(([name, { schema, read, expected }]): [string, unknown][] => {
    const sent = query.get(name);
    const { success, data } = schema.safeParse(sent === null ? undefined : read(sent));
    if (success) return [[name, data]];
    if (sent === null) return [];
    return fail('INVALID_ARGUMENT', { argument: name, problem: `expected ${expected}.` });
  });
  return Object.fromEntries(entries) as Read<P>;
}

export interface Instants {
  /** Milliseconds since the epoch. Both bounds are inclusive. */
  readonly from?: number;
  readonly to?: number;
}

/** Combines `<name>.eq`, `<name>.lt` and so on into one range. Undefined if the request has no such parameter. */
export function readInstants(query: Readonly<Record<string, unknown>>, name: string): Instants | undefined {
  const bounds = comparisons.flatMap((comparison) => {
    const sent = query[`${name}.${comparison}`];
    return typeof sent === 'string' ? [boundsOf[comparison](splitInstant(sent))] : [];
  });
  if (bounds.length === 0) return undefined;
  const froms = bounds.flatMap(({ from }) => from ?? []);
  const tos = bounds.flatMap(({ to }) => to ?? []);
  return {
    ...(froms.length > 0 && { from: Math.max(...froms) }),
    ...(tos.length > 0 && { to: Math.min(...tos) }),
  };
}

interface Instant {
  readonly ms: number;
  /** The first whole millisecond at or after the instant. */
  readonly next: number;
}

/** Stored times have whole milliseconds. A requested time can be more precise. */
function splitInstant(sent: string): Instant {
  const ms = readTime(sent)!;
  return { ms, next: /[.,]\d{3}\d*[1-9]/.test(sent) ? ms + 1 : ms };
}

const boundsOf: Readonly<Record<Comparison, (instant: Instant) => Instants>> = {
  eq: ({ ms, next }) => ({ from: next, to: ms }),
  lt: ({ next }) => ({ to: next - 1 }),
  lte: ({ ms }) => ({ to: ms }),
  gt: ({ ms }) => ({ from: ms + 1 }),
  gte: ({ next }) => ({ from: next }),
};
