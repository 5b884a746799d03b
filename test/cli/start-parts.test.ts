// The parts of `portico start` in this process: settings from every layer, what is served, the first user, the welcome
// and signals. start.test.ts runs the whole command.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/cli/environment.ts';
import { findServed, prepareServed } from '../../src/cli/served.ts';
import { start } from '../../src/cli/start/command.ts';
import { findFirstUser } from '../../src/cli/start/first-user.ts';
import { stopOnSignals } from '../../src/cli/start/signals.ts';
import { composeWelcome } from '../../src/cli/start/welcome.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { servers } from '../databases.ts';
import { copyDemo } from '../demo.ts';
import { runSql } from '../sql/schemas.ts';
import { cleanUpAfterEach, createPlace, variants } from '../store/stores.ts';

cleanUpAfterEach();

const home = process.cwd();
let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'portico-start-')));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true, force: true });
});

describe('a setting comes from', () => {
  test('a flag, else the environment, else .env, else the config file, else its default', async () => {
    const layers = async (flags: object = {}) => {
      const { pageSize, origins } = await readConfig(flags);
      return [pageSize, origins.pageSize];
    };
    const seen = [await layers()];
    writeFileSync('portico.config.mjs', 'export const options = { pageSize: 21, pageSizeLimit: undefined };');
    seen.push(await layers());
    writeFileSync('.env', 'SERVICE_PAGE_SIZE=22\n');
    seen.push(await layers());
    vi.stubEnv('SERVICE_PAGE_SIZE', '23');
    seen.push(await layers(), await layers({ pageSize: '24' }));
    expect(seen.slice(1)).toEqual([
      [21, 'file'],
      [22, 'environment'],
      [23, 'environment'],
      [24, 'flag'],
    ]);
    expect(seen[0]).toEqual([expect.any(Number), 'default']);
  });

  test('the file that NAME_FILE names, without its line break, unless NAME itself has a value', () => {
    writeFileSync('secret', '  from the file \r\n');
    const secretOf = (env: Record<string, string>) =>
      loadConfig({ env: { SERVICE_SECRET_FILE: 'secret', ...env } }).secret;
    expect([secretOf({}), secretOf({ SERVICE_SECRET: '' }), secretOf({ SERVICE_SECRET: 'itself' })]).toEqual([
      'from the file',
      'from the file',
      'itself',
    ]);
    expect(() => loadConfig({ env: { SERVICE_SECRET_FILE: 'gone' } })).toThrow(
      /SERVICE_SECRET_FILE: 'gone' cannot be read/,
    );
  });

  test('no layer that is empty', () => {
    expect(loadConfig({ env: { SERVICE_PAGE_SIZE: '', SERVICE_HOST: '' }, file: { pageSize: 21 } })).toMatchObject({
      pageSize: 21,
      host: '127.0.0.1',
    });
  });

  test('an unreadable .env is an error, and the value of a wrong secret is not shown', async () => {
    mkdirSync('.env');
    await expect(readConfig({})).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(/^\.env /),
    });
    const message = (env: Record<string, string>) => {
      try {
        return `${loadConfig({ env }).pageSize}`;
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(message({ SERVICE_REDIS_URL: 'http://:hunter2@cache' })).toMatch(/^SERVICE_REDIS_URL: .*not shown\.$/);
    expect(message({ SERVICE_PAGE_SIZE: 'many' })).toMatch(/^SERVICE_PAGE_SIZE: .*got 'many'\.$/);
  });
});

