import { createBrowser } from '../flow.ts';
import {
  allow,
  ask,
  asMetadata,
  call,
  challengeIn,
  codeFor,
  connect,
  desktop,
  newClient,
  notebook,
  open,
  post,
  redeem,
  redirectUri,
  refresh,
  refusal,
  refused,
  register,
  resourceMetadata,
  shown,
} from './asks.ts';
import type { Case, Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const consentOf = async (at: ConformanceServer, metadata: Record<string, unknown>, redirect_uri?: string) => {
  const { id: client_id } = await newClient(at, metadata);
  const browser = createBrowser();
  const page = await open(at, { client_id, ...(redirect_uri && { redirect_uri }) }, browser);
  return (await browser.press(page, 'sign-in', { ...at.account })).html;
};

/** Requirements of both revisions, with nearly the same words. */
const both: readonly Case[] = [
  {
    section: 'Overview',
    level: 'MUST',
    requires: 'The resource server has its own metadata, and the authorization server has discovery',
    send: async (at) => [(await resourceMetadata(at)).status, (await asMetadata(at)).status],
    back: [200, 200],
  },
  {
    section: 'Overview',
    level: 'SHOULD',
    requires: 'Clients may be named by a metadata document, and may register themselves',
    async send(at) {
      const { json } = await asMetadata(at);
      return [json.client_id_metadata_document_supported, typeof json.registration_endpoint];
    },
    back: [true, 'string'],
  },
  {
    section: 'Authorization Server Location',
    level: 'MUST',
    requires: 'The metadata of the resource names at least one authorization server',
    send: async (at) => (await resourceMetadata(at)).json.authorization_servers,
    back: (at: ConformanceServer) => [at.issuer],
  },
  {
    section: 'Protected Resource Metadata Discovery Requirements',
    level: 'MUST',
    requires: 'The challenge of a 401 names its URL, and it is at the well-known URL as well',
    async send(at) {
      const { resource_metadata } = challengeIn((await call(at, undefined)).headers);
      const wellKnown = `${at.origin}/.well-known/oauth-protected-resource${new URL(at.resource).pathname}`;
      return [resource_metadata === wellKnown, (await ask(wellKnown)).json.resource];
    },
    back: (at: ConformanceServer) => [true, at.resource],
  },
  {
    section: 'Scope Selection Strategy',
    level: 'SHOULD',
    requires: 'The challenge of a 401 names every scope that a served tool needs',
    send: async (at) => challengeIn((await call(at, undefined)).headers).scope,
    back: 'mcp:read mcp:write mcp:action',
  },
  {
    section: 'Client ID Metadata Documents',
    level: 'MUST',
    requires: 'A document has client_id, client_name and redirect_uris, and its own URL as client_id',
    async send(at) {
      const id = 'https://docs.example/mcp/client.json';
      const whole = { client_id: id, client_name: 'Notebook', redirect_uris: [redirectUri] };
      const answers = [];
      for (const without of ['client_id', 'client_name', 'redirect_uris']) {
        at.publish(id, { ...whole, [without]: undefined });
        answers.push(await refusal(at, { client_id: id }));
      }
      at.publish(id, whole);
      return [...answers, (await open(at, { client_id: id }, createBrowser())).status];
    },
    back: [400, 400, 400, 200],
  },
  {
    section: 'Dynamic Client Registration',
    level: 'MAY',
    requires: 'A client without a secret registers and signs in without preparation',
    async send(at) {
      const { id } = await newClient(at, { redirect_uris: ['http://localhost:6274/oauth/callback'] });
      const asked = { client_id: id, redirect_uri: 'http://localhost:6274/oauth/callback' };
      return (await redeem(at, await codeFor(at, asked), asked)).status;
    },
    back: 200,
  },
  {
    section: 'Canonical Server URI',
    level: 'SHOULD',
    requires: 'Scheme and host of the resource may be upper case, and a trailing slash is allowed',
    async send(at) {
      const capitals = at.resource.replace(/^http:\/\/[^/]+/, (origin) => origin.toUpperCase());
      const tokens = [await connect(at, { resource: capitals }), await connect(at, { resource: `${at.resource}/` })];
      return Promise.all(tokens.map(async ({ access }) => (await call(at, access)).status));
    },
    back: [200, 200],
  },
  {
    section: 'Resource Parameter Implementation',
    level: 'MUST',
    requires: 'The resource is accepted in authorization and token requests, and another one is refused in both',
    async send(at) {
      const resource = at.resource;
      const { status } = await redeem(at, await codeFor(at, { resource }), { resource });
      const other = 'https://other.example/mcp';
      return [
        status,
        await refusal(at, { resource: other }),
        shown(await redeem(at, await codeFor(at), { resource: other })),
      ];
    },
    back: (at: ConformanceServer) => [200, refused(at, 'invalid_target'), [400, 'invalid_target']],
  },
  {
    section: 'Token Requirements',
    level: 'MUST',
    requires:
      'Every request carries its token in the header, within a session as well; a token in the query is refused',
    async send(at) {
      const { access } = await connect(at);
      const first = await call(at, access);
      const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? 'some-session' };
      return [
        first.status,
        (await call(at, undefined, { headers: session })).status,
        (await call(at, undefined, { query: `?access_token=${access}` })).status,
      ];
    },
    back: [200, 401, 401],
  },
  {
    section: 'Token Handling',
    level: 'MUST',
    requires: 'An unknown or expired token, or one of another kind, gets 401',
    async send(at) {
      const tokens = await connect(at);
      const seen = [(await call(at, 'x'.repeat(43))).status, (await call(at, tokens.refresh)).status];
      at.wait(901);
      return [...seen, (await call(at, tokens.access)).status];
    },
    back: [401, 401, 401],
  },
  {
    section: 'Error Handling',
    level: 'MUST',
    requires: '401 is for tokens, 403 for rights, 400 for requests that cannot be read',
    async send(at) {
      const { access } = await connect(at);
      const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
      return [
        (await call(at, undefined)).status,
        (await call(at, access, { tool: 'delete', args: { collectionName: 'orders', recordIds: ['1'] } })).status,
        (await ask(at.resource, { method: 'POST', headers, body: '{' })).status,
        await refusal(at, { redirect_uri: 'https://evil.example/' }),
      ];
    },
    back: [401, 403, 400, 400],
  },
  {
    section: 'Runtime Insufficient Scope Errors',
    level: 'SHOULD',
    requires: 'A call beyond its token gets 403 with the held scopes and the missing one, in one challenge',
    async send(at) {
      const { access } = await connect(at);
      const answer = await call(at, access, { tool: 'delete', args: { collectionName: 'orders', recordIds: ['1'] } });
      const { scheme, error, scope, resource_metadata } = challengeIn(answer.headers);
      return [answer.status, scheme, error, scope, (await ask(`${resource_metadata}`)).status];
    },
    back: [403, 'Bearer', 'insufficient_scope', 'mcp:read mcp:write', 200],
  },
  {
    section: 'Step-Up Authorization Flow',
    level: 'SHOULD',
    requires: 'A request for more scopes asks the user again, and gives a token with all of them',
    async send(at) {
      const { id: client_id } = await newClient(at);
      await connect(at, { client_id });
      const asked = { client_id, scope: 'mcp:read mcp:write' };
      const page = await open(at, asked);
      const { json } = await redeem(at, await codeFor(at, asked), { client_id });
      return [page.html.includes('value="allow"'), json.scope.split(' ').sort()];
    },
    back: [true, ['mcp:read', 'mcp:write']],
  },
  {
    section: 'Token Audience Binding and Validation',
    level: 'MUST',
    requires: 'A token is issued for this server and names it as audience',
    async send(at) {
      const { access } = await connect(at);
      return (await post(at, 'introspect', { token: access, client_id: (await notebook(at)).id })).json.aud;
    },
    back: (at: ConformanceServer) => at.resource,
  },
  {
    section: 'Token Theft',
    level: 'SHOULD',
    requires: 'Access tokens are short-lived',
    async send(at) {
      const { access } = await connect(at);
      at.wait(901);
      return (await call(at, access)).status;
    },
    back: 401,
  },
  {
    section: 'Token Theft',
    level: 'MUST',
    requires: "Public clients' refresh tokens rotate",
    async send(at) {
      const { refresh: token } = await connect(at);
      return (await refresh(at, token)).json.refresh_token !== token;
    },
    back: true,
  },
  {
    section: 'Communication Security',
    level: 'MUST',
    requires: 'Redirects use https or lead to this device',
    send: async (at) => [
      shown(await register(at, { redirect_uris: ['http://notebook.example/callback'] })),
      (await register(at, { redirect_uris: ['http://localhost/callback'] })).status,
      (await register(at, { redirect_uris: [redirectUri] })).status,
    ],
    back: [[400, 'invalid_redirect_uri'], 201, 201],
  },
  {
    section: 'Authorization Code Protection',
    level: 'MUST',
    requires: 'The metadata names S256, which clients require',
    send: async (at) => (await asMetadata(at)).json.code_challenge_methods_supported,
    back: ['S256'],
  },
  {
    section: 'Open Redirection',
    level: 'MUST',
    requires: 'Redirect URIs are compared exactly with the registered ones',
    send: async (at) => [
      await refusal(at, { redirect_uri: `${redirectUri}/more` }),
      await refusal(at, { redirect_uri: 'https://evil.example/' }),
    ],
    back: [400, 400],
  },
  {
    section: 'Localhost Redirect URI Risks',
    level: 'SHOULD',
    requires: 'Consent warns of clients on a device, whatever their document contains',
    async send(at) {
      const id = 'https://docs.example/mcp/desktop.json';
      at.publish(id, { client_id: id, client_name: 'Desktop', redirect_uris: ['http://localhost/callback'] });
      const browser = createBrowser();
      const page = await open(at, { client_id: id, redirect_uri: 'http://localhost:5000/callback' }, browser);
      const { html } = await browser.press(page, 'sign-in', { ...at.account });
      return [/unverified|not verified|not been verified/i.test(html), html.includes('localhost:5000')];
    },
    back: [true, true],
  },
  {
    section: 'Localhost Redirect URI Risks',
    level: 'MUST',
    requires: 'Consent shows the host of the redirect',
    send: async (at) => (await consentOf(at, {})).includes('notebook.example'),
    back: true,
  },
  {
    section: 'Access Token Privilege Restriction',
    level: 'MUST',
    requires: 'The token is checked before the request is read, and a refusal reveals no data',
    async send(at) {
      const headers = { authorization: `Bearer ${'x'.repeat(43)}`, 'content-type': 'application/json' };
      const answer = await ask(at.resource, { method: 'POST', headers, body: '{ this is no JSON' });
      return [answer.status, Object.keys(answer.json).sort()];
    },
    back: [401, ['error', 'error_description']],
  },
];

