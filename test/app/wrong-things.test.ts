// External faults against the whole server: each has its documented answer, the next good call succeeds, and the
// activity log has every call that reached a tool.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as oauth from 'oauth4webapi';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { fitsTokens } from '../../src/mcp/results/tokens.ts';
import { altered } from '../altered.ts';
import { authorizationUrl, connect, insecure, type Registered, redeem, refresh, register } from '../oauth/client.ts';
import { createBrowser } from '../oauth/flow.ts';
import { startServer, type TestServer } from '../server.ts';
import { type Answer, ask, callTool, type ToolAnswer } from './call.ts';
import { issuerOf, openShop, redirectUri, type Shop, type Signed, signedIn } from './shop.ts';
import { sendRaw } from './socket.ts';

let shop: Shop;
let good: Signed;
let ahead = 0;
const folder = mkdtempSync(join(tmpdir(), 'portico-wrong-'));
const shared = {
  SERVICE_STORAGE_URL: `sqlite:${join(folder, 'storage.sqlite')}`,
  SERVICE_SECRET: 'a secret of two servers, long enough',
};
/** The expected activity log: outcome or code of each call. */
const made: string[] = [];

const question = { collectionName: 'categories', fields: ['name'], pagination: { size: 1 } };
beforeAll(async () => {
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  shop = await openShop({ env: { ...shared, SERVICE_REFRESH_GRACE_SECONDS: '0' }, app: { clock } });
  good = await signedIn(shop);
});
afterEach(async () => {
  ahead = 0;
  const [first] = await shop.ask('SELECT name FROM categories ORDER BY id LIMIT 1');
  const answer = await callTool(shop.mcpUrl, good.token, 'list', question);
  made.push('completed');
  expect(answer).toMatchObject({ json: { rows: [[first?.name]] } });
});
afterAll(async () => {
  await shop.stop();
  rmSync(folder, { recursive: true, force: true });
});

const metadataUrl = (server: Pick<TestServer, 'mcpUrl'>) =>
  `${new URL(server.mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`;
const list = (token: string | undefined, headers: Record<string, string> = {}, url = shop.mcpUrl) =>
  ask(url, token, 'tools/call', { name: 'list', arguments: question }, { headers });
const shown = ({ status, headers, text }: Answer) => [
  status,
  headers.get('content-type'),
  headers.get('www-authenticate'),
  JSON.parse(text),
];
const challenge = (error = 'error="invalid_token", ') =>
  `Bearer ${error}resource_metadata="${metadataUrl(shop)}", scope="mcp:read mcp:write mcp:action"`;
const invalidToken = (description: string) => ({ error: 'invalid_token', error_description: description });
const refused = (code: string, message: string, number = -32000) => ({
  jsonrpc: '2.0',
  error: { code: number, message, data: { code } },
  id: null,
});
const unknownToken = 'The token is unknown, expired or revoked. Sign in again.';

async function newSession() {
  const registered = await register(issuerOf(shop), { client_name: 'Notebook', redirect_uris: [redirectUri] });
  return connect(registered, shop.account, { redirectUri, resource: shop.mcpUrl });
}

