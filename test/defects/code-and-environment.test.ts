// A setting in code wins, the environment sets what code omits, and an allow-list can only be narrowed. Tests every
// setting, and those that clients notice also from outside.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { loadConfig, type SettingName, settings } from '../../src/core/config.ts';
import { type AgentOptions, createMemoryDataSource, type McpOptions } from '../../src/index.ts';
import { createTestableAgent, type TestableAgent } from '../../src/testing/index.ts';
import { shopTables } from '../agent/shop.ts';
import type { Logged } from '../app/agent.ts';

afterEach(() => vi.unstubAllEnvs());

/** Two values for each setting, in the format of the environment. */
const samples: Partial<Record<SettingName, readonly [string, string]>> = {
  approvalExecution: ['assistant', 'server'],
  publicUrl: ['https://code.example', 'https://environment.example'],
  serverUrl: ['https://code.example', 'https://environment.example'],
  ssoIssuer: ['https://code.example', 'https://environment.example'],
  redisUrl: ['redis://code.example', 'redis://environment.example'],
  logLevel: ['Debug', 'Error'],
  secondFactor: ['optional', 'required'],
  sqlite: ['native', 'wasm'],
  mailUrl: ['smtps://code.example', 'smtps://environment.example'],
  mailFrom: ['code@mail.example', 'environment@mail.example'],
  notifyUrl: ['https://code.example/hook', 'https://environment.example/hook'],
  notifySecret: [`whsec_${'a'.repeat(32)}`, `whsec_${'b'.repeat(32)}`],
  databaseTimezone: ['America/New_York', 'Asia/Tokyo'],
  databaseColumnTimezones: ['orders.placed_at=America/New_York', 'orders.placed_at=Asia/Tokyo'],
  brandColor: ['#123456', '#654321'],
  ssoMapping: ['[]', '[]'],
  ssoProviders: [
    '[{"id":"a","issuer":"https://code.example","clientId":"id"}]',
    '[{"id":"a","issuer":"https://environment.example","clientId":"id"}]',
  ],
  agentOrigins: ['https://code.example,https://both.example', 'https://environment.example,https://both.example'],
};
const sso = { SERVICE_SSO_CLIENT_ID: 'id', SERVICE_SSO_CLIENT_SECRET: 'secret' };

function samplesOf(name: SettingName): readonly [string, string] {
  const own = samples[name];
  if (own) return own;
  const { fallback } = settings[name];
  if (typeof fallback === 'boolean') return ['true', 'false'];
  for (const [a, b] of [
    ['100', '200'],
    ['10', '20'],
    ['2000', '3000'],
    ['20000', '30000'],
  ] as const)
    if (typeof fallback === 'number' && takes(name, a) && takes(name, b)) return [a, b];
  if (/Path$|^prefix$/.test(name)) return ['/code', '/environment'];
  return takes(name, 'code') ? ['code,both', 'environment,both'] : ['101', '201'];
}

function takes(name: SettingName, value: string): boolean {
  try {
    settings[name].read(value);
    return true;
  } catch {
    return false;
  }
}

const isDenial = (name: SettingName) => /Denied/.test(name);
/** `ssoScopes` and the timezones of columns are lists, but not allow-lists. */
const isList = (name: SettingName) =>
  name !== 'ssoScopes' && name !== 'databaseColumnTimezones' && Array.isArray(settings[name].read(samplesOf(name)[0]));

