// Every tool against all rights that affect the result: permissions, row scope, field permissions, OAuth scopes,
// enabled tools and restrictions. Each row states the needs of a tool. The test derives the visible tools and the
// outcome of each call for every combination, and compares them with the server's. A tool without a row fails.
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { createRestrictions, restrictAccess } from '../../src/core/caller/restrictions.ts';
import { type Access, fullAccess, verbs } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { selectTools, toolNames } from '../../src/mcp/tools.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { customize, orders, rows, runId, source, workflowId } from './matrix-rows.ts';
import { legacy, type McpTestServer, openMcpServer, post } from './mcp-server.ts';

// The call that deletes the record comes last.
const tools = [...selectTools(null, () => undefined)];
const calls = tools.map(({ name }) => name).sort((a, b) => Number(a === 'delete') - Number(b === 'delete'));

test('every tool has a row in this table', () => {
  expect(toolNames.filter((name) => !rows[name])).toEqual([]);
});

interface Variant {
  readonly has: (need: string) => boolean;
  readonly query?: string;
  /** Restrictions of the grant: read-only, and a list of collections. */
  readonly granted?: Parameters<typeof createRestrictions>;
  /** The rights that remain under these restrictions. */
  readonly left?: (need: string) => boolean;
  readonly weight?: 'write' | 'read' | 'hidden';
  readonly isScoped?: true;
  /** The role's condition excludes actions on order 1. */
  readonly isConditioned?: true;
}

const everything: Variant = { has: () => true };

function accessOf({ has, weight = 'write', isScoped, isConditioned }: Variant): Access {
  return {
    ...fullAccess({ id: 2, tags: {}, timezone: 'UTC', team: 'Operations', role: 'Member', renderingId: 1 } as never),
    can: (verb, collection) => has(`${verb} ${collection}`),
    canTrigger: (collection) => has(`trigger ${collection}`),
    startsWorkflows: has('start orders'),
    triggerCondition: () => (isConditioned ? { field: 'weight', operator: 'GreaterThan', value: 10_000 } : null),
    field: (collection, field) => (collection === 'orders' && field === 'weight' ? weight : 'write'),
    scope: (name) => (isScoped && name === 'orders' ? { field: 'id', operator: 'NotEqual', value: 1 } : null),
  };
}

function grantedOf(variant: Variant): Access {
  const narrowing = variant.granted && createRestrictions(...variant.granted);
  return narrowing ? restrictAccess(accessOf(variant), narrowing) : accessOf(variant);
}

async function open(variant: Variant, settings = {}): Promise<McpTestServer> {
  const access = () => grantedOf(variant);
  const server = await openMcpServer({ source: source(), customize, access, settings, workflowOn: 'orders' });
  onTestFinished(() => server.close());
  return { ...server, url: server.url + (variant.query ?? '') };
}

async function shown(server: McpTestServer, token = 'user-2'): Promise<string[]> {
  const { body } = await post(server, legacy('tools/list'), { authorization: `Bearer ${token}` });
  return (body as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
}

/** The outcome (`ok`, an error code of the tool or the protocol, or a status), and the full text. */
async function end(
  server: McpTestServer,
  name: string,
  given: object,
  token = 'user-2',
): Promise<readonly [string, string]> {
  const { workflows } = server;
  const ids: Readonly<Record<string, string>> = { [workflowId]: workflows.workflowId, [runId]: workflows.runId };
  const args = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, ids[value as string] ?? value]));
  const call = legacy('tools/call', { name, arguments: args });
  const { status, body, headers } = await post(server, call, { authorization: `Bearer ${token}` });
  const text = JSON.stringify(body);
  const { result, error } = body as { result?: { isError?: boolean; content: [{ text: string }] }; error?: object };
  if (status !== 200) return [`${status} ${headers.get('www-authenticate')}`, text];
  if (!result) return [JSON.stringify(error), text];
  return [result.isError ? /^\w+/.exec(result.content[0].text)![0] : 'ok', text];
}

/** Whether a need is met, after the restrictions. */
const leftOf =
  ({ has, left = () => true }: Variant) =>
  (need: string) =>
    has(need) && left(need);

function isShown(name: string, variant: Variant): boolean {
  const left = leftOf(variant);
  const { needs, isGeneral } = rows[name]!;
  const places = isGeneral ? ['orders', 'lines'] : ['orders'];
  return places.some((place) => needs.every(([need]) => left(need.replace(/orders$/, place))));
}

function expectedEnd(name: string, variant: Variant): string {
  const { needs, isOfOne, weighs, triggers } = rows[name]!;
  const lacking = needs.find(([need]) => !leftOf(variant)(need));
  if (lacking) return lacking[1];
  if (weighs && (variant.weight ?? 'write') !== 'write') return 'INVALID_RECORD';
  if (isOfOne && variant.isScoped) return 'RECORD_NOT_FOUND';
  return triggers && variant.isConditioned ? 'FORBIDDEN' : 'ok';
}