describe('the served database', () => {
  const configOf = (env: Record<string, string> = {}) => loadConfig({ env: { SERVICE_DATA_DIR: 'data', ...env } });

  test('without a setting is the demo shop with its customization, for the owner only, written once', async () => {
    expect([await findServed(configOf()), existsSync('data')]).toEqual([undefined, false]);
    const first = await prepareServed(configOf(), systemClock);
    const demo = join(folder, 'data', 'demo.sqlite');
    const { mtimeMs } = statSync(demo);
    expect([first.database, typeof first.customize]).toEqual([`sqlite:${demo}`, 'function']);
    expect([statSync('data').mode & 0o777, statSync(demo).mode & 0o777]).toEqual([0o700, 0o600]);
    const again = await prepareServed(configOf(), systemClock);
    expect([again.database, statSync(demo).mtimeMs]).toEqual([first.database, mtimeMs]);
    expect((await findServed(configOf()))?.database).toBe(first.database);
  });

  test('with a setting is that one, without the demo shop and its customization', async () => {
    const database = 'sqlite:own.sqlite';
    const config = configOf({ SERVICE_DATABASE_URL: database });
    expect(await prepareServed(config, systemClock)).toEqual({ database, customize: undefined });
    expect(readdirSync('data')).toEqual([]);
    expect(await findServed(config)).toEqual({ database, customize: undefined });
    writeFileSync('portico.config.mjs', 'export default function own() {}');
    expect((await prepareServed(config, systemClock)).customize?.name).toBe('own');
    // It replaces that of the demo shop, too.
    expect((await prepareServed(configOf(), systemClock)).customize?.name).toBe('own');
    // Also if the demo shop exists.
    expect([existsSync('data/demo.sqlite'), (await findServed(config))?.database]).toEqual([true, database]);
    expect((await prepareServed(config, systemClock)).database).toBe(database);
  });

  test('a data folder that cannot be created is reported with its setting', async () => {
    writeFileSync('data', '');
    await expect(prepareServed(configOf({ SERVICE_DATA_DIR: 'data/below' }), systemClock)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(/^SERVICE_DATA_DIR: '.*below' cannot be created/),
    });
  });
});

describe('the first user', () => {
  const open = async () => (await createPlace(variants[0]!)).open();
  const none = { adminEmail: null, adminPassword: null };

  test('in a terminal gets a generated password, which is returned once', async () => {
    const { identity } = await open();
    const first = await findFirstUser(identity, none, true);
    const { generated } = first.password as { generated: string };
    expect(first).toMatchObject({ email: 'you@example.com', isNew: true });
    expect(await identity.verifyPassword('you@example.com', generated)).toMatchObject({ level: 'admin' });
    expect(await findFirstUser(identity, none, true)).toEqual({
      ...{ email: 'you@example.com', isNew: false, password: 'unchanged' },
    });
  });

  test('elsewhere has no password, at a later start neither', async () => {
    const { identity } = await open();
    const first = await findFirstUser(identity, none, false);
    const again = await findFirstUser(identity, none, true);
    expect([first.password, again.password, (await identity.listUsers())[0]?.hasPassword]).toEqual([
      'missing',
      'missing',
      false,
    ]);
  });

  test('has the address and the password of the settings; a later start changes neither', async () => {
    const { identity } = await open();
    const settings = { adminEmail: 'Ops@Example.com', adminPassword: 'four tall blue doors' };
    const first = await findFirstUser(identity, settings, true);
    const again = await findFirstUser(
      identity,
      { adminEmail: 'b@example.com', adminPassword: 'five short doors' },
      true,
    );
    expect([first, again]).toEqual([
      { email: 'ops@example.com', isNew: true, password: 'configured' },
      { email: 'ops@example.com', isNew: false, password: 'unchanged' },
    ]);
    expect((await identity.verifyPassword('ops@example.com', 'four tall blue doors'))?.email).toBe('ops@example.com');
    expect((await identity.listUsers()).length).toBe(1);
  });

  test('of several is an administrator who can sign in', async () => {
    const { identity, identities } = await open();
    const shown = async () => (await findFirstUser(identity, none, true)).email;
    await identity.addUser({ email: 'kim@example.com' });
    expect(await shown()).toBe('kim@example.com');
    const gone = await identity.addUser({ email: 'gone@example.com', level: 'admin' });
    await identity.addUser({ email: 'ada@example.com', level: 'admin' });
    expect(await shown()).toBe('gone@example.com');
    await identity.setDisabled(gone.id, true);
    expect(await findFirstUser(identity, none, true)).toMatchObject({ email: 'ada@example.com', password: 'missing' });
    const external = { issuer: 'https://id.example', subject: 'a', email: 'ada@example.com', emailVerified: true };
    await identities.admit({ ...external, rights: {} }, { link: true });
    expect(await findFirstUser(identity, none, true)).toMatchObject({
      email: 'ada@example.com',
      password: 'unchanged',
    });
  });

  test('is created once by two processes that start at the same time', async () => {
    const place = await createPlace(variants[0]!);
    const stores = [await place.open(), await place.open()];
    const found = await Promise.all(stores.map(({ identity }) => findFirstUser(identity, none, false)));
    expect(found.map(({ email }) => email)).toEqual(['you@example.com', 'you@example.com']);
    expect((await stores[0]!.identity.listUsers()).length).toBe(1);
  });

  test.each([
    [{ adminEmail: null, adminPassword: 'password1234' }, /^SERVICE_ADMIN_PASSWORD: /],
    [{ adminEmail: 'nobody', adminPassword: null }, /^SERVICE_ADMIN_EMAIL \(--email\): /],
  ])('with %j ends the start with the name of the setting', async (settings, problem) => {
    const { identity } = await open();
    await expect(findFirstUser(identity, settings, false)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(problem),
    });
  });
});

