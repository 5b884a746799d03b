import { call, codeFor, connect, notebook, post, redeem, refresh, refusal, refused, shown } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const audience = async (at: ConformanceServer, token: string) =>
  (await post(at, 'introspect', { token, client_id: (await notebook(at)).id })).json.aud;

export const rfc8707: Standard = {
  name: 'RFC 8707',
  title: 'Resource Indicators',
  url: 'https://www.rfc-editor.org/rfc/rfc8707',
  file: 'rfc8707.ts',
  cases: [
    {
      section: '2',
      level: 'SHOULD',
      requires: 'A token is issued for the requested resource only',
      async send(at) {
        const { access } = await connect(at, { resource: at.resource });
        return [await audience(at, access), (await call(at, access)).status];
      },
      back: (at: ConformanceServer) => [at.resource, 200],
    },
    {
      section: '2',
      level: 'SHOULD',
      requires: 'An unknown resource is invalid_target',
      send: async (at) => [
        await refusal(at, { resource: 'https://other.example/mcp' }),
        await refusal(at, { resource: at.issuer }),
        await refusal(at, { resource: `${at.resource}/more` }),
      ],
      back: (at: ConformanceServer) => Array(3).fill(refused(at, 'invalid_target')),
    },
    {
      section: '2',
      level: 'MUST NOT',
      requires: 'A resource with a fragment, or a relative one, is refused',
      send: async (at) => [
        await refusal(at, { resource: `${at.resource}#part` }),
        await refusal(at, { resource: '/mcp' }),
        await refusal(at, { resource: 'mcp' }),
      ],
      back: (at: ConformanceServer) => Array(3).fill(refused(at, 'invalid_target')),
    },
    {
      section: '2',
      level: 'MAY',
      requires: 'Of several resources each must be known: one unknown among them is refused',
      send: (at) => refusal(at, { resource: [at.resource, 'https://other.example/mcp'] }),
      back: (at: ConformanceServer) => refused(at, 'invalid_target'),
    },
    {
      section: '2',
      level: 'MAY',
      requires: 'The resource named twice, or in another spelling, is accepted',
      async send(at) {
        const spellings = [
          at.resource,
          `${at.resource}/`,
          at.resource.replace(/^http:\/\/[^/]+/, (o) => o.toUpperCase()),
        ];
        const { access } = await connect(at, { resource: spellings }, { resource: spellings });
        return audience(at, access);
      },
      back: (at: ConformanceServer) => at.resource,
    },
    {
      section: '2',
      level: 'MAY',
      requires: 'Without a resource the token is for the only one',
      async send(at) {
        const { access } = await connect(at, { resource: undefined });
        return audience(at, access);
      },
      back: (at: ConformanceServer) => at.resource,
    },
    {
      section: '2.2',
      level: 'MUST',
      requires: 'A token request can name a resource of the authorization, and no other',
      async send(at) {
        const wrong = await redeem(at, await codeFor(at), { resource: 'https://other.example/mcp' });
        const right = await redeem(at, await codeFor(at), { resource: at.resource });
        return [shown(wrong), right.status];
      },
      back: [[400, 'invalid_target'], 200],
    },
    {
      section: '2.2',
      level: 'MUST',
      requires: 'A refresh gives a token for the same resource, named or not, and for no other',
      async send(at) {
        const { refresh: token } = await connect(at);
        const bare = await refresh(at, token);
        const named = await refresh(at, token, { resource: at.resource });
        const foreign = await refresh(at, token, { resource: 'https://other.example/mcp' });
        return [await audience(at, bare.json.access_token), named.status, shown(foreign)];
      },
      back: (at: ConformanceServer) => [at.resource, 200, [400, 'invalid_target']],
    },
  ],
};
