import { createHash, randomUUID } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { systemClock } from '../../../src/core/clock.ts';
import { requestOf } from '../../app/call.ts';
import {
  type Answer,
  ask,
  askRaw,
  asMetadata,
  authorization,
  challengeIn,
  codeFor,
  connect,
  endpoint,
  notebook,
  post,
  redeem,
  refresh,
  resourceMetadata,
  shown,
} from './asks.ts';
import type { Standard } from './case.ts';
import type { ConformanceServer } from './conformance-server.ts';

interface Keys {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

const now = () => Math.floor(systemClock.now() / 1000);
const newKeys = (): Promise<Keys> => generateKeyPair('ES256', { extractable: true });

interface Change {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

/** A proof for one request. `claims` and `header` replace the defaults, and undefined omits a claim. */
async function prove(keys: Keys, htu: string, { claims, header }: Change = {}): Promise<string> {
  const all = { jti: randomUUID(), htm: 'POST', htu, iat: now(), ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const jwk = await exportJWK(keys.publicKey);
  return new SignJWT(kept).setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header }).sign(keys.privateKey);
}

interface Bound {
  readonly keys: Keys;
  readonly access: string;
  readonly refresh: string;
  readonly type: string;
}

async function bind(at: ConformanceServer): Promise<Bound> {
  const keys = await newKeys();
  const dpop = await prove(keys, endpoint(at, 'token'));
  const { json } = await redeem(at, await codeFor(at), {}, { dpop });
  return { keys, access: json.access_token, refresh: json.refresh_token, type: json.token_type };
}

const bound = (at: ConformanceServer): Promise<Bound> => at.once('bound', () => bind(at));
const ath = (token: string) => createHash('sha256').update(token).digest('base64url');
const body = () => requestOf('tools/call', { name: 'describeCollection', arguments: {} });

async function callWith(
  at: ConformanceServer,
  access: string,
  dpop: string | undefined,
  scheme = 'DPoP',
): Promise<Answer> {
  const made = body();
  const headers = { ...made.headers, authorization: `${scheme} ${access}`, ...(dpop !== undefined && { dpop }) };
  return ask(at.resource, { method: 'POST', headers, body: made.body });
}

/** Calls with one change to the proof; returns the status and the error. */
async function tried(at: ConformanceServer, change: Change = {}): Promise<unknown> {
  const { keys, access } = await bound(at);
  const claims = { ath: ath(access), ...change.claims };
  return shown(await callWith(at, access, await prove(keys, at.resource, { ...change, claims })));
}

const bad = [401, 'invalid_dpop_proof'];
const good = [200, undefined];

/** A token request with one change to the proof. */
async function redeemed(at: ConformanceServer, change: Change = {}): Promise<unknown> {
  const dpop = await prove(await newKeys(), endpoint(at, 'token'), change);
  return shown(await redeem(at, await codeFor(at), {}, { dpop }));
}

export const rfc9449: Standard = {
  name: 'RFC 9449',
  title: 'Demonstrating Proof of Possession (DPoP)',
  url: 'https://www.rfc-editor.org/rfc/rfc9449',
  file: 'rfc9449.ts',
  cases: [
    {
      section: '4.3',
      level: 'MUST',
      requires: 'A proof is one header: two are refused',
      async send(at) {
        const { keys, access } = await bound(at);
        const one = () => prove(keys, at.resource, { claims: { ath: ath(access) } });
        const made = body();
        const { host } = new URL(at.resource);
        const headers = { ...made.headers, host, authorization: `DPoP ${access}`, dpop: [await one(), await one()] };
        return shown(await askRaw(at.resource, 'POST', headers, made.body));
      },
      back: bad,
    },
    {
      section: '4.3',
      level: 'MUST',
      requires: 'A proof names its method and URL',
      send: async (at) => [
        await tried(at),
        await tried(at, { claims: { htm: 'GET' } }),
        await tried(at, { claims: { htm: undefined } }),
        await tried(at, { claims: { htu: endpoint(at, 'token') } }),
        await tried(at, { claims: { htu: undefined } }),
      ],
      back: [good, bad, bad, bad, bad],
    },
    {
      section: '4.3',
      level: 'SHOULD',
      requires: 'Query and fragment of the URL are ignored',
      send: (at) => tried(at, { claims: { htu: `${at.resource}?a=b#c` } }),
      back: good,
    },
    {
      section: '4.3',
      level: 'MUST',
      requires: 'A proof has its type, is signed with a public key algorithm, and contains no private key',
      async send(at) {
        const { keys } = await bound(at);
        return [
          await tried(at, { header: { typ: 'JWT' } }),
          await tried(at, { header: { typ: undefined } }),
          await tried(at, { header: { jwk: undefined } }),
          await tried(at, { header: { jwk: await exportJWK(keys.privateKey) } }),
        ];
      },
      back: [bad, bad, bad, bad],
    },
    {
      section: '4.3',
      level: 'MUST',
      requires: 'The signature is that of the key in the header',
      async send(at) {
        const { publicKey } = await newKeys();
        return tried(at, { header: { jwk: await exportJWK(publicKey) } });
      },
      back: bad,
    },
    {
      section: '4.3',
      level: 'MUST',
      requires: 'A proof is recent: up to a minute of difference is accepted',
      send: async (at) => [
        await tried(at, { claims: { iat: now() - 50 } }),
        await tried(at, { claims: { iat: now() + 50 } }),
        await tried(at, { claims: { iat: now() - 120 } }),
        await tried(at, { claims: { iat: now() + 120 } }),
        await tried(at, { claims: { iat: undefined } }),
      ],
      back: [good, good, bad, bad, bad],
    },
    {
      section: '4.3',
      level: 'MUST',
      requires: 'With a token, the proof carries its hash, and the key is the one that the token is bound to',
      async send(at) {
        const { access } = await bound(at);
        const stranger = await prove(await newKeys(), at.resource, { claims: { ath: ath(access) } });
        return [
          await tried(at, { claims: { ath: ath('another') } }),
          await tried(at, { claims: { ath: undefined } }),
          (await callWith(at, access, stranger)).status,
          (await callWith(at, access, undefined)).status,
        ];
      },
      back: [bad, bad, 401, 401],
    },
    {
      section: '5',
      level: 'MUST',
      requires: 'Tokens requested with a proof have the type DPoP, and are bound to its key',
      async send(at) {
        const { keys, access, type } = await bound(at);
        const { json } = await post(at, 'introspect', { token: access, client_id: (await notebook(at)).id });
        return [type, json.cnf?.jkt === (await calculateJwkThumbprint(await exportJWK(keys.publicKey)))];
      },
      back: ['DPoP', true],
    },
    {
      section: '5',
      level: 'MUST',
      requires: 'A token request with an invalid proof is invalid_dpop_proof',
      send: async (at) => [
        await redeemed(at, { claims: { htu: at.resource } }),
        await redeemed(at, { claims: { iat: now() - 3600 } }),
        await redeemed(at, { header: { typ: 'JWT' } }),
      ],
      back: Array(3).fill([400, 'invalid_dpop_proof']),
    },
    {
      section: '5',
      level: 'MUST',
      requires: 'A refresh token of a public client is bound as well: a refresh needs a proof by the same key',
      async send(at) {
        const { keys, refresh: token } = await bind(at);
        const by = async (other: Keys) => ({ dpop: await prove(other, endpoint(at, 'token')) });
        return [
          (await refresh(at, token)).json.error !== undefined,
          (await refresh(at, token, {}, await by(await newKeys()))).json.error !== undefined,
          (await refresh(at, token, {}, await by(keys))).json.token_type,
        ];
      },
      back: [true, true, 'DPoP'],
    },
    {
      section: '5.1',
      level: 'SHOULD',
      requires: 'The metadata of the server and of the resource name the algorithms, with a public key each',
      send: async (at) => [
        (await asMetadata(at)).json.dpop_signing_alg_values_supported,
        (await resourceMetadata(at)).json.dpop_signing_alg_values_supported,
      ],
      back: [
        ['ES256', 'EdDSA'],
        ['ES256', 'EdDSA'],
      ],
    },
    {
      section: '7.1',
      level: 'MUST',
      requires: 'A refused proof gets 401 with a DPoP challenge that names the algorithms',
      async send(at) {
        const { access } = await bound(at);
        const answer = await callWith(at, access, 'no.proof');
        const header = `${answer.headers.get('www-authenticate')}`;
        return [
          answer.status,
          /DPoP error="invalid_dpop_proof", algs="ES256 EdDSA"/.test(header),
          challengeIn(answer.headers).scheme,
        ];
      },
      back: [401, true, 'Bearer'],
    },
    {
      section: '7.2',
      level: 'MUST',
      requires: 'A bound token is refused as a bearer token, with a proof and without',
      async send(at) {
        const { keys, access } = await bound(at);
        const proof = await prove(keys, at.resource, { claims: { ath: ath(access) } });
        return [
          (await callWith(at, access, undefined, 'Bearer')).status,
          (await callWith(at, access, proof, 'Bearer')).status,
        ];
      },
      back: [401, 401],
    },
    {
      section: '7.1',
      level: 'MUST',
      requires: 'A token that is bound to no key is refused with the scheme DPoP',
      async send(at) {
        const { access } = await connect(at);
        const proof = await prove(await newKeys(), at.resource, { claims: { ath: ath(access) } });
        return (await callWith(at, access, proof)).status;
      },
      back: 401,
    },
    {
      section: '10',
      level: 'MUST',
      requires: 'A code requested with the thumbprint of a key is exchanged only with that key',
      async send(at) {
        const [right, wrong] = [await newKeys(), await newKeys()];
        const dpop_jkt = await calculateJwkThumbprint(await exportJWK(right.publicKey));
        const by = async (keys: Keys) => ({ dpop: await prove(keys, endpoint(at, 'token')) });
        return [
          (await redeem(at, await codeFor(at, { dpop_jkt }), {}, await by(wrong))).status,
          (await redeem(at, await codeFor(at, { dpop_jkt }))).status,
          (await redeem(at, await codeFor(at, { dpop_jkt }), {}, await by(right))).status,
        ];
      },
      back: [400, 400, 200],
    },
    {
      section: '10.1',
      level: 'MUST',
      requires: 'A pushed request with a proof is bound to its key, and one with another thumbprint is refused',
      async send(at) {
        const keys = await newKeys();
        const push = async (dpop_jkt?: string) =>
          ask(endpoint(at, 'par'), {
            method: 'POST',
            body: await authorization(at, { dpop_jkt }),
            headers: { dpop: await prove(keys, endpoint(at, 'par')) },
          });
        return [(await push()).status, (await push('x'.repeat(43))).status];
      },
      back: [201, 400],
    },
    {
      section: '11.1',
      level: 'SHOULD',
      requires: 'A proof is accepted once, at /mcp and at the token endpoint',
      async send(at) {
        const { keys, access } = await bound(at);
        const once = await prove(keys, at.resource, { claims: { ath: ath(access) } });
        const dpop = await prove(await newKeys(), endpoint(at, 'token'));
        return [
          shown(await callWith(at, access, once)),
          shown(await callWith(at, access, once)),
          (await redeem(at, await codeFor(at), {}, { dpop })).status,
          shown(await redeem(at, await codeFor(at), {}, { dpop })),
        ];
      },
      back: [good, bad, 200, [400, 'invalid_dpop_proof']],
    },
    {
      section: '11.6',
      level: 'MUST',
      requires: 'Only public key algorithms are accepted: a proof with a shared secret, or unsigned, is refused',
      async send(at) {
        const { access } = await bound(at);
        const secret = new TextEncoder().encode('a secret that is known to both of them');
        const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url') };
        const claims = { jti: randomUUID(), htm: 'POST', htu: at.resource, iat: now(), ath: ath(access) };
        const shared = await new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk })
          .sign(secret);
        const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
        const none = `${part({ alg: 'none', typ: 'dpop+jwt', jwk })}.${part({ ...claims, jti: randomUUID() })}.`;
        return [shown(await callWith(at, access, shared)), shown(await callWith(at, access, none))];
      },
      back: [bad, bad],
    },
  ],
};
