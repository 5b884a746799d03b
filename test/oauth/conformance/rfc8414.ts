import { ask, askRaw, asMetadata, names } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

export const rfc8414: Standard = {
  name: 'RFC 8414',
  title: 'Authorization Server Metadata',
  url: 'https://www.rfc-editor.org/rfc/rfc8414',
  file: 'rfc8414.ts',
  cases: [
    {
      section: '2',
      level: 'MUST',
      requires: 'The metadata names the issuer, the endpoints and the response types',
      async send(at) {
        const { json } = await asMetadata(at);
        return [json.issuer, json.authorization_endpoint, json.token_endpoint, json.response_types_supported];
      },
      back: (at: ConformanceServer) => [
        at.issuer,
        `${at.issuer}/oauth/authorize`,
        `${at.issuer}/oauth/token`,
        ['code'],
      ],
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'The issuer has neither query nor fragment',
      send: async (at) => /[?#]/.test((await asMetadata(at)).json.issuer),
      back: false,
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'Every advertised endpoint works, and the keys are public keys with an id',
      async send(at) {
        const { json } = await asMetadata(at);
        const endpoints = Object.entries<string>(json).filter(([name]) => name.endsWith('_endpoint'));
        const answers = endpoints.map(async ([, url]) => (await ask(url, { method: 'POST' })).status !== 404);
        const { keys } = (await ask(json.jwks_uri)).json;
        return [await Promise.all(answers), keys.map((key: object) => Object.keys(key).sort())];
      },
      back: [Array(7).fill(true), [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']]],
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'The algorithms of signed client assertions are advertised, and `none` is not among them',
      async send(at) {
        const { json } = await asMetadata(at);
        const algorithms: string[] = json.token_endpoint_auth_signing_alg_values_supported;
        return [json.token_endpoint_auth_methods_supported.includes('private_key_jwt'), algorithms.includes('none')];
      },
      back: [true, false],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'The document is at the root of the host, with the path of the issuer at its end',
      send: async (at) => (await ask(`${at.origin}/.well-known/oauth-authorization-server${at.prefix}`)).status,
      back: 200,
    },
    {
      section: '3.2',
      level: 'MUST',
      requires: 'It is JSON, and parameters without values are omitted',
      async send(at) {
        const { status, headers, json } = await asMetadata(at);
        const empty = Object.values(json).filter(
          (value) => value === null || (Array.isArray(value) && value.length === 0),
        );
        return [status, ...names(headers, 'content-type'), empty];
      },
      back: [200, 'application/json', []],
    },
    {
      section: '3.3',
      level: 'MUST',
      requires: 'The issuer in it matches its URL',
      async send(at) {
        const { json } = await asMetadata(at);
        const { origin, pathname } = new URL(json.issuer);
        const path = pathname === '/' ? '' : pathname;
        return (await ask(`${origin}/.well-known/oauth-authorization-server${path}`)).json.issuer === json.issuer;
      },
      back: true,
    },
    {
      section: '6.2',
      level: 'MUST NOT',
      requires: 'No request header changes an endpoint: another Host is refused, and X-Forwarded-Host is ignored',
      async send(at) {
        const url = `${at.origin}/.well-known/oauth-authorization-server${at.prefix}`;
        const { host } = new URL(at.origin);
        const evil = await askRaw(url, 'GET', { host: 'evil.example' });
        const forwarded = await askRaw(url, 'GET', { host, 'x-forwarded-host': 'evil.example' });
        return [evil.status, forwarded.json.issuer];
      },
      back: (at: ConformanceServer) => [403, at.issuer],
    },
    {
      section: '3.1',
      level: 'MUST',
      requires: 'It is read by GET, and by scripts of any site',
      async send(at) {
        const { headers } = await asMetadata(at);
        const url = `${at.origin}/.well-known/oauth-authorization-server${at.prefix}`;
        return [(await ask(url, { method: 'POST' })).status, ...names(headers, 'access-control-allow-origin')];
      },
      back: [405, '*'],
    },
  ],
};
