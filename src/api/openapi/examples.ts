// Generates an example from a schema, so a new route needs no handwritten one. Common member names have fixed values.
// Other values follow from the type.

export type Json = Record<string, unknown>;

/** By member or parameter name. A name has the same type everywhere. */
const examplesByName: Readonly<Record<string, unknown>> = {
  projectName: 'My project',
  environmentName: 'Production',
  username: 'Ada Byron',
  userEmail: 'ada@example.com',
  email: 'ada@example.com',
  teamName: 'Operations',
  collectionName: 'orders',
  recordId: '17',
  record_id: '17',
  title: 'Call back on Monday',
  content: '<p>Asked for the invoice.</p>',
  limit: 10,
  cursor: 'WyJub3Rlcy0xIiw0Ml0',
  nextCursor: 'WyJub3Rlcy0xIiw0Ml0',
  scopes: ['notes:read'],
  retry_after: 12,
};

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  email: 'ada@example.com',
  uuid: '0b4f6c1e-8a55-4a53-9d0c-2f7f6f1f7a10',
  uri: 'https://example.com/',
};

/** The maximum nesting depth. References count. */
const MAX_DEPTH = 30;

/** `schemas`: the targets of references. */
export function exampleOf(schema: Json, schemas: Readonly<Record<string, Json>>, name = '', depth = 0): unknown {
  const { $ref, examples, anyOf, oneOf, allOf } = schema as Partial<Record<string, unknown>>;
  const exampleFor = (next: unknown, memberName = name) => exampleOf(next as Json, schemas, memberName, depth + 1);
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(examples)) return examples[0];
  if (typeof $ref === 'string') return exampleFor(schemas[$ref.split('/').at(-1)!] ?? {});
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.type !== 'object' && hasType(examplesByName[name], schema)) return examplesByName[name];
  const [first] = (anyOf ?? oneOf ?? allOf ?? []) as unknown[];
  if (first !== undefined) return exampleFor(first);
  if ('default' in schema) return schema.default;
  return ofType(schema, exampleFor, name);
}

function ofType(schema: Json, exampleFor: (next: unknown, called?: string) => unknown, name: string): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Json).map(([member, one]) => [member, exampleFor(one, member)]),
      );
    case 'array':
      return schema.items === undefined ? [] : [exampleFor(schema.items, '')];
    case 'integer':
    case 'number':
      return Math.max(typeof schema.minimum === 'number' ? schema.minimum : 0, name === 'id' ? 42 : 1);
    case 'boolean':
      return false;
    case 'string':
      return (
        byFormat[`${schema.format}`] ?? (name === 'name' ? 'Nightly report' : name === 'id' ? '42' : name || 'text')
      );
    default:
      return null;
  }
}

function hasType(value: unknown, { type }: Json): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return type === 'array';
  return type === 'integer' || type === 'number' ? typeof value === 'number' : type === typeof value;
}
