// Mistakes of programs with tokens, URLs and bodies: each gets its documented response with `error`, `message` and
// `code`.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { hashToken, randomToken } from '../../src/core/secret.ts';
import { openDatabase } from '../../src/store/database/database.ts';
import { openShop } from '../app/shop.ts';
import { type AskOptions, errorShape, notesPath, openWays, shapeOf, tell, type Ways } from './ways.ts';

const secret = 'what both processes seal with';
const json = { 'Content-Type': 'application/json' };
const note = { title: 'Title', collectionName: 'orders', recordId: '1' };

let late = 0;
let ways: Ways;
let all: string;
beforeAll(async () => {
  const clock = { ...systemClock, now: () => Date.now() + late };
  ways = await openWays({ env: { SERVICE_SECRET: secret }, app: { clock } });
  all = (await ways.make(['all'])).secret;
});
afterAll(() => ways?.stop());

/** The status and the code; checks that the body has exactly the three strings. */
async function refusal(path: string, options?: AskOptions): Promise<readonly [number, unknown]> {
  const told = await ways.ask(path, options);
  expect([path, shapeOf(told)]).toEqual([path, errorShape]);
  return [told.status, told.json?.code];
}

const post = (body: string | Buffer, headers: AskOptions['headers'] = json) =>
  ({ secret: all, method: 'POST', body, headers }) as const;

test('every invalid token gets 401 UNAUTHENTICATED', async () => {
  const { secret: expired } = await ways.make(['all'], { expiresAt: Date.now() + 60_000 });
  const { token, secret: revoked } = await ways.make(['all']);
  const { secret: mcp } = await ways.make(['mcp:read', 'mcp:write']);
  expect((await ways.ask('/v1/token', { secret: revoked })).status).toBe(200);
  await ways.store.tokens.revoke(token.id);
  late = 61_000;
  const answers = [];
  for (const one of [expired, revoked, mcp, 'svc_', `${all}x`, all.toUpperCase(), all.slice(0, -1), 'x y'])
    answers.push(await refusal('/v1/token', { secret: one }));
  late = 0;
  expect(answers).toEqual(answers.map(() => [401, 'UNAUTHENTICATED']));
});

test('a token of another project is unknown', async () => {
  const tables = openDatabase({ url: ways.storage, dataDir: '/', sqlite: 'auto' });
  const [project] = await tables.knex('projects').insert({ organization: 'Other', name: 'Other', created_at: 1 });
  const other = `svc_${randomToken()}`;
  const user = (await ways.store.identity.findUserByEmail(ways.account.email))!;
  const row = { user_id: user.id, scopes: 'all', created_at: 1, expires_at: null, last_used_at: null, sso: 0 };
  await tables.knex('application_tokens').insert({
    ...row,
    name: 'of another project',
    token_hash: hashToken(other),
    project_id: project,
  });
  const asked = [await refusal('/v1/token', { secret: other }), await refusal(notesPath, { secret: other })];
  // The same token works in our project, so the project was the reason for the refusal.
  await tables
    .knex('application_tokens')
    .where({ token_hash: hashToken(other) })
    .update({ project_id: 1 });
  const moved = await ways.ask('/v1/token', { secret: other });
  await tables
    .knex('application_tokens')
    .where({ token_hash: hashToken(other) })
    .delete();
  await tables.close();
  expect([...asked, moved.status]).toEqual([[401, 'UNAUTHENTICATED'], [401, 'UNAUTHENTICATED'], 200]);
});

test('with single sign-on, a token made without it gets 401 with the reason; one made through it works', async () => {
  const { secret: through } = await ways.make(['all'], { sso: true });
  const other = await openShop({
    account: ways.account,
    env: {
      SERVICE_STORAGE_URL: ways.storage,
      SERVICE_SECRET: secret,
      SERVICE_SSO_ISSUER: 'http://127.0.0.1:9',
      SERVICE_SSO_CLIENT_ID: 'portico',
    },
  });
  const on = [
    await tell(other.address, '/v1/token', { secret: all }),
    await tell(other.address, '/v1/token', { secret: through }),
  ];
  await other.stop();
  const off = [await ways.ask('/v1/token', { secret: all }), await ways.ask('/v1/token', { secret: through })];
  expect([...on, ...off].map(({ status }) => status)).toEqual([401, 200, 200, 200]);
  expect([shapeOf(on[0]!), on[0]!.json?.message]).toEqual([
    errorShape,
    expect.stringContaining('Single sign-on is required'),
  ]);
});

test('a token is accepted only as Bearer in the Authorization header', async () => {
  const headers = (name: string, value: string) => ({ headers: { [name]: value } });
  const answers = [
    await refusal(`/v1/token?access_token=${all}`),
    await refusal('/v1/token', headers('Cookie', `token=${all}`)),
    await refusal('/v1/token', headers('X-Api-Key', all)),
    await refusal('/v1/token', headers('Authorization', all)),
    await refusal('/v1/token', headers('Authorization', `Basic ${Buffer.from(`x:${all}`).toString('base64')}`)),
    await refusal('/v1/token', headers('Authorization', `Bearer ${all} ${all}`)),
  ];
  expect(answers).toEqual(answers.map(() => [401, 'UNAUTHENTICATED']));
  expect((await ways.ask('/v1/token', headers('Authorization', `bearer  ${all}`))).status).toBe(200);
});

