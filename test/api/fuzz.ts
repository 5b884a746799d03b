// Requests generated from the OpenAPI document: valid ones for every operation and scope, with ids from earlier
// responses; nearly valid ones with one mistake each and a documented status; and random ones. A new operation of the
// document needs code here only for its preconditions (`before`).
import fc from 'fast-check';
import { oddText, type Pool, type Resolve, validOf, validRecord, wrongTextOf } from './arbitraries.ts';
import { ask } from './ask.ts';
import type { Answered, Described, Json, Judge } from './document.ts';

export interface Tokens {
  /** Tokens of an administrator, by scope. */
  readonly able: readonly { readonly scopes: readonly string[]; readonly secret: string }[];
  /** A token with scope `all` of a user who is no longer an administrator. */
  readonly demoted: string;
  readonly expired: string;
  readonly revoked: string;
  /** A token for MCP, not for this API. */
  readonly mcp: string;
  /** A token that has used up its rate limit. */
  readonly spent: string;
}

export interface FuzzPlace {
  /** The URL before `/v1`. */
  readonly address: string;
  readonly judge: Judge;
  readonly tokens: Tokens;
  /** Values known from the start, by name of parameter or property. */
  readonly pool: Pool;
  /** By operation: creates what a valid request consumes and returns its path parameters. */
  readonly before: Readonly<Record<string, () => Promise<Readonly<Record<string, unknown>>>>>;
  /** By operation, then by kind of mistake: another way to make that mistake, or `right` if it is none. */
  readonly instead: Readonly<Record<string, Readonly<Record<string, Instead>>>>;
  /** By operation: statuses that any invalid request may also get. */
  readonly also: Readonly<Record<string, readonly number[]>>;
}

export type Instead =
  | 'right'
  | { readonly path: () => Promise<Readonly<Record<string, unknown>>>; readonly statuses: readonly number[] };

export interface Fuzzed {
  readonly requests: number;
  readonly good: number;
  /** Counts by operation and status, such as `getToken 401`. */
  readonly met: ReadonlyMap<string, number>;
  /** Violations, each with its request. */
  readonly faults: readonly string[];
  /** Valid requests that failed, such as those for a deleted object; the last response by operation and status. */
  readonly refused: ReadonlyMap<string, string>;
}

interface Sent {
  readonly secret?: string;
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly type?: string;
  readonly method?: string;
}

/** Makes a valid request invalid and lists the statuses for it; undefined if the operation cannot have this mistake. */
type Wrong = (good: Sent, described: Described, tools: Tools) => readonly [Sent, readonly number[]] | undefined;

interface Tools {
  readonly place: FuzzPlace;
  readonly draw: <T>(arbitrary: fc.Arbitrary<T>) => T;
  readonly resolve: Resolve;
}

const needed = ({ operation }: Described): readonly string[] =>
  operation.security.flatMap((one) => one.applicationToken ?? []);
const parametersOf = ({ operation }: Described, where: 'path' | 'query') =>
  (operation.parameters ?? []).filter((one) => one.in === where);
const bodySchema = ({ operation }: Described, resolve: Resolve): Json | undefined => {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema && (typeof schema.$ref === 'string' ? (resolve(schema.$ref) as Json) : schema);
};
const asksAdmin = ({ operation }: Described): boolean => /Admin role/.test(operation.description);

const without = ({ secret: _, ...sent }: Sent): Sent => sent;

