// Options of createAgent as a whole (behaviour 2.1): the values that each accepts, and what each changes where it is used.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type AgentOptions, createAgent } from '../../src/index.ts';
import { makeFolder, messageOf, secrets, shopAgent } from '../app/agent.ts';
import { freePort } from '../ports.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { addUserIn } from '../users.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-options-'));
const fine = (values: readonly unknown[]) => values.map((value) => [value, 'it worked'] as const);
const wrong = (values: readonly unknown[], problem: string) => values.map((value) => [value, problem] as const);
const flag = (name: string) => [
  ...fine([true, false]),
  ...wrong(['true', '', 0, 1, null], `'${name}' must be true or false`),
];
const secret = (name: string) => [
  ...fine(['a', ' a ', '0']),
  ...wrong(['', ' ', 0, null, {}, ['a']], `'${name}' must be a string that is not empty`),
  [undefined, `createAgent needs '${name}'`] as const,
];
const path = (name: string) => [
  ...fine([join(folder, 'a.json'), relative('.', join(folder, 'b'))]),
  ...wrong(['', ' ', '/nowhere/at/all', 7, null, {}], `'${name}' must be the path of a file in an existing folder`),
];
const accepted: Readonly<Record<string, readonly (readonly [value: unknown, outcome: string])[]>> = {
  authSecret: secret('authSecret'),
  envSecret: secret('envSecret'),
  isProduction: flag('isProduction'),
  useUnsafeActionEndpoint: flag('useUnsafeActionEndpoint'),
  logger: [...fine([() => undefined, async () => undefined]), ...wrong([null, {}, 'log', true, console], "'logger' must be a function")],
  loggerLevel: [...fine(['Debug', 'Info', 'Warn', 'Error']), ...wrong(['debug', 'Trace', '', null, 3], "'loggerLevel' must be one of Debug, Info, Warn, Error")],
  prefix: [...fine(['/service', 'service', '', '/', '/a//b/', '~-_9']), ...wrong(['/a b', '/a?b', '/a#b', '/é', 'a%20b', '/..', null, 7], "'prefix' must be a path such as '/service'")],
  schemaPath: path('schemaPath'),
  typingsPath: path('typingsPath'),
  typingsMaxDepth: [...fine([1, 5, 10]), ...wrong([0, 11, -1, 1.5, '3', null, Number.NaN], "'typingsMaxDepth' must be a whole number from 1 to 10")],
}; // biome-ignore format: a table

test.each(Object.entries(accepted))('%s: accepts each valid value, and refuses each invalid one with the line', async (name, cases) => {
  for (const [value, outcome] of cases) {
    const message = await messageOf(() => createAgent({ ...secrets, [name]: value } as unknown as AgentOptions));
    expect([name, value, message]).toEqual([name, value, expect.stringContaining(outcome)]);
    if (outcome !== 'it worked') expect(message).toMatch(/\(.*2\.1-whole-outside\.test\.ts:\d+\)$/);
  }
  const near = await messageOf(() => createAgent({ ...secrets, [`${name}s`]: 'x' } as unknown as AgentOptions));
  expect(near).toContain(`no option '${name}s'. Near: ${name}`);
}); // biome-ignore format: short

const account = { email: 'ada@example.com', password: 'correct horse battery' };

/** The API of an agent over the same storage, and a request with a token of it. */
async function serve(options: Partial<AgentOptions>, port = 0, token?: string) {
  const { agent } = shopAgent(options);
  agent.customizeCollection('orders', (orders) =>
    orders
      .addAction('Open', { scope: 'Global', form: () => [], execute: (_, result) => result.success('opened') })
      .addAction('Close now!', { scope: 'Global', execute: (_, result) => result.success('closed') }),
  );
  agent.mountAiMcpServer();
  const { server } = await agent.mountOnStandaloneServer(port).start();
  const api = `${server!.address}${options.prefix ?? '/service'}`;
  const mine = token ?? (await sessionToken(api, account));
  const send = async (path: string, method = 'POST') => {
    const headers = { authorization: `Bearer ${mine}`, 'content-type': 'application/json' };
    const body = method === 'POST' ? JSON.stringify({ data: { attributes: { fields: [] } } }) : undefined;
    const ask = () => fetch(`${api}${path}`, { method, headers, ...(body && { body }) });
    // The first one may use a connection to an earlier agent on the same port, which has closed it.
    return (await ask().catch(ask)).status;
  };
  return { token: mine, send, stop: () => agent.stop(), address: server!.address };
}

