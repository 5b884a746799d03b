import { createBrowser, signIn } from '../flow.ts';
import {
  ask,
  authorization,
  basic,
  endpoint,
  type Fields,
  keeper,
  names,
  newClient,
  notebook,
  post,
  redeem,
  redirectUri,
  shown,
  told,
} from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const push = async (at: ConformanceServer, change: Fields = {}, headers: Record<string, string> = {}) =>
  ask(endpoint(at, 'par'), { method: 'POST', body: await authorization(at, change), headers });

const short = (at: ConformanceServer, client_id: string, request_uri: string, more: Record<string, string> = {}) =>
  `${endpoint(at, 'authorize')}?${new URLSearchParams({ client_id, request_uri, ...more })}`;

export const rfc9126: Standard = {
  name: 'RFC 9126',
  title: 'Pushed Authorization Requests',
  url: 'https://www.rfc-editor.org/rfc/rfc9126',
  file: 'rfc9126.ts',
  cases: [
    {
      section: '2.2',
      level: 'MUST',
      requires: 'A pushed request gets 201 with a request_uri that cannot be guessed, and its lifetime',
      async send(at) {
        const { status, headers, json } = await push(at);
        const [type, cache] = names(headers, 'content-type', 'cache-control');
        const [, random = ''] = /^urn:ietf:params:oauth:request_uri:(.+)$/.exec(json.request_uri) ?? [];
        return [status, type?.split(';')[0], cache, random.length >= 22, json.expires_in > 0 && json.expires_in <= 600];
      },
      back: [201, 'application/json', 'no-store', true, true],
    },
    {
      section: '4',
      level: 'MUST',
      requires: 'The browser sends only the request_uri, and the flow completes with the pushed parameters',
      async send(at) {
        const { id } = await notebook(at);
        const { json } = await push(at);
        const callback = await signIn(short(at, id, json.request_uri), at.account, at.browser);
        const { status, json: tokens } = await redeem(at, `${callback.searchParams.get('code')}`);
        return [callback.href.split('?')[0], status, tokens.scope];
      },
      back: [redirectUri, 200, 'mcp:read'],
    },
    {
      section: '4',
      level: 'MUST',
      requires: 'Parameters beside the request_uri are ignored',
      async send(at) {
        const { id } = await notebook(at);
        const { json } = await push(at);
        const url = short(at, id, json.request_uri, { scope: 'mcp:action', redirect_uri: 'https://evil.example/' });
        const callback = await signIn(url, at.account, at.browser);
        const { json: tokens } = await redeem(at, `${callback.searchParams.get('code')}`);
        return [callback.href.split('?')[0], tokens.scope];
      },
      back: [redirectUri, 'mcp:read'],
    },
    {
      section: '4',
      level: 'SHOULD',
      requires: 'The request_uri is used once',
      async send(at) {
        const { id } = await notebook(at);
        const { json } = await push(at);
        const url = short(at, id, json.request_uri);
        await signIn(url, at.account, at.browser);
        const again = told(await createBrowser().open(url)) as { error?: string };
        return again.error ?? again;
      },
      back: 'invalid_request_uri',
    },
    {
      section: '2.2',
      level: 'MUST',
      requires: 'The request_uri is bound to the client that pushed',
      async send(at) {
        const { json } = await push(at);
        const stranger = await newClient(at);
        const page = await createBrowser().open(short(at, stranger.id, json.request_uri));
        return [page.leftTo?.searchParams.has('code') ?? false, page.html.includes('name="password"')];
      },
      back: [false, false],
    },
    {
      section: '2.2',
      level: 'SHOULD',
      requires: 'The request_uri expires',
      async send(at) {
        const { id } = await notebook(at);
        const { json } = await push(at);
        at.wait(json.expires_in + 1);
        const page = await createBrowser().open(short(at, id, json.request_uri));
        return page.html.includes('name="password"');
      },
      back: false,
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A client authenticates as at the token endpoint',
      async send(at) {
        const client = await keeper(at);
        return [
          shown(await push(at, { client_id: client.id })),
          (await push(at, { client_id: client.id }, basic(client))).status,
          shown(await push(at, { client_id: 'nobody' })),
        ];
      },
      back: [[401, 'invalid_client'], 201, [401, 'invalid_client']],
    },
    {
      section: '2.1',
      level: 'MUST NOT',
      requires: 'A pushed request cannot refer to another pushed request',
      async send(at) {
        const { json } = await push(at);
        return (await push(at, { request_uri: json.request_uri })).status;
      },
      back: 400,
    },
    {
      section: '2.3',
      level: 'MUST',
      requires: 'An invalid request is refused when it is pushed',
      send: async (at) => [
        (await push(at, { redirect_uri: 'https://evil.example/' })).status,
        shown(await push(at, { code_challenge: undefined, code_challenge_method: undefined })),
        shown(await push(at, { response_type: 'token' })),
        shown(await push(at, { resource: 'https://other.example' })),
      ],
      back: [400, [400, 'invalid_request'], [400, 'unsupported_response_type'], [400, 'invalid_target']],
    },
    {
      section: '2.3',
      level: 'MUST',
      requires: 'Another method is 405, and a request that is too large 413',
      send: async (at) => [
        (await ask(endpoint(at, 'par'))).status,
        (await post(at, 'par', { client_id: (await notebook(at)).id, state: 'x'.repeat(60_000) })).status,
      ],
      back: [405, 413],
    },
    {
      section: '5',
      level: 'MUST',
      requires: 'The metadata names the endpoint, and says that it is optional',
      async send(at) {
        const { json } = await ask(`${at.origin}/.well-known/oauth-authorization-server${at.prefix}`);
        return [json.pushed_authorization_request_endpoint, json.require_pushed_authorization_requests];
      },
      back: (at: ConformanceServer) => [`${at.issuer}/oauth/par`, false],
    },
  ],
};
