// Checks that docs/storage.md describes every table and every column, and no others.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { cleanUpAfterEach, createPlace, variants } from './store/stores.ts';

cleanUpAfterEach();

/** The text about each table: its row in a list of tables, or the section that begins with its name. */
function readPage(): Map<string, string> {
  const said = new Map<string, string>();
  const text = readFileSync('docs/storage.md', 'utf8');
  for (const line of text.split('\n').filter((line) => line.startsWith('| `'))) {
    const [, first = '', rest = ''] = /^\| ([^|]+) \|(.*)$/.exec(line) ?? [];
    for (const [, name = ''] of first.matchAll(/`([a-z_]+)`/g)) said.set(name, `${said.get(name) ?? ''} ${rest}`);
  }
  for (const [, name = '', rest = ''] of text.matchAll(/^`([a-z_]+)`, one row for each ([\s\S]*?)^## /gm))
    said.set(name, rest);
  return said;
}

test('docs/storage.md names every table with every column', async () => {
  const place = await createPlace(variants.find(({ server }) => server.dialect === 'sqlite')!);
  await (await place.open()).close();
  const { knex } = place.tables();
  const said = readPage();
  const missing: string[] = [];
  const tables: string[] = await knex('sqlite_master')
    .where('type', 'table')
    .whereNot('name', 'like', 'sqlite_%')
    .pluck('name');
  for (const table of tables) {
    const text = said.get(table);
    if (text === undefined) missing.push(`table ${table}`);
    for (const column of Object.keys(await knex(table).columnInfo()))
      if (!new RegExp(`\\b${column}\\b`).test(text ?? '')) missing.push(`${table}.${column}`);
  }
  expect(missing).toEqual([]);
});
