import { createBrowser } from '../flow.ts';
import {
  allow,
  ask,
  authorization,
  basic,
  call,
  challenge,
  codeFor,
  connect,
  endpoint,
  fill,
  keeper,
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
  state,
  statusOf,
  told,
} from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const bogus = { grant_type: 'refresh_token', refresh_token: 'nobody-was-given-this-one' };

export const rfc6749: Standard = {
  name: 'RFC 6749',
  title: 'The OAuth 2.0 Authorization Framework',
  url: 'https://www.rfc-editor.org/rfc/rfc6749',
  file: 'rfc6749.ts',
  cases: [
    {
      section: '2.3',
      level: 'MUST NOT',
      requires: 'A client uses one authentication method in a request: a request with two is refused',
      async send(at) {
        const client = await keeper(at);
        return shown(await post(at, 'token', { ...bogus, client_secret: client.secret }, basic(client)));
      },
      back: [400, 'invalid_request'],
    },
    {
      section: '2.3.1',
      level: 'MUST',
      requires: 'A client with a secret may send it by HTTP Basic; without it, or with a wrong one, it is refused',
      async send(at) {
        const client = await keeper(at);
        return [
          shown(await post(at, 'token', bogus, basic(client))),
          shown(await post(at, 'token', bogus, basic({ ...client, secret: 'wrong' }))),
          shown(await post(at, 'token', { ...bogus, client_id: client.id })),
        ];
      },
      back: [
        [400, 'invalid_grant'],
        [401, 'invalid_client'],
        [401, 'invalid_client'],
      ],
    },
    {
      section: '2.3.1',
      level: 'MUST NOT',
      requires: 'Client credentials in the query are refused',
      async send(at) {
        const { id, secret } = await newClient(at, { token_endpoint_auth_method: 'client_secret_post' });
        const url = `${endpoint(at, 'token')}?${fill({ client_id: id, client_secret: secret })}`;
        return shown(await ask(url, { method: 'POST', body: fill(bogus) }));
      },
      back: [400, 'invalid_request'],
    },
    {
      section: '2.3.1',
      level: 'MUST',
      requires: 'Guesses of client secrets are limited: an address with very many failures gets 429 with Retry-After',
      async send(at) {
        const client = await newClient(at, { token_endpoint_auth_method: 'client_secret_basic' });
        const guess = () => post(at, 'token', bogus, basic({ ...client, secret: 'guess' }));
        for (let tried = 0; tried < 40; tried++) {
          const answers = await Promise.all(Array.from({ length: 10 }, guess));
          const held = answers.find(({ status }) => status === 429);
          const others = () => post(at, 'token', { ...bogus, client_id: client.id });
          if (held) return [shown(held), Number(held.headers.get('retry-after')) > 0, shown(await others())];
        }
        return 'never held up';
      },
      back: [[429, 'rate_limited'], true, [401, 'invalid_client']],
    },
    {
      section: '3.1',
      level: 'MUST',
      requires:
        'The authorization endpoint accepts GET, and may accept POST: a posted request leads to the same sign-in',
      async send(at) {
        const body = await authorization(at);
        const posted = await ask(endpoint(at, 'authorize'), { method: 'POST', body });
        const page = await createBrowser().open(`${posted.headers.get('location')}`);
        return [posted.status, page.status, page.html.includes('name="password"')];
      },
      back: [303, 200, true],
    },
    {
      section: '3.1',
      level: 'MUST',
      requires: 'A parameter without a value counts as omitted, and an unknown one is ignored',
      async send(at) {
        const callback = await allow(at, { scope: '', resource: '', colour: 'blue' });
        return callback.searchParams.has('code');
      },
      back: true,
    },
    {
      section: '3.1',
      level: 'MUST NOT',
      requires: 'A parameter that occurs twice is refused',
      send: (at) => refusal(at, { code_challenge: [challenge, challenge] }),
      back: (at: ConformanceServer) => refused(at, 'invalid_request'),
    },
    {
      section: '3.1.1',
      level: 'MUST',
      requires: 'A request without response_type, or with an unsupported one, is refused',
      send: async (at) => [
        await refusal(at, { response_type: undefined }),
        await refusal(at, { response_type: 'token' }),
        await refusal(at, { response_type: 'code token' }),
      ],
      back: (at: ConformanceServer) => [
        refused(at, 'invalid_request'),
        refused(at, 'unsupported_response_type'),
        refused(at, 'unsupported_response_type'),
      ],
    },
    {
      section: '3.1.2.4',
      level: 'MUST NOT',
      requires: 'An invalid redirect URI, or an unknown client, is shown to the user: the browser is not redirected',
      send: async (at) => [
        await refusal(at, { redirect_uri: 'https://evil.example/callback' }),
        await refusal(at, { client_id: 'nobody' }),
        await refusal(at, { client_id: undefined }),
      ],
      back: [400, 400, 400],
    },
    {
      section: '3.1.2.3',
      level: 'MUST',
      requires: 'A client with several redirect URIs names one',
      async send(at) {
        const { id } = await newClient(at, { redirect_uris: [redirectUri, `${redirectUri}/2`] });
        return refusal(at, { client_id: id, redirect_uri: undefined });
      },
      back: 400,
    },
    {
      section: '3.1.2.3',
      level: 'MAY',
      requires: 'A client with one redirect URI may omit it',
      async send(at) {
        const { id } = await newClient(at);
        const callback = await allow(at, { client_id: id, redirect_uri: undefined });
        const code = `${callback.searchParams.get('code')}`;
        const { status } = await redeem(at, code, { client_id: id, redirect_uri: undefined });
        return [callback.href.split('?')[0], status];
      },
      back: [redirectUri, 200],
    },
    {
      section: '3.2',
      level: 'MUST',
      requires: 'The token endpoint accepts only POST',
      send: async (at) => {
        const answer = await ask(`${endpoint(at, 'token')}?grant_type=authorization_code`);
        return [answer.status, answer.headers.get('allow')];
      },
      back: [405, 'POST'],
    },
    {
      section: '3.2',
      level: 'MUST NOT',
      requires: 'A parameter of a token request that occurs twice is refused',
      async send(at) {
        const code = await codeFor(at);
        return shown(await redeem(at, code, { code: [code, code] }));
      },
      back: [400, 'invalid_request'],
    },
    {
      section: '3.3',
      level: 'MUST',
      requires: 'If the granted scope differs from the requested one, the response names it',
      async send(at) {
        const code = await codeFor(at, { scope: 'mcp:read photos:write' });
        return (await redeem(at, code)).json.scope;
      },
      back: 'mcp:read',
    },
    {
      section: '3.3',
      level: 'MUST',
      requires: 'A request without a scope gets a documented default',
      async send(at) {
        const code = await codeFor(at, { scope: undefined });
        return (await redeem(at, code)).json.scope.split(' ').sort();
      },
      back: ['mcp:read', 'mcp:write'],
    },
    {
      section: '4.1.2',
      level: 'MUST',
      requires: 'The state is returned exactly as it was sent',
      async send(at) {
        const callback = await allow(at, { state: 'a b+c/ü%20"<>' });
        return callback.searchParams.getAll('state');
      },
      back: ['a b+c/ü%20"<>'],
    },
    {
      section: '4.1.2',
      level: 'MUST NOT',
      requires: 'A code is accepted once, and reuse revokes its tokens',
      async send(at) {
        const code = await codeFor(at);
        const first = await redeem(at, code);
        const again = await redeem(at, code);
        return [first.status, shown(again), await statusOf(at, first.json.access_token)];
      },
      back: [200, [400, 'invalid_grant'], 401],
    },
    {
      section: '4.1.2',
      level: 'MUST',
      requires: 'A code expires soon: within a minute',
      async send(at) {
        const code = await codeFor(at);
        at.wait(61);
        return shown(await redeem(at, code));
      },
      back: [400, 'invalid_grant'],
    },
    {
      section: '4.1.2',
      level: 'MUST',
      requires: 'A code is bound to its client: another one cannot use it',
      async send(at) {
        const stranger = await newClient(at);
        return shown(await redeem(at, await codeFor(at), { client_id: stranger.id }));
      },
      back: [400, 'invalid_grant'],
    },
    {
      section: '4.1.2.1',
      level: 'MUST',
      requires: 'The client gets access_denied, with its state, if the user refuses',
      async send(at) {
        const browser = createBrowser();
        const page = await open(at, {}, browser);
        return told(await browser.press(page, 'cancel'));
      },
      back: (at: ConformanceServer) => refused(at, 'access_denied'),
    },
    {
      section: '4.1.2.1',
      level: 'MUST',
      requires: 'Without a state in the request, the error has no state',
      send: (at) => refusal(at, { state: undefined, response_type: 'token' }),
      back: (at: ConformanceServer) => ({ error: 'unsupported_response_type', iss: at.issuer }),
    },
    {
      section: '4.1.3',
      level: 'MUST',
      requires: 'The redirect URI in the token request equals that of the authorization request',
      async send(at) {
        const { id } = await newClient(at, { redirect_uris: [redirectUri, `${redirectUri}/2`] });
        const code = await codeFor(at, { client_id: id });
        return shown(await redeem(at, code, { client_id: id, redirect_uri: `${redirectUri}/2` }));
      },
      back: [400, 'invalid_grant'],
    },
    {
      section: '4.1.3',
      level: 'MUST',
      requires: 'A client with a secret redeems its code with it, and not without',
      async send(at) {
        const client = await keeper(at);
        const asked = { client_id: client.id };
        const bare = await redeem(at, await codeFor(at, asked), asked);
        const proved = await redeem(at, await codeFor(at, asked), { client_id: undefined }, basic(client));
        return [shown(bare), proved.status];
      },
      back: [[401, 'invalid_client'], 200],
    },
    {
      section: '4.3',
      level: 'MAY',
      requires: 'The password grant is not supported',
      send: async (at) =>
        shown(
          await post(at, 'token', {
            grant_type: 'password',
            client_id: (await notebook(at)).id,
            username: at.account.email,
            password: at.account.password,
          }),
        ),
      back: [400, 'unsupported_grant_type'],
    },
    {
      section: '5.1',
      level: 'MUST',
      requires: 'Tokens are returned as JSON with no-store, with their type and lifetime in seconds',
      async send(at) {
        const { status, headers, json } = await redeem(at, await codeFor(at));
        const type = headers.get('content-type')?.split(';')[0];
        return [status, type, headers.get('cache-control'), json.token_type, json.expires_in];
      },
      back: [200, 'application/json', 'no-store', 'Bearer', 900],
    },
    {
      section: '5.2',
      level: 'MUST',
      requires: 'A refused token request gets JSON with status 400 and no-store',
      async send(at) {
        const answer = await refresh(at, 'nobody-was-given-this-one');
        const { status, headers, json } = answer;
        return [status, headers.get('content-type')?.split(';')[0], headers.get('cache-control'), json.error];
      },
      back: [400, 'application/json', 'no-store', 'invalid_grant'],
    },
    {
      section: '5.2',
      level: 'MUST',
      requires: 'A client that fails to authenticate by a header gets 401 with a challenge of that scheme',
      async send(at) {
        const answer = await post(at, 'token', bogus, basic({ id: 'nobody', secret: 'x' }));
        return [...(shown(answer) as unknown[]), /^Basic /.test(`${answer.headers.get('www-authenticate')}`)];
      },
      back: [401, 'invalid_client', true],
    },
    {
      section: '5.2',
      level: 'MUST',
      requires: 'A missing grant type is invalid_request, an unsupported one unsupported_grant_type',
      async send(at) {
        const { id: client_id } = await notebook(at);
        return [
          shown(await post(at, 'token', { client_id })),
          shown(await post(at, 'token', { client_id, grant_type: 'client_credentials' })),
          shown(await post(at, 'token', { client_id, grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' })),
        ];
      },
      back: [
        [400, 'invalid_request'],
        [400, 'unsupported_grant_type'],
        [400, 'unsupported_grant_type'],
      ],
    },
    {
      section: '6',
      level: 'MUST NOT',
      requires: 'A refresh cannot gain a scope, and may ask for less',
      async send(at) {
        const { refresh: token } = await connect(at, { scope: 'mcp:read mcp:write' });
        const more = await refresh(at, token, { scope: 'mcp:read mcp:write mcp:action' });
        const less = await refresh(at, token, { scope: 'mcp:read' });
        return [shown(more), less.json.scope];
      },
      back: [[400, 'invalid_scope'], 'mcp:read'],
    },
    {
      section: '6',
      level: 'MUST',
      requires: 'A refresh token is bound to its client: another one cannot use it',
      async send(at) {
        const { refresh: token } = await connect(at);
        const stranger = await newClient(at);
        return shown(await refresh(at, token, { client_id: stranger.id }));
      },
      back: [400, 'invalid_grant'],
    },
    {
      section: '6',
      level: 'MUST',
      requires: 'A client with a secret refreshes with it, and not without',
      async send(at) {
        const client = await keeper(at);
        const tokens = await connect(at, { client_id: client.id }, { client_id: undefined }, basic(client));
        const bare = await refresh(at, tokens.refresh, { client_id: client.id });
        const proved = await refresh(at, tokens.refresh, { client_id: undefined }, basic(client));
        return [shown(bare), proved.status];
      },
      back: [[401, 'invalid_client'], 200],
    },
    {
      section: '10.3',
      level: 'MUST NOT',
      requires: 'Tokens cannot be guessed: 256 random bits each, all different',
      async send(at) {
        const tokens = [await connect(at), await connect(at)];
        const secrets = tokens.flatMap(({ access, refresh }) => [access, refresh]);
        return [new Set(secrets).size, secrets.every((one) => Buffer.from(one, 'base64url').length >= 32)];
      },
      back: [4, true],
    },
    {
      section: '10.4',
      level: 'MUST',
      requires: 'An access token is not a refresh token, a refresh token opens nothing, and a code is neither',
      async send(at) {
        const code = await codeFor(at);
        const { json } = await redeem(at, code);
        return [
          (await call(at, json.refresh_token)).status,
          (await call(at, code)).status,
          shown(await refresh(at, json.access_token)),
        ];
      },
      back: [401, 401, [400, 'invalid_grant']],
    },
    {
      section: '10.12',
      level: 'MUST',
      requires: 'Consent cannot be forged: a cross-site form, or one without its CSRF token, changes nothing',
      async send(at) {
        const browser = createBrowser();
        const { id: client_id } = await newClient(at);
        const page = await browser.press(await open(at, { client_id }, browser), 'sign-in', { ...at.account });
        const crossed = await browser.open(page.url, {
          method: 'POST',
          body: new URLSearchParams({
            action: 'allow',
            csrf: /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '',
          }),
          headers: { 'sec-fetch-site': 'cross-site' },
        });
        const bare = await browser.open(page.url, { method: 'POST', body: new URLSearchParams({ action: 'allow' }) });
        const pressed = await browser.press(page, 'allow');
        return [told(crossed), told(bare), pressed.leftTo?.searchParams.get('state')];
      },
      back: [400, 400, state],
    },
    {
      section: '10.13',
      level: 'SHOULD',
      requires: 'The pages cannot be framed',
      async send(at) {
        const { headers } = await open(at, {}, createBrowser());
        return [
          headers.get('x-frame-options'),
          /frame-ancestors 'none'/.test(`${headers.get('content-security-policy')}`),
        ];
      },
      back: ['DENY', true],
    },
    {
      section: '10.14',
      level: 'MUST',
      requires: 'Texts of a client are shown as text: markup in its name has no effect',
      async send(at) {
        const { id } = await newClient(at, { client_name: '<img src=x onerror=alert(1)>"Notebook' });
        const { html } = await open(at, { client_id: id }, createBrowser());
        return [html.includes('<img src=x'), html.includes('&lt;img src=x')];
      },
      back: [false, true],
    },
  ],
};