const wrongs: Readonly<Record<string, Wrong>> = {
  'no token': (good) => [without(good), [401]],
  'a token that expired': (good, _, { place }) => [{ ...good, secret: place.tokens.expired }, [401]],
  'a token that was revoked': (good, _, { place }) => [{ ...good, secret: place.tokens.revoked }, [401]],
  'a token for /mcp': (good, _, { place }) => [{ ...good, secret: place.tokens.mcp }, [401]],
  'a token that is none': (good, _, { draw }) => [
    { ...good, secret: draw(fc.string({ minLength: 1, maxLength: 60 }).map((text) => encodeURIComponent(text))) },
    [401],
  ],
  'a token without calls': (good, _, { place }) => [{ ...good, secret: place.tokens.spent }, [429]],
  'a token of another scope': (good, described, { place, draw }) => {
    const scopes = needed(described);
    const others = place.tokens.able.filter((one) => !one.scopes.some((scope) => scopes.includes(scope)));
    return scopes.length === 0 || others.length === 0
      ? undefined
      : [{ ...good, secret: draw(fc.constantFrom(...others)).secret }, [403]];
  },
  'a demoted user': (good, described, { place }) =>
    asksAdmin(described) ? [{ ...good, secret: place.tokens.demoted }, [403]] : undefined,
  'another Host': (good) => [{ ...good, method: 'HOST' }, [403]],
  'another project': (good, _, { draw }) => wrongName(good, 'projectName', draw),
  'another environment': (good, _, { draw }) => wrongName(good, 'environmentName', draw),
  'an id that is not there': (good) => {
    const names = Object.keys(good.path).filter((name) => name.endsWith('Id'));
    return names.length === 0
      ? undefined
      : [{ ...good, path: { ...good.path, [names.at(-1)!]: 2_147_483_000 } }, [404]];
  },
  'an id that is none': (good, described, { draw }) => {
    const ids = parametersOf(described, 'path').filter(({ schema }) => schema.type === 'integer');
    if (ids.length === 0) return undefined;
    const id = draw(fc.constantFrom('x', '1.5', '-1', ' 1', '0x1', '1e3'));
    return [{ ...good, path: { ...good.path, [ids.at(-1)!.name]: id } }, [400]];
  },
  'an unknown parameter': (good, _, { draw }) => {
    const name = draw(fc.constantFrom('unknown', 'Limit', 'createdAt', 'createdAt.ne', '__proto__', 'constructor', ''));
    return [{ ...good, query: [...good.query, [name, '1']] }, [400]];
  },
  'a parameter twice': (good, described, { draw, place, resolve }) => {
    const [one] = parametersOf(described, 'query');
    if (!one) return undefined;
    const value = `${draw(validOf(one.schema, one.name, place.pool, resolve))}`;
    return [
      { ...good, query: [...good.query.filter(([name]) => name !== one.name), [one.name, value], [one.name, value]] },
      [400],
    ];
  },
  'a parameter of the wrong form': (good, described, { draw }) => {
    const all = parametersOf(described, 'query').flatMap(({ name, schema }) => {
      const text = wrongTextOf(schema);
      return text ? [{ name, text }] : [];
    });
    if (all.length === 0) return undefined;
    const { name, text } = draw(fc.constantFrom(...all));
    return [{ ...good, query: [...good.query.filter(([other]) => other !== name), [name, draw(text)]] }, [400]];
  },
  'a cursor of our own making': (good, described, { draw }) => {
    if (!parametersOf(described, 'query').some(({ name }) => name === 'cursor')) return undefined;
    return [
      {
        ...good,
        query: [
          ...good.query.filter(([name]) => name !== 'cursor'),
          ['cursor', draw(fc.base64String({ minLength: 4 }))],
        ],
      },
      [400],
    ];
  },
  'no body': (good, described, { resolve }) => {
    const { body: _, ...sent } = good;
    return bodySchema(described, resolve) ? [sent, [400]] : undefined;
  },
  'a body that is no JSON': (good, described, { draw, resolve }) =>
    bodySchema(described, resolve) && [
      { ...good, body: draw(fc.constantFrom('{', '{"a":1,}', "{'a':1}", '\u0000', 'x', '[1', '{"a":\ud800}')) },
      [400],
    ],
  'a body of another shape': (good, described, { draw, resolve }) =>
    bodySchema(described, resolve) && [
      { ...good, body: draw(fc.constantFrom('null', '[]', '1', '"x"', '[{}]')) },
      [400],
    ],
  'a deep body': (good, described, { resolve }) =>
    bodySchema(described, resolve) && [{ ...good, body: `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}` }, [400]],
  'a body that is too large': (good, described, { resolve }) =>
    bodySchema(described, resolve) && [{ ...good, body: `{"title":"${'x'.repeat(1_600_000)}"}` }, [413]],
  'an unknown member': (good, described, { resolve, draw }) => {
    if (!bodySchema(described, resolve)) return undefined;
    const body = { ...(JSON.parse(good.body ?? '{}') as Json), [draw(fc.constantFrom('unknown', 'id', 'Title'))]: 1 };
    return [{ ...good, body: JSON.stringify(body) }, [400]];
  },
  'a member of the wrong type': (good, described, { resolve, draw }) => {
    const properties = Object.entries((bodySchema(described, resolve)?.properties ?? {}) as Json);
    if (properties.length === 0) return undefined;
    const [name, schema] = draw(fc.constantFrom(...properties));
    const isNullable = JSON.stringify(schema).includes('"null"');
    const wrong = { [name]: draw(fc.constantFrom({}, [[]], 1.5, ...(isNullable ? [] : [null]))) };
    return [{ ...good, body: JSON.stringify({ ...(JSON.parse(good.body ?? '{}') as Json), ...wrong }) }, [400]];
  },
  'a method that is not there': (good, described, { place }) => {
    const here = place.judge.operations.filter(({ path }) => path === described.path).map(({ method }) => method);
    const other = ['DELETE', 'PUT', 'PATCH', 'POST', 'OPTIONS'].find((method) => !here.includes(method))!;
    return [{ ...good, method: other }, [405]];
  },
  'odd texts everywhere': (good, described, { draw }) => {
    const path = Object.fromEntries(Object.keys(good.path).map((name) => [name, draw(oddText) || 'x']));
    const query = parametersOf(described, 'query')
      .slice(0, 4)
      .map(({ name }) => [name, draw(oddText)] as const);
    const body =
      good.body &&
      JSON.stringify(Object.fromEntries(Object.keys(JSON.parse(good.body)).map((name) => [name, draw(oddText)])));
    const isEmpty = Object.keys(path).length + query.length === 0 && body === undefined;
    return isEmpty ? undefined : [{ ...good, path, query, ...(body !== undefined && { body }) }, [400, 403, 404]];
  },
  'any JSON': (good, described, { draw, resolve }) =>
    bodySchema(described, resolve) && [{ ...good, body: draw(fc.json()) }, [400]],
};

