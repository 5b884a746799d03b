// docs/testing.md: its example runs unchanged, and its tables match the code.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as surface from '../../src/testing/index.ts';
import { importFromSource } from '../entry-points.ts';

const page = readFileSync('docs/testing.md', 'utf8');

test('the example of docs/testing.md runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [, code = ''] = /```js run\n(.*?)```/s.exec(page) ?? [];
  const path = join(folder, 'example.mjs');
  writeFileSync(path, `${importFromSource(code)}\nexport const isDone = true;\n`);
  expect(await import(path)).toMatchObject({ isDone: true });
});

test('the page names every option and call of the clients, and every function and error of the entry point', () => {
  const textOf = (file: string) => readFileSync(`src/testing/${file}`, 'utf8');
  const membersOf = (file: string, name: string): string[] => {
    const [, body = ''] = new RegExp(`export interface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(textOf(file)) ?? [];
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(<:]/gm)].map(([, member]) => member!);
  };
  const told = [
    ...membersOf('options.ts', 'TestClientOptions'),
    ...membersOf('typed-client.ts', 'CollectionClient'),
    ...membersOf('typed-client.ts', 'RelationClient'),
    ...membersOf('typed-client.ts', 'ActionFormClient'),
    ...membersOf('typed-client.ts', 'ActionFieldClient'),
    ...membersOf('typed-client.ts', 'AgentTestClient'),
    ...membersOf('mcp-client.ts', 'McpTestClient'),
    ...Object.keys(surface),
  ];
  expect(told.length).toBeGreaterThan(45);
  expect(told.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
});