describe.each(Object.keys(settings) as SettingName[])('%s', (name) => {
  const [inCode, inEnvironment] = samplesOf(name);
  const { env, read } = settings[name];
  const more = name.startsWith('sso')
    ? { SERVICE_SSO_ISSUER: 'https://issuer.example', ...sso }
    : name.startsWith('notify')
      ? { SERVICE_NOTIFY_URL: samplesOf('notifyUrl')[1], SERVICE_NOTIFY_SECRET: samplesOf('notifySecret')[1] }
      : name.startsWith('mail')
        ? { SERVICE_MAIL_URL: samplesOf('mailUrl')[1], SERVICE_MAIL_FROM: samplesOf('mailFrom')[1] }
        : {};
  // With serverUrl, no storage can be set.
  const load = (code: boolean) =>
    loadConfig({ env: { ...more, [env]: inEnvironment }, ...(code && { code: { [name]: read(inCode) as never } }) });

  test('the environment fills settings that code omits', () => {
    const config = load(false);
    expect(config.origins[name]).toBe('environment');
    expect(config.unused).toEqual([]);
  });

  test('a setting in code wins over the environment, or is narrowed by it', () => {
    const config = load(true);
    const alone = loadConfig({ env: more, code: { [name]: read(inCode) as never } })[name];
    if (!isList(name)) {
      expect(config[name]).toEqual(alone);
      expect(config.origins[name]).toBe('code');
      expect(config.unused).toEqual(inCode === inEnvironment ? [] : [env]);
    } else if (isDenial(name)) expect(config[name]).toEqual(['code', 'both', 'environment']);
    else expect(config[name]).toEqual([expect.stringMatching(/both/)]);
  });
});

test.each((Object.keys(settings) as SettingName[]).filter((name) => isList(name) && !isDenial(name)))(
  'an empty intersection of allow-lists ends the start: %s',
  (name) => {
    const { env } = settings[name];
    const more = name.startsWith('sso') ? { SERVICE_SSO_ISSUER: 'https://issuer.example', ...sso } : {};
    expect(() => loadConfig({ env: { ...more, [env]: 'b' }, code: { [name]: ['a'] as never } })).toThrow(
      new RegExp(`${env}: .*'a'`),
    );
  },
);

test('names of lists are compared without case, and all in code leaves the list of the environment', () => {
  const load = (env: Record<string, string>, code: object) => loadConfig({ env, code });
  const tools = { SERVICE_MCP_ENABLED_TOOLS: 'LIST,create' };
  expect(load(tools, { enabledTools: ['list', 'delete'] })).toMatchObject({ enabledTools: ['list'], unused: [] });
  expect(load(tools, { enabledTools: null })).toMatchObject({ enabledTools: ['LIST', 'create'], unused: [] });
  const denied = { SERVICE_CIMD_DENIED_DOMAINS: 'A.example,b.example' };
  const { clientMetadataDeniedDomains } = load(denied, { clientMetadataDeniedDomains: ['a.example'] });
  expect(clientMetadataDeniedDomains).toEqual(['a.example', 'b.example']);
});

interface Opened extends TestableAgent {
  readonly logged: readonly Logged[];
}

async function open(options: Partial<AgentOptions>, mcp: McpOptions, env: Record<string, string>): Promise<Opened> {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const logged: Logged[] = [];
  const place = await createTestableAgent(
    (agent) =>
      agent.addDataSource(createMemoryDataSource('shop', shopTables)).customizeCollection('customers', (customers) =>
        customers.addAction('Greet', {
          scope: 'Single',
          execute: (_context, result) => result.success('Hello'),
        }),
      ),
    { agent: { loggerLevel: 'Info', logger: (...line) => void logged.push(line), ...options }, mcp },
  );
  return { ...place, logged };
}

const greet = async ({ client }: Opened) =>
  (await (await client.collection('customers').action('Greet', { recordId: 1 })).execute()) as { message?: string };