function wrongName(good: Sent, name: string, draw: Tools['draw']): readonly [Sent, readonly number[]] | undefined {
  const right = good.path[name];
  if (right === undefined) return undefined;
  const wrong = draw(fc.constantFrom(`${right} `, `${right}`.toUpperCase(), 'another', `${right}/..`, '%00', '\u00e9'));
  return [{ ...good, path: { ...good.path, [name]: wrong } }, [404]];
}

/** These kinds come first, so each operation gets one request for every status that it documents. */
const first = [
  'no token',
  'a token of another scope',
  'another Host',
  'an unknown parameter',
  'a token without calls',
  'another project',
  'a body that is too large',
];
const others = Object.keys(wrongs).filter((kind) => !first.includes(kind));

/** One in three requests for an operation is invalid: the kinds in `first`, then others, selected by the seed. */
function kindAt(round: number, seed: number): string | undefined {
  if (round % 3 !== 2) return undefined;
  const at = Math.floor(round / 3) % (first.length + others.length);
  return first[at] ?? others[(at + seed) % others.length];
}

export async function fuzz(
  place: FuzzPlace,
  { requests, seed }: { readonly requests: number; readonly seed: number },
): Promise<Fuzzed> {
  const { judge } = place;
  const met = new Map<string, number>();
  const faults: string[] = [];
  let draws = 0;
  const draw: Tools['draw'] = (arbitrary) => fc.sample(arbitrary, { seed: seed + draws++, numRuns: 1 })[0]!;
  const tools: Tools = { place, draw, resolve: judge.resolve };
  const refused = new Map<string, string>();
  let good = 0;
  for (let turn = 0; turn < requests; turn++) {
    const described = judge.operations[turn % judge.operations.length]!;
    const right = await makeGood(described, tools);
    const kind = kindAt(Math.floor(turn / judge.operations.length), seed);
    const { operationId } = described.operation;
    const instead = kind === undefined ? undefined : place.instead[operationId]?.[kind];
    const wrong =
      kind === undefined || instead === 'right'
        ? undefined
        : instead
          ? ([{ ...right, path: await instead.path() }, instead.statuses] as const)
          : wrongs[kind]!(right, described, tools);
    const [sent, statuses] = wrong ?? [right, undefined];
    const expected = statuses && [...statuses, ...(place.also[operationId] ?? [])];
    const answer = await send(place, described, sent);
    const key = `${operationId} ${answer.status}`;
    met.set(key, (met.get(key) ?? 0) + 1);
    const isGood = answer.status < 300;
    if (isGood) good++;
    else if (!wrong) refused.set(key, answer.text);
    const complaints = judge.faults(described, answer);
    if (answer.status >= 500) complaints.push('failed');
    if (expected && !isGood && !expected.includes(answer.status)) complaints.push(`expected ${expected.join(' or ')}`);
    if (expected && isGood && !['odd texts everywhere', 'any JSON'].includes(kind!))
      complaints.push(`expected ${expected.join(' or ')}`);
    for (const complaint of complaints) {
      faults.push(
        `${complaint}: ${wrong ? kind : 'right'} ${key} ${JSON.stringify(sent).slice(0, 600)} ${answer.text.slice(0, 300)}`,
      );
    }
    if (isGood) learn(place.pool, described, sent, answer);
  }
  return { requests, good, met, faults, refused };
}

