// Compares the files that a request executes (scripts/request-path.mjs) with the numbers in docs/architecture.md.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a list and a webhook trigger execute at most as many files as docs/architecture.md says', async () => {
  const document = readFileSync('docs/architecture.md', 'utf8');
  const most = new Map(
    [...document.matchAll(/^\| `([^`]+)` +\| (\d+) /gm)].map(([, name, files]) => [name, Number(files)]),
  );
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/request-path.mjs', '--files']);
  const counted = new Map([...stdout.matchAll(/^(.+): (\d+) files/gm)].map(([, name, files]) => [name, Number(files)]));
  expect([...counted.keys()]).toEqual(['MCP list', 'Webhook trigger']);
  const above = [...counted].filter(([name, files]) => !(files <= most.get(name)!));
  expect(above, stdout).toEqual([]);
  // The first and the last file of each request: the count is not of something else.
  for (const file of [
    'server/http-server.ts',
    'mcp/endpoint.ts',
    'agent/sources/sql/sqlite/driver.ts',
    'store/workflows/runs.ts',
  ])
    expect(stdout).toContain(`    src/${file}: `);
});
