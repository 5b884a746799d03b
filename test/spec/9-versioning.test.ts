// Section 9: guarantees of versions. They are versions of the agent package with this interface.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, makeFolder, shopAgent } from '../app/agent.ts';

test('generateSchemaOnly | is available, since agent package version 1.83.0', async () => {
  const { agent, schemaPath } = shopAgent();
  await agent.generateSchemaOnly();
  expect(readFileSync(schemaPath, 'utf8')).toContain('"collections"');
  expect(readFileSync('docs/library.md', 'utf8')).toContain('since version 1.83.0');
});

test('generateSchemaOnly | always rebuilds the schema, in production too, and connections stay open until the agent stops', async () => {
  const closed: string[] = [];
  const { agent, schemaPath } = emptyAgent({ isProduction: true });
  agent.addDataSource(() => ({
    ...createMemorySource('shop', shopTables),
    close: async () => void closed.push('shop'),
  }));
  writeFileSync(schemaPath, '{"collections":[]}');
  await agent.generateSchemaOnly();
  expect([readFileSync(schemaPath, 'utf8').includes('"orders"'), closed]).toEqual([true, []]);
  await agent.stop();
  expect(closed).toEqual(['shop']);
});

test('generateSchemaOnly | writes typings only if configured, with their depth; the schema has names of callers, typings names in code', async () => {
  const folder = makeFolder();
  for (const [isProduction, typingsMaxDepth] of [[true, 2], [false, undefined]] as const) {
    const typingsPath = join(folder, `${isProduction}.ts`);
    const { agent, schemaPath } = shopAgent({ isProduction, typingsPath, ...(typingsMaxDepth && { typingsMaxDepth }) });
    agent.customizeCollection('orders', (orders) => orders.renameField('total', 'sum')).removeCollection('line_notes');
    await agent.generateSchemaOnly();
    const [schema, typings] = [readFileSync(schemaPath, 'utf8'), readFileSync(typingsPath, 'utf8')];
    expect([typings.match(/depth: \d+/)?.[0], typings.includes('total'), schema.includes('"sum"'), schema.includes('line_notes')]).toEqual([`depth: ${typingsMaxDepth ?? 5}`, true, true, false]);
  }
  const { agent, folder: other } = shopAgent();
  await agent.generateSchemaOnly();
  expect(readdirSync(other).filter((name) => name !== 'data')).toEqual(['schema.json']);
}); // biome-ignore format: short
