// Behaviour 4.6: the commands of `portico cloud` in this process. test/cli runs them as users do.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
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

test('bootstrap: every file of the folder, and what it prints; a name has at most 100 characters', async () => {
  await bootstrapped();
  const read = (path: string) => readFileSync(inFolder(path), 'utf8');
  expect(readdirSync(join(folder, 'cloud-customizer')).filter((name) => !['dist', 'node_modules'].includes(name)).sort()).toEqual(['.env', '.gitignore', 'README.md', 'package.json', 'renames.json', 'src', 'tsconfig.json', 'typings.d.ts']);
  expect(read('.gitignore').trim().split('\n')).toEqual(['node_modules/', 'dist/', '.env', '.portico/', '*.sqlite*']);
  expect(read('.env').split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([`SERVICE_CLOUD_SERVER=${shop.address}`, `SERVICE_ENV_SECRET='${envSecret}'`, 'DATABASE_URL=', 'MCP_SERVER_PORT=3932']);
  expect(JSON.parse(read('package.json'))).toEqual({
    name: 'cloud-customizer', private: true, type: 'module',
    scripts: { build: 'tsc', start: 'portico cloud start', login: 'portico cloud login', 'update-typings': 'portico cloud update-typings' },
    dependencies: { portico: '^0.0.0' }, devDependencies: { '@types/node': '^20.19.0', typescript: '>=5.8' },
  });
  const { compilerOptions, include } = JSON.parse(read('tsconfig.json'));
  expect([compilerOptions.strict, compilerOptions.rootDir, compilerOptions.outDir, compilerOptions.module, include]).toEqual([true, 'src', 'dist', 'NodeNext', ['src', 'typings.d.ts']]);
  expect([read('README.md').startsWith(`# cloud-customizer\n\nCustomizations for ${shop.address}, `), /export (default )?(async )?function dataSources/.test(read('src/data-source.ts')), read('src/data-source.ts').includes('DATABASE_URL'), JSON.parse(read('renames.json')).length, read('typings.d.ts').includes('`portico cloud update-typings` overwrites')]).toEqual([true, true, true, 1, true]);
  printed.length = 0;
  const long = `L${'x'.repeat(99)}`;
  await bootstrap(long, { ...options(), envSecret, version: '0.0.0' });
  expect([printed.join('').split('\n')[0], printed.join('').includes(`\n  cd ${long}\n  npm install\n`)]).toEqual([expect.stringMatching(new RegExp(`^The folder ${long} is ready, with types of \\d+ collections of ${shop.address}\\. Next steps:$`)), true]);
  expect(JSON.parse(readFileSync(join(folder, long, 'package.json'), 'utf8')).name).toBe(long.toLowerCase());
  for (const name of [`${long}x`, 'a b', '_a', '-a', 'é', 'a/b', 'a\\b', '.'])
    expect(await bootstrap(name, { ...options(), envSecret, version: '0.0.0' }).catch(({ code }) => code), name).toBe('INVALID_ARGUMENT');
  rmSync(join(folder, long), { recursive: true });
}); // biome-ignore format: short

test('login, bootstrap, update-typings: the server of the option, of the environment or the default; its address is checked before any request', async () => {
  await bootstrapped();
  const told = (server?: string) => login({ browser: false, folder, ...(server !== undefined && { server }) }).then(() => 'signed in', ({ code, message }) => `${code} ${message}`);
  const wrong = ['', 'nowhere', 'ftp://127.0.0.1', '//127.0.0.1', `${shop.address}?x=1`, `${shop.address}#x`, shop.address.replace('://', '://a:b@'), shop.address.replace('://', '://a@')];
  for (const server of wrong) expect(await told(server), server).toMatch(/^CONFIGURATION .*--server: expected an address such as https:\/\/data\.example\.com, got '/);
  for (const server of ['http://data.example.com', 'http://10.0.0.1', 'http://128.0.0.1', 'http://localhost.example.com', 'http://0.0.0.0']) expect(await told(server), server).toMatch(/^CONFIGURATION .*is not https\. Only a server on this machine may use http\./);
  for (const server of [`${shop.address}/`, `${shop.address}//`, `${shop.address}/mcp`, `${shop.address}/mcp/`]) expect(await told(server), server).toBe('signed in');
  vi.stubEnv('SERVICE_CLOUD_SERVER', shop.address);
  expect([await told(), await told('nowhere')]).toEqual(['signed in', expect.stringMatching(/got 'nowhere'/)]);
  vi.stubEnv('SERVICE_CLOUD_SERVER', undefined);
  vi.stubGlobal('fetch', async (url: string) => { throw new Error(`asked ${url}`); });
  expect(await told()).toMatch(/^CONFIGURATION .*No server answers at http:\/\/127\.0\.0\.1:3931 \(no answer\)\. Start it, or set another with --server\./);
  for (const server of ['http://localhost:1', 'http://127.9.9.9:1', 'http://[::1]:1', 'https://data.example.com']) expect(await told(server), server).toMatch(/No server answers at/);
  vi.unstubAllGlobals();
}); // biome-ignore format: short

test('login: metadata of another server, of another kind, or that leads elsewhere is refused', async () => {
  let metadata: object | string = {};
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    res.end(typeof metadata === 'string' ? metadata : JSON.stringify(metadata));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const right = { issuer: address, portico_cloud_resource: `${address}/v1/cloud`, device_authorization_endpoint: `${address}/d`, token_endpoint: `${address}/t`, revocation_endpoint: `${address}/r` };
  const told = async (given: object | string, path = '') => {
    metadata = given;
    return login({ browser: false, folder, server: address + path }).then(() => 'signed in', ({ message }) => message as string);
  };
  for (const given of ['<html>', '[]', '"x"', {}, { issuer: 5 }]) expect(await told(given)).toContain(`The server at ${address} is not a Portico server.`);
  expect(await told({ ...right, issuer: 'https://other.example' })).toContain(`The server at ${address} has the URL https://other.example. If you want to use it: --server https://other.example`);
  for (const name of ['portico_cloud_resource', 'device_authorization_endpoint', 'token_endpoint', 'revocation_endpoint']) {
    expect(await told({ ...right, [name]: undefined }), name).toContain(`${address} does not allow sign-in with portico cloud`);
    for (const elsewhere of ['https://other.example/x', address.replace('http:', 'https:'), address.replace(/:\d+$/, ':1'), 'x', '/x'])
      expect(await told({ ...right, [name]: elsewhere }), name).toContain(`The server at ${address} refers to another server (${name}). No request was sent there.`);
  }
  expect(new Set(asked)).toEqual(new Set(['GET /.well-known/oauth-authorization-server']));
  asked.length = 0;
  await told({}, '/data');
  expect(asked).toEqual(['GET /.well-known/oauth-authorization-server/data', 'GET /.well-known/oauth-authorization-server']);
}); // biome-ignore format: short

test('Exported types of the cloud package: Agent, SqlConnectionParams, MongoConnectionParams', () => {
  const sql: readonly SqlConnectionParams[] = ['sqlite:shop.sqlite', { uri: 'sqlite:shop.sqlite' }];
  const mongo: MongoConnectionParams = { connectionString: 'mongodb://localhost/shop' };
  const customize = (agent: Agent) => agent.removeCollection('orders');
  expect([sql.length, typeof mongo.connectionString, customize.length]).toEqual([2, 'string', 1]);
});