describe('a token', () => {
  test('that is missing gets 401 with a challenge without an error', async () => {
    const needed = 'An access token is required. Sign in through the authorization server that the challenge names.';
    expect(shown(await list(undefined))).toEqual([401, 'application/json', challenge(''), invalidToken(needed)]);
  });

  test('that is unknown or has another scheme gets 401 invalid_token', async () => {
    const scheme = 'The Authorization header must be `Bearer <token>` or `DPoP <token>`.';
    expect([
      shown(await list('x'.repeat(43))),
      shown(await list(undefined, { authorization: 'Basic YWRhOmFkYQ==' })),
    ]).toEqual([
      [401, 'application/json', challenge(), invalidToken(unknownToken)],
      [401, 'application/json', challenge(), invalidToken(scheme)],
    ]);
  });

  test('that has expired gets 401 invalid_token, also if it was cached', async () => {
    const { token } = await signedIn(shop);
    const before = (await list(token)).status;
    made.push('completed');
    ahead = 901_000;
    const after = shown(await list(token));
    expect([before, after[0], after[2], after[3].error]).toEqual([200, 401, challenge(), 'invalid_token']);
  });

  test('that was revoked (RFC 7009) gets 401 from the next call on', async () => {
    const session = await newSession();
    const { access_token } = session.tokens;
    const before = (await list(access_token)).status;
    made.push('completed');
    const revoked = await oauth.revocationRequest(
      session.server,
      session.client,
      session.authentication,
      access_token,
      insecure,
    );
    expect([before, revoked.status, shown(await list(access_token))]).toEqual([
      200,
      200,
      [401, 'application/json', challenge(), invalidToken(unknownToken)],
    ]);
  });

  test('for another server on the same storage gets 401, because its audience differs', async () => {
    const other = await startServer({ database: shop.database, env: shared, account: shop.account });
    try {
      const { token } = await signedIn(other);
      const there = (await list(token, {}, other.mcpUrl)).status;
      await other.store.activity.flush();
      made.push('completed');
      expect([there, shown(await list(token))]).toEqual([
        200,
        [401, 'application/json', challenge(), invalidToken('The token was issued for another resource.')],
      ]);
    } finally {
      await other.stop();
    }
  });

  test('in the query string gets 401 with the advice to revoke it, valid or not', async () => {
    const answers = [];
    for (const name of ['access_token', 'token', 'api_key'])
      answers.push(shown(await list(undefined, {}, `${shop.mcpUrl}?${name}=${good.token}`)));
    const text =
      'A token in the query string is not accepted. Revoke it, and send a new one in the Authorization header.';
    expect(answers).toEqual(Array(3).fill([401, 'application/json', challenge(''), invalidToken(text)]));
  });

  test('of a disabled user gets 401 from the next call on, and works again once they are enabled', async () => {
    const account = await shop.addUser({ email: 'carl@example.com', level: 'admin' });
    const { token } = await signedIn(shop, account);
    const { id } = (await shop.store.identity.findUserByEmail(account.email))!;
    const before = (await list(token)).status;
    await shop.store.identity.setDisabled(id, true);
    const disabled = shown(await list(token));
    await shop.store.identity.setDisabled(id, false);
    const after = (await list(token)).status;
    made.push('completed', 'completed');
    expect([before, disabled, after]).toEqual([
      200,
      [401, 'application/json', challenge(), invalidToken('The account is disabled or gone.')],
      200,
    ]);
  });
});

describe('a change of rights', () => {
  test('applies to the next call of a token in use', async () => {
    const account = await shop.addUser({ email: 'dora@example.com', role: 'Clerk' });
    const { token } = await signedIn(shop, account);
    const call = () => callTool(shop.mcpUrl, token, 'list', { ...question, fields: ['id', 'name'] });
    const read = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
    const answers = [await call()];
    await shop.store.permissions.setRole('Clerk', { categories: { ...read, fields: { name: 'hidden' } } });
    answers.push(await call());
    await shop.store.permissions.setRole('Clerk', { categories: read });
    const allowed = await call();
    made.push('UNKNOWN_COLLECTION', 'UNKNOWN_FIELD', 'completed');
    expect([...answers, 'json' in allowed]).toEqual([
      // Without a visible collection, the tool describeCollection is absent.
      { error: "UNKNOWN_COLLECTION: No collection 'categories'." },
      { error: "UNKNOWN_FIELD: 'categories' has no field 'name'. Call describeCollection for all fields." },
      true,
    ]);
  });
});

