// Spec 4.6: the commands of `portico cloud`, within this process; test/cli has them as users run them.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bootstrap, login, updateTypings } from '../../src/cli/cloud.ts';
import type { Agent, MongoConnectionParams, SqlConnectionParams } from '../../src/cloud/index.ts';
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
  vi.stubEnv('TOKEN_PATH', join(folder, 'tokens'));
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(`${text}`);
    return true;
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  await shop?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The person at the address that is printed. */
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
  return JSON.parse(readFileSync(join(folder, 'tokens', file!), 'utf8')) as { readonly accessToken: string };
};
const inFolder = (path: string) => join(folder, 'cloud-customizer', path);

/** The folder that `bootstrap` makes, with its sign-in: once, by whichever test comes first. */
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

test('login: refreshes the authentication token', async () => {
  await bootstrapped();
  const before = kept().accessToken;
  await login(options());
  expect(kept().accessToken).not.toBe(before);
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
});

test('Exported types of the cloud package: Agent, SqlConnectionParams, MongoConnectionParams', () => {
  const sql: readonly SqlConnectionParams[] = ['sqlite:shop.sqlite', { uri: 'sqlite:shop.sqlite' }];
  const mongo: MongoConnectionParams = { connectionString: 'mongodb://localhost/shop' };
  const customize = (agent: Agent) => agent.removeCollection('orders');
  expect([sql.length, typeof mongo.connectionString, customize.length]).toEqual([2, 'string', 1]);
});
