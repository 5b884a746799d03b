import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { errorShape, notesPath, openWays, shapeOf, type Ways } from '../api/ways.ts';

let ways: Ways;
beforeAll(async () => {
  ways = await openWays({ env: { SERVICE_API_PER_MINUTE: '4' }, app: { log: () => undefined } });
});
afterAll(() => ways?.stop());

test('429 | too many requests; header Retry-After holds seconds to wait', async () => {
  const { secret } = await ways.make(['notes:read']);
  const answers = [];
  for (let call = 0; call < 5; call++) answers.push(await ways.ask(notesPath, { secret }));
  const last = answers.at(-1)!;
  const wait = Number(last.headers.get('retry-after'));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 429]);
  expect([Number.isInteger(wait), wait > 50, wait <= 60, last.json?.retry_after]).toEqual([true, true, true, wait]);
});

test('4XX | client error; body has `code` and `message`', async () => {
  const { secret } = await ways.make(['notes:read']);
  const answers = [
    await ways.ask(`${notesPath}?limit=0`, { secret }),
    await ways.ask(`${notesPath.replace('Production', 'production')}`, { secret }),
    await ways.ask(notesPath, { secret, method: 'PUT' }),
  ];
  expect(answers.map(({ status, json }) => [status, json?.code])).toEqual([
    [400, 'INVALID_ARGUMENT'],
    [404, 'NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
  ]);
  expect(answers.map(shapeOf)).toEqual([errorShape, errorShape, errorShape]);
});

test('5XX | server error; body has `code` and `message`', async () => {
  const { secret } = await ways.make(['notes:read']);
  const before = await ways.ask(notesPath, { secret });
  // The storage has lost a table.
  const tables = openDatabase({ url: ways.storage, dataDir: '/', sqlite: 'auto' });
  await tables.knex.schema.renameTable('notes', 'notes_elsewhere');
  const broken = await ways.ask(notesPath, { secret });
  await tables.knex.schema.renameTable('notes_elsewhere', 'notes');
  await tables.close();
  const after = await ways.ask(notesPath, { secret });
  expect([before.status, broken.status, broken.json?.code, after.status]).toEqual([200, 500, 'INTERNAL', 200]);
  expect(shapeOf(broken)).toEqual(errorShape);
  // What happened is for the log.
  expect(broken.text).not.toMatch(/notes|table|select|sqlite/i);
  expect(ways.observed.filter(({ type }) => type === 'failure')).toHaveLength(1);
});
