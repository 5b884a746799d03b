// Further edge cases of actions (behaviour 2.3): ids of fields inside a layout, keys under another name, and the caller.
import { expect, test } from 'vitest';
import { createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';
import { serveOutside } from './outside.ts';

const field = (label: string) => ({ label, id: 'same', type: 'String' });
const page = (...elements: object[]) => ({ type: 'Layout', component: 'Page', elements });
const row = (...fields: object[]) => ({ type: 'Layout', component: 'Row', fields });
const twice: readonly (readonly [where: string, form: readonly object[]])[] = [
  ['in one row', [row(field('A'), field('B'))]],
  ['in a row and beside it', [field('A'), row(field('B'))]],
  ['on two pages', [page(field('A')), page(field('B'))]],
  ['in a row of a page and on another page', [page(row(field('A'))), page(field('B'))]],
];

test.each(twice)('form | two fields with one id end the start with the line: %s', async (_, form) => {
  const { agent } = emptyAgent();
  agent
    .addDataSource(createMemoryDataSource('shop', shopTables))
    .customizeCollection('orders', (orders) =>
      orders.addAction('A', { scope: 'Global', form: form as never, execute: () => undefined }),
    );
  const message = await messageOf(() => agent.start());
  expect(message).toContain("two fields have the id 'same'");
  expect(message).toMatch(/2\.3-further-outside\.test\.ts:\d+/);
});

// biome-ignore lint/suspicious/noExplicitAny: whatever a test wants of the code.
let run: (context: any) => unknown = () => undefined;
const place = serveOutside(
  [
    'CREATE TABLE parts (thing INTEGER NOT NULL, code VARCHAR(9) NOT NULL, word VARCHAR(20), PRIMARY KEY (thing, code))',
    "INSERT INTO parts VALUES (1, 'a', 'x'), (2, 'b', 'y')",
  ],
  (agent) =>
    agent.customizeCollection('parts', (parts) =>
      parts
        .renameField('code', 'mark')
        .renameField('thing', 'number')
        .addAction('One', { scope: 'Single', execute: (context) => run(context) as never })
        .addAction('Some', { scope: 'Bulk', execute: (context) => run(context) as never })
        .addAction('All', { scope: 'Global', execute: (context) => run(context) as never })
        .addAction('Made', { scope: 'Global', form: () => twice[0]![1] as never, execute: () => undefined }),
    ),
);
const names = ['one', 'some', 'all', 'made'];
/** What the code of the action returns, or the status of a failed call. */
async function find(name: string, ids: readonly string[], code: typeof run): Promise<unknown> {
  let found: unknown = 'was not run';
  run = async (context) => {
    found = await code(context);
  };
  const path = `/_actions/parts/${names.indexOf(name)}/${name}`;
  const { status } = await place.act(path, { collection_name: 'parts', ids });
  return status === 200 ? found : status;
}

test('form | a function that returns two fields with one id fails the form and the run, and logs the reason', async () => {
  const path = '/_actions/parts/3/made';
  const { status } = await place.act(`${path}/hooks/load`, { collection_name: 'parts', ids: [] });
  const executed = await place.act(path, { collection_name: 'parts', ids: [] });
  expect([status, executed.status, place.causes.join()]).toEqual([
    500,
    500,
    expect.stringContaining("two fields have the id 'same'"),
  ]);
});

test('getCompositeRecordIds, getCompositeRecordId, getRecordIds, getRecordId, filter: of a key whose fields are renamed', async () => {
  const composite: typeof run = (context) => context.getCompositeRecordIds();
  expect([
    await find('one', ['2|b'], (context) => Promise.all([context.getCompositeRecordId(), context.getRecordId()])),
    await find('some', ['2|b', '1|a'], composite),
    await find('some', ['2|b'], (context) => context.getRecordIds()),
    await find('all', [], composite),
    await find('some', ['2|b'], ({ collection, filter }) => collection.list(filter, ['code', 'word'])),
  ]).toEqual([
    [[2, 'b'], '2|b'],
    [
      [1, 'a'],
      [2, 'b'],
    ],
    ['2|b'],
    [
      [1, 'a'],
      [2, 'b'],
    ],
    [{ code: 'b', word: 'y' }],
  ]);
});

test('caller: code cannot change the tags or the team of the caller for later calls', async () => {
  const change: typeof run = ({ caller }) => {
    for (const write of [
      () => Object.assign(caller.tags, { region: 'north' }),
      () => Object.assign(caller.tags, { admin: 'yes' }),
      () => delete caller.tags.region,
      () => Object.assign(caller, { team: 'Board' }),
    ])
      expect(write).toThrow(TypeError);
  };
  await find('all', [], change);
  await find('one', ['1|a'], change);
  const seen = await find('all', [], ({ caller: { tags, team } }) => ({ tags: { ...tags }, team }));
  expect(seen).toEqual({ tags: { region: 'south' }, team: 'Operations' });
});
