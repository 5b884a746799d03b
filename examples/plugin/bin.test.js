// The plugin as people meet it: an agent with a sandbox behind it, and a client that asks over HTTP.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createMemoryDataSource } from 'portico';
import { createTestableAgent } from 'portico/testing';
import { bin } from './bin.js';

const letters = {
  name: 'letters',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'subject', type: 'String' },
    { name: 'binned_at', type: 'Date', nullable: true },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'Invitation to the regatta', null],
    [2, 'Bill of the chandler', null],
    [3, 'Yesterday’s weather', '2026-01-02T08:00:00.000Z'],
  ],
};

let place;
before(async () => {
  place = await createTestableAgent((agent) =>
    agent
      .addDataSource(createMemoryDataSource('post', [letters]))
      .customizeCollection('letters', (collection) => collection.use(bin, { column: 'binned_at' })),
  );
});
after(() => place?.close());

const idsOf = async (options = {}) => {
  const found = await place.client.collection('letters').list({ fields: ['id'], sort: { field: 'id' }, ...options });
  return found.map(({ id }) => id);
};

test('what is in the bin is neither listed nor counted, but its segment shows it', async () => {
  assert.deepEqual(await idsOf(), [1, 2]);
  assert.equal(await place.client.collection('letters').count(), 2);
  assert.deepEqual(await idsOf({ segment: 'In the bin' }), [3]);
});

test('a delete puts records into the bin, and an update takes them out', async () => {
  const collection = place.client.collection('letters');
  await collection.delete([1]);
  assert.deepEqual([await idsOf(), await idsOf({ segment: 'In the bin' })], [[2], [1, 3]]);
  await collection.update(1, { binned_at: null });
  assert.deepEqual(await idsOf(), [1, 2]);
});

test('an assistant sees the same', async () => {
  const { rows } = await place.mcp.call('list', { collectionName: 'letters', fields: ['id'] });
  assert.deepEqual(rows, [[1], [2]]);
});