test('authSecret: a session signed with another secret is refused', async () => {
  const dataDir = join(makeFolder(), 'data');
  await addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });
  const settings = { dataDir, agentOrigins: [frontOrigin] };
  const port = await freePort();
  const statuses = [];
  let token: string | undefined;
  for (const authSecret of ['one', 'One', 'one', 'one ']) {
    const place = await serve({ authSecret, settings }, port, token);
    token = place.token;
    statuses.push(await place.send('/orders', 'GET'));
    await place.stop();
  }
  expect(statuses).toEqual([200, 401, 200, 401]);
});

test('useUnsafeActionEndpoint, prefix: the routes of forms match, for any action name, only below the prefix', async () => {
  const dataDir = join(makeFolder(), 'data');
  await addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });
  const settings = { dataDir, agentOrigins: [frontOrigin] };
  const paths = ['/0/open', '/open', '/1/close-now-', '/close-now-', '/close-now', '/Open', '/1/open', '/00/open'];
  const found = [];
  for (const options of [{}, { useUnsafeActionEndpoint: true, prefix: '/a/b' }]) {
    const place = await serve({ ...options, settings });
    for (const end of ['', '/hooks/load', '/hooks/change'])
      found.push(await Promise.all(paths.map((path) => place.send(`/_actions/orders${path}${end}`))));
    const others = ['/service/orders', '/a/b/orders', '/a/orders', '/orders', '/service/_console', '/a/b/_console'];
    found.push(await Promise.all(others.map(async (other) => (await fetch(`${place.address}${other}`, { redirect: 'manual' })).status === 404)));
    await place.stop();
  }
  const [ran, none] = [200, 404];
  const byIndex = [ran, none, ran, none, none, none, none, none];
  const bySlug = [none, ran, none, ran, none, none, none, none];
  expect(found).toEqual([
    byIndex, byIndex, byIndex, [false, true, true, true, false, true],
    bySlug, bySlug, bySlug, [true, false, true, true, true, false],
  ]);
}); // biome-ignore format: short

test('useUnsafeActionEndpoint: two actions with one slug end the start, only with this option', async () => {
  const start = async (useUnsafeActionEndpoint: boolean | undefined, second: string) => {
    const { agent } = shopAgent(useUnsafeActionEndpoint === undefined ? {} : { useUnsafeActionEndpoint });
    const execute = () => undefined;
    agent.customizeCollection('orders', (orders) =>
      orders.addAction('Close now', { scope: 'Global', execute }).addAction(second, { scope: 'Global', execute }),
    );
    return messageOf(() => agent.generateSchemaOnly());
  };
  const refused = expect.stringContaining("its URL name 'close-now' is also that of 'Close now'");
  expect([
    await start(true, 'CLOSE  now'),
    await start(true, 'Close-now'),
    await start(true, 'Close_now'),
    await start(true, 'Close now!'),
    await start(false, 'CLOSE now'),
    await start(undefined, 'CLOSE now'),
  ]).toEqual([refused, refused, refused, 'it worked', 'it worked', 'it worked']);
});

test('typingsMaxDepth, typingsPath, schemaPath: a depth from 1 to 10, 5 by default; paths are relative to the working folder', async () => {
  const written = [];
  for (const typingsMaxDepth of [1, 10, undefined]) {
    const typingsPath = relative('.', join(makeFolder(), 'typings.ts'));
    const schemaPath = relative('.', join(makeFolder(), 'schema.json'));
    const { agent } = shopAgent({ typingsPath, schemaPath, ...(typingsMaxDepth && { typingsMaxDepth }) });
    await agent.generateSchemaOnly();
    await agent.stop();
    const depths = readFileSync(typingsPath, 'utf8').match(/depth: \d+/g);
    written.push([depths, JSON.parse(readFileSync(schemaPath, 'utf8')).collections.length]);
  }
  expect(written).toEqual([1, 10, 5].map((depth) => [Array(4).fill(`depth: ${depth}`), 4]));
});