describe('a request', () => {
  test('with an Origin or Host that is not allowed gets 403', async () => {
    const raw = async (headers: Record<string, string>) => {
      const { status, body } = await sendRaw(
        shop.mcpUrl,
        'POST /mcp',
        {
          Authorization: `Bearer ${good.token}`,
          'Content-Type': 'application/json',
          'Content-Length': '2',
          ...headers,
        },
        '{}',
      );
      return [status, JSON.parse(body)];
    };
    const origin = refused('ORIGIN_NOT_ALLOWED', 'This Origin is not allowed. Set SERVICE_ALLOWED_ORIGINS to add it.');
    const host = refused('HOST_NOT_ALLOWED', 'This Host is not allowed. Set SERVICE_ALLOWED_HOSTS to add it.');
    expect([
      await raw({ Origin: 'https://evil.example' }),
      await raw({ Origin: 'null' }),
      await raw({ Origin: `http://127.0.0.1.evil.example` }),
      await raw({ Host: 'evil.example' }),
      await raw({ Host: 'localhost.evil.example' }),
    ]).toEqual([
      [403, origin],
      [403, origin],
      [403, origin],
      [403, host],
      [403, host],
    ]);
  });

  // RFC 9112 section 3.2: a proxy may have used either of the two.
  test.each(['/mcp', '/console', '/oauth/authorize', '/v1/openapi.json', '/healthz', '/nothing'])(
    'with two Host headers gets 400 at %s',
    async (path) => {
      const { status, body } = await sendRaw(shop.mcpUrl, `GET ${path}`, { host: new URL(shop.mcpUrl).host });
      expect([status, JSON.parse(body).message]).toEqual([400, 'Host: send it once (RFC 9112 section 3.2).']);
    },
  );

  test('with a malformed JSON body gets 400 with the reason, and with another content type 415', async () => {
    const post = async (body: string | Buffer, type = 'application/json') => {
      const headers = { authorization: `Bearer ${good.token}`, 'content-type': type };
      const response = await fetch(shop.mcpUrl, { method: 'POST', headers, body });
      return [response.status, await response.json()];
    };
    const unusable = (problem: string) => [
      400,
      refused('MALFORMED_JSON', `The request body is not usable JSON: ${problem}`, -32700),
    ];
    expect([
      await post('{"jsonrpc": "2.0", "id": 1,'),
      await post(''),
      await post(Buffer.from([0x22, 0xff, 0x22])),
      await post('['.repeat(10_000) + ']'.repeat(10_000)),
      await post(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
      await post('{}', 'text/plain'),
    ]).toEqual([
      unusable('it does not parse.'),
      unusable('it is empty.'),
      unusable('it is not UTF-8.'),
      unusable('it is nested deeper than 64 levels.'),
      unusable('it is nested deeper than 64 levels.'),
      [415, refused('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json.')],
    ]);
  });

  test('of 5 MB gets 413 with the limit, with and without a Content-Length', async () => {
    const size = 5 * 1024 * 1024;
    const post = async (body: string | ReadableStream) => {
      const headers = { authorization: `Bearer ${good.token}`, 'content-type': 'application/json' };
      const response = await fetch(shop.mcpUrl, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
      return [response.status, await response.json()];
    };
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', padding: 'x'.repeat(size) });
    const parts = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < text.length; at += 65_536) controller.enqueue(Buffer.from(text.slice(at, at + 65_536)));
        controller.close();
      },
    });
    const tooLarge = [413, refused('BODY_TOO_LARGE', 'The request body is larger than 1048576 bytes.')];
    expect([await post(text), await post(parts)]).toEqual([tooLarge, tooLarge]);
  });
});

