// Requests to the authorization and token endpoints (behaviour 4.4) that differ from a right one in one parameter, at
// the root and under a basePath: the status, the error and the headers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorizationUrl, connect, type Registered, register, type Session } from '../oauth/client.ts';
import { createBrowser, signIn } from '../oauth/flow.ts';
import { type OAuthTestServer, startServer } from '../oauth/oauth-server.ts';

const redirectUri = 'https://notebook.example/callback';
const loopback = 'http://127.0.0.1:49152/callback';
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Place {
  readonly server: OAuthTestServer;
  readonly client: Registered;
  readonly other: Registered;
  readonly session: Session;
}
const places: Record<string, Place> = {};
async function open(basePath?: string): Promise<Place> {
  const server = await startServer(basePath === undefined ? {} : { basePath });
  const { issuer } = server.paths;
  const client = await register(issuer, { client_name: 'Notebook', redirect_uris: [redirectUri, loopback] });
  const other = await register(issuer, { client_name: 'Other', redirect_uris: [redirectUri] });
  const session = await connect(client, server.account, { redirectUri, scope: 'mcp:read mcp:write offline_access', browser: createBrowser() });
  return { server, client, other, session };
} // biome-ignore format: short
beforeAll(async () => {
  [places.root, places.base] = await Promise.all([open(), open('/data')]);
});
afterAll(async () => {
  for (const { server } of Object.values(places)) await server.stop();
});

function form(fields: Fields): URLSearchParams {
  const all = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : typeof value === 'string' ? [[name, value]] : value.map((one) => [name, one]),
  );
  return new URLSearchParams(all as [string, string][]);
}

/** What the request leads to: the pages of the sign-in, an error on a page, or an error to the client. */
async function authorize({ server, client }: Place, more: Fields): Promise<string> {
  const { issuer, resource } = server.paths;
  const right = { response_type: 'code', client_id: client.client.client_id, redirect_uri: redirectUri, code_challenge: challenge, code_challenge_method: 'S256', resource, state: 's' }; // biome-ignore format: short
  const fields = Object.fromEntries(Object.entries({ ...right, ...more }).map(([name, value]) => [name, typeof value === 'string' ? value.replace('<resource>', resource) : value])); // biome-ignore format: short
  const response = await fetch(`${issuer}/oauth/authorize?${form(fields)}`, { redirect: 'manual' });
  const location = response.headers.get('location');
  const text = await response.text();
  if (response.status === 303 && location?.startsWith(`${new URL(issuer).pathname.replace(/\/$/, '')}/oauth/interaction/`)) return 'the sign-in'; // biome-ignore format: short
  if (location) return `${response.status} to ${location.replace(/\?.*/, '')}`;
  // A link back to the client has the error; there is none if the client or its address is not known.
  const [, link] = /href="(https:\/\/notebook\.example\/[^"]*)"/.exec(text) ?? [];
  const { hash, searchParams } = new URL(link?.replaceAll('&amp;', '&') ?? 'x:');
  const back = link && (hash ? new URLSearchParams(hash.slice(1)) : searchParams);
  const shown = back
    ? [
        back.get('error'),
        ...(back.get('iss') === issuer ? [] : [back.get('iss')]),
        ...(back.get('state') === 's' ? [] : ['another state']),
      ]
    : [];
  return [response.status, response.headers.get('content-type')?.split(';')[0], ...shown].join(' ');
}

async function exchange({ server, client }: Place, fields: Fields, init: RequestInit = {}): Promise<unknown[]> {
  const response = await fetch(`${server.paths.issuer}/oauth/token`, {
    method: 'POST',
    body: form({ client_id: client.client.client_id, ...fields }),
    ...init,
  });
  const { error, token_type, expires_in, scope } = (await response.json()) as Record<string, unknown>;
  expect([response.headers.get('cache-control'), response.headers.get('content-type')?.split(';')[0], response.headers.get('access-control-allow-origin')]).toEqual(['no-store', 'application/json', '*']); // biome-ignore format: short
  return error === undefined ? [response.status, token_type, expires_in, scope] : [response.status, error];
}

