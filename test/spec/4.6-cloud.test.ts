// Behaviour 4.6: the commands of `portico cloud` in this process. test/cli runs them as users do.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { bootstrap, login, updateTypings } from '../../src/cli/cloud/commands.ts';
import type { Agent, MongoConnectionParams, SqlConnectionParams } from '../../src/cloud/index.ts';
import { commandLineClient } from '../../src/oauth/clients/normalize.ts';
import { openShop, type Shop } from '../app/shop.ts';
import { linkModules } from '../cli/command.ts';
import { createBrowser } from '../oauth/flow.ts';

const envSecret = 'the secret of this environment';
let shop: Shop;
let folder: string;
const printed: string[] = [];

beforeAll(async () => {
  shop = await openShop({ env: { SERVICE_ENV_SECRET: envSecret } });
  folder = mkdtempSync(join(tmpdir(), 'portico-cloud-'));
});
beforeEach(() => {
  vi.stubEnv('TOKEN_PATH', join(folder, 'tokens'));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(`${text}`);
    return true;
  });
});
afterAll(async () => {
  await shop?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Acts as the user who opens the printed URL. */
async function answer(): Promise<void> {
  const find = () => /(http:\/\/\S+user_code=\S+)/.exec(printed.join(''))?.[1];
  await expect.poll(find, { timeout: 20_000 }).toBeDefined();
  const browser = createBrowser();
  const page = await browser.press(await browser.open(find()!), 'continue');
  await browser.press(await browser.press(page, 'sign-in', { ...shop.account }), 'allow');
  printed.length = 0;
}
const options = () => ({ server: shop.address, browser: false, folder });
const kept = () => {
  const [file] = readdirSync(join(folder, 'tokens'));
  return JSON.parse(readFileSync(join(folder, 'tokens', file!), 'utf8')) as Record<
    'accessToken' | 'refreshToken',
    string
  >;
};
const inFolder = (path: string) => join(folder, 'cloud-customizer', path);

/** Bootstraps the folder and signs in once, in the first test that needs it. */
let making: Promise<void> | undefined;
const bootstrapped = () => {
  making ??= Promise.all([bootstrap(undefined, { ...options(), envSecret, version: '0.0.0' }), answer()]).then(
    () => {},
  );
  return making;
};

test('bootstrap --env-secret: authenticates, creates a cloud-customizer directory, configures credentials, generates typings', async () => {
  await bootstrapped();
  expect([
    readdirSync(folder).sort(),
    readFileSync(inFolder('.env'), 'utf8').includes(envSecret),
    /orders: \{[\s\S]*one: \{ customer: "customers" \}/.test(readFileSync(inFolder('typings.d.ts'), 'utf8')),
  ]).toEqual([['cloud-customizer', 'tokens'], true, true]);
});

test('bootstrap: with the given name, once; the secret option wins over the environment; only the owner can read it; a failure leaves nothing', async () => {
  await bootstrapped();
  const make = (name?: string, more: object = {}) => bootstrap(name, { ...options(), envSecret, version: '1.2.3', ...more });
  vi.stubEnv('SERVICE_ENV_SECRET', 'another');
  await make('reports');
  vi.stubEnv('SERVICE_ENV_SECRET', envSecret);
  await make('Of_env.2', { envSecret: undefined });
  vi.stubEnv('SERVICE_ENV_SECRET', '');
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  const env = read('reports/.env').split('\n');
  const manifest = JSON.parse(read('reports/package.json'));
  expect([
    env.includes(`SERVICE_CLOUD_SERVER=${shop.address}`),
    env.some((line) => line.startsWith('SERVICE_ENV_SECRET=') && line.includes(envSecret)),
    read('Of_env.2/.env').includes(envSecret),
    statSync(join(folder, 'reports/.env')).mode & 0o777,
    [manifest.name, manifest.dependencies.portico],
    read('reports/.gitignore').split('\n').includes('.env'),
  ]).toEqual([true, true, true, 0o600, ['reports', '^1.2.3'], true]);
  expect([JSON.parse(read('Of_env.2/package.json')).name, readdirSync(join(folder, 'tokens')).map((name) => statSync(join(folder, 'tokens', name)).mode & 0o777)]).toEqual(['of_env.2', [0o600]]);
  const problems = [];
  for (const [name, more] of [['reports', {}], [undefined, {}], ['../out', {}], ['.hidden', {}], ['', {}], ['new', { envSecret: '' }], ['new', { envSecret: undefined }], ['new', { envSecret: 'wrong' }], ['new', { server: `${shop.address}/nowhere` }], ['new', { server: 'nowhere' }]] as const)
    problems.push(await make(name, more).catch(({ code, message }) => `${code} ${message}`));
  expect(problems).toEqual([
    expect.stringMatching(/^CONFIGURATION The folder 'reports' already exists\. Choose another/),
    expect.stringMatching(/^CONFIGURATION The folder 'cloud-customizer' already exists/),
    ...Array(3).fill(expect.stringMatching(/^INVALID_ARGUMENT .*name: expected a name of letters/)),
    ...Array(2).fill(expect.stringMatching(/^CONFIGURATION .*set --env-secret, or SERVICE_ENV_SECRET/)),
    ...Array(3).fill(expect.stringMatching(/^CONFIGURATION /)),
  ]);
  expect(readdirSync(folder).sort()).toEqual(['Of_env.2', 'cloud-customizer', 'reports', 'tokens']);
}); // biome-ignore format: short

test('login: refreshes the authentication token', async () => {
  await bootstrapped();
  const before = kept();
  printed.length = 0;
  await login(options());
  expect([kept().accessToken === before.accessToken, printed.join('')]).toEqual([
    false,
    `The sign-in to ${shop.address} is renewed.\n`,
  ]);
  // With --again, and without a stored sign-in, the user signs in again. The previous sign-in is revoked.
  const renewed = kept();
  printed.length = 0;
  await Promise.all([login({ ...options(), again: true }), answer()]);
  const status = async (token: string) =>
    (
      await fetch(`${shop.address}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          client_id: commandLineClient.client_id,
          grant_type: 'refresh_token',
          refresh_token: token,
        }),
      })
    ).status;
  expect([kept().refreshToken === renewed.refreshToken, await status(renewed.refreshToken)]).toEqual([false, 400]);
  rmSync(join(folder, 'tokens'), { recursive: true });
  await Promise.all([login(options()), answer()]);
  expect(readdirSync(join(folder, 'tokens'))).toHaveLength(1);
});

test('update-typings: regenerates typings from the database structure and customization code', async () => {
  await bootstrapped();
  const here = join(folder, 'cloud-customizer');
  linkModules(here);
  writeFileSync(
    inFolder('src/index.ts'),
    `import type { Agent } from 'portico/cloud';
import type { Schema } from '../typings.js';

export function customizeAgent(agent: Agent<Schema>): void {
  agent.customizeCollection('customers', (customers) =>
    customers.addField('initial', {
      columnType: 'String',
      dependencies: ['last_name'],
      getValues: (records) => records.map((record) => record.last_name.slice(0, 1)),
    }),
  );
}
`,
  );
  await updateTypings({ ...options(), envSecret, folder: here });
  expect(readFileSync(inFolder('typings.d.ts'), 'utf8')).toContain('initial: "String" | null;');
  // The command reports whether the typings changed, and removes types that no longer exist.
  const run = async () => {
    printed.length = 0;
    await updateTypings({ ...options(), envSecret, folder: here });
    return printed.join('');
  };
  const same = await run();
  const code = readFileSync(inFolder('src/index.ts'), 'utf8');
  const typings = readFileSync(inFolder('typings.d.ts'), 'utf8');
  writeFileSync(inFolder('typings.d.ts'), 'export type Old = 1;');
  const changed = await run();
  expect([same, changed, readFileSync(inFolder('typings.d.ts'), 'utf8') === typings]).toEqual([
    ...['typings.d.ts is unchanged.\n', 'typings.d.ts is updated.\n', true],
  ]);
  // Code with a type error leaves the typings unchanged. The command does nothing in other folders.
  await bootstrap('wrong', { ...options(), envSecret, version: '0.0.0' });
  const there = join(folder, 'wrong');
  linkModules(there);
  const before = readFileSync(join(there, 'typings.d.ts'), 'utf8');
  writeFileSync(join(there, 'src/index.ts'), code.replace("'last_name'", "'lastname'"));
  const update = updateTypings({ ...options(), envSecret, folder: there });
  const wrong = await update.catch(({ code, message }) => `${code} ${message}`);
  const elsewhere = await updateTypings({ ...options(), envSecret, folder }).catch(({ message }) => message);
  mkdirSync(join(folder, 'half/src'), { recursive: true });
  writeFileSync(join(folder, 'half/tsconfig.json'), '{}');
  const half = await updateTypings({ ...options(), envSecret, folder: join(folder, 'half') }).catch(({ message }) => message);
  rmSync(join(folder, 'half'), { recursive: true });
  expect([wrong, elsewhere, half, readFileSync(join(there, 'typings.d.ts'), 'utf8') === before]).toEqual([
    expect.stringMatching(/^CONFIGURATION .*lastname/s),
    expect.stringContaining('is not a folder of customizations'),
    expect.stringContaining('is not a folder of customizations'),
    true,
  ]);
}); // biome-ignore format: short

test('Exported types of the cloud package: Agent, SqlConnectionParams, MongoConnectionParams', () => {
  const sql: readonly SqlConnectionParams[] = ['sqlite:shop.sqlite', { uri: 'sqlite:shop.sqlite' }];
  const mongo: MongoConnectionParams = { connectionString: 'mongodb://localhost/shop' };
  const customize = (agent: Agent) => agent.removeCollection('orders');
  expect([sql.length, typeof mongo.connectionString, customize.length]).toEqual([2, 'string', 1]);
});
