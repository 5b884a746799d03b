// Checks that the benches of large tables, of the agent's HTTP API, of workflows and of the console run, and print what they measure.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { largeOperations } from '../bench/large/operations.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { servers } from './databases.ts';
import { hasRedisServer } from './workflow/own-redis.ts';

const root = join(import.meta.dirname, '..');

const isNative = loadSqliteDriver().kind === 'native';

test.runIf(isNative)(
  'the bench of large tables measures each operation beside handwritten SQL, and judges calls, memory and start',
  async () => {
    const command = ['--import', 'tsx', join('bench', 'large.ts'), '--quick'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
    for (const { name } of largeOperations(0.01)) {
      const table = stdout.split('### ').find((part) => part.startsWith(`sqlite: ${name}, 4 connections`)) ?? '';
      for (const contestant of ['bare node:http', 'bare Express', 'Portico'])
        expect(table).toMatch(new RegExp(`^\\| ${contestant} .*\\*\\*\\d+\\*\\*`, 'm'));
    }
    expect(stdout).toMatch(/\| sqlite, W1 list, 4 \| 2 \(stretch 1.6\) \| [\d.]+ \|/);
    expect(stdout).toMatch(/\| resident memory under load, .* \| 200 \(stretch 130\) \| \d+/);
    expect(stdout).toMatch(/\| start to first answer, times node:http \| sqlite \| 4 \(stretch 2.5\) \| [\d.]+/);
  },
  300_000,
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
  'the bench of workflows measures triggers and runs in one process, beside workers and BullMQ if available',
  async () => {
    const command = ['--import', 'tsx', join('bench', 'workflows.ts'), '--quick'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
    const isServed = hasRedisServer && servers.some(({ dialect }) => dialect === 'mariadb');
    const more = isServed ? ['MariaDB and Redis, 1 worker', 'BullMQ alone'] : [];
    for (const name of ['embedded, SQLite', ...more])
      expect(stdout).toMatch(
        new RegExp(
          `^\\| ${name} \\| \\d+ \\| [\\d.]+ \\| [\\d.]+ \\| \\*\\*\\d+\\*\\* \\| \\d+ \\| [\\d.]+ \\| [\\d.]* \\| [\\d.]+ \\|$`,
          'm',
        ),
      );
  },
  300_000,
);

test.runIf(isNative)(
  'the bench of the console visits every page',
  async () => {
    const command = ['--import', 'tsx', join('bench', 'console.ts'), '--quick'];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: root });
    for (const page of ['/data/orders', '/data/orders/5000', '/people', '/settings'])
      expect(stdout).toMatch(new RegExp(`^\\| ${page} (\\| [\\d.]+ ){5}\\|$`, 'm'));
    expect(stdout).toMatch(/^\d+ pages, 2 requests each\. Above 300 ms/m);
  },
  180_000,
);
