import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { systemClock } from '../../../src/core/clock.ts';
import { codeFor, endpoint, newClient, post, redeem, register, shown } from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

interface Holder {
  readonly id: string;
  readonly key: CryptoKey;
}

/** A client with its own key. */
const holder = (at: ConformanceServer): Promise<Holder> =>
  at.once('holder', async () => {
    const keys = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', use: 'sig', alg: 'ES256' };
    const { id } = await newClient(at, { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } });
    return { id, key: keys.privateKey };
  });

const now = () => Math.floor(systemClock.now() / 1000);
let made = 0;

type Claims = Readonly<Record<string, unknown>>;

const claimsFor = (at: ConformanceServer, id: string, change: Claims = {}): Record<string, unknown> => ({
  iss: id,
  sub: id,
  aud: at.issuer,
  jti: `assertion-${++made}-${now()}`,
  iat: now(),
  exp: now() + 60,
  ...change,
});

async function assertion(at: ConformanceServer, change: Claims = {}, by?: CryptoKey): Promise<string> {
  const { id, key } = await holder(at);
  const claims = Object.fromEntries(
    Object.entries(claimsFor(at, id, change)).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(by ?? key);
}

const proof = (client_assertion: string) => ({
  client_assertion,
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
});

/** Sends the assertion with an invalid refresh token; an authenticated client gets invalid_grant. */
const present = async (at: ConformanceServer, client_assertion: string, change = {}) =>
  shown(
    await post(at, 'token', {
      grant_type: 'refresh_token',
      refresh_token: 'nobody-was-given-this-one',
      ...proof(client_assertion),
      ...change,
    }),
  );

const known = [400, 'invalid_grant'];
const unknown = [401, 'invalid_client'];

export const rfc7523: Standard = {
  name: 'RFC 7523',
  title: 'JWT Profile for OAuth 2.0 Client Authentication',
  url: 'https://www.rfc-editor.org/rfc/rfc7523',
  file: 'rfc7523.ts',
  cases: [
    {
      section: '2.2',
      level: 'MUST',
      requires: 'A client with a registered key redeems its code with an assertion, and not without one',
      async send(at) {
        const { id } = await holder(at);
        const bare = await redeem(at, await codeFor(at, { client_id: id }), { client_id: id });
        const code = await codeFor(at, { client_id: id });
        const proved = await redeem(at, code, { client_id: undefined, ...proof(await assertion(at)) });
        return [shown(bare), proved.status];
      },
      back: [unknown, 200],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'The audience is this server: its issuer or its token endpoint, and nothing else',
      send: async (at) => [
        await present(at, await assertion(at)),
        await present(at, await assertion(at, { aud: endpoint(at, 'token') })),
        await present(at, await assertion(at, { aud: 'https://other.example' })),
        await present(at, await assertion(at, { aud: undefined })),
      ],
      back: [known, known, unknown, unknown],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'Issuer and subject are the client',
      send: async (at) => [
        await present(at, await assertion(at, { iss: 'somebody' })),
        await present(at, await assertion(at, { sub: 'somebody' })),
        await present(at, await assertion(at, { iss: undefined })),
        await present(at, await assertion(at, { sub: undefined })),
      ],
      back: [unknown, unknown, unknown, unknown],
    },
    {
      section: '3',
      level: 'MUST',
      requires: 'An assertion has an expiry; one that is not valid yet is refused',
      send: async (at) => [
        await present(at, await assertion(at, { exp: now() - 120 })),
        await present(at, await assertion(at, { exp: undefined })),
        await present(at, await assertion(at, { nbf: now() + 600 })),
      ],
      back: [unknown, unknown, unknown],
    },
    {
      section: '3',
      level: 'MAY',
      requires: 'Clocks may differ by some seconds, and no more',
      send: async (at) => [
        await present(at, await assertion(at, { iat: now() + 8, nbf: now() + 8 })),
        await present(at, await assertion(at, { exp: now() - 8 })),
        await present(at, await assertion(at, { nbf: now() + 60 })),
        await present(at, await assertion(at, { exp: now() - 60 })),
      ],
      back: [known, known, unknown, unknown],
    },
    {
      section: '3',
      level: 'MAY',
      requires: 'An assertion is accepted once',
      async send(at) {
        const once = await assertion(at);
        return [await present(at, once), await present(at, once)];
      },
      back: [known, unknown],
    },
    {
      section: '3',
      level: 'MUST',
      requires:
        'The signature is that of the registered key: another key, no signature, and a changed text are refused',
      async send(at) {
        const { id } = await holder(at);
        const { privateKey } = await generateKeyPair('ES256');
        const good = await assertion(at);
        const [header, , signature] = good.split('.');
        const changed = Buffer.from(JSON.stringify(claimsFor(at, id))).toString('base64url');
        return [
          await present(at, await assertion(at, {}, privateKey)),
          await present(at, new UnsecuredJWT(claimsFor(at, id)).encode()),
          await present(at, `${header}.${changed}.${signature}`),
          await present(at, 'no.jwt'),
        ];
      },
      back: [unknown, unknown, unknown, [400, 'invalid_request']],
    },
    {
      section: '3.2',
      level: 'MUST',
      requires: 'A client_id beside the assertion equals that of the assertion',
      async send(at) {
        const { id: stranger } = await newClient(at);
        return present(at, await assertion(at), { client_id: stranger });
      },
      back: [400, 'invalid_request'],
    },
    {
      section: '5',
      level: 'MUST',
      requires: 'A client without keys cannot register for assertions, nor one with a shared secret',
      send: async (at) => [
        shown(
          await register(at, {
            redirect_uris: ['https://notebook.example/callback'],
            token_endpoint_auth_method: 'private_key_jwt',
          }),
        ),
        shown(
          await register(at, {
            redirect_uris: ['https://notebook.example/callback'],
            token_endpoint_auth_method: 'client_secret_jwt',
          }),
        ),
      ],
      back: [
        [400, 'invalid_client_metadata'],
        [400, 'invalid_client_metadata'],
      ],
    },
  ],
};
