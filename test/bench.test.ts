// Checks that the bench of the tools runs: every operation on SQLite, with the same bytes from all contestants. People
// read its figures, from a quiet machine (bench/RESULTS.md). The bare servers support only the native SQLite driver.
// bench.long.test.ts runs the other benches.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { checkSameRows } from '../bench/large/same.ts';
import { operations } from '../bench/operations.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';

const root = join(import.meta.dirname, '..');

const isNative = loadSqliteDriver().kind === 'native';

test.runIf(isNative)(
  'the bench of the tools measures every operation beside servers without Portico',
  async () => {
    const command = ['--import', 'tsx', join('bench', 'tools.ts'), '--quick'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
    for (const { name } of operations) {
      const table = stdout.split('### ').find((part) => part.startsWith(`sqlite: ${name}`)) ?? '';
      for (const contestant of ['bare node:http', 'bare Express', 'SDK default', 'Portico', 'Portico, 2026-07-28'])
        expect(table).toMatch(new RegExp(`^\\| ${contestant}.*\\*\\*\\d+\\*\\*`, 'm'));
    }
    expect(stdout).toMatch(/\| a write, beside Express \| sqlite, create, 4 \| 1.5 \| \d/);
  },
  180_000,
);

test('two answers are equal if times and values agree; rows with the time of the page edge may differ', () => {
  const answer = (...rows: unknown[][]) =>
    JSON.stringify({ columns: ['id', 'total', 'created_at'], rows, hasMore: true });
  const [first, second, third] = ['2024-01-03T00:00:00.000Z', '2024-01-02T00:00:00.000Z', '2024-01-01T00:00:00.000Z'];
  const ours = answer([5, 1.5, first], [4, 2, second], [3, 2, second], [2, 9, third]);
  const check = (theirs: string) => () => checkSameRows('list', ours, theirs, false);
  const asDrivers = answer([5, '1.50', '2024-01-03 00:00:00'], [3, 2, '2024-01-02 00:00:00+00'], [4, 2, second]);
  expect(check(asDrivers.replace(']]', `],[1,7,"${third}"]]`))).not.toThrow();
  expect(check(answer([5, 1.5, first], [4, 2, second], [3, 3, second], [2, 9, third]))).toThrow('other rows');
  expect(check(answer([5, 1.5, first], [4, 2, second], [2, 9, third]))).toThrow('other rows');
  expect(check(answer([5, 1.5, first], [4, 2, second], [3, 2, second], [2, 8, third]))).toThrow('other rows');
  expect(check(answer([5, 1.5, first], [4, 2, second], [1, 2, second], [2, 9, third]))).toThrow('other rows');
  expect(check(answer([5, 1.5, first], [4, 2, second], [3, 2, first], [2, 9, third]))).toThrow('other rows');
  expect(() => checkSameRows('list', answer(), answer([1, 1, first]), false)).toThrow('finds nothing');
});
