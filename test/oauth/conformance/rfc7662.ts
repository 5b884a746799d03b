import { ask, basic, connect, endpoint, keeper, newClient, notebook, post, shown } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const own = async (at: ConformanceServer, token: string | undefined, hint?: string) =>
  post(at, 'introspect', { token, client_id: (await notebook(at)).id, token_type_hint: hint });

export const rfc7662: Standard = {
  name: 'RFC 7662',
  title: 'Token Introspection',
  url: 'https://www.rfc-editor.org/rfc/rfc7662',
  file: 'rfc7662.ts',
  cases: [
    {
      section: '2.1',
      level: 'MUST',
      requires: 'The caller authenticates: a request without a client, or without its secret, is refused',
      async send(at) {
        const { access } = await connect(at);
        const { id } = await keeper(at);
        return [
          (await post(at, 'introspect', { token: access })).status,
          shown(await post(at, 'introspect', { token: access, client_id: id })),
        ];
      },
      back: [400, [401, 'invalid_client']],
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'It accepts only POST, and a request without a token is refused',
      send: async (at) => [(await ask(endpoint(at, 'introspect'))).status, shown(await own(at, undefined))],
      back: [405, [400, 'invalid_request']],
    },
    {
      section: '2.2',
      level: 'MUST',
      requires: 'A valid token is active, with its client, scope, audience, issuer and expiry',
      async send(at) {
        const { access } = await connect(at);
        const { status, json } = await own(at, access);
        const { active, client_id, scope, aud, iss, exp, token_type } = json;
        return [status, active, client_id === (await notebook(at)).id, scope, aud, iss, typeof exp, token_type];
      },
      back: (at: ConformanceServer) => [200, true, true, 'mcp:read', at.resource, at.issuer, 'number', 'Bearer'],
    },
    {
      section: '2.2',
      level: 'MUST',
      requires: 'An unknown, revoked or expired token is inactive, without further members',
      async send(at) {
        const [revoked, expired] = [await connect(at), await connect(at)];
        await post(at, 'revoke', { token: revoked.access, client_id: (await notebook(at)).id });
        const seen = [(await own(at, 'x'.repeat(43))).json, (await own(at, revoked.access)).json];
        at.wait(901);
        return [...seen, (await own(at, expired.access)).json];
      },
      back: Array(3).fill({ active: false }),
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A wrong token_type_hint changes nothing',
      async send(at) {
        const { access } = await connect(at);
        return (await own(at, access, 'refresh_token')).json.active;
      },
      back: true,
    },
    {
      section: '4',
      level: 'MUST',
      requires: 'A client gets no data of tokens of other clients, with a secret or without',
      async send(at) {
        const { access } = await connect(at);
        const stranger = await newClient(at);
        const client = await keeper(at);
        return [
          (await post(at, 'introspect', { token: access, client_id: stranger.id })).json,
          (await post(at, 'introspect', { token: access }, basic(client))).json,
        ];
      },
      back: [{ active: false }, { active: false }],
    },
    {
      section: '4',
      level: 'SHOULD',
      requires: 'The response has no-store, and identifies no user: no e-mail, no name',
      async send(at) {
        const { access } = await connect(at);
        const { headers, text } = await own(at, access);
        return [headers.get('cache-control'), /ada@|Ada|Byron/.test(text)];
      },
      back: ['no-store', false],
    },
  ],
};
