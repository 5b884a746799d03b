import { expect, test } from 'vitest';
import type { BinaryMode } from '../../src/agent/customize/definitions.ts';
import { createMemorySource } from '../../src/agent/sources/memory.ts';
import { accessOf } from '../agent/shop.ts';
import { openShop } from './opened.ts';

/** Twice the same binary of so many bytes, one of them shown by the mode. */
async function show(length: number, mode: BinaryMode): Promise<unknown[]> {
  const columns = ['id', 'plain', 'said'].map((name) => ({ name, type: 'Binary' as const }));
  const value = Buffer.alloc(length, 7);
  const source = createMemorySource('files', [
    { name: 'files', columns, primaryKey: ['id'], rows: [[Buffer.from([1]), value, value]] },
  ]);
  const shop = await openShop(
    (agent) => agent.customizeCollection('files', (files) => files.replaceFieldBinaryMode('said', mode)),
    { sources: [source] },
  );
  const [row] = await shop.list({ collection: 'files', fields: ['plain', 'said'] });
  // What is shown is read again, whatever the mode.
  for (const shown of row!) {
    const values = { said: shown, plain: shown };
    const written = await shop.engine.update(accessOf(), { collection: 'files', ids: ['01'], values });
    expect([written.records[0]?.plain, written.records[0]?.said]).toEqual(row);
  }
  return row!;
}

const uri = (length: number) => `data:application/octet-stream;base64,${Buffer.alloc(length, 7).toString('base64')}`;
const hex = (length: number) => '07'.repeat(length);

test('binary mode | datauri | also for a binary that is short', async () => {
  expect([await show(16, 'datauri'), await show(33, 'datauri')]).toEqual([
    [hex(16), uri(16)],
    [uri(33), uri(33)],
  ]);
});

test('binary mode | hex | also for a binary that is long', async () => {
  expect([await show(16, 'hex'), await show(33, 'hex')]).toEqual([
    [hex(16), hex(16)],
    [uri(33), hex(33)],
  ]);
});
