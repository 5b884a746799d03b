// Checks the list of docs/security.md: every row has the measure for an item, and names an existing test.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const page = 'docs/security.md';
const rows = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:item|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

test('every row has an item, a measure, and tests', () => {
  expect([
    rows.length > 40,
    rows.filter((cells) => cells.length !== 3 || cells.some((cell) => cell.trim() === '')),
  ]).toEqual([true, []]);
});

test.each(rows.map(([item = '', , tests = '']) => [item, tests]))('%s: its tests exist', (_item, tests) => {
  const named = tests.split('<br>').map((one) => /^\[([^\]]+)\]\(([^)]+)\): (.+)$/.exec(one)?.slice(1) ?? [one]);
  const missing = named.filter(([name = '', path, title]) => {
    if (path === undefined || title === undefined || !path.endsWith(`/${name}`)) return true;
    return !readFileSync(join('docs', path), 'utf8').includes(title);
  });
  expect(missing).toEqual([]);
});
