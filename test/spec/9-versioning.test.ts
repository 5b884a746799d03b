// Section 9: what versions promise. The versions are those of the agent package whose interface this is.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shopAgent } from '../app/agent.ts';

test('generateSchemaOnly | is available, since agent package version 1.83.0', async () => {
  const { agent, schemaPath } = shopAgent();
  await agent.generateSchemaOnly();
  expect(readFileSync(schemaPath, 'utf8')).toContain('"collections"');
  expect(readFileSync('docs/library.md', 'utf8')).toContain('since version 1.83.0');
});
