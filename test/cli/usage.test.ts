// The exit code distinguishes wrong usage (2) from failure (1).
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildOnce, makePlace, type Place, portico } from './command.ts';

let place: Place;
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

test('--version prints the version, and --help the commands', async () => {
  const version = await portico(['--version'], place);
  const help = await portico(['--help'], place);
  expect([version, help.code]).toEqual([{ code: 0, stdout: '0.1.0\n', stderr: '' }, 0]);
  expect(help.stdout).toMatch(/start.*\n[\s\S]*doctor[\s\S]*user/);
});

test.each([
  [['user'], /^Usage: portico user/],
  [['strat'], /^portico: unknown command 'strat'\n\(Did you mean start\?\)/],
  [['start', '--colour'], /^portico: unknown option '--colour'/],
  [['start', '--port', '70000'], /^portico: option '--port <value>' .*expected a whole number from 0 to 65535/],
  [['--port', '70000'], /^portico: option '--port <value>' .*expected a whole number from 0 to 65535/],
  [['--port', '0', 'user'], /too many arguments for 'start'/],
  [['start', '--log-level', 'loud'], /expected one of Debug, Info, Warn, Error/],
  [['start', 'everything'], /too many arguments/],
  [['user', 'add'], /^portico: missing required argument 'email'/],
])('portico %j gives exit code 2 and a reason', async (args, reason) => {
  const { code, stdout, stderr } = await portico(args, place);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(reason);
});

test.each([
  [{ MCP_SERVER_PORT: 'abc' }, "portico: MCP_SERVER_PORT: expected a whole number from 0 to 65535, got 'abc'.\n"],
  [
    { SERVICE_MCP_BASE_PATH: '/a', SERVICE_PUBLIC_URL: 'https://x.example/b' },
    'portico: basePath needs the agent at the root of its domain, but SERVICE_PUBLIC_URL has a path.\n',
  ],
  [{ SERVICE_SECRET_FILE: 'gone' }, "portico: SERVICE_SECRET_FILE: 'gone' cannot be read.\n"],
  [
    { SERVICE_STORAGE_URL: 'oracle://u:hunter2hunter2@h/d' },
    'portico: SERVICE_STORAGE_URL: expected sqlite:<path>, mysql://user:password@host/database or postgres://user:password@host/database, got a value that is not shown.\n',
  ],
])('an invalid setting is reported in one line: %j', async (env, stderr) => {
  expect(await portico(['user', 'list'], { ...place, env })).toEqual({ code: 1, stdout: '', stderr });
});

test('a stack is shown at log level Debug only', async () => {
  const env = { SERVICE_STORAGE_URL: 'oracle:x', SERVICE_LOG_LEVEL: 'Debug' };
  const { stderr } = await portico(['user', 'list'], { ...place, env });
  expect(stderr).toMatch(/^portico: .*\nAppError: .*\n {4}at /);
});

test('a .env file is read, and environment variables override it', async () => {
  writeFileSync(join(place.folder, '.env'), 'SERVICE_DATA_DIR=from-file\nMCP_SERVER_PORT=4001\n');
  const { stdout } = await portico(['doctor'], { ...place, env: { MCP_SERVER_PORT: '0' } });
  const settings = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
  expect(settings.filter(([name]) => name === 'SERVICE_DATA_DIR' || name === 'MCP_SERVER_PORT')).toEqual([
    ['SERVICE_DATA_DIR', join(place.folder, 'from-file'), 'environment'],
    ['MCP_SERVER_PORT', '0', 'environment'],
  ]);
});

test('an unreadable .env is reported', async () => {
  mkdirSync(join(place.folder, '.env'));
  const { code, stderr } = await portico(['user', 'list'], place);
  expect([code, stderr]).toEqual([1, 'portico: .env exists, but cannot be read.\n']);
});
