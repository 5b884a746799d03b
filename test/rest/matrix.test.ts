// Every route against all rights that affect the result: permissions, row scopes, field permissions and actions. Each
// sample states its needs. The test derives the expected status for every combination, compares it with the server's,
// and checks that no response shows hidden data. A route without a sample fails.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createEngineHandle, type EngineHandle } from '../../src/agent/engine-handle.ts';
import { type Access, verbs } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { dataRoutes } from '../../src/rest/routes.ts';
import { customize, type Need, probes, type Sample, samples, source } from './matrix-samples.ts';
import { everything, openRestServer, type RestTestServer } from './rest-server.ts';

const keyOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
const calls = dataRoutes.flatMap((route) =>
  (samples[keyOf(route)] ?? []).map((sample) => ({ ...sample, ...route, sent: sample.path })),
);
test('every route of the table has a sample, and every sample a route', () => {
  const keys = dataRoutes.map(keyOf);
  expect([keys.filter((key) => !samples[key]), Object.keys(samples).filter((key) => !keys.includes(key))]).toEqual([
    [],
    [],
  ]);
});

interface Variant {
  readonly has: (need: Need) => boolean;
  readonly weight?: 'write' | 'read' | 'hidden';
  /** Collections with a hidden row: order 1, line 3. */
  readonly scoped?: readonly string[];
  /** The role's condition excludes the action on order 1. */
  readonly isConditioned?: true;
}

const withheld: Readonly<Record<string, number>> = { orders: 1, lines: 3 };

function accessOf({ has, weight = 'write', scoped = [], isConditioned }: Variant): Access {
  return {
    ...everything,
    can: (verb, collection) => has(`${verb} ${collection}` as Need),
    canTrigger: (collection) => has(`trigger ${collection}` as Need),
    triggerCondition: () => (isConditioned ? { field: 'weight', operator: 'GreaterThan', value: 10_000 } : null),
    field: (collection, field) => (collection === 'orders' && field === 'weight' ? weight : 'write'),
    scope: (name) => (scoped.includes(name) ? { field: 'id', operator: 'NotEqual', value: withheld[name] } : null),
    collections: has('agent charts') ? null : ['orders', 'lines'],
  };
}

let server: RestTestServer;
let live: EngineHandle;
let access: Access = everything;
beforeAll(async () => {
  live = createEngineHandle(await openEngine());
  server = await openRestServer({ engine: live.engine, access: () => access });
});
afterAll(() => server?.close());

async function openEngine(useUnsafeActionEndpoint = false): Promise<Engine> {
  const agent = createHeadlessAgent().addDataSource(() => source());
  customize(agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 30_000 };
  return agent.createEngine({ observe: () => undefined, clock: systemClock, limits, useUnsafeActionEndpoint });
}

/** Starts with the initial records. */
async function begin(variant: Variant, useUnsafeActionEndpoint = false): Promise<void> {
  access = accessOf(variant);
  await live.swap(await openEngine(useUnsafeActionEndpoint), async () => {});
}

interface Sent extends Pick<Sample, 'body'> {
  readonly method: string;
  readonly sent: string;
}

/** The status, and the headers and body as text. */
async function send({ method, sent, body }: Sent): Promise<readonly [number, string]> {
  const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await server.ask(sent, { method, ...json });
  // Random values could match a secret by chance.
  const headers = [...response.headers].filter(([name]) => name !== 'x-service-correlation-id' && name !== 'date');
  return [response.status, `${headers.join('\n')}\n${await response.text()}`];
}

function expectedStatus(
  { needs, isOfOne, isOfBoth, weighs, triggers, status = 200, isUnsafe }: Sample,
  variant: Variant,
): number {
  const { has, scoped = [], weight = 'write', isConditioned } = variant;
  const lacking = needs.find(([need]) => !has(need));
  if (lacking) return lacking[1];
  if (isUnsafe) return 404;
  if (weighs !== undefined && weight !== 'write') return weighs;
  if (isOfOne && scoped.includes(isOfOne)) return 404;
  if (isOfBoth && scoped.length > 0) return 404;
  return triggers && isConditioned ? 403 : status;
}