const refused = '400 text/html';
const authorizations: readonly (readonly [fields: Fields, found: string])[] = [
  [{}, 'the sign-in'],
  [{ client_id: undefined }, refused],
  [{ client_id: '' }, refused],
  [{ client_id: 'nobody' }, refused],
  [{ redirect_uri: undefined }, refused],
  [{ redirect_uri: `${redirectUri}/` }, refused],
  [{ redirect_uri: `${redirectUri}?x=1` }, refused],
  [{ redirect_uri: redirectUri.toUpperCase() }, refused],
  [{ redirect_uri: redirectUri.replace('https', 'http') }, refused],
  [{ redirect_uri: redirectUri.replace('notebook', 'evil') }, refused],
  [{ redirect_uri: loopback }, 'the sign-in'],
  [{ redirect_uri: loopback.replace('49152', '50000') }, 'the sign-in'],
  [{ redirect_uri: loopback.replace('127.0.0.1', '127.0.0.2') }, refused],
  [{ redirect_uri: `${loopback}/x` }, refused],
  [{ response_type: undefined }, `${refused} invalid_request`],
  [{ response_type: 'token' }, `${refused} unsupported_response_type`],
  [{ response_type: 'code token' }, `${refused} unsupported_response_type`],
  [{ response_type: 'none' }, `${refused} unsupported_response_type`],
  [{ response_type: 'Code' }, `${refused} unsupported_response_type`],
  [{ code_challenge: undefined }, `${refused} invalid_request`],
  [{ code_challenge: '' }, `${refused} invalid_request`],
  [{ code_challenge: challenge.slice(1) }, `${refused} invalid_request`],
  [{ code_challenge: `${challenge.slice(1)}!` }, `${refused} invalid_request`],
  [{ code_challenge_method: undefined }, `${refused} invalid_request`],
  [{ code_challenge_method: 'plain' }, `${refused} invalid_request`],
  [{ code_challenge_method: 's256' }, `${refused} invalid_request`],
  [{ response_mode: 'query' }, 'the sign-in'],
  [{ response_mode: 'fragment' }, `${refused} unsupported_response_mode`],
  [{ response_mode: 'form_post' }, `${refused} unsupported_response_mode`],
  [{ resource: undefined }, 'the sign-in'],
  [{ resource: '<resource>/' }, 'the sign-in'],
  [{ resource: '<resource>?readonly=true' }, 'the sign-in'],
  [{ resource: '<resource>?collections=a&readonly=true' }, 'the sign-in'],
  [{ resource: '<resource>?x=1' }, `${refused} invalid_target`],
  [{ resource: '<resource>#x' }, `${refused} invalid_target`],
  [{ resource: '<resource>x' }, `${refused} invalid_target`],
  [{ resource: 'https://other.example/mcp' }, `${refused} invalid_target`],
  [{ resource: '' }, 'the sign-in'],
  [{ scope: 'mcp:read' }, 'the sign-in'],
  [{ scope: 'mcp:read nothing' }, 'the sign-in'],
  [{ state: undefined }, 'the sign-in'],
  [{ state: '' }, 'the sign-in'],
  [{ prompt: 'none' }, `${refused} login_required`],
  [{ prompt: 'consent' }, 'the sign-in'],
  [{ prompt: 'login' }, 'the sign-in'],
  [{ client_id: ['a', 'b'] }, refused],
  [{ state: ['a', 'b'] }, `${refused} invalid_request another state`],
  [{ request: 'x' }, `${refused} request_not_supported`],
  [{ request_uri: 'https://notebook.example/request' }, `${refused} request_uri_not_supported`],
  [{ unknown: 'x' }, 'the sign-in'],
  ...['nonce', 'claims', 'claims_locales', 'acr_values', 'id_token_hint', 'max_age'].map((name) => [{ [name]: '1' }, 'the sign-in'] as const),
]; // biome-ignore format: a table