/** Names and values that only callers with the right may see. */
function secretsOf(variant: Variant): string[] {
  const left = leftOf(variant);
  return [
    ...(left('browse orders') ? [] : ['orders', 'label', 'boots', 'hats', 'Cancel', 'proof', 'weight', '7317']),
    ...(left('browse lines') ? [] : ['lines', 'quantity', 'orderId', '8842']),
    ...(left('trigger orders') ? [] : ['Cancel', 'proof']),
    ...(variant.weight === 'hidden' ? ['weight', '7317'] : []),
    ...(variant.isScoped ? ['boots', '7317'] : []),
  ];
}

const probes: readonly (readonly [name: string, args: Readonly<Record<string, unknown>>])[] = [
  ['describeCollection', {}],
  ['describeCollection', { collectionName: 'orders', detail: 'full' }],
  ['describeCollection', { collectionName: 'lines', detail: 'full' }],
  ['list', { collectionName: 'order' }],
  ['list', { collectionName: 'line' }],
  ['list', { ...orders, fields: ['weigh', 'labels', 'line'] }],
  ['list', { ...orders, filters: { field: 'line:quantities', operator: 'Present' } }],
  ['list', { ...orders, sort: [{ field: 'weigh', ascending: true }] }],
  ['list', { ...orders, search: '7317' }],
  ['listRelated', { ...orders, relationName: 'line', parentRecordId: 2 }],
  ['getActionForm', { ...orders, actionName: 'Cance', recordIds: [2] }],
  ['getChart', { ...orders, chartName: 'aged', recordId: 2 }],
  ['create', { ...orders, attributes: { id: 9, weigh: 1 } }],
  ['update', { ...orders, recordId: 2, attributes: { weigh: 1 } }],
  ['getActionForm', { collectionName: 'line', actionName: 'Cancel', recordIds: [2] }],
  ['executeAction', { collectionName: 'order', actionName: 'Cancel', recordIds: [2] }],
];

const all = verbs.flatMap((verb) => [`${verb} orders`, `${verb} lines`]);
const rights: readonly (readonly [what: string, variant: Variant])[] = [
  ['everything', everything],
  ['nothing', { has: () => false }],
  ...verbs.flatMap((verb): [string, Variant][] => [
    [`all but ${verb}`, { has: (need) => !need.startsWith(verb) }],
    [`only browse and ${verb}`, { has: (need) => need.startsWith('browse') || need.startsWith(verb) }],
    [`only ${verb}`, { has: (need) => need.startsWith(verb) }],
  ]),
  ...all.map((lost): [string, Variant] => [`all but ${lost}`, { has: (need) => need !== lost }]),
  ['all but triggering', { has: (need) => !need.startsWith('trigger') }],
  ['all but starting workflows', { has: (need) => !need.startsWith('start') }],
  ['a row scope', { ...everything, isScoped: true }],
  ['a condition of triggering', { ...everything, isConditioned: true }],
  ['a condition on a hidden field', { ...everything, isConditioned: true, weight: 'hidden' }],
  ['a condition and a row scope', { ...everything, isConditioned: true, isScoped: true }],
  ['a hidden field', { ...everything, weight: 'hidden' }],
  ['a field to read', { ...everything, weight: 'read' }],
];
const reads = (need: string) => /^(browse|read|export) /.test(need);
const ofOrders = (need: string) => need.endsWith(' orders');
const ofLines = (need: string) => need.endsWith(' lines');
type Narrowed = Pick<Variant, 'query' | 'granted'> & { readonly left: (need: string) => boolean };
const narrowings: readonly (readonly [what: string, narrowed: Narrowed])[] = [
  ['no restriction', { left: () => true }],
  ['/mcp?readonly=true', { query: '?readonly=true', left: reads }],
  ['/mcp?collections=orders', { query: '?collections=orders', left: ofOrders }],
  ['/mcp?collections=lines', { query: '?collections=lines', left: ofLines }],
  ['/mcp?readonly=true&collections=orders,lines', { query: '?readonly=true&collections=orders,lines', left: reads }],
  ['granted for reading', { granted: [true, null], left: reads }],
  ['granted for orders', { granted: [false, ['orders']], left: ofOrders }],
  ['granted for a removed collection', { granted: [false, ['gone']], left: () => false }],
  ['granted for no collection', { granted: [false, []], left: () => false }],
  ['granted for reading lines', { granted: [true, ['lines']], left: (need) => reads(need) && ofLines(need) }],
  // The URL never restores what the grant excludes.
  [
    'granted for orders, /mcp?collections=orders,lines',
    { granted: [false, ['orders']], query: '?collections=orders,lines', left: ofOrders },
  ],
  [
    'granted for reading, /mcp?collections=lines',
    { granted: [true, null], query: '?collections=lines', left: (need) => reads(need) && ofLines(need) },
  ],
  [
    'granted for orders, /mcp?collections=lines',
    { granted: [false, ['orders']], query: '?collections=lines', left: () => false },
  ],
];

