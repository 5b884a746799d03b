// fast-check arbitraries for schemas of the OpenAPI document: valid values, which reuse those of earlier responses, and
// nearly valid ones.
import fc from 'fast-check';
import type { Json } from './document.ts';

/** Values seen in responses, by name of parameter or property. */
export type Pool = Map<string, unknown[]>;

export type Resolve = (reference: string) => unknown;

/** Strings that often break code. */
export const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '%',
    '%zz',
    '../..',
    '" OR 1=1 --',
    '<script>alert(1)</script>',
    '\u202e',
    '\ud800',
    'null',
    '-1',
    '1e99',
    'İ',
    '😀'.repeat(100),
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ minLength: 300, maxLength: 2000 }),
);

const instants = fc
  .date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2030-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString());

export function validOf(schema: Json, name: string, pool: Pool, resolve: Resolve): fc.Arbitrary<unknown> {
  const { $ref, anyOf, oneOf } = schema as { $ref?: string; anyOf?: Json[]; oneOf?: Json[] };
  if ($ref !== undefined) return validOf(resolve($ref) as Json, name, pool, resolve);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  const seen = pool.get(name) ?? [];
  const fresh = freshOf(schema, anyOf ?? oneOf, name, pool, resolve);
  if (seen.length === 0 || schema.type === 'object' || schema.type === 'array') return fresh;
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...seen) }, { weight: 1, arbitrary: fresh });
}

function freshOf(schema: Json, any: Json[] | undefined, name: string, pool: Pool, resolve: Resolve) {
  if (any) return fc.oneof(...any.map((one) => validOf(one, name, pool, resolve)));
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema as Record<string, number | undefined>;
  switch (schema.type) {
    case 'object':
      return validRecord(schema, pool, resolve);
    case 'array':
      return fc.array(validOf((schema.items ?? {}) as Json, '', pool, resolve), {
        minLength: minItems ?? 0,
        maxLength: Math.min(maxItems ?? 3, 5),
      });
    case 'integer':
    case 'number':
      return fc.integer({ min: Math.max(minimum ?? 0, -2_147_483_647), max: Math.min(maximum ?? 100, 2_147_483_647) });
    case 'boolean':
      return fc.boolean();
    case 'string':
      if (schema.format === 'date-time') return instants;
      if (schema.format === 'date') return instants.map((instant) => instant.slice(0, 10));
      if (schema.format === 'email') return fc.constantFrom('ada@example.com', 'nobody@example.com');
      return fc
        .string({ unit: 'grapheme', minLength: minLength ?? 0, maxLength: Math.min(maxLength ?? 60, 60) })
        .map((text) => `${text.replace(/[\p{C}\p{Z}]/gu, '')}x`.slice(0, maxLength ?? 61));
    default:
      return fc.jsonValue();
  }
}

export function validRecord(schema: Json, pool: Pool, resolve: Resolve): fc.Arbitrary<Json> {
  const { properties = {}, required = [] } = schema as { properties?: Record<string, Json>; required?: string[] };
  const members = Object.entries(properties).map(([name, one]) => [name, validOf(one, name, pool, resolve)] as const);
  return fc.record(Object.fromEntries(members), { requiredKeys: required }) as fc.Arbitrary<Json>;
}

/** A string that violates the schema; undefined if every string is valid. */
export function wrongTextOf(schema: Json): fc.Arbitrary<string> | undefined {
  if (schema.type === 'integer') {
    const { minimum, maximum } = schema as Record<string, number | undefined>;
    const outside = [minimum === undefined ? undefined : minimum - 1, maximum === undefined ? undefined : maximum + 1];
    const numbers = outside.filter((one) => one !== undefined && Math.abs(one) < 2 ** 53).map(String);
    return fc.constantFrom(...numbers, 'x', '1.5', '0x1', ' 1', '1e1', '-0', '');
  }
  if (schema.format === 'date-time') return fc.constantFrom('yesterday', '2026-13-01T00:00:00Z', '2026-01-01', '1', '');
  if ((schema.anyOf as Json[] | undefined)?.some(({ format }) => format === 'date-time'))
    return fc.constantFrom('yesterday', '2026-13-01T00:00:00Z', '2026-02-30', '1', '');
  if (schema.format === 'email') return fc.constantFrom('nobody', '@', 'a b@example.com', '');
  if (Array.isArray(schema.enum)) return fc.constantFrom('another', '', `${schema.enum[0]} `);
  return schema.type === 'string' && Number(schema.minLength) > 0 ? fc.constant('') : undefined;
}
