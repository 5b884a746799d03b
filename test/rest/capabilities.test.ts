// Capabilities of columns whose types have special rules, and the names that a client asks for.
import { expect, test } from 'vitest';
import type { CollectionDescription } from '../../src/agent/requests.ts';
import { isAppError } from '../../src/core/errors.ts';
import { capabilityRoutes } from '../../src/rest/capabilities.ts';
import type { DataCall, DataRequest } from '../../src/rest/route.ts';
import { everything } from './rest-server.ts';

const field = (name: string, type: string, more: object = {}) => ({
  name,
  type,
  operators: [],
  sortable: true,
  ...more,
});
const collections: Readonly<Record<string, object>> = {
  files: {
    fields: [
      field('id', 'Number', { operators: ['Equal', 'GreaterThan', 'IContains'] }),
      field('content', 'Binary', { binaryMode: 'datauri' }),
      field('labels', '[String]'),
      field('place', '{"lat":"Number"}'),
      field('computed', 'String', { sortable: false }),
    ],
    relations: [
      { name: 'folder', kind: 'one', to: 'folders' },
      { name: 'readers', kind: 'many', to: 'people' },
    ],
  },
  folders: { fields: [], relations: [] },
};
/** The caller may not see `secrets`. */
const call = {
  access: { ...everything },
  engine: {
    build: {},
    index: () => Object.keys(collections).map((name) => ({ name })),
    describe: (_: unknown, name: string) => ({ name, ...collections[name] }) as unknown as CollectionDescription,
  },
} as unknown as DataCall;

const [route] = capabilityRoutes;
const ask = async (body: unknown) => {
  const answer = await route!.run(route!.parse({ body } as DataRequest) as never, call);
  return (answer as { body: { collections: { name: string; fields: unknown[] }[] } }).body.collections;
};
const namesOf = async (body: unknown) => (await ask(body)).map(({ name }) => name);

test('binary columns, lists and columns that cannot be sorted are not groupable; objects and to-many relations are absent', async () => {
  expect((await ask({ collectionNames: ['files'] }))[0]!.fields).toEqual([
    { name: 'id', type: 'Number', operators: ['equal', 'greater_than', 'i_contains'], isGroupable: true },
    { name: 'content', type: 'Binary', binaryMode: 'datauri', operators: [], isGroupable: false },
    { name: 'labels', type: ['String'], operators: [], isGroupable: false },
    { name: 'computed', type: 'String', operators: [], isGroupable: false },
    { name: 'folder', type: 'ManyToOne', isGroupable: false },
  ]);
});

test('without names all visible collections are returned, and with names those of them that are visible', async () => {
  expect([
    await namesOf({}),
    await namesOf(null),
    await namesOf({ collectionNames: ['folders', 'secrets'] }),
    await namesOf({ collectionNames: [] }),
  ]).toEqual([['files', 'folders'], ['files', 'folders'], ['folders'], []]);
});

test.each(['files', [1], ['files', null], { files: true }])('%j is not a list of names', (collectionNames) => {
  let code = '';
  try {
    route!.parse({ body: { collectionNames } } as DataRequest);
  } catch (error) {
    code = isAppError(error) ? error.code : 'thrown';
  }
  expect(code).toBe('INVALID_ARGUMENT');
});