test('the welcome says how to sign in: a password that is shown once, a link, or the provider', () => {
  const parts = {
    ...{ version: '1', mcpUrl: 'http://localhost:1/mcp', consoleUrl: 'http://localhost:1/console', serves: 'a shop' },
    ...{ email: 'ada@example.com', resetCommand: 'portico reset', linkCommand: 'portico link', warnings: ['careful'] },
  };
  const linesOf = (more: Pick<Parameters<typeof composeWelcome>[0], 'password' | 'through' | 'metricsUrl'>) =>
    composeWelcome({ ...parts, ...more }, (_style, text) => text)
      .split('\n')
      .map((line) => line.trim());
  expect(linesOf({ password: { generated: 'seven green chairs' } }).slice(2, 10)).toEqual([
    '',
    'MCP address  http://localhost:1/mcp',
    'Console      http://localhost:1/console',
    'Serves       a shop',
    'E-mail       ada@example.com',
    'Password     seven green chairs  (shown only once)',
    'To set another: portico reset',
    '',
  ]);
  const all = linesOf({ password: 'unchanged', metricsUrl: 'http://localhost:2/metrics' });
  for (const line of [
    'Password     unchanged; to set another: portico reset',
    'Metrics      http://localhost:2/metrics',
    'Claude Code  claude mcp add --transport http portico http://localhost:1/mcp',
    'Codex        codex mcp add portico --url http://localhost:1/mcp',
    `VS Code      code --add-mcp '{"name":"portico","type":"http","url":"http://localhost:1/mcp"}'`,
    '{"mcpServers":{"portico":{"type":"http","url":"http://localhost:1/mcp"}}}',
    '! careful',
  ])
    expect(all).toContain(line);
  expect(linesOf({ password: 'missing' })).toContain('Password     not set; for a link to choose one: portico link');
  expect(linesOf({ password: 'configured' })).toContain('Password     from SERVICE_ADMIN_PASSWORD');
  const through = linesOf({ password: 'unchanged', through: 'Example Login' });
  expect(through).toContain('Sign in      with Example Login; passwords are off (docs/sso.md)');
  expect(through.join()).not.toContain('Password ');
});

/** Signals of this process reach only the listeners that `run` adds. */
async function withSignals(run: (send: (name: 'SIGTERM' | 'SIGINT') => void) => Promise<void>): Promise<void> {
  const names = ['SIGTERM', 'SIGINT'] as const;
  const others = names.map((name) => process.listeners(name));
  for (const name of names) process.removeAllListeners(name);
  try {
    await run((name) => void process.emit(name, name));
  } finally {
    for (const [at, name] of names.entries()) {
      process.removeAllListeners(name);
      for (const listener of others[at]!) process.on(name, listener);
    }
  }
}