test('HEAD returns the headers of GET without the body, and OPTIONS allows no other origin', async () => {
  const [get, head] = [
    await ways.ask('/v1/token', { secret: all }),
    await ways.ask('/v1/token', { secret: all, method: 'HEAD' }),
  ];
  const of = ({ status, headers }: typeof get) => [status, headers.get('content-type'), headers.get('content-length')];
  expect([of(head), head.text]).toEqual([of(get), '']);
  const preflight = await ways.ask(notesPath, {
    method: 'OPTIONS',
    headers: { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'POST' },
  });
  const signed = await ways.ask(notesPath, { method: 'OPTIONS', secret: all });
  expect([preflight.status, signed.status, signed.headers.get('allow')]).toEqual([401, 405, 'GET, HEAD, POST']);
  const open = [preflight, signed, get].flatMap(({ headers }) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control')),
  );
  expect(open).toEqual([]);
});

test('a body must be a JSON object, whatever its Content-Type says', async () => {
  const good = await ways.ask(notesPath, post(JSON.stringify(note), { 'Content-Type': 'text/plain' }));
  const none = await ways.ask(notesPath, post(JSON.stringify(note), {}));
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const answers = [
    await refusal(notesPath, post('', json)),
    await refusal(notesPath, post('title=Title', { 'Content-Type': 'application/x-www-form-urlencoded' })),
    await refusal(notesPath, post(deep)),
    await refusal(notesPath, post(Buffer.from([0x7b, 0xff, 0x7d]))),
    await refusal(notesPath, post('\ufeff{}')),
    await refusal(notesPath, post('[]')),
    await refusal(notesPath, post('{"__proto__":{"title":"x"}}')),
    await refusal(notesPath, post(JSON.stringify({ ...note, title: 'x'.repeat(1_600_000) }))),
  ];
  expect([good.status, none.status]).toEqual([201, 201]);
  expect(answers).toEqual([
    [400, 'MALFORMED_JSON'],
    [400, 'MALFORMED_JSON'],
    [400, 'MALFORMED_JSON'],
    [400, 'MALFORMED_JSON'],
    [400, 'MALFORMED_JSON'],
    [400, 'INVALID_ARGUMENT'],
    [400, 'INVALID_ARGUMENT'],
    [413, 'BODY_TOO_LARGE'],
  ]);
});

test('of a repeated JSON key the last value counts, and it is validated', async () => {
  const twice = await ways.ask(
    notesPath,
    post('{"title":"First","title":"Second","collectionName":"orders","recordId":"1"}'),
  );
  const bad = await refusal(notesPath, post('{"title":"First","title":7,"collectionName":"orders","recordId":"1"}'));
  expect([twice.status, twice.json?.title, bad]).toEqual([201, 'Second', [400, 'INVALID_ARGUMENT']]);
});

test('unknown paths, encoded slashes and dots get 404, and undecodable URLs 400', async () => {
  const asked: readonly (readonly [string, number])[] = [
    ['/v1', 404],
    ['/v1/', 404],
    ['/v1/nothing', 404],
    ['/v1/token/', 404],
    ['/v1//token', 404],
    ['/v1/Token', 404],
    ['/v1/%74oken', 404],
    ['/v1/../v1/token', 404],
    ['/v1/project/My%2520project/tokens', 404],
    ['/v1/project/My%20project%2Ftokens', 404],
    ['/v1/project/My%20project/environment/Production%2F..%2FProduction/notes', 404],
    ['/v1/project/my%20project/tokens', 404],
    ['/v1/project//tokens', 404],
    [`/v1/project/${'x'.repeat(5000)}/tokens`, 404],
    ['/v1/project/%00/tokens', 404],
    ['/v1/project/%zz/tokens', 400],
    ['/v1/project/%/tokens', 400],
    ['/v1/project/%c3%28/tokens', 400],
    ['/v1/project/%ed%a0%80/tokens', 400],
    ['/v1/token?%zz=1', 400],
    ['/v1/token?=', 400],
    ['/v1/token?a&a', 400],
    ['/v1/openapi.json/', 404],
  ];
  const answers = [];
  for (const [path] of asked) answers.push([path, (await refusal(path, { secret: all }))[0]]);
  expect(answers).toEqual(asked);
  // Only requests with a token get 404 for unknown paths.
  expect(await refusal('/v1/nothing')).toEqual([401, 'UNAUTHENTICATED']);
  expect((await ways.ask('/v1/token?', { secret: all })).status).toBe(200);
});

test('the log never contains a token', async () => {
  const told = JSON.stringify(ways.observed);
  expect(told).toContain('api.token-refused');
  expect(told).not.toMatch(/svc_[\w-]{20}/);
});