test('paths and tools that code sets win over the environment', async () => {
  const place = await open(
    { prefix: '/code', consolePath: '/codeconsole', apiPath: '/codeapi', settings: { pageSize: 3 } },
    { enabledTools: ['list', 'describeCollection'], basePath: '/fromcode' },
    {
      SERVICE_PREFIX: '/environment',
      SERVICE_CONSOLE_PATH: '/environmentconsole',
      SERVICE_API_PATH: '/environmentapi',
      SERVICE_MCP_BASE_PATH: '/fromenvironment',
      SERVICE_MCP_ENABLED_TOOLS: 'list,delete,describeCollection',
      SERVICE_PAGE_SIZE: '2',
      MCP_SERVER_PORT: '1',
      SERVICE_HOST: '127.0.0.1',
      SERVICE_LOG_LEVEL: 'Error',
    },
  );
  try {
    const tools = (await place.mcp.listTools()).map(({ name }) => name);
    expect([...tools].sort()).toEqual(['describeCollection', 'list']);
    expect(place.mcpPath).toBe('/fromcode/mcp');
    const { origin } = new URL(place.options.agentUrl);
    const statusOf = async (path: string) => (await fetch(origin + path, { redirect: 'manual' })).status;
    expect(await statusOf('/code/authentication/session')).toBe(401);
    expect(await statusOf('/environment/authentication/session')).toBe(404);
    expect(await statusOf('/codeconsole')).not.toBe(404);
    expect(await statusOf('/environmentconsole')).toBe(404);
    expect(await statusOf('/codeapi/v1/notes')).toBe(401);
    expect(await statusOf('/environmentapi/v1/notes')).toBe(404);
    expect(await greet(place)).toMatchObject({ message: 'Hello' });
    expect((await place.mcp.call('list', { collectionName: 'customers' })).rows).toHaveLength(3);
    const warned = place.logged.filter(([level]) => level === 'Warn').map(([, message]) => message);
    for (const name of ['SERVICE_PREFIX', 'SERVICE_CONSOLE_PATH', 'SERVICE_API_PATH', 'SERVICE_MCP_BASE_PATH'])
      expect(warned.filter((message) => message.includes(name))).toHaveLength(1);
    for (const name of ['SERVICE_PAGE_SIZE', 'MCP_SERVER_PORT', 'SERVICE_LOG_LEVEL'])
      expect(warned.filter((message) => message.includes(name))).toHaveLength(1);
  } finally {
    await place.close();
  }
});

test('the environment fills omitted settings in the schema file, the console and the testing client too', async () => {
  const place = await open(
    {},
    {},
    {
      SERVICE_PREFIX: '/environment',
      SERVICE_MCP_BASE_PATH: '/fromenvironment',
      SERVICE_MCP_ENABLED_TOOLS: 'list,describeCollection',
    },
  );
  try {
    expect((await place.mcp.listTools()).map(({ name }) => name).sort()).toEqual(['describeCollection', 'list']);
    expect(place.mcpPath).toBe('/fromenvironment/mcp');
    const { origin } = new URL(place.options.agentUrl);
    const statusOf = async (path: string) => (await fetch(origin + path, { redirect: 'manual' })).status;
    expect(await statusOf('/environment/authentication/session')).toBe(401);
    expect(await statusOf('/environment/_console')).not.toBe(404);
    expect(await statusOf('/environment/_api/v1/notes')).toBe(401);
    expect(await greet(place)).toMatchObject({ message: 'Hello' });
  } finally {
    await place.close();
  }
});

test('the served tools are those of both lists, and an empty intersection ends the start', async () => {
  const mcp = { enabledTools: ['list', 'describeCollection'] };
  const place = await open({}, mcp, { SERVICE_MCP_ENABLED_TOOLS: 'list,create' });
  expect((await place.mcp.listTools()).map(({ name }) => name)).toEqual(['list']);
  await place.close();
  await expect(open({}, mcp, { SERVICE_MCP_ENABLED_TOOLS: 'delete' })).rejects.toThrow(
    /SERVICE_MCP_ENABLED_TOOLS: .*'list', 'describeCollection'/,
  );
  await expect(open({}, mcp, { SERVICE_MCP_ENABLED_TOOLS: 'list,crate' })).rejects.toThrow(/'crate'.*create/);
});