describe('a call', () => {
  const orders = (args: object) => callTool(shop.mcpUrl, good.token, 'list', { collectionName: 'orders', ...args });
  const filtered = (field: string, operator: string, value: unknown) => orders({ filters: { field, operator, value } });

  test('of an unknown tool gets a protocol error, in both eras', async () => {
    const call = async (era: 'legacy' | 'modern') => {
      const { status, text } = await ask(
        shop.mcpUrl,
        good.token,
        'tools/call',
        { name: 'lsit', arguments: {} },
        { era },
      );
      return [status, JSON.parse(text).error];
    };
    const error = { code: -32602, message: "No tool 'lsit'. Near: list." };
    expect([await call('legacy'), await call('modern')]).toEqual([
      [200, error],
      [200, error],
    ]);
  });

  test('with an unknown name gets an error result with similar names and the next step', async () => {
    const answers = [
      await callTool(shop.mcpUrl, good.token, 'list', { collectionName: 'oders' }),
      await callTool(shop.mcpUrl, good.token, 'describeCollection', { collectionName: 'custmers' }),
      await orders({ fields: ['nmber'] }),
      await orders({ fields: ['customer'] }),
      await filtered('total', 'GreatrThan', 5),
      await filtered('total', 'StartsWith', 'a'),
      await orders({ filtre: {} }),
    ];
    made.push('UNKNOWN_COLLECTION', 'UNKNOWN_COLLECTION', 'UNKNOWN_FIELD', 'RELATION_NEEDS_FIELD');
    made.push('UNKNOWN_OPERATOR', 'OPERATOR_NOT_ALLOWED', 'INVALID_ARGUMENT');
    expect(answers.map((one) => 'error' in one && one.error)).toEqual([
      `UNKNOWN_COLLECTION: No collection 'oders'. Near: orders. Call describeCollection without a name for the list.`,
      `UNKNOWN_COLLECTION: No collection 'custmers'. Near: customers. Call describeCollection without a name for the list.`,
      `UNKNOWN_FIELD: 'orders' has no field 'nmber'. Near: number. Call describeCollection for all fields.`,
      `RELATION_NEEDS_FIELD: 'customer' of 'orders' is a relation: name one of its fields, such as 'customer:id'.`,
      `UNKNOWN_OPERATOR: No operator 'GreatrThan'. Near: GreaterThan, LessThan, LongerThan, ShorterThan.`,
      `OPERATOR_NOT_ALLOWED: 'StartsWith' cannot be used on 'total' of 'orders'. Allowed: Equal, NotEqual, In, GreaterThan, LessThan, ...; detail 'full' of describeCollection lists all.`,
      `INVALID_ARGUMENT: filtre: unknown argument. Near: filters.`,
    ]);
  });

  test('with a value of the wrong type gets an error result that says what to send', async () => {
    const answers = [
      await filtered('total', 'GreaterThan', 'a lot'),
      await filtered('placed_at', 'After', 'some day'),
      await filtered('id', 'In', [1, { x: 1 }]),
      await orders({ pagination: { size: 'many' } }),
      await orders({ pagination: { size: 100_000 } }),
      await orders({ cursor: 'made up' }),
      await orders({ timezone: 'Mars/Olympus' }),
      await callTool(shop.mcpUrl, good.token, 'list', {}),
      await orders({ sort: 5 }),
      await orders({ filters: 'paid' }),
    ];
    made.push('INVALID_VALUE', 'INVALID_VALUE', 'INVALID_VALUE', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT');
    made.push('INVALID_CURSOR', ...Array(4).fill('INVALID_ARGUMENT'));
    expect(answers.map((one) => 'error' in one && one.error)).toEqual([
      `INVALID_VALUE: total GreaterThan: expected a number, got "a lot".`,
      `INVALID_VALUE: placed_at After: expected a timestamp such as '2025-03-30T08:00:00Z', or a date such as '2025-03-30', got "some day".`,
      `INVALID_VALUE: id In: expected a number, got {"x":1}.`,
      `INVALID_ARGUMENT: pagination.size: send a whole number of at least 1.`,
      `INVALID_ARGUMENT: pagination.size: at most 1000; continue with nextCursor.`,
      `INVALID_CURSOR: This cursor does not belong to this query. Repeat the call that returned it with the same arguments, or start again without a cursor.`,
      `INVALID_ARGUMENT: timezone: expected an IANA name such as 'Europe/Paris'.`,
      `INVALID_ARGUMENT: collectionName: send the name of a collection; describeCollection without a name lists them.`,
      `INVALID_ARGUMENT: sort: send {"field":"name","ascending":true} or a list of these.`,
      `INVALID_ARGUMENT: filters: send {"field":"status","operator":"Equal","value":"paid"} or {"aggregator":"And","conditions":[...]}.`,
    ]);
  });
});

describe('a page of 100,000 rows', () => {
  const call = (tool: string, args: object) => callTool(shop.mcpUrl, good.token, tool, { ...args });
  const pages = {
    list: (size: number) => call('list', { collectionName: 'customers', pagination: { size } }),
    listRelated: async (size: number) => {
      const [most] = await shop.ask(
        'SELECT customer_id AS id FROM orders GROUP BY customer_id ORDER BY count(*) DESC LIMIT 1',
      );
      const parent = { collectionName: 'customers', relationName: 'orders', parentRecordId: most!.id };
      return call('listRelated', { ...parent, pagination: { size } });
    },
    aggregate: (limit: number) =>
      call('aggregate', { collectionName: 'orders', operation: 'count', groups: ['id', 'number'], limit }),
  };

  test('is refused with the limit and how to continue', async () => {
    const answers = [];
    for (const ask of Object.values(pages)) answers.push(await ask(100_000));
    made.push(...Array(3).fill('INVALID_ARGUMENT'));
    const page = 'INVALID_ARGUMENT: pagination.size: at most 1000; continue with nextCursor.';
    const groups = 'INVALID_ARGUMENT: limit: at most 1000 groups; continue with nextCursor.';
    expect(answers).toEqual([{ error: page }, { error: page }, { error: groups }]);
  });

  test('of the allowed size is cut at the token budget, and the cursor continues after the last row shown', async () => {
    const answer = async (work: Promise<ToolAnswer>) => (await work) as { json: Record<string, unknown> };
    const first = (await answer(pages.list(1000))).json;
    const next = (
      await answer(
        call('list', { collectionName: 'customers', pagination: { size: 1000 }, cursor: first.nextCursor as string }),
      )
    ).json;
    const groups = (await answer(pages.aggregate(1000))).json;
    const related = (await answer(pages.listRelated(1000))).json;
    made.push(...Array(4).fill('completed'));
    const idsOf = ({ columns, rows }: Record<string, unknown>) => {
      const at = (columns as string[]).indexOf('id');
      return (rows as unknown[][]).map((row) => row[at]);
    };
    const shown = [...idsOf(first), ...idsOf(next)];
    const known = await shop.ask(`SELECT id FROM customers ORDER BY id LIMIT ${shown.length}`);
    expect([first.hasMore, groups.hasMore, related.rows !== undefined]).toEqual([true, true, true]);
    expect(String(first.note)).toMatch(/^Cut at \d+ of \d+ records: .*Continue with nextCursor/);
    expect(String(groups.note)).toContain('Narrow the filters, or group by fewer fields.');
    expect(shown).toEqual(known.map(({ id }) => id));
    for (const json of [first, next, groups, related]) expect(fitsTokens(JSON.stringify(json), 8000)).toBe(true);
  });
});

describe('a sign-in', () => {
  const begin = async (server: TestServer) => {
    const registered = await register(issuerOf(server), { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const browser = createBrowser();
    const { url } = await authorizationUrl(registered, { redirectUri });
    return { browser, page: await browser.open(url) };
  };
  const titleOf = (html: string) => /<h1>(.*?)<\/h1>/.exec(html)?.[1];

  test('with ten wrong passwords has to wait, even with the right one, and other clients are served', async () => {
    // A separate server, because the limit on password attempts applies to this address in all tests.
    const other = await openShop();
    try {
      const { token } = await signedIn(other);
      const { browser, page } = await begin(other);
      const statuses = [];
      for (let i = 0; i < 10; i++)
        statuses.push(
          (await browser.press(page, 'sign-in', { email: other.account.email, password: 'a guess' })).status,
        );
      const right = await browser.press(page, 'sign-in', { ...other.account });
      expect([
        statuses,
        right.status,
        Number(right.headers.get('retry-after')) > 880,
        titleOf(right.html),
        (await list(token, {}, other.mcpUrl)).status,
      ]).toEqual([Array(10).fill(400), 429, true, 'Please wait', 200]);
    } finally {
      await other.stop();
    }
  });

  test('with a changed cookie, URL or form is refused', async () => {
    const mine = await begin(shop);
    const other = await begin(shop);
    const csrf = /name="csrf" value="([^"]+)"/.exec(mine.page.html)?.[1] ?? '';
    const body = { csrf, action: 'sign-in', ...shop.account };
    const post = async (url: string, cookie: string, form: Record<string, string>) => {
      const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), headers: { cookie } });
      return [response.status, titleOf(await response.text())];
    };
    const cookie = mine.browser.cookieHeader(new URL(mine.page.url));
    expect([
      await post(mine.page.url, '', body),
      await post(mine.page.url, other.browser.cookieHeader(new URL(other.page.url)), body),
      await post(
        mine.page.url,
        cookie.replace(/(?<==)[^;]+/, (text) => altered(text)),
        body,
      ),
      await post(other.page.url, cookie, body),
      await post(mine.page.url, cookie, { ...body, csrf: altered(csrf) }),
      await post(mine.page.url, cookie, { ...body, action: 'allow' }),
    ]).toEqual([400, 404, 400, 404, 400, 400].map((status) => [status, 'This sign-in has expired']));
  });
});