// Restrictions reduce the Access itself, so one right of each kind is enough with each.
const some = /^(everything|nothing|all but triggering|a row scope|a condition of triggering|a hidden field)$/;

describe.each(narrowings)('%s', (_narrowing, narrowed) => {
  test.each(rights.filter(([what]) => (!narrowed.query && !narrowed.granted) || some.test(what)))(
    '%s',
    async (_what, rest) => {
      const variant: Variant = { ...rest, ...narrowed };
      const server = await open(variant);
      const secrets = secretsOf(variant);
      const told: string[] = [];
      const run = async (name: string, args: object) => {
        const [outcome, text] = await end(server, name, args);
        const sent = JSON.stringify(args);
        // A run id may contain the digits of a secret by chance.
        const read = text.replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '');
        const leaked = secrets.filter((secret) => read.includes(secret) && !sent.includes(secret));
        if (leaked.length > 0) told.push(`${name} ${sent} tells ${leaked.join(', ')}: ${text}`);
        return outcome;
      };
      for (const [name, args] of probes) if (toolNames.includes(name)) await run(name, args);
      const seen = { shown: await shown(server), ends: {} as Record<string, string> };
      for (const name of calls) seen.ends[name] = await run(name, rows[name]!.args);
      expect({ ...seen, told }).toEqual({
        shown: toolNames.filter((name) => isShown(name, variant)),
        ends: Object.fromEntries(calls.map((name) => [name, expectedEnd(name, variant)])),
        told: [],
      });
    },
  );
});

test.each([
  ['user', ['mcp:read', 'mcp:write', 'mcp:action']],
  ['reader', ['mcp:read']],
  ['writer', ['mcp:write']],
  ['actor', ['mcp:action']],
])('the OAuth scopes of a token: %s', async (kind, scopes) => {
  const server = await open(everything);
  const ends = [];
  for (const name of calls) ends.push([name, (await end(server, name, rows[name]!.args, `${kind}-2`))[0]]);
  const lacks = ({ scope }: { scope: string }) => !scopes.includes(scope);
  // A client requests exactly the scopes of the challenge, so the challenge repeats those already granted.
  const named = (scope: string) =>
    ['mcp:read', 'mcp:write', 'mcp:action'].filter((one) => one === scope || scopes.includes(one)).join(' ');
  expect([await shown(server, `${kind}-2`), ends]).toEqual([
    tools.filter((tool) => !lacks(tool)).map(({ name }) => name),
    calls.map((name) => {
      const tool = tools.find((one) => one.name === name)!;
      return [name, lacks(tool) ? `403 Bearer error="insufficient_scope", scope="${named(tool.scope)}"` : 'ok'];
    }),
  ]);
});

test.each(toolNames)(
  'enabledTools without %s: the tool is not listed, not suggested and not callable',
  async (name) => {
    const server = await open(everything, { enabledTools: toolNames.filter((other) => other !== name) });
    const [outcome] = await end(server, name, rows[name]!.args);
    const [, near] = await end(server, `${name}s`, {});
    expect([await shown(server), outcome, near.replace(`${name}s`, '').includes(name)]).toEqual([
      toolNames.filter((other) => other !== name),
      expect.stringContaining('-32602'),
      false,
    ]);
  },
);

test.each(toolNames)('enabledTools with only %s: no other tool', async (name) => {
  const server = await open(everything, { enabledTools: [name] });
  const others = calls.filter((other) => other !== name);
  const ends = await Promise.all(others.map(async (other) => (await end(server, other, rows[other]!.args))[0]));
  expect([await shown(server), ends.filter((outcome) => !outcome.includes('-32602'))]).toEqual([[name], []]);
});

test('tools that write records need a collection that can be written, even with all rights', async () => {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(database, [
    'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR(9))',
    'CREATE VIEW names AS SELECT id, name FROM people',
  ]);
  const writers = async (removed: readonly string[]) => {
    const server = await openMcpServer({
      source: createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
      customize: (agent) => void agent.removeCollection(...removed),
      access: () => accessOf(everything),
    });
    onTestFinished(() => server.close());
    const names = await shown(server);
    return [names.includes('list'), names.filter((name) => ['create', 'update', 'delete'].includes(name))];
  };
  expect([await writers(['people']), await writers([])]).toEqual([
    [true, []],
    [true, ['create', 'update', 'delete']],
  ]);
});