const modern: readonly Case[] = [
  {
    section: 'Authorization Response Validation',
    level: 'SHOULD',
    requires: 'Responses carry iss, errors too, and the metadata advertises it',
    send: async (at) => [
      (await allow(at)).searchParams.get('iss'),
      await refusal(at, { response_type: 'token' }),
      (await asMetadata(at)).json.authorization_response_iss_parameter_supported,
    ],
    back: (at: ConformanceServer) => [at.issuer, refused(at, 'unsupported_response_type'), true],
  },
  {
    section: 'Refresh Tokens',
    level: 'SHOULD NOT',
    requires: 'Neither the challenge nor the metadata of the resource names offline_access; a client may request it',
    async send(at) {
      const challenged = challengeIn((await call(at, undefined)).headers).scope;
      const { json: resource } = await resourceMetadata(at);
      const { json: server } = await asMetadata(at);
      const code = await codeFor(at, { scope: 'mcp:read offline_access' });
      return [
        `${challenged} ${resource.scopes_supported.join(' ')}`.includes('offline_access'),
        server.scopes_supported.includes('offline_access'),
        typeof (await redeem(at, code)).json.refresh_token,
      ];
    },
    back: [false, true, 'string'],
  },
  {
    section: 'Step-Up Authorization Flow',
    level: 'MUST',
    requires: 'A broader scope includes the narrower one: a token to write reads',
    async send(at) {
      const { access, scope } = await connect(at, { scope: 'mcp:write' });
      return [scope, (await call(at, access, { tool: 'list', args: { collectionName: 'orders' } })).status];
    },
    back: ['mcp:write', 200],
  },
  {
    section: 'Application Type and Redirect URI Constraints',
    level: 'MAY',
    requires: 'The redirect URIs decide the application type: a client with a wrong one, or without one, is served',
    async send(at) {
      const loopback = { redirect_uris: ['http://127.0.0.1:33418/'] };
      return [
        (await register(at, { ...loopback, application_type: 'web' })).json.application_type,
        (await register(at, loopback)).json.application_type,
        (await register(at, { redirect_uris: [redirectUri], application_type: 'native' })).json.application_type,
      ];
    },
    back: ['native', 'native', 'web'],
  },
  {
    section: 'Streamable HTTP, Security Warning',
    level: 'MUST',
    requires: 'A request from another origin gets 403, before its token is checked',
    async send(at) {
      const headers = { origin: 'https://evil.example' };
      return [
        (await call(at, undefined, { headers })).status,
        (await call(at, (await connect(at)).access, { headers })).status,
      ];
    },
    back: [403, 403],
  },
  {
    section: 'Trust Policies',
    level: 'MAY',
    requires: 'A client on a device needs consent every time, since nothing proves its identity',
    async send(at) {
      const asked = { client_id: (await desktop(at)).id, redirect_uri: 'http://127.0.0.1:5001/callback' };
      await allow(at, asked);
      return (await open(at, asked)).html.includes('value="allow"');
    },
    back: true,
  },
];

export const mcp: Standard = {
  name: 'MCP 2025-11-25',
  title: 'Authorization; MCP 2026-07-28 asks the same, and more (below)',
  url: 'https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization',
  file: 'mcp.ts',
  cases: both,
};

export const mcpModern: Standard = {
  name: 'MCP 2026-07-28',
  title: 'Authorization: what was added to the revision before',
  url: 'https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization',
  file: 'mcp.ts',
  cases: modern,
};
