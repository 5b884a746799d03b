import { createBrowser } from '../flow.ts';
import {
  allow,
  ask,
  asMetadata,
  authorization,
  call,
  codeFor,
  connect,
  desktop,
  endpoint,
  newClient,
  notebook,
  open,
  post,
  redeem,
  redirectUri,
  refresh,
  refusal,
  refused,
  shown,
  statusOf,
  told,
} from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

export const rfc9700: Standard = {
  name: 'RFC 9700',
  title: 'Best Current Practice for OAuth 2.0 Security',
  url: 'https://www.rfc-editor.org/rfc/rfc9700',
  file: 'rfc9700.ts',
  cases: [
    {
      section: '2.1',
      level: 'MUST',
      requires: 'Redirect URIs are compared as strings: neither a prefix nor an equivalent URL is accepted',
      async send(at) {
        const wrong = [
          'https://notebook.example/callback/..%2fother',
          'https://notebook.example/callback#part',
          'https://notebook.example/%63allback',
          'https://notebook.example:443/callback',
          'https://user@notebook.example/callback',
          'https://notebook.example.evil.example/callback',
          'https://sub.notebook.example/callback',
          'https://notebook.example\\@evil.example/callback',
          'http://notebook.example/callback',
        ];
        return Promise.all(wrong.map((redirect_uri) => refusal(at, { redirect_uri })));
      },
      back: Array(9).fill(400),
    },
    {
      section: '2.1.1',
      level: 'MUST',
      requires: 'PKCE is enforced, and the metadata advertises it',
      send: async (at) => [
        await refusal(at, { code_challenge: undefined, code_challenge_method: undefined }),
        (await asMetadata(at)).json.code_challenge_methods_supported,
      ],
      back: (at: ConformanceServer) => [refused(at, 'invalid_request'), ['S256']],
    },
    {
      section: '2.1.2',
      level: 'SHOULD NOT',
      requires: 'The authorization endpoint never returns an access token',
      async send(at) {
        const wanted = ['token', 'id_token token', 'code token', 'code id_token', 'id_token', 'none'];
        const answers = await Promise.all(wanted.map((response_type) => refusal(at, { response_type })));
        return [answers, (await asMetadata(at)).json.response_types_supported];
      },
      back: (at: ConformanceServer) => [Array(6).fill(refused(at, 'unsupported_response_type')), ['code']],
    },
    {
      section: '2.2.2',
      level: 'MUST',
      requires: "Public clients' refresh tokens rotate, or are bound to a key",
      async send(at) {
        const { refresh: token } = await connect(at);
        return (await refresh(at, token)).json.refresh_token === token;
      },
      back: false,
    },
    {
      section: '2.3',
      level: 'SHOULD',
      requires: 'A token allows only what was granted, for one resource',
      async send(at) {
        const { access } = await connect(at, { scope: 'mcp:read' });
        const answer = await call(at, access, { tool: 'create', args: { collectionName: 'orders', attributes: {} } });
        const { json } = await post(at, 'introspect', { token: access, client_id: (await notebook(at)).id });
        return [answer.status, json.aud, json.scope];
      },
      back: (at: ConformanceServer) => [403, at.resource, 'mcp:read'],
    },
    {
      section: '2.4',
      level: 'MUST NOT',
      requires: 'Passwords are entered only on pages of Portico: there is no password grant',
      send: async (at) => [
        shown(await post(at, 'token', { grant_type: 'password', client_id: (await notebook(at)).id, ...at.account })),
        (await asMetadata(at)).json.grant_types_supported,
      ],
      back: [
        [400, 'unsupported_grant_type'],
        ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      ],
    },
    {
      section: '2.5',
      level: 'SHOULD',
      requires: 'Clients can authenticate with their own key',
      send: async (at) => (await asMetadata(at)).json.token_endpoint_auth_methods_supported.includes('private_key_jwt'),
      back: true,
    },
    {
      section: '4.1.3',
      level: 'MUST NOT',
      requires: 'The fragment of a response contains nothing that could leak to a third party',
      send: async (at) => (await allow(at)).hash,
      back: '',
    },
    {
      section: '4.2.4',
      level: 'SHOULD',
      requires: 'Pages that know of a request reveal it to no other site, and load nothing from one',
      async send(at) {
        const { headers, html } = await open(at, {}, createBrowser());
        return [headers.get('referrer-policy'), /(?:src|href)="https?:/.test(html)];
      },
      back: ['no-referrer', false],
    },
    {
      section: '4.2.4',
      level: 'SHOULD',
      requires: 'A leaked code is useless: it is accepted once, within a minute, with its verifier',
      async send(at) {
        const code = await codeFor(at);
        const first = await redeem(at, code);
        return [
          first.status,
          shown(await redeem(at, code)),
          shown(await redeem(at, await codeFor(at), { code_verifier: undefined })),
        ];
      },
      back: [200, [400, 'invalid_grant'], [400, 'invalid_grant']],
    },
    {
      section: '4.3.2',
      level: 'SHOULD NOT',
      requires: 'No token is in a URL: responses carry a code, and /mcp refuses a token in its query',
      async send(at) {
        const callback = await allow(at);
        const { access } = await connect(at);
        const query = await call(at, undefined, { query: `?access_token=${access}` });
        return [[...callback.searchParams.keys()].sort(), query.status];
      },
      back: [['code', 'iss', 'state'], 401],
    },
    {
      section: '4.4.2',
      level: 'MUST',
      requires: 'Clients can distinguish servers: every response names its issuer',
      send: async (at) => [
        (await allow(at)).searchParams.get('iss'),
        ((await refusal(at, { resource: 'https://other.example' })) as { iss: string }).iss,
      ],
      back: (at: ConformanceServer) => [at.issuer, at.issuer],
    },
    {
      section: '4.5.3.1',
      level: 'MUST',
      requires: "A code injected into another browser's flow is refused: its verifier differs",
      async send(at) {
        const stolen = await codeFor(at, { code_challenge: 'a'.repeat(43) });
        return shown(await redeem(at, stolen));
      },
      back: [400, 'invalid_grant'],
    },
    {
      section: '4.7.1',
      level: 'MUST',
      requires: 'A sign-in cannot be forced upon a user: the response goes to the browser that began it',
      async send(at) {
        const mine = createBrowser();
        const page = await open(at, {}, mine);
        const action = new URL(/action="([^"]+)"/.exec(page.html)?.[1] ?? '', page.url);
        const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
        const body = new URLSearchParams({ action: 'sign-in', csrf, ...at.account });
        const theirs = await createBrowser().open(action, { method: 'POST', body });
        return told(theirs);
      },
      back: 400,
    },
    {
      section: '4.8.2',
      level: 'MUST',
      requires: 'PKCE cannot be removed in transit: without a challenge no code is issued',
      async send(at) {
        const url = `${endpoint(at, 'authorize')}?${await authorization(at, { code_challenge: '', code_challenge_method: '' })}`;
        return told(await createBrowser().open(url));
      },
      back: (at: ConformanceServer) => refused(at, 'invalid_request'),
    },
    {
      section: '4.11.2',
      level: 'MUST',
      requires:
        'Without the user there is no redirect: a new client gets a page, and an error is shown, with a link to the client',
      async send(at) {
        const { id } = await newClient(at);
        const page = await open(at, { client_id: id }, createBrowser());
        const wrong = await open(at, { client_id: id, prompt: 'none' }, createBrowser());
        return [page.leftTo === undefined, wrong.leftTo === undefined, wrong.status, told(wrong)];
      },
      back: (at: ConformanceServer) => [true, true, 400, refused(at, 'login_required')],
    },
    {
      section: '4.12',
      level: 'MUST NOT',
      requires: 'Every redirect of the flow is a 303, so that no form is sent twice',
      async send(at) {
        const seen: number[] = [];
        const url = `${endpoint(at, 'authorize')}?${await authorization(at)}`;
        seen.push((await ask(url)).status);
        const posted = await ask(endpoint(at, 'authorize'), { method: 'POST', body: await authorization(at) });
        seen.push(posted.status);
        const { status } = await at.browser.open(url);
        return [...seen, [200, 303].includes(status)];
      },
      back: [303, 303, true],
    },
    {
      section: '4.14.2',
      level: 'MUST',
      requires: 'A used refresh token is accepted for a short grace period, for lost responses, and then never',
      async send(at) {
        const { refresh: token } = await connect(at);
        const first = await refresh(at, token);
        at.wait(50);
        const retried = await refresh(at, token);
        at.wait(15);
        const late = await refresh(at, token);
        return [first.status, retried.status, shown(late), await statusOf(at, retried.json.access_token)];
      },
      back: [200, 200, [400, 'invalid_grant'], 401],
    },
    {
      section: '4.14.2',
      level: 'SHOULD',
      requires: 'Refresh tokens end with the authorization, and expire when unused',
      async send(at) {
        const tokens = await connect(at);
        await post(at, 'revoke', { token: tokens.access, client_id: (await notebook(at)).id });
        const idle = await connect(at);
        const seen = shown(await refresh(at, tokens.refresh));
        at.wait(31 * 86_400);
        return [seen, shown(await refresh(at, idle.refresh))];
      },
      back: [
        [400, 'invalid_grant'],
        [400, 'invalid_grant'],
      ],
    },
    {
      section: '4.15.1',
      level: 'SHOULD NOT',
      requires: 'A client cannot take the identity of a user: Portico makes the ids, and every grant has a user',
      async send(at) {
        const { id } = await newClient(at, { client_id: '1' });
        return [id === '1', shown(await post(at, 'token', { grant_type: 'client_credentials', client_id: id }))];
      },
      back: [false, [400, 'unsupported_grant_type']],
    },
    {
      section: '4.16',
      level: 'MUST',
      requires: 'Sign-in and consent cannot be framed',
      async send(at) {
        const browser = createBrowser();
        const { id } = await newClient(at);
        const signIn = await open(at, { client_id: id }, browser);
        const consent = await browser.press(signIn, 'sign-in', { ...at.account });
        return [signIn, consent].map(({ headers }) => [
          headers.get('x-frame-options'),
          `${headers.get('content-security-policy')}`.includes("frame-ancestors 'none'"),
        ]);
      },
      back: [
        ['DENY', true],
        ['DENY', true],
      ],
    },
    {
      section: '4.18',
      level: 'MUST NOT',
      requires: 'Responses are not passed between windows: web_message and other modes are not supported',
      send: async (at) => [
        (await asMetadata(at)).json.response_modes_supported,
        await refusal(at, {
          response_mode: 'web_message',
          client_id: (await desktop(at)).id,
          redirect_uri: redirectUri,
        }),
        typeof (await refusal(at, { response_mode: 'web_message' })),
      ],
      back: [['query'], 400, 'object'],
    },
  ],
};
