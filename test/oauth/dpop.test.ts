// DPoP-bound tokens (RFC 9449) at /mcp: the whole application with the client of oauth4webapi, and hand-made proofs
// that this client would not make.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Client, DpopSession, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { hashToken } from '../../src/core/secret.ts';
import { createProofCheck } from '../../src/oauth/tokens/dpop.ts';
import type { OAuthRow } from '../../src/store/oauth/types.ts';
import { requestOf } from '../app/call.ts';
import { issuerOf, openShop, redirectUri, type Shop, signedIn } from '../app/shop.ts';
import { createPerson } from '../clients/person.ts';
import { servers } from '../databases.ts';
import { createStorage } from '../store/spares.ts';
import { bearer, callMcp, connect, insecure, refresh, register, type Session } from './client.ts';
import { startServer } from './oauth-server.ts';

interface Bound extends Session {
  readonly token: string;
  /** A proof for a call with the token; `change` replaces its defaults. */
  prove(change?: Change): Promise<string>;
}

/** Undefined claims are omitted from the proof. */
type Claims = Readonly<Record<string, unknown>>;

interface Change {
  readonly claims?: Claims;
  readonly header?: Record<string, unknown>;
  readonly by?: oauth.CryptoKeyPair;
}

/** Registers a client with DPoP-bound tokens, and signs in. */
async function bind(issuer: string, account: Shop['account'], algorithm = 'ES256'): Promise<Bound> {
  const keys = await generateKeyPair(algorithm, { extractable: true });
  const registered = await register(issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const nameOf = { [oauth.modifyAssertion]: (header: object) => void Object.assign(header, { alg: algorithm }) };
  const DPoP = oauth.DPoP(registered.client, keys, nameOf);
  const resource = `${issuer}/mcp`;
  const session = await connect({ ...registered, DPoP }, account, { redirectUri, resource });
  const token = session.tokens.access_token;
  return {
    ...session,
    token,
    async prove({ claims, header, by = keys } = {}) {
      const iat = Math.floor(systemClock.now() / 1000);
      const payload = { jti: randomUUID(), htm: 'POST', htu: resource, iat, ath: hashToken(token), ...claims };
      const jwk = await exportJWK(by.publicKey);
      return new SignJWT(payload)
        .setProtectedHeader({ alg: algorithm, typ: 'dpop+jwt', jwk, ...header })
        .sign(by.privateKey);
    },
  };
}

const listCall = () =>
  requestOf('tools/call', { name: 'list', arguments: { collectionName: 'customers', pagination: { size: 1 } } });

let shop: Shop;
let bound: Bound;
beforeAll(async () => {
  shop = await openShop();
  bound = await bind(issuerOf(shop), shop.account);
});
afterAll(() => shop.stop());

async function call(proof: string | undefined, token = bound.token, scheme = 'DPoP') {
  const { headers, body } = listCall();
  const response = await fetch(shop.mcpUrl, {
    method: 'POST',
    headers: { ...headers, authorization: `${scheme} ${token}`, ...(proof === undefined ? {} : { dpop: proof }) },
    body,
  });
  return refusalIn(response.status, await response.text(), `${response.headers.get('www-authenticate')}`);
}

/** The status; for errors also the scheme in the challenge, the code and the reason. */
function refusalIn(status: number, text: string, challenge: string) {
  if (status === 200) return [200];
  const [, blamed, error] = /(Bearer|DPoP) error="(\w+)"/.exec(challenge) ?? [];
  const body = JSON.parse(text) as { error: string; error_description: string };
  return [status, `${blamed} ${error}`, body.error, body.error_description];
}

const badProof = (problem: string) => [
  401,
  'DPoP invalid_dpop_proof',
  'invalid_dpop_proof',
  `Invalid DPoP proof: ${problem} Create a new one for each request.`,
];
const badToken = (scheme: 'Bearer' | 'DPoP', problem: string) => [
  401,
  `${scheme} invalid_token`,
  'invalid_token',
  problem,
];

describe.each(['ES256', 'EdDSA'])('a client with a key for %s', (algorithm) => {
  test('signs in, lists and refreshes', async () => {
    const session = await bind(issuerOf(shop), shop.account, algorithm);
    const list = async ({ access_token, token_type }: oauth.TokenEndpointResponse) => {
      const { headers, body } = listCall();
      const options = { DPoP: session.DPoP!, ...insecure };
      const url = new URL(shop.mcpUrl);
      const response = await oauth.protectedResourceRequest(
        access_token,
        'POST',
        url,
        new Headers(headers),
        body,
        options,
      );
      const { result } = (await response.json()) as { result: { content: { text: string }[] } };
      return [token_type, response.status, JSON.parse(`${result.content[0]?.text}`).rows.length];
    };
    const first = await list(session.tokens);
    const next = await refresh(session, `${session.tokens.refresh_token}`);
    expect([first, await list(next)]).toEqual([
      ['dpop', 200, 1],
      ['dpop', 200, 1],
    ]);
  });
});

test('the client of the SDK that binds its tokens signs in and lists', async () => {
  const person = createPerson();
  const session = await DpopSession.create();
  const authProvider = { ...person.provider, dpop: () => session };
  const open = () => new StreamableHTTPClientTransport(new URL(shop.mcpUrl), { authProvider });
  const refused = open();
  await expect(new Client({ name: 'notebook', version: '1' }).connect(refused)).rejects.toThrow(UnauthorizedError);
  await refused.finishAuth(await person.signIn(shop.account));
  const client = new Client({ name: 'notebook', version: '1' });
  await client.connect(open());
  const { isError } = await client.callTool({ name: 'list', arguments: { collectionName: 'customers' } });
  const tokens = await authProvider.tokens();
  await client.close();
  expect([isError ?? false, tokens?.token_type.toLowerCase()]).toEqual([false, 'dpop']);
});

describe('a proof', () => {
  test.each([
    ['for the URL with a trailing slash', () => ({ htu: `${shop.mcpUrl}/` })],
    ['for the URL with a query and a fragment', () => ({ htu: `${shop.mcpUrl}?x=1#y` })],
    ['made almost a minute ago', () => ({ iat: Math.floor(systemClock.now() / 1000) - 55 })],
    ['made by a clock that is almost a minute ahead', () => ({ iat: Math.floor(systemClock.now() / 1000) + 55 })],
    ['with an unrequested nonce', () => ({ nonce: 'n' })],
  ])('%s is accepted', async (_name, claims) => {
    expect(await call(await bound.prove({ claims: claims() }))).toEqual([200]);
  });

  const origin = 'https://data.example.com';
  test.each<[string, () => Claims, () => string]>([
    ['without htm', () => ({ htm: undefined }), () => 'its htm must be POST.'],
    ['for another method', () => ({ htm: 'GET' }), () => 'its htm must be POST.'],
    ['for the method in lower case', () => ({ htm: 'post' }), () => 'its htm must be POST.'],
    [
      'for the URL in upper case',
      () => ({ htu: shop.mcpUrl.replace('/mcp', '/MCP') }),
      () => `its htu must be ${shop.mcpUrl}.`,
    ],
    ['for a URL below', () => ({ htu: `${shop.mcpUrl}/x` }), () => `its htu must be ${shop.mcpUrl}.`],
    ['for only the host', () => ({ htu: shop.mcpUrl.replace('/mcp', '') }), () => `its htu must be ${shop.mcpUrl}.`],
    [
      'with an iat that is a string',
      () => ({ iat: `${systemClock.now() / 1000}` as never }),
      () => 'its iat does not allow its use now.',
    ],
    ['with a jti that is a number', () => ({ jti: 5 as never }), () => 'it has no jti.'],
    [
      'for the token itself instead of its hash',
      () => ({ ath: bound.token }),
      () => 'its ath must be the SHA-256 of the access token.',
    ],
    ['without htu', () => ({ htu: undefined }), () => `its htu must be ${shop.mcpUrl}.`],
    ['for another server', () => ({ htu: `${origin}/mcp` }), () => `its htu must be ${shop.mcpUrl}.`],
    [
      'for another URL of this server',
      () => ({ htu: `${issuerOf(shop)}/oauth/token` }),
      () => `its htu must be ${shop.mcpUrl}.`,
    ],
    ['without iat', () => ({ iat: undefined }), () => 'it has no iat.'],
    [
      'made more than a minute ago',
      () => ({ iat: Math.floor(systemClock.now() / 1000) - 62 }),
      () => 'its iat is more than 60 seconds away from the server time.',
    ],
    [
      'made more than a minute ahead',
      () => ({ iat: Math.ceil(systemClock.now() / 1000) + 65 }),
      () => 'its iat is more than 60 seconds away from the server time.',
    ],
    ['that has expired', () => ({ exp: 1 }), () => 'its exp does not allow its use now.'],
    ['without jti', () => ({ jti: undefined }), () => 'it has no jti.'],
    ['with an empty jti', () => ({ jti: '' }), () => 'it has no jti.'],
    ['without ath', () => ({ ath: undefined }), () => 'its ath must be the SHA-256 of the access token.'],
    [
      'for another token',
      () => ({ ath: hashToken('another token') }),
      () => 'its ath must be the SHA-256 of the access token.',
    ],
  ])('%s is refused', async (_name, claims, problem) => {
    expect(await call(await bound.prove({ claims: claims() }))).toEqual(badProof(problem()));
  });

  const noJwt = 'it is not a signed JWT with a public key (jwk) in its header.';
  const wrongAlgorithm = 'it must be signed with ES256 or EdDSA.';
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  test.each<[string, () => Promise<string | undefined>, string]>([
    ['that is missing', async () => undefined, 'the DPoP header is missing.'],
    ['that is not a JWT', async () => 'abc', noJwt],
    ['of another type', () => bound.prove({ header: { typ: 'JWT' } }), 'its typ must be dpop+jwt.'],
    ['without a type', () => bound.prove({ header: { typ: undefined } }), 'its typ must be dpop+jwt.'],
    ['without a key', () => bound.prove({ header: { jwk: undefined } }), noJwt],
    [
      'with a private key',
      async () => {
        const by = await generateKeyPair('ES256', { extractable: true });
        return bound.prove({ by, header: { jwk: await exportJWK(by.privateKey) } });
      },
      noJwt,
    ],
    [
      'that is not signed',
      async () => `${part({ alg: 'none', typ: 'dpop+jwt', jwk: {} })}.${part({ jti: 'a' })}.`,
      wrongAlgorithm,
    ],
    [
      'signed with a shared secret',
      async () => {
        const header = { alg: 'HS256', typ: 'dpop+jwt', jwk: { kty: 'oct', k: 'c2VjcmV0' } };
        return new SignJWT({}).setProtectedHeader(header).sign(Buffer.alloc(32));
      },
      wrongAlgorithm,
    ],
    [
      'signed with an algorithm that is not advertised',
      async () => {
        const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        const header = { alg: 'RS256', typ: 'dpop+jwt', jwk: publicKey.export({ format: 'jwk' }) };
        return new SignJWT({}).setProtectedHeader(header).sign(privateKey);
      },
      wrongAlgorithm,
    ],
    [
      'signed by another key than it names',
      async () => {
        const [one, other] = [await generateKeyPair('ES256'), await generateKeyPair('ES256')];
        return bound.prove({ by: one, header: { jwk: await exportJWK(other.publicKey) } });
      },
      'its signature is wrong.',
    ],
  ])('%s is refused', async (_name, make, problem) => {
    expect(await call(await make())).toEqual(badProof(problem));
  });

  test('is refused if there are two', async () => {
    const { headers, body } = listCall();
    const dpop = [await bound.prove(), await bound.prove()];
    const answer = await new Promise<unknown[]>((resolve, reject) => {
      const options = { method: 'POST', headers: { ...headers, authorization: `DPoP ${bound.token}`, dpop } };
      const sent = httpRequest(shop.mcpUrl, options, async (response) => {
        const text = (await response.toArray()).join('');
        resolve(refusalIn(response.statusCode ?? 0, text, `${response.headers['www-authenticate']}`));
      });
      sent.on('error', reject).end(body);
    });
    expect(answer).toEqual(badProof('there is more than one DPoP header.'));
  });

  test('is accepted once', async () => {
    const proof = await bound.prove();
    expect([await call(proof), await call(proof)]).toEqual([[200], badProof('it was already used.')]);
  });

  test('of another key may have the same jti', async () => {
    const jti = randomUUID();
    const other = await bind(issuerOf(shop), shop.account);
    expect([
      await call(await bound.prove({ claims: { jti } })),
      await call(await other.prove({ claims: { jti } }), other.token),
    ]).toEqual([[200], [200]]);
  });

  test('is remembered for as long as it would be accepted', async () => {
    const rows: OAuthRow[] = [];
    const check = createProofCheck({
      rows: { insertOnce: async (row) => rows.push(row) > 0 },
      paths: { resource: shop.mcpUrl },
      clock: systemClock,
    });
    const iat = Math.floor(systemClock.now() / 1000) + 50;
    const dpop = await bound.prove({ claims: { iat } });
    const row = (await shop.store.oauth.find('AccessToken', hashToken(bound.token)))!;
    const thumbprint = `${row.payload.jkt}`;
    await check({ method: 'POST', headers: { dpop } }, { hash: hashToken(bound.token), thumbprint });
    expect(rows.map(({ model }) => model)).toEqual(['DPoPProof']);
    expect(rows[0]!.expiresAt).toBeGreaterThanOrEqual((iat + 60) * 1000);
  });

  test('that was refused for its claims does not consume its jti', async () => {
    const jti = randomUUID();
    const refused = await call(await bound.prove({ claims: { jti, htm: 'GET' } }));
    expect([refused, await call(await bound.prove({ claims: { jti } }))]).toEqual([
      badProof('its htm must be POST.'),
      [200],
    ]);
  });

  test('by another key than the token is bound to is refused', async () => {
    const by = await generateKeyPair('ES256', { extractable: true });
    expect(await call(await bound.prove({ by }))).toEqual(
      badToken('DPoP', 'The token and the DPoP proof have different keys.'),
    );
  });
});

describe('the scheme', () => {
  test('Bearer does not accept a bound token, cached or not, with a proof or without', async () => {
    const fresh = await bind(issuerOf(shop), shop.account);
    const refused = badToken(
      'Bearer',
      'The token is bound to a key: send it as `Authorization: DPoP <token>`, with a DPoP proof.',
    );
    const first = await call(undefined, fresh.token, 'Bearer');
    const used = await call(await fresh.prove(), fresh.token);
    expect([first, used, await call(await fresh.prove(), fresh.token, 'Bearer')]).toEqual([refused, [200], refused]);
  });

  test('DPoP does not accept a token that is bound to no key', async () => {
    const { token } = await signedIn(shop);
    const proof = await bound.prove({ claims: { ath: hashToken(token) } });
    expect(await call(proof, token)).toEqual(
      badToken('DPoP', 'The token is not bound to a key: send it as `Authorization: Bearer <token>`.'),
    );
  });

  test('a client that uses DPoP is challenged for Bearer, then DPoP; others only for Bearer', async () => {
    const ask = async (headers: Record<string, string>) =>
      (await fetch(shop.mcpUrl, { method: 'POST', headers })).headers.get('www-authenticate');
    const metadata = `resource_metadata="${issuerOf(shop)}/.well-known/oauth-protected-resource/mcp"`;
    const offered = `Bearer ${metadata}, scope="mcp:read mcp:write mcp:action"`;
    expect([await ask({}), await ask({ authorization: `DPoP ${'x'.repeat(40)}` })]).toEqual([
      offered,
      `${offered}, DPoP error="invalid_token", algs="ES256 EdDSA"`,
    ]);
  });
});

describe('refreshing a bound token', () => {
  const outcome = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'ok',
      (error: { error?: string }) => `${error.error}`,
    );

  test('needs a proof by the same key', async () => {
    const { DPoP, ...session } = await bind(issuerOf(shop), shop.account);
    const token = `${session.tokens.refresh_token}`;
    const other = oauth.DPoP(session.client, await generateKeyPair('ES256'));
    expect([
      await outcome(refresh(session, token)),
      await outcome(refresh({ ...session, DPoP: other }, token)),
      await outcome(refresh({ ...session, DPoP: DPoP! }, token)),
    ]).toEqual(['invalid_grant', 'invalid_grant', 'ok']);
  });

  // The refresh token itself may be used twice within its grace period, so the proof is the cause of the error.
  test('accepts its proof once', async () => {
    const { prove, client, server, tokens } = await bind(issuerOf(shop), shop.account);
    const htu = `${server.token_endpoint}`;
    const grant = {
      grant_type: 'refresh_token',
      refresh_token: `${tokens.refresh_token}`,
      client_id: client.client_id,
    };
    const send = async (dpop: string) => {
      const body = new URLSearchParams(grant);
      return (await fetch(htu, { method: 'POST', headers: { dpop }, body })).status;
    };
    const make = () => prove({ claims: { htu, ath: undefined } });
    const proof = await make();
    expect([await send(proof), await send(proof), await send(await make())]).toEqual([200, 400, 200]);
  });
});

