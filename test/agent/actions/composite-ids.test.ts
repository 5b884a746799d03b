// The id of a composite key means the same record to an action as to a read, whatever the values contain.
import { expect, test } from 'vitest';
import { createMemoryDataSource } from '../../../src/index.ts';
import { createTestableAgent } from '../../../src/testing/index.ts';

const values = ['ab', 'a\\b', 'a|b', 'a\\', '\\|', 'a\\\\b', 'b'];
const rows = values.flatMap((left) => values.map((right) => [left, right]));

test('an id from a list selects its record, and an unescaped backslash stands for itself', async () => {
  const { mcp, close } = await createTestableAgent((agent) =>
    agent
      .addDataSource(
        createMemoryDataSource('pairs', [
          {
            name: 'pairs',
            columns: [
              { name: 'left', type: 'String' },
              { name: 'right', type: 'String' },
            ],
            primaryKey: ['left', 'right'],
            rows,
          },
        ]),
      )
      .customizeCollection('pairs', (pairs) =>
        pairs.addAction('Name', {
          scope: 'Single',
          execute: async (context, result) => result.success(JSON.stringify(await context.getCompositeRecordId())),
        }),
      ),
  );
  const escaped = (value: string) => value.replace(/[|\\]/g, '\\$&');
  const ids = rows.map((row) => row.map((value) => escaped(value!)).join('|'));
  const found: unknown[] = [];
  const wanted: unknown[] = [];
  // A backslash before another character stands for itself.
  for (const [id, pair] of [...ids.map((id, at) => [id, rows[at]] as const), ['a\\b|b', ['a\\b', 'b']] as const]) {
    const { message } = await mcp.call('executeAction', {
      collectionName: 'pairs',
      actionName: 'Name',
      recordIds: [id],
    });
    found.push([id, JSON.parse(String(message))]);
    wanted.push([id, pair]);
  }
  await close();
  expect(found).toEqual(wanted);
});
