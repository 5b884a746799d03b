import { createBrowser } from '../flow.ts';
import {
  allow,
  ask,
  authorization,
  call,
  challengeIn,
  codeFor,
  connect,
  desktop,
  endpoint,
  loopback,
  names,
  newClient,
  open,
  post,
  redeem,
  redirectUri,
  refresh,
  refusal,
  refused,
  register,
  shown,
  statusOf,
} from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const corsOf = async (at: ConformanceServer, name: string, init: RequestInit = {}) => {
  const headers = { origin: 'https://page.example', 'access-control-request-method': 'POST' };
  const answer = await ask(endpoint(at, name), { ...init, headers });
  return names(answer.headers, 'access-control-allow-origin', 'access-control-allow-credentials');
};

export const oauth21: Standard = {
  name: 'OAuth 2.1',
  title: 'The OAuth 2.1 Authorization Framework (draft-ietf-oauth-v2-1-13, which MCP builds on)',
  url: 'https://datatracker.ietf.org/doc/html/draft-ietf-oauth-v2-1-13',
  file: 'oauth-2.1.ts',
  cases: [
    {
      section: '2.3.1',
      level: 'MUST',
      requires:
        'A redirect URI is registered before it is used, and compared exactly: another path or query is refused',
      send: async (at) =>
        Promise.all(
          [
            `${redirectUri}/more`,
            `${redirectUri}?next=x`,
            `${redirectUri}/`,
            redirectUri.toUpperCase(),
            'https://notebook.example:8443/callback',
            'https://notebook.example/callback/../other',
          ].map((redirect_uri) => refusal(at, { redirect_uri })),
        ),
      back: [400, 400, 400, 400, 400, 400],
    },
    {
      section: '2.4.1',
      level: 'MUST',
      requires: 'A client may send its secret in the body; a wrong secret, or that of another client, is refused',
      async send(at) {
        const [one, two] = await Promise.all(
          [1, 2].map(() => newClient(at, { token_endpoint_auth_method: 'client_secret_post' })),
        );
        const sent = async (id = one?.id, secret = one?.secret) => {
          const known = { grant_type: 'refresh_token', refresh_token: 'nobody-was-given-this-one' };
          return shown(await post(at, 'token', { ...known, client_id: id, client_secret: secret }));
        };
        return [await sent(), await sent(one?.id, 'wrong'), await sent(two?.id)];
      },
      back: [
        [400, 'invalid_grant'],
        [401, 'invalid_client'],
        [401, 'invalid_client'],
      ],
    },
    {
      section: '3.1',
      level: 'MUST NOT',
      requires: 'The authorization endpoint has no CORS headers',
      send: async (at) => [
        await corsOf(at, 'authorize', { method: 'OPTIONS' }),
        await corsOf(at, `authorize?${await authorization(at)}`),
      ],
      back: [
        [null, null],
        [null, null],
      ],
    },
    {
      section: '3.2',
      level: 'SHOULD',
      requires: 'The token endpoint allows scripts of other sites (CORS), and never with cookies',
      send: (at) => corsOf(at, 'token', { method: 'OPTIONS' }),
      back: ['*', null],
    },
    {
      section: '4.1.1',
      level: 'MUST',
      requires: 'Every client sends a code challenge, also one with a secret',
      async send(at) {
        const { id } = await newClient(at, { token_endpoint_auth_method: 'client_secret_basic' });
        const none = { code_challenge: undefined, code_challenge_method: undefined };
        return [await refusal(at, none), await refusal(at, { ...none, client_id: id })];
      },
      back: (at: ConformanceServer) => [refused(at, 'invalid_request'), refused(at, 'invalid_request')],
    },
    {
      section: '4.1.1',
      level: 'MUST',
      requires: 'Only the port of a loopback redirect URI may vary',
      async send(at) {
        const { id } = await desktop(at);
        const sentTo = async (redirect_uri: string) => {
          const answer = await open(at, { client_id: id, redirect_uri }, createBrowser());
          return answer.status;
        };
        return [
          await sentTo('http://127.0.0.1:55555/callback'),
          await sentTo('http://127.0.0.1:55555/other'),
          await sentTo('http://127.0.0.2:55555/callback'),
          await sentTo('https://127.0.0.1:55555/callback'),
        ];
      },
      back: [200, 400, 400, 400],
    },
    {
      section: '4.1.2.1',
      level: 'MUST',
      requires: 'A request with only an unknown scope gets the default scope, and the response names it',
      async send(at) {
        const { json } = await redeem(at, await codeFor(at, { scope: 'photos:write' }));
        return json.scope.split(' ').sort();
      },
      back: ['mcp:read', 'mcp:write'],
    },
    {
      section: '4.1.3',
      level: 'MUST',
      requires: 'A code requested with a challenge is exchanged only for its verifier',
      async send(at) {
        const wrong = await redeem(at, await codeFor(at), { code_verifier: 'w'.repeat(43) });
        const none = await redeem(at, await codeFor(at), { code_verifier: undefined });
        return [shown(wrong), shown(none)];
      },
      back: [
        [400, 'invalid_grant'],
        [400, 'invalid_grant'],
      ],
    },
    {
      section: '4.1.3',
      level: 'MUST',
      requires: 'A code presented with a wrong verifier, redirect or client is consumed, for its owner as well',
      async send(at) {
        const wrong = [
          { code_verifier: 'w'.repeat(43) },
          { redirect_uri: loopback },
          { client_id: (await newClient(at)).id },
        ];
        const answers = [];
        for (const change of wrong) {
          const code = await codeFor(at);
          await redeem(at, code, change);
          answers.push(shown(await redeem(at, code)));
        }
        return answers;
      },
      back: Array(3).fill([400, 'invalid_grant']),
    },
    {
      section: '4.3.1',
      level: 'MUST',
      requires: 'A refresh token of a public client is used once: each refresh returns a new one',
      async send(at) {
        const { refresh: token } = await connect(at);
        const { status, json } = await refresh(at, token);
        return [status, typeof json.refresh_token, json.refresh_token === token];
      },
      back: [200, 'string', false],
    },
    {
      section: '4.3.1',
      level: 'MUST',
      requires: 'A refresh token reused after its successor was used revokes the whole authorization',
      async send(at) {
        const { refresh: first } = await connect(at);
        const second = (await refresh(at, first)).json;
        const third = (await refresh(at, second.refresh_token)).json;
        const replayed = await refresh(at, first);
        return [shown(replayed), shown(await refresh(at, third.refresh_token)), await statusOf(at, third.access_token)];
      },
      back: [[400, 'invalid_grant'], [400, 'invalid_grant'], 401],
    },
    {
      section: '4.3.3',
      level: 'SHOULD',
      requires: 'A refresh token that is not used for long expires',
      async send(at) {
        const { refresh: token } = await connect(at);
        at.wait(30 * 86_400 + 1);
        return shown(await refresh(at, token));
      },
      back: [400, 'invalid_grant'],
    },
    {
      section: '5.1',
      level: 'MUST NOT',
      requires: 'A request uses one method: a token in the query is refused, also beside one in the header',
      async send(at) {
        const { access } = await connect(at);
        const query = `?access_token=${access}`;
        return [(await call(at, undefined, { query })).status, (await call(at, access, { query })).status];
      },
      back: [401, 401],
    },
    {
      section: '5.1.2',
      level: 'MAY',
      requires: 'A token in the body of a form is refused: the metadata names only the header',
      async send(at) {
        const { access } = await connect(at);
        const body = new URLSearchParams({ access_token: access });
        return (await ask(at.resource, { method: 'POST', body })).status;
      },
      back: 401,
    },
    {
      section: '5.2',
      level: 'MUST',
      requires: 'A token is checked on every call: not expired, not revoked, known',
      async send(at) {
        const { access } = await connect(at);
        const seen = [await statusOf(at, access)];
        at.wait(901);
        seen.push(await statusOf(at, access));
        await at.reset();
        const one = await connect(at);
        await post(at, 'revoke', { token: one.access, client_id: (await authorization(at)).get('client_id') ?? '' });
        return [...seen, await statusOf(at, one.access), await statusOf(at, 'x'.repeat(43))];
      },
      back: [200, 401, 401, 401],
    },
    {
      section: '5.3.1',
      level: 'MUST',
      requires: 'A refused call gets a Bearer challenge; without a token it names no error',
      async send(at) {
        const none = challengeIn((await call(at, undefined)).headers);
        const bad = challengeIn((await call(at, 'x'.repeat(43))).headers);
        return [none.scheme, none.error, bad.scheme, bad.error];
      },
      back: ['Bearer', undefined, 'Bearer', 'invalid_token'],
    },
    {
      section: '5.3.2',
      level: 'MUST',
      requires: 'A call beyond the scopes of its token gets 403 insufficient_scope',
      async send(at) {
        const { access } = await connect(at);
        const answer = await call(at, access, { tool: 'delete', args: { collectionName: 'orders', recordIds: ['1'] } });
        const { error, scope } = challengeIn(answer.headers);
        return [answer.status, error, scope];
      },
      back: [403, 'insufficient_scope', 'mcp:read mcp:write'],
    },
    {
      section: '7.1.3',
      level: 'SHOULD',
      requires: 'Access tokens live for minutes',
      send: async (at) => (await redeem(at, await codeFor(at))).json.expires_in <= 900,
      back: true,
    },
    {
      section: '7.5.3',
      level: 'MUST',
      requires: 'Of several concurrent requests with one code at most one gets tokens, and they are revoked',
      async send(at) {
        const code = await codeFor(at);
        const answers = await Promise.all([1, 2, 3, 4].map(() => redeem(at, code)));
        const given = answers.filter(({ status }) => status === 200);
        const alive = await Promise.all(given.map(({ json }) => statusOf(at, json.access_token)));
        return [given.length <= 1, alive.every((status) => status === 401)];
      },
      back: [true, true],
    },
    {
      section: '7.5.4',
      level: 'MUST NOT',
      requires: 'No redirect repeats a form with a password: 303 after a POST, never 307 or 308',
      async send(at) {
        const browser = createBrowser();
        const page = await open(at, {}, browser);
        const action = /action="([^"]+)"/.exec(page.html)?.[1] ?? '';
        const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
        const answer = await ask(new URL(action, page.url).href, {
          method: 'POST',
          headers: { cookie: browser.cookieHeader(new URL(action, page.url)) },
          body: new URLSearchParams({ action: 'sign-in', csrf, ...at.account }),
        });
        return answer.status;
      },
      back: 303,
    },
    {
      section: '7.9',
      level: 'MUST',
      requires: 'An interaction belongs to the browser that began it: its URL is not enough',
      async send(at) {
        const { url } = await open(at, {}, createBrowser());
        const { status, html } = await createBrowser().open(url);
        return [status, html.includes('name="password"')];
      },
      back: [400, false],
    },
    {
      section: '7.10',
      level: 'MUST',
      requires: 'The pages forbid framing, scripts and external content',
      async send(at) {
        const { headers } = await open(at, {}, createBrowser());
        const policy = `${headers.get('content-security-policy')}`;
        return [/default-src 'none'/, /frame-ancestors 'none'/, /base-uri 'none'/].map((one) => one.test(policy));
      },
      back: [true, true, true],
    },
    {
      section: '7.12.2',
      level: 'MUST NOT',
      requires: 'The server is no open redirector: an invalid request of an unverified client is shown as a page',
      send: async (at) =>
        Promise.all([
          refusal(at, { redirect_uri: 'https://evil.example/', response_type: 'nonsense' }),
          refusal(at, { redirect_uri: 'https://evil.example/', scope: 'nonsense', prompt: 'none' }),
          refusal(at, { redirect_uri: '//evil.example/' }),
          refusal(at, { redirect_uri: 'javascript:alert(1)' }),
        ]),
      back: [400, 400, 400, 400],
    },
    {
      section: '8.4.3',
      level: 'MUST',
      requires: 'An app may use its own URI scheme, compared exactly',
      async send(at) {
        const own = 'com.example.notebook:/oauth/callback';
        const { id } = await newClient(at, { redirect_uris: [own] });
        const callback = await allow(at, { client_id: id, redirect_uri: own }, createBrowser());
        const other = await refusal(at, { client_id: id, redirect_uri: `${own}/2` });
        return [callback.href.split('?')[0], callback.searchParams.has('code'), other];
      },
      back: ['com.example.notebook:/oauth/callback', true, 400],
    },
    {
      section: '8.4.3',
      level: 'MUST NOT',
      requires: 'A scheme that a browser runs or reads itself is refused for apps',
      send: async (at) => {
        const uris = [
          'javascript:alert(1)',
          'data:text/html,x',
          'vbscript:x',
          'file:///etc/passwd',
          'blob:https://a/b',
        ];
        const answers = await Promise.all(uris.map((uri) => register(at, { redirect_uris: [uri] })));
        return answers.map(shown);
      },
      back: Array(5).fill([400, 'invalid_redirect_uri']),
    },
    {
      section: '10.1',
      level: 'MUST NOT',
      requires: 'The implicit grant is not supported, in any form',
      send: async (at) => [
        await refusal(at, { response_type: 'token' }),
        shown(
          await register(at, { redirect_uris: [redirectUri], response_types: ['token'], grant_types: ['implicit'] }),
        ),
      ],
      back: (at: ConformanceServer) => [refused(at, 'unsupported_response_type'), [400, 'invalid_client_metadata']],
    },
    {
      section: '10.2',
      level: 'MUST',
      requires: 'A token request needs no redirect URI; a sent one is compared',
      async send(at) {
        const two = await newClient(at, { redirect_uris: [redirectUri, `${redirectUri}/2`] });
        const device = await desktop(at);
        const given = async (client_id: string, redirect_uri: string, sent?: string) => {
          const code = await codeFor(at, { client_id, redirect_uri });
          return shown(await redeem(at, code, { client_id, redirect_uri: sent }));
        };
        return [
          await given(two.id, `${redirectUri}/2`),
          await given(device.id, 'http://127.0.0.1:51004/callback'),
          await given(two.id, `${redirectUri}/2`, redirectUri),
        ];
      },
      back: [
        [200, undefined],
        [200, undefined],
        [400, 'invalid_grant'],
      ],
    },
    {
      section: '10.2',
      level: 'MUST NOT',
      requires: 'Omitting the redirect URI does not help without the verifier or as another client',
      async send(at) {
        const code = await codeFor(at);
        const stranger = await newClient(at);
        const bare = { redirect_uri: undefined };
        return [
          shown(await redeem(at, code, { ...bare, client_id: stranger.id })),
          shown(await redeem(at, await codeFor(at), { ...bare, code_verifier: 'w'.repeat(43) })),
        ];
      },
      back: [
        [400, 'invalid_grant'],
        [400, 'invalid_grant'],
      ],
    },
  ],
};