const grants: readonly (readonly [fields: Fields, found: readonly unknown[]])[] = [
  [{}, [400, 'invalid_request']],
  [{ grant_type: '' }, [400, 'invalid_request']],
  [{ grant_type: 'password', username: 'ada@example.com', password: 'x' }, [400, 'unsupported_grant_type']],
  [{ grant_type: 'client_credentials' }, [400, 'unsupported_grant_type']],
  [{ grant_type: 'implicit' }, [400, 'unsupported_grant_type']],
  [{ grant_type: 'authorization_code' }, [400, 'invalid_request']],
  [{ grant_type: 'authorization_code', code: 'x', redirect_uri: redirectUri, code_verifier: 'v'.repeat(43) }, [400, 'invalid_grant']],
  [{ grant_type: 'refresh_token' }, [400, 'invalid_request']],
  [{ grant_type: 'refresh_token', refresh_token: '' }, [400, 'invalid_request']],
  [{ grant_type: 'refresh_token', refresh_token: 'x' }, [400, 'invalid_grant']],
  [{ grant_type: 'refresh_token', refresh_token: 'x', client_id: undefined }, [400, 'invalid_request']],
  [{ grant_type: 'refresh_token', refresh_token: 'x', client_id: 'nobody' }, [401, 'invalid_client']],
]; // biome-ignore format: a table

describe.each([
  ['4.4 at host root', '', 'root'],
  ['4.4 with basePath', '<prefix>', 'base'],
])('%s', (_section, shown, on) => {
  test.each(authorizations)(`${shown}/oauth/authorize: with %j: %s`, async (fields, found) => {
    expect(await authorize(places[on]!, fields)).toBe(found);
  });

  test.each(grants)(`${shown}/oauth/token: with %j: %j`, async (fields, found) => {
    expect(await exchange(places[on]!, fields)).toEqual(found);
  });

  // RFC 6749 section 4.1.3: the redirect_uri must be that of the authorization request.
  test(`${shown}/oauth/token: a code is redeemed with its own redirect_uri, and no other`, async () => {
    const place = places[on]!;
    const found = [];
    for (const redeemedAt of [loopback, `${redirectUri}/`, redirectUri]) {
      const { url, verifier } = await authorizationUrl(place.client, { redirectUri, scope: 'mcp:read' });
      const { searchParams } = await signIn(url, place.server.account);
      const fields = { grant_type: 'authorization_code', code: `${searchParams.get('code')}`, code_verifier: verifier };
      found.push(await exchange(place, { ...fields, redirect_uri: redeemedAt }));
    }
    expect(found).toEqual([[400, 'invalid_grant'], [400, 'invalid_grant'], [200, 'Bearer', 900, 'mcp:read']]);
  }); // biome-ignore format: short

  test(`${shown}/oauth/token: only a form, within its limit; fewer scopes as asked, not more; a refresh token of another client is not accepted`, async () => {
    const place = places[on]!;
    const { client, session, other, server } = place;
    const fields = { grant_type: 'refresh_token', refresh_token: `${session.tokens.refresh_token}` };
    const json = JSON.stringify({ ...fields, client_id: client.client.client_id });
    expect([
      await exchange(place, fields, { body: json, headers: { 'content-type': 'application/json' } }),
      await exchange(place, { ...fields, client_id: other.client.client_id }),
      await exchange(place, { ...fields, resource: 'https://other.example/mcp' }),
      await exchange(place, { ...fields, scope: 'mcp:read mcp:action' }),
    ]).toEqual([[400, 'invalid_request'], [400, 'invalid_grant'], [400, 'invalid_target'], [400, 'invalid_scope']]);
    expect(await exchange(place, { ...fields, scope: 'mcp:read' })).toEqual([200, 'Bearer', 900, 'mcp:read']);
    const { token_type, expires_in, scope } = session.tokens;
    expect([token_type, expires_in, scope]).toEqual(['bearer', 900, 'mcp:read mcp:write']);
    const big = await fetch(`${server.paths.issuer}/oauth/token`, { method: 'POST', body: form({ grant_type: 'x'.repeat(60_000) }) });
    expect(big.status).toBe(413);
  }); // biome-ignore format: short
});
