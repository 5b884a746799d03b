// `portico user` adds and lists users and resets passwords. Users can sign in with the printed password.
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { buildOnce, makePlace, type Place, portico } from './command.ts';

let place: Place;
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

function open(): Promise<Store> {
  const config = loadConfig({ env: { SERVICE_DATA_DIR: join(place.folder, '.portico') } });
  return openStore({ config, observe: () => {}, clock: systemClock });
}

async function verify(email: string, password: string): Promise<boolean> {
  const store = await open();
  const user = await store.identity.verifyPassword(email, password);
  await store.close();
  return user?.email === email;
}

const printedPassword = (stdout: string) => /^Password: (\S+) {2}\(shown only once\)$/m.exec(stdout)?.[1] ?? '';

test('a new user gets a password that is printed once and can sign in', async () => {
  const { code, stdout } = await portico(['user', 'add', 'Ada@Example.com', '--level', 'admin'], place);
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    'ada@example.com is added: level admin, team Operations, role Administrator.',
  ]);
  expect(printedPassword(stdout)).toMatch(/^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
  expect(await verify('ada@example.com', printedPassword(stdout))).toBe(true);
});

test('a password from standard input is used and not printed', async () => {
  const args = ['user', 'add', 'ada@example.com', '--password-stdin'];
  const added = await portico(args, { ...place, input: 'correct horse battery\n' });
  expect(added).toEqual({
    code: 0,
    stdout: 'ada@example.com is added: level user, team Operations, role Member.\n',
    stderr: '',
  });
  expect(await verify('ada@example.com', 'correct horse battery')).toBe(true);
});

test('a new password replaces the first', async () => {
  const first = printedPassword((await portico(['user', 'add', 'ada@example.com'], place)).stdout);
  const changed = await portico(['user', 'password', 'ada@example.com'], place);
  const second = printedPassword(changed.stdout);
  const [withFirst, withSecond] = [await verify('ada@example.com', first), await verify('ada@example.com', second)];
  expect({ code: changed.code, withFirst, withSecond }).toEqual({ code: 0, withFirst: false, withSecond: true });
});

test('users are listed with level, team and role', async () => {
  await portico(['user', 'add', 'ada@example.com', '--first-name', 'Ada', '--level', 'admin'], place);
  await portico(['user', 'add', 'grace@example.com', '--team', 'Sales', '--role', 'Clerk'], place);
  const { stdout } = await portico(['user', 'list'], place);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['E-MAIL', 'NAME', 'LEVEL', 'TEAM', 'ROLE', 'STATE'],
    ['ada@example.com', 'Ada', 'admin', 'Operations', 'Administrator', 'active'],
    ['grace@example.com', '-', 'user', 'Sales', 'Clerk', 'active'],
    [''],
  ]);
});

test('a user of an identity provider is active, and an invited one is not', async () => {
  const store = await open();
  const ada = { issuer: 'host', subject: 'u-1', email: 'ada@example.com', emailVerified: false, rights: {} };
  const admitted = await store.identities.admit(ada, { link: false });
  await store.identity.addUser({ email: 'grace@example.com' });
  await store.close();
  expect(admitted.state).toBe('ok');
  const { stdout } = await portico(['user', 'list'], place);
  expect(stdout).toMatch(/^ada@example\.com .* active$/m);
  expect(stdout).toMatch(/^grace@example\.com .* invited$/m);
});

test.each([
  ['a taken address', ['add', 'ada@example.com'], "portico: email: 'ada@example.com' is taken.\n"],
  ['an invalid address', ['add', 'ada'], 'portico: email: expected an address such as ada@example.com.\n'],
  [
    'an unknown level',
    ['add', 'b@example.com', '--level', 'king'],
    'portico: level: expected one of admin, developer, editor, user.\n',
  ],
  ['an unknown user', ['password', 'b@example.com'], "portico: email: no user has the address 'b@example.com'.\n"],
  [
    'a short password',
    ['password', 'ada@example.com', '--password-stdin'],
    'portico: password: expected 10 to 1024 characters.\n',
  ],
])('%s is refused in one line, with exit code 1', async (_case, args, stderr) => {
  await portico(['user', 'add', 'ada@example.com'], place);
  expect(await portico(['user', ...args], { ...place, input: 'short\n' })).toEqual({ code: 1, stdout: '', stderr });
});

test('users are deleted only with --yes, the last administrator never, and workflows by id', async () => {
  await portico(['user', 'add', 'ada@example.com', '--level', 'admin'], place);
  await portico(['user', 'add', 'bob@example.com'], place);
  const store = await open();
  const bob = (await store.identity.findUserByEmail('bob@example.com'))!;
  const { renderingId } = (await store.permissions.caller(bob.id))!;
  const flow = { renderingId, name: 'flow', collection: 'orders', definition: '{}', concurrency: null, by: bob.id };
  const { id } = await store.workflows.publish(flow);
  await store.close();
  const unsure = await portico(['user', 'delete', 'bob@example.com'], place);
  const last = await portico(['user', 'delete', 'ada@example.com', '--yes'], place);
  const deleted = await portico(['user', 'delete', 'bob@example.com', '--yes'], place);
  expect([unsure.code, unsure.stderr.includes('--yes'), last.code, last.stderr, deleted]).toEqual([
    2,
    true,
    1,
    'portico: user: this is the last administrator. Make another user an administrator first.\n',
    { code: 0, stdout: `bob@example.com is deleted. The logs name 'user ${bob.id}' instead.\n`, stderr: '' },
  ]);
  expect((await portico(['user', 'list'], place)).stdout).not.toContain('bob@example.com');
  expect((await portico(['workflow', 'list'], place)).stdout).toMatch(
    new RegExp(`${id} +flow +Operations +orders +active`),
  );
  expect((await portico(['workflow', 'delete', id, '--yes'], place)).stdout).toBe(`The workflow ${id} is deleted.\n`);
  const none = await portico(['workflow', 'delete', id, '--yes'], place);
  expect([none.code, none.stderr, (await portico(['workflow', 'list'], place)).stdout]).toEqual([
    1,
    expect.stringContaining(`there is no workflow '${id}'`),
    'There are no workflows.\n',
  ]);
});