async function makeGood(described: Described, { place, draw, resolve }: Tools): Promise<Sent> {
  const { tokens, pool, before } = place;
  const scopes = needed(described);
  const fitting = tokens.able.filter(
    (one) => scopes.length === 0 || one.scopes.some((scope) => scopes.includes(scope)),
  );
  const made = (await before[described.operation.operationId]?.()) ?? {};
  const named = parametersOf(described, 'path').map(({ name, schema }) => [
    name,
    made[name] ?? draw(fc.constantFrom(...(pool.get(name) ?? [draw(validOf(schema, name, pool, resolve))]))),
  ]);
  const follows =
    draw(fc.integer({ min: 0, max: 9 })) < 3 ? pool.get(`next of ${described.operation.operationId}`) : undefined;
  const chosen = parametersOf(described, 'query').filter(({ name }) => name !== 'cursor' && draw(fc.nat(9)) < 2);
  const query = follows
    ? (draw(fc.constantFrom(...follows)) as Sent['query'])
    : chosen.map(({ name, schema }) => [name, `${draw(validOf(schema, name, pool, resolve))}`] as const);
  const schema = bodySchema(described, resolve);
  return {
    secret: draw(fc.constantFrom(...fitting)).secret,
    path: Object.fromEntries(named),
    query,
    ...(schema && { body: JSON.stringify(draw(validRecord(schema, pool, resolve))) }),
  };
}

async function send({ address }: FuzzPlace, described: Described, sent: Sent): Promise<Answered> {
  const path = described.path.replace(/\{(\w+)\}/g, (_, name: string) => encode(`${sent.path[name]}`));
  const query = sent.query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  const response = await ask(
    address,
    sent.method === 'HOST' ? described.method : (sent.method ?? described.method),
    `${path}${query && `?${query}`}`,
    {
      ...(sent.secret !== undefined && { Authorization: `Bearer ${sent.secret}` }),
      ...(sent.body !== undefined && { 'Content-Type': sent.type ?? 'application/json' }),
      ...(sent.method === 'HOST' && { Host: 'elsewhere.example' }),
    },
    sent.body,
  );
  return response;
}

/** A lone UTF-16 surrogate cannot be encoded. */
const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

const MOST_KEPT = 40;

/** Keeps the ids, names and cursors of a response. */
function learn(pool: Pool, { operation }: Described, sent: Sent, { text, headers }: Answered): void {
  if (!headers.get('content-type')?.startsWith('application/json')) return;
  const body = JSON.parse(text) as Json;
  const keep = (name: string, value: unknown) => {
    const known = pool.get(name) ?? [];
    pool.set(name, known);
    if (known.length < MOST_KEPT && !known.includes(value)) known.push(value);
  };
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { object, id, email, name, recordId } = value as Json;
    const thing = `${object}`.replace(/^note-/, '');
    // Skips tokens because the requests themselves use them.
    if (id !== undefined && thing !== 'token') keep(`${thing}Id`, id);
    if (typeof email === 'string') keep('userEmail', email);
    if (typeof name === 'string' && ['team', 'collection'].includes(thing)) keep(`${thing}Name`, name);
    if (typeof recordId === 'string') keep('recordId', recordId);
    for (const one of Object.values(value)) walk(one);
  };
  walk(body);
  if (typeof body.nextCursor !== 'string') return;
  keep(`next of ${operation.operationId}`, [
    ...sent.query.filter(([name]) => name !== 'cursor'),
    ['cursor', body.nextCursor],
  ]);
}