/** Names and values that only callers with the right may see. */
function secretsOf({ has, weight, scoped = [] }: Variant): string[] {
  return [
    ...(has('browse orders') ? [] : ['orders', 'label', 'boots', 'hats', 'Cancel', 'proof', 'weight', '7317']),
    ...(has('browse lines') ? [] : ['lines', 'quantity', 'orderId', '8842']),
    ...(has('trigger orders') ? [] : ['Cancel', 'proof', 'photo']),
    ...(has('agent charts') ? [] : ['total', '5150']),
    ...(weight === 'hidden' ? ['weight', '7317'] : []),
    ...(scoped.includes('orders') ? ['boots', '7317'] : []),
    ...(scoped.includes('lines') ? ['8842'] : []),
  ];
}

const all = (): boolean => true;
const places = ['orders', 'lines'] as const;
const variants: readonly (readonly [what: string, variant: Variant])[] = [
  ['everything', { has: all }],
  ['nothing', { has: () => false }],
  ...verbs.flatMap((verb): [string, Variant][] => [
    [`all but ${verb}`, { has: (need) => !need.startsWith(`${verb} `) }],
    [`only browse and ${verb}`, { has: (need) => need.startsWith('browse ') || need.startsWith(`${verb} `) }],
    [`only ${verb}`, { has: (need) => need.startsWith(`${verb} `) }],
    ...places.map((place): [string, Variant] => [
      `all but ${verb} ${place}`,
      { has: (need) => need !== `${verb} ${place}` },
    ]),
  ]),
  ['all but triggering', { has: (need) => !need.startsWith('trigger ') }],
  ['all but the charts of the agent', { has: (need) => need !== 'agent charts' }],
  ['a row scope', { has: all, scoped: ['orders'] }],
  ['a row scope on the related collection', { has: all, scoped: ['lines'] }],
  ['a row scope on both collections', { has: all, scoped: places }],
  ['a row scope, and no right to read', { has: (need) => !need.startsWith('read '), scoped: ['orders'] }],
  ['a condition on triggering', { has: all, isConditioned: true }],
  ['a condition on a hidden field', { has: all, isConditioned: true, weight: 'hidden' }],
  ['a condition and a row scope', { has: all, isConditioned: true, scoped: ['orders'] }],
  ['a hidden field', { has: all, weight: 'hidden' }],
  ['a read-only field', { has: all, weight: 'read' }],
];

test.each(variants)('%s', async (_what, variant) => {
  await begin(variant);
  const secrets = secretsOf(variant);
  const told: string[] = [];
  const run = async (call: Sent) => {
    const [status, answer] = await send(call);
    // A random id may contain the digits of a secret.
    const text = answer.replaceAll(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g, 'id');
    const known = `${decodeURIComponent(call.sent)} ${JSON.stringify(call.body)}`;
    const leaked = secrets.filter((secret) => text.includes(secret) && !known.includes(secret));
    if (leaked.length > 0) told.push(`${call.method} ${known} tells ${leaked.join(', ')}: ${text}`);
    return status;
  };
  for (const { path, body } of probes) await run({ method: body ? 'POST' : 'GET', sent: path, ...(body && { body }) });
  const ends: string[] = [];
  for (const call of calls) {
    if ('writes' in call && call.writes) await begin(variant);
    ends.push(`${call.method} ${call.sent} ${await run(call)}`);
  }
  expect({ ends, told }).toEqual({
    ends: calls.map((call) => `${call.method} ${call.sent} ${expectedStatus(call, variant)}`),
    told: [],
  });
});

test('with useUnsafeActionEndpoint the other URLs of actions work, with the same checks', async () => {
  const unsafe = calls.filter(({ isUnsafe }) => isUnsafe);
  const statuses = async (given: Variant) => {
    await begin(given, true);
    return Promise.all(unsafe.map(async (call) => (await send(call))[0]));
  };
  expect([
    await statuses({ has: all }),
    await statuses({ has: (need) => need !== 'trigger orders' }),
    await statuses({ has: (need) => need !== 'browse orders' }),
    await statuses({ has: all, scoped: ['orders'] }),
    await statuses({ has: all, isConditioned: true }),
  ]).toEqual([200, 404, 404, 404, 403].map((status) => unsafe.map(() => status)));
});

test('without a session every route returns the same 401', async () => {
  await begin({ has: all });
  const ends = await Promise.all(
    [...calls, { method: 'GET', sent: '/nothing' }].map(async ({ method, sent }) => {
      const response = await fetch(`${server.api}${sent}`, { method });
      return [response.status, await response.text()];
    }),
  );
  expect([...new Set(ends.map(([status]) => status)), new Set(ends.map(([, text]) => text)).size]).toEqual([401, 1]);
});
