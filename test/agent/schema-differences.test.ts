// The differences between a schema file and the served schema.
import { expect, test } from 'vitest';
import { compareSchemas } from '../../src/agent/artifacts/schema-diff.ts';
import type { SchemaFile } from '../../src/agent/artifacts/schema-file.ts';

const schema = (...fields: readonly object[]) =>
  ({ collections: [{ name: 'orders', fields }], meta: {} }) as unknown as SchemaFile;
const lines = (known: SchemaFile, now: SchemaFile) => compareSchemas(known, now).map(({ line }) => line);

test('the order of keys makes no difference, in any depth', () => {
  const one = schema({ field: 'id', type: { a: 1, b: { c: 2, d: [{ e: 3, f: 4 }] } } });
  const other = schema({ type: { b: { d: [{ f: 4, e: 3 }], c: 2 }, a: 1 }, field: 'id' });
  expect(lines(one, other)).toEqual([]);
});

test('the order of a list, a value and a missing property make one', () => {
  const known = schema({ field: 'id', enums: ['a', 'b'], isRequired: true, isPrimaryKey: true });
  const now = schema({ field: 'id', enums: ['b', 'a'], isRequired: false });
  const field = "field 'id' of collection 'orders'";
  expect(lines(known, now)).toEqual([
    `${field}: enums is ["b","a"], but ["a","b"] in the file.`,
    `${field}: isPrimaryKey is missing, but true in the file.`,
    `${field}: isRequired is false, but true in the file.`,
  ]);
});

test('fields in another order', () => {
  const [id, name] = [{ field: 'id' }, { field: 'name' }];
  expect(lines(schema(id, name), schema(name, id))).toEqual([
    "collection 'orders': its fields are in a different order.",
  ]);
});
