// Parameters of a query, as a table that validates them and describes them in the OpenAPI document: each is a zod schema of
// what it means, and how its text is read. One that is unknown, comes twice or is malformed is 400 and named: a filter with a
// slip in its name would look obeyed.
import { z } from 'zod';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';

export interface Parameter<T = unknown> {
  readonly schema: z.ZodType<T>;
  /** Of a text that is none, the text itself: the schema then says what was expected. */
  readonly read: (text: string) => unknown;
  readonly expected: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

/** What of them was sent, and the defaults of what was not. */
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
  // No name holds a zero character, and PostgreSQL takes none.
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

/** ISO 8601 with a zone. Its text is kept, so that it can be echoed as it was sent. */
export const time: Parameter<string> = {
  schema: z.iso.datetime({ offset: true }).refine((sent) => !Number.isNaN(Date.parse(sent))),
  read: asIs,
  expected: 'a time such as 2026-01-31T12:00:00Z',
};

const comparisons = ['eq', 'lt', 'lte', 'gt', 'gte'] as const;
export type Comparison = (typeof comparisons)[number];

/** `createdAt.eq`, `createdAt.lt` and so on. */
export function times<const N extends string>(...names: readonly N[]): Record<`${N}.${Comparison}`, Parameter<string>> {
  const all = names.flatMap((name) => comparisons.map((comparison) => [`${name}.${comparison}`, time] as const));
  return Object.fromEntries(all) as Record<`${N}.${Comparison}`, Parameter<string>>;
}

/** INVALID_ARGUMENT that names the parameter. */
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
  /** Milliseconds since the epoch, both ends within. */
  readonly from?: number;
  readonly to?: number;
}

/** What `<name>.eq`, `<name>.lt` and so on come to together; undefined where none was sent. */
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
  /** The first whole millisecond that is not before it. */
  readonly next: number;
}

/** Our times have whole milliseconds; what is asked may lie between two of them. */
function splitInstant(sent: string): Instant {
  const ms = Date.parse(sent);
  return { ms, next: /\.\d{3}\d*[1-9]/.test(sent) ? ms + 1 : ms };
}

const boundsOf: Readonly<Record<Comparison, (instant: Instant) => Instants>> = {
  eq: ({ ms, next }) => ({ from: next, to: ms }),
  lt: ({ next }) => ({ to: next - 1 }),
  lte: ({ ms }) => ({ to: ms }),
  gt: ({ ms }) => ({ from: ms + 1 }),
  gte: ({ next }) => ({ from: next }),
};