describe('a replay', () => {
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => 'ok',
      (error) => error.error ?? error,
    );
  const refreshed = (session: Registered, token: string | undefined) => refresh(session, `${token}`);

  test('of a code gets invalid_grant, and the tokens from that code are revoked', async () => {
    const session = await newSession();
    const before = (await list(session.tokens.access_token)).status;
    made.push('completed');
    expect([
      before,
      await failure(redeem(session, session.code)),
      (await list(session.tokens.access_token)).status,
      await failure(refreshed(session, session.tokens.refresh_token)),
    ]).toEqual([200, 'invalid_grant', 401, 'invalid_grant']);
  });

  test('of a refresh token gets invalid_grant, and the whole token family is revoked', async () => {
    const session = await newSession();
    const next = await refreshed(session, session.tokens.refresh_token);
    const before = (await list(next.access_token)).status;
    made.push('completed');
    expect([
      before,
      await failure(refreshed(session, session.tokens.refresh_token)),
      (await list(next.access_token)).status,
      await failure(refreshed(session, next.refresh_token)),
    ]).toEqual([200, 'invalid_grant', 401, 'invalid_grant']);
  });
});

test('the activity log has exactly the calls that reached a tool, in order', async () => {
  await shop.store.activity.flush();
  const entries = await shop.store.activity.list({ limit: 1000 });
  expect([...entries].reverse().map(({ outcome, code }) => code ?? outcome)).toEqual(made);
});
