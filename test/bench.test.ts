// Checks that the bench of the tools runs: every operation on SQLite, with the same bytes from all contestants. People
// read its figures, from a quiet machine (bench/RESULTS.md). The bare servers support only the native SQLite driver.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { operations } from '../bench/operations.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { servers } from './databases.ts';
import { hasRedisServer } from './workflow/own-redis.ts';

const root = join(import.meta.dirname, '..');

const isNative = loadSqliteDriver().kind === 'native';

test.runIf(isNative)(
  'the bench of the tools measures every operation beside the bare servers',
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

test.runIf(isNative)(
  "the bench of the agent's HTTP API measures lists and a record beside an Express application",
  async () => {
    const command = ['--import', 'tsx', join('bench', 'api.ts'), '--quick'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
    for (const name of ['list, 15 rows', 'list, 1,000 rows', 'get'])
      expect(stdout).toMatch(new RegExp(`^\\| sqlite, ${name}, 4 \\| [\\d.]+ \\| \\d`, 'm'));
  },
  180_000,
);

test.runIf(isNative)(
  'the bench of workflows measures triggers and runs in one process, and beside workers and BullMQ alone where they can be had',
  async () => {
    const command = ['--import', 'tsx', join('bench', 'workflows.ts'), '--quick'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
    const isServed = hasRedisServer && servers.some(({ dialect }) => dialect === 'mariadb');
    const more = isServed ? ['MariaDB and Redis, 1 worker', 'BullMQ alone'] : [];
    for (const name of ['embedded, SQLite', ...more])
      expect(stdout).toMatch(
        new RegExp(`^\\| ${name} \\| \\d+ \\| [\\d.]+ \\| [\\d.]+ \\| \\*\\*\\d+\\*\\* \\| \\d+ \\|$`, 'm'),
      );
  },
  300_000,
);