test('a second signal ends the process at once, unless it is the first again', async () => {
  const codes: unknown[] = [];
  vi.spyOn(process, 'exit').mockImplementation((code) => void codes.push(code) as never);
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  let finish = (_error?: Error) => {};
  const reasons: string[] = [];
  const app = {
    stop: (reason: string) =>
      new Promise<void>((resolve, reject) => {
        reasons.push(reason);
        finish = (error) => (error ? reject(error) : resolve());
      }),
  };
  await withSignals(async (send) => {
    stopOnSignals(app, clock);
    send('SIGTERM');
    now = 500;
    send('SIGINT');
    expect([codes, reasons]).toEqual([[], ['SIGTERM']]);
    now = 501;
    send('SIGINT');
    expect([codes, reasons]).toEqual([[1], ['SIGTERM']]);
    finish();
    await expect.poll(() => codes).toEqual([1, 0]);
  });
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await withSignals(async (send) => {
    stopOnSignals(app, clock);
    send('SIGINT');
    finish(new Error('the disk is full'));
    await expect.poll(() => codes).toEqual([1, 0, 1]);
  });
  expect(written.mock.calls).toEqual([['portico: stopped with an error: the disk is full\n']]);
});

/** Starts a server, stops it, and returns its welcome. */
function openWelcomes() {
  mkdirSync('data');
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const ofOthers = process.listeners('unhandledRejection');
  const env = { SERVICE_DATA_DIR: 'data', MCP_SERVER_PORT: '0', SERVICE_ADMIN_PASSWORD: 'seven green chairs' };
  const run = async (more: NonNullable<Parameters<typeof loadConfig>[0]>): Promise<string> => {
    out.mockClear();
    exit.mockClear();
    await withSignals(async (send) => {
      // The log, which is no part of the welcome, has the warnings too.
      const settings = { ...env, SERVICE_LOG_LEVEL: 'Error', ...more.env };
      await start(loadConfig({ ...more, env: settings }), { version: '1' });
      send('SIGTERM');
      await expect.poll(() => exit.mock.calls).toEqual([[0]]);
    });
    for (const listener of process.listeners('unhandledRejection'))
      if (!ofOthers.includes(listener)) process.removeListener('unhandledRejection', listener);
    return out.mock.calls.map(([text]) => String(text)).join('');
  };
  return run;
}

test('the welcome names the databases that are served, without their users, passwords and parameters', async () => {
  const run = openWelcomes();
  const opened = await Promise.all(servers.map((server) => server.create()));
  onTestFinished(async () => void (await Promise.all(opened.map((each) => each.drop()))));
  for (const database of opened) await runSql(database, ['CREATE TABLE things (id INTEGER PRIMARY KEY)']);
  const addresses = opened.map(({ url, dialect }) => {
    if (dialect === 'sqlite') return { url, shown: url };
    const address = new URL(url);
    address.searchParams.set('connect_timeout', '9');
    return { url: address.href, shown: `${address.protocol}//***@${address.host}${address.pathname}?***` };
  });
  const named = addresses.map(({ url, shown }, at) => ({ url: `d${at}=${url}`, shown: `d${at}=${shown}` }));
  const all = { url: named.map(({ url }) => url).join('\n'), shown: named.map(({ shown }) => shown).join(', ') };
  for (const { url, shown } of [...addresses, all]) {
    const text = await run({ flags: { database: url } });
    expect(text).toContain(`Serves       ${shown}\n`);
    expect(text).not.toMatch(/connect_timeout|\w@127/);
  }
});

test('the welcome warns of a wide address, and of an --email beside an existing user', async () => {
  const run = openWelcomes();
  copyDemo(join(folder, 'data', 'demo.sqlite'));
  const wide = await run({ flags: { host: '0.0.0.0', adminEmail: 'Ada@Example.com' } });
  expect(wide).toContain('! Listening on 0.0.0.0 without a public https address');
  expect(wide).toMatch(/E-mail +ada@example\.com\n +Password +from SERVICE_ADMIN_PASSWORD/);
  expect(wide).toContain('the demo shop, about 20,000 rows');
  const same = await run({ flags: { adminEmail: 'ADA@example.com' } });
  const named = await run({ env: { SERVICE_ADMIN_EMAIL: 'other@example.com' } });
  for (const text of [same, named]) {
    expect(text).toContain('unchanged; to set another:');
    expect(text).not.toContain('--email is for');
  }
  expect(await run({ flags: { adminEmail: 'other@example.com' } })).toContain(
    '! --email is for the first user, and there is already one. To add other@example.com:',
  );
});
