import { ask, call, challengeIn, names, resourceMetadata } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

export const rfc9728: Standard = {
  name: 'RFC 9728',
  title: 'Protected Resource Metadata',
  url: 'https://www.rfc-editor.org/rfc/rfc9728',
  file: 'rfc9728.ts',
  cases: [
    {
      section: '2',
      level: 'MUST',
      requires: 'The metadata names the resource: an https or loopback address without a fragment',
      async send(at) {
        const { json } = await resourceMetadata(at);
        return [json.resource, json.resource.includes('#')];
      },
      back: (at: ConformanceServer) => [at.resource, false],
    },
    {
      section: '2',
      level: 'MAY',
      requires: 'It names the authorization server, the scopes, and the header as the method to send a token',
      async send(at) {
        const { json } = await resourceMetadata(at);
        return [json.authorization_servers, json.scopes_supported, json.bearer_methods_supported];
      },
      back: (at: ConformanceServer) => [[at.issuer], ['mcp:read', 'mcp:write', 'mcp:action'], ['header']],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'The document is at the root of the host, with the path of the resource at its end',
      send: async (at) => (await ask(`${at.origin}/.well-known/oauth-protected-resource${at.prefix}/mcp`)).status,
      back: 200,
    },
    {
      section: '3.2',
      level: 'MUST',
      requires: 'It is JSON, and parameters without values are omitted',
      async send(at) {
        const { status, headers, json } = await resourceMetadata(at);
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
      requires: 'The resource in it matches its URL',
      async send(at) {
        const { origin, pathname } = new URL(at.resource);
        const { json } = await ask(`${origin}/.well-known/oauth-protected-resource${pathname}`);
        return json.resource;
      },
      back: (at: ConformanceServer) => at.resource,
    },
    {
      section: '5.1',
      level: 'MUST',
      requires: 'The challenge of a 401 names the URL of the metadata, which is absolute and works',
      async send(at) {
        const { resource_metadata } = challengeIn((await call(at, undefined)).headers);
        return (await ask(`${resource_metadata}`)).json.resource;
      },
      back: (at: ConformanceServer) => at.resource,
    },
    {
      section: '5.1',
      level: 'MUST',
      requires: 'So does the challenge of a refused token',
      async send(at) {
        const { headers } = await call(at, 'x'.repeat(43));
        return challengeIn(headers).resource_metadata;
      },
      back: (at: ConformanceServer) => `${at.origin}/.well-known/oauth-protected-resource${at.prefix}/mcp`,
    },
    {
      section: '5.3',
      level: 'MUST',
      requires: 'Client and server are discoverable: the resource names the server, and the server its endpoints',
      async send(at) {
        const { resource_metadata } = challengeIn((await call(at, undefined)).headers);
        const { authorization_servers } = (await ask(`${resource_metadata}`)).json;
        const { origin, pathname } = new URL(authorization_servers[0]);
        const path = pathname === '/' ? '' : pathname;
        return (await ask(`${origin}/.well-known/oauth-authorization-server${path}`)).json.token_endpoint;
      },
      back: (at: ConformanceServer) => `${at.issuer}/oauth/token`,
    },
    {
      section: '7.7',
      level: 'SHOULD',
      requires: 'Scripts of any site may read it, and caches keep it for minutes',
      async send(at) {
        const { headers } = await resourceMetadata(at);
        return names(headers, 'access-control-allow-origin', 'cache-control');
      },
      back: ['*', 'public, max-age=300'],
    },
  ],
};