describe.each(servers.filter(({ dialect }) => dialect !== 'sqlite').map((server) => [server.dialect, server] as const))(
  'two processes on one storage (%s)',
  (_dialect, server) => {
    test('accept a proof once in total, and check the token again without a proof', async () => {
      const database = await createStorage(server);
      const one = await startServer({ storageUrl: database.url });
      const two = await startServer({ storageUrl: database.url, beside: one });
      try {
        const { token, prove } = await bind(one.paths.issuer, one.account);
        const dpop = await prove();
        const request = { method: 'POST', headers: { authorization: `DPoP ${token}`, dpop } };
        const both = await Promise.allSettled([one.gate.check(request), two.gate.check(request)]);
        const taken = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
        const refused = both.flatMap((one) => (one.status === 'rejected' ? [`${one.reason.message}`] : []));
        const later = await callMcp(one.paths.resource, token);
        await one.store.oauth.revokeGrant(taken[0]!.grantId ?? '');
        const renewing = Promise.resolve(two.gate.renew(taken[0]!)).catch((error: Error) => error.message);
        expect([taken.length, refused, later.status, await two.gate.isCurrent(taken[0]!), await renewing]).toEqual([
          1,
          ['Invalid DPoP proof: it was already used. Create a new one for each request.'],
          401,
          false,
          'The token is unknown, expired or revoked. Sign in again.',
        ]);
      } finally {
        await two.stop();
        await one.stop();
        await database.drop();
      }
    });
  },
);

test('an accepted token is checked again without its proof, and challenged in its own scheme', async () => {
  const testServer = await startServer();
  try {
    const { token, prove } = await bind(testServer.paths.issuer, testServer.account);
    const dpop = await prove();
    const auth = await testServer.gate.check({ method: 'POST', headers: { authorization: `DPoP ${token}`, dpop } });
    await testServer.store.permissions.setRole('Clerk', {});
    const holds = await testServer.gate.isCurrent(auth);
    const renewed = await testServer.gate.renew(auth);
    expect([holds, await testServer.gate.isCurrent(renewed), renewed.userId === auth.userId]).toEqual([
      false,
      true,
      true,
    ]);
    const challenge = testServer.gate.scopeChallenge({ headers: { authorization: `DPoP ${token}` } }, ['mcp:write']);
    expect(challenge.replace(/ resource_metadata="[^"]+",/, '')).toBe(
      'Bearer scope="mcp:write", DPoP error="insufficient_scope", algs="ES256 EdDSA"',
    );
    await expect(async () => testServer.gate.check(bearer(token))).rejects.toThrow('The token is bound to a key');
  } finally {
    await testServer.stop();
  }
});
