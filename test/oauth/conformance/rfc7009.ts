import {
  ask,
  authorization,
  basic,
  connect,
  endpoint,
  keeper,
  newClient,
  notebook,
  post,
  refresh,
  shown,
  statusOf,
} from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

const revoke = async (at: ConformanceServer, token: string, hint?: string) =>
  post(at, 'revoke', { token, client_id: (await notebook(at)).id, token_type_hint: hint });

export const rfc7009: Standard = {
  name: 'RFC 7009',
  title: 'Token Revocation',
  url: 'https://www.rfc-editor.org/rfc/rfc7009',
  file: 'rfc7009.ts',
  cases: [
    {
      section: '2',
      level: 'MUST',
      requires: 'Revoking an access token ends it immediately',
      async send(at) {
        const { access } = await connect(at);
        const before = await statusOf(at, access);
        const { status } = await revoke(at, access);
        return [before, status, await statusOf(at, access)];
      },
      back: [200, 200, 401],
    },
    {
      section: '2.1',
      level: 'SHOULD',
      requires: 'Revoking a refresh token ends the access tokens of the same authorization as well',
      async send(at) {
        const tokens = await connect(at);
        await revoke(at, tokens.refresh);
        return [await statusOf(at, tokens.access), shown(await refresh(at, tokens.refresh))];
      },
      back: [401, [400, 'invalid_grant']],
    },
    {
      section: '2.1',
      level: 'MAY',
      requires: 'Revoking an access token ends the refresh token as well, and no other authorization of the client',
      async send(at) {
        const [one, other] = [await connect(at), await connect(at)];
        await revoke(at, one.access);
        return [shown(await refresh(at, one.refresh)), await statusOf(at, other.access)];
      },
      back: [[400, 'invalid_grant'], 200],
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A wrong token_type_hint changes nothing',
      async send(at) {
        const { access } = await connect(at);
        const { status } = await revoke(at, access, 'refresh_token');
        return [status, await statusOf(at, access)];
      },
      back: [200, 401],
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A token of another client is not revoked',
      async send(at) {
        const { access } = await connect(at);
        const stranger = await newClient(at);
        await post(at, 'revoke', { token: access, client_id: stranger.id });
        return statusOf(at, access);
      },
      back: 200,
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A client with a secret must authenticate, and an unknown client is refused',
      async send(at) {
        const client = await keeper(at);
        const tokens = await connect(at, { client_id: client.id }, { client_id: undefined }, basic(client));
        const bare = await post(at, 'revoke', { token: tokens.access, client_id: client.id });
        const nobody = await post(at, 'revoke', { token: tokens.access, client_id: 'nobody' });
        return [shown(bare), shown(nobody), await statusOf(at, tokens.access)];
      },
      back: [[401, 'invalid_client'], [401, 'invalid_client'], 200],
    },
    {
      section: '2.2',
      level: 'MUST',
      requires: 'An unknown or already revoked token returns 200',
      async send(at) {
        const { access } = await connect(at);
        await revoke(at, access);
        return [(await revoke(at, access)).status, (await revoke(at, 'x'.repeat(43))).status];
      },
      back: [200, 200],
    },
    {
      section: '2.1',
      level: 'MUST',
      requires: 'A request without a token is invalid_request',
      send: async (at) => shown(await post(at, 'revoke', { client_id: (await notebook(at)).id })),
      back: [400, 'invalid_request'],
    },
    {
      section: '2',
      level: 'MUST',
      requires: 'Revocation accepts only POST, so that no link revokes',
      async send(at) {
        const { access } = await connect(at);
        const query = new URLSearchParams({
          token: access,
          client_id: `${(await authorization(at)).get('client_id')}`,
        });
        return [(await ask(`${endpoint(at, 'revoke')}?${query}`)).status, await statusOf(at, access)];
      },
      back: [405, 200],
    },
  ],
};