test('isProduction, schemaPath, typingsPath: in production a start keeps both files, and generateSchemaOnly writes them', async () => {
  const at = makeFolder();
  const [schemaPath, typingsPath] = [join(at, 'schema.json'), join(at, 'typings.ts')];
  const run = async (isProduction: boolean | undefined, act: 'start' | 'generateSchemaOnly') => {
    const { agent, logged } = shopAgent({ schemaPath, typingsPath, ...(isProduction !== undefined && { isProduction }) });
    const message = await messageOf(() => agent[act]());
    await agent.stop();
    const warned = logged.filter(([level]) => level === 'Warn').length;
    return [message, warned, ...[schemaPath, typingsPath].map((each) => readFileSync(each, 'utf8').slice(0, 6) === 'older ')];
  };
  const older = () => {
    const other = JSON.stringify({ collections: [], meta: {} });
    writeFileSync(schemaPath, other);
    writeFileSync(typingsPath, 'older ');
    return () => readFileSync(schemaPath, 'utf8') === other;
  };
  const outcomes = [];
  for (const [isProduction, act] of [[true, 'start'], [true, 'generateSchemaOnly'], [false, 'start'], [undefined, 'start']] as const) {
    const isSame = older();
    outcomes.push([...(await run(isProduction, act)), isSame()]);
  }
  expect(outcomes).toEqual([
    ['it worked', 1, false, true, true],
    ['it worked', 0, false, false, false],
    ['it worked', 0, false, false, false],
    ['it worked', 0, false, false, false],
  ]);
}); // biome-ignore format: short

test('loggerLevel: the environment sets it, and code wins', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const levelsOf = async (variable: string | undefined, options: Partial<AgentOptions>) => {
    vi.stubEnv('SERVICE_LOG_LEVEL', variable);
    const { agent, logged } = shopAgent(options);
    agent.mountAiMcpServer({ enabledTools: ['list'] }).mountOnStandaloneServer(0);
    await agent.start();
    await agent.stop();
    return [...new Set(logged.map(([level]) => level))].sort().filter((level) => level !== 'Debug' || variable === 'Debug');
  };
  const [byDefault, error, overridden] = [await levelsOf(undefined, {}), await levelsOf('Error', {}), await levelsOf('Error', { loggerLevel: 'Info' })];
  expect([byDefault, error, overridden.includes('Info')]).toEqual([['Info', 'Warn'], [], true]);
}); // biome-ignore format: short

test('MCP_SERVER_PORT: only valid ports; SERVICE_MCP_ENABLED_TOOLS: a list that is empty, has a duplicate or another case', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const start = async (name: string, value: string) => {
    vi.stubEnv(name, value);
    const { agent } = shopAgent();
    agent.mountAiMcpServer().mountOnStandaloneServer(name === 'MCP_SERVER_PORT' ? undefined : 0);
    const message = await messageOf(async () => void (await agent.start()));
    await agent.stop();
    vi.unstubAllEnvs();
    return message;
  };
  const port = expect.stringContaining('MCP_SERVER_PORT');
  const tools = expect.stringContaining('SERVICE_MCP_ENABLED_TOOLS');
  const ports = [];
  for (const value of ['65536', '-1', '80.5', 'many', '0x50', '0']) ports.push(await start('MCP_SERVER_PORT', value));
  expect(ports).toEqual([...Array(5).fill(port), 'it worked']);
  expect([await start('SERVICE_MCP_ENABLED_TOOLS', 'list,list'), await start('SERVICE_MCP_ENABLED_TOOLS', 'List'), await start('SERVICE_MCP_ENABLED_TOOLS', 'list;create')]).toEqual(['it worked', tools, tools]);
}); // biome-ignore format: short
