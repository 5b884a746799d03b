// Codes, tokens and the endpoints that accept them.
import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { DPoP } from 'oauth4webapi';
import { hashToken } from '../../../src/core/secret.ts';
import { requestOf } from '../../app/call.ts';
import { redeem } from '../../oauth/client.ts';
import { type Attack, verdict } from '../attack.ts';
import type { Person, Target } from '../target.ts';
import { codeFor, connectClient, on, opens, post, redirectUri, refreshWith, registerRaw, tell, web } from './web.ts';

const ownTokensOnly = 'allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,\n    }';

/** Another client, with its own secret. */
async function stranger(target: Target) {
  const { json } = await registerRaw(target, {
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'client_secret_post',
  });
  return { client_id: json.client_id, client_secret: json.client_secret };
}

const codeFields = (code: Awaited<ReturnType<typeof codeFor>>) => ({
  grant_type: 'authorization_code',
  code: `${code.leftTo.searchParams.get('code')}`,
  redirect_uri: redirectUri,
  client_id: code.registered.client.client_id,
  code_verifier: code.verifier,
});

/** A token bound to a key, and proofs of the key. */
async function bind(target: Target, person: Person) {
  const keys = await generateKeyPair('ES256', { extractable: true });
  const { registered, code, verifier } = await codeFor(target, person);
  const proven = { ...registered, DPoP: DPoP(registered.client, keys) };
  const { access_token: token } = await redeem(proven, { parameters: code, verifier, redirectUri });
  const jwk = await exportJWK(keys.publicKey);
  const prove = () =>
    new SignJWT({ jti: randomUUID(), htm: 'POST', htu: target.mcpUrl, ath: hashToken(token) })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setIssuedAt()
      .sign(keys.privateKey);
  const call = async (authorization: string, dpop?: string) => {
    const { headers, body } = requestOf('tools/call', { name: 'describeCollection', arguments: {} });
    const all = { ...headers, authorization, ...(dpop !== undefined && { dpop }) };
    return (await tell(target.mcpUrl, { method: 'POST', headers: all, body })).status;
  };
  return { token, prove, call };
}

export const tokenAttacks: readonly Attack[] = [
  {
    id: 'web-5-copy-within-the-grace',
    finding: 'web 5',
    title: 'a copy of a refresh token, used within the grace, lives beside the original (RFC 9700 section 4.14.2)',
    place: web,
    on,
    async attack(target) {
      const owner = await connectClient(target, await target.person());
      const [mine, theirs] = [
        (await refreshWith(target, owner, owner.refresh)).json,
        (await refreshWith(target, owner, owner.refresh)).json,
      ];
      const next = await refreshWith(target, owner, mine.refresh_token);
      const copied = await refreshWith(target, owner, theirs.refresh_token);
      const isAlive = copied.status === 200 && (await opens(target, copied.json.access_token));
      return verdict(isAlive && (await opens(target, `${next.json.access_token}`)), [next.text, copied.text]);
    },
    protection: [
      {
        file: 'src/oauth/server/adapter.ts',
        text: 'isFirst && row?.grantId && (await hasConsumedSibling(row.grantId, row))',
        into: 'isFirst && row?.grantId && false',
      },
    ],
  },
  {
    id: 'web-held-old-refresh-token',
    finding: 'web held',
    title: 'a refresh token is used again after its successor was',
    place: web,
    on,
    async attack(target) {
      const owner = await connectClient(target, await target.person());
      const { json } = await refreshWith(target, owner, owner.refresh);
      await refreshWith(target, owner, json.refresh_token);
      const again = await refreshWith(target, owner, owner.refresh);
      return verdict(again.status === 200, again.text);
    },
    protection: [
      {
        file: 'src/oauth/server/adapter.ts',
        text: '!(await rows.hasConsumedSuccessor(row.grantId, Number(row.payload.rotations ?? 0)))',
        into: 'true',
      },
    ],
  },
  {
    id: 'web-held-code-twice',
    finding: 'web held',
    title: 'a code is used twice, and what the first made of it goes on (RFC 6749 section 4.1.2)',
    place: web,
    on,
    async attack(target) {
      const fields = codeFields(await codeFor(target, await target.person()));
      const { json } = await post(target, 'token', fields);
      const again = await post(target, 'token', fields);
      return verdict(again.status === 200 || (await opens(target, json.access_token)), again.text);
    },
    protection: [
      { file: 'src/oauth/server/adapter.ts', text: '        await revoke(grantId);\n', into: '' },
      {
        file: 'src/oauth/server/adapter.ts',
        text: '(id) => rows.destroy(model, key(id))',
        into: "async (id) => (model === 'Grant' ? undefined : rows.destroy(model, key(id)))",
      },
    ],
  },
  {
    id: 'web-19-code-after-a-wrong-verifier',
    finding: 'web 19',
    title: 'a code is tried with a wrong verifier, redirect or client, and then used (RFC 9700 section 4.5.3)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person();
      const wrong = [
        { code_verifier: 'w'.repeat(43) },
        { redirect_uri: 'https://other.example/cb' },
        await stranger(target),
      ];
      const statuses = [];
      for (const change of wrong) {
        const fields = codeFields(await codeFor(target, person));
        await post(target, 'token', { ...fields, ...change });
        statuses.push((await post(target, 'token', fields)).status);
      }
      return verdict(statuses.includes(200), statuses);
    },
    protection: [
      {
        file: 'src/oauth/server/code-burning.ts',
        text: "    if (await rows.consume('AuthorizationCode', id, 0)) await rows.destroy('AuthorizationCode', id);\n",
        into: '',
      },
    ],
  },
  {
    id: 'web-held-no-proof-key',
    finding: 'web held',
    title: 'a code is asked for and used without PKCE (OAuth 2.1 section 4.1.1)',
    place: web,
    on,
    async attack(target) {
      const asked = { code_challenge: undefined, code_challenge_method: undefined };
      const code = await codeFor(target, await target.person(), {}, asked).catch(String);
      if (typeof code === 'string') return verdict(false, code);
      const { status, text } = await post(target, 'token', { ...codeFields(code), code_verifier: undefined });
      return verdict(status === 200, text);
    },
    protection: [{ file: 'src/oauth/server/provider.ts', text: 'required: () => true', into: 'required: () => false' }],
  },
  {
    id: 'web-19-introspection-of-others',
    finding: 'web 19',
    title: 'whoever registers with a secret learns of the tokens of others (RFC 7662 section 4)',
    place: web,
    on,
    async attack(target) {
      const { access } = await connectClient(target, await target.person());
      const { json, text } = await post(target, 'introspect', { token: access, ...(await stranger(target)) });
      return verdict(json?.active === true, text);
    },
    protection: [
      {
        file: 'src/oauth/server/provider.ts',
        text: `a client may introspect only its own tokens.\n      ${ownTokensOnly}`,
        into: 'a client may introspect only its ownResource tokens.\n      allowedPolicy: async () => true,\n    }',
      },
    ],
  },
  {
    id: 'web-held-revocation-of-others',
    finding: 'web held',
    title: 'a client revokes a token of another one (RFC 7009 section 2.1)',
    place: web,
    on,
    async attack(target) {
      const { access } = await connectClient(target, await target.person());
      const { status } = await post(target, 'revoke', { token: access, ...(await stranger(target)) });
      return verdict(!(await opens(target, access)), `${status}`);
    },
    protection: [
      {
        file: 'src/oauth/server/provider.ts',
        text: `only the client that received a token may revoke it.\n      ${ownTokensOnly}`,
        into: 'only the client that received a token may revoke it.\n      allowedPolicy: async () => true,\n    }',
      },
    ],
  },
  {
    id: 'web-held-write-with-read-token',
    finding: 'web held',
    title: 'a token for reading writes (RFC 6750 section 3.1)',
    place: web,
    on,
    async attack(target) {
      const { access } = await connectClient(target, await target.person(), {}, { scope: 'mcp:read' });
      const written = await target
        .caller(access)
        .call('create', { collectionName: 'tags', attributes: { label: 'by a reader' } });
      const rows = await target.rows("SELECT id FROM tags WHERE label = 'by a reader'");
      return verdict(rows.length > 0, written);
    },
    protection: [
      { file: 'src/mcp/endpoint.ts', text: 'if (!tool || auth.scopes.has(tool.scope)) return;', into: 'return;' },
      { file: 'src/mcp/tool-call.ts', text: '  if (!auth.scopes.has(tool.scope))\n', into: '  if (false)\n' },
    ],
  },
  {
    id: 'web-held-token-of-another-resource',
    finding: 'web held',
    title: 'a token of the public API opens the tools, or one of the tools the public API (RFC 9700 section 2.3)',
    place: web,
    on,
    async attack(target) {
      const person = await target.person({ level: 'admin' });
      const { access } = await connectClient(target, person);
      const { secret } = await target.store.tokens.create({ userId: person.id, name: 'api', scopes: ['all'] });
      const path = `${target.origin}/v1/project/My%20project/environment/Production/activity-logs`;
      const withAccess = await tell(path, { headers: { authorization: `Bearer ${access}` } });
      const withMine = await tell(path, { headers: { authorization: `Bearer ${person.token}` } });
      const honest = await tell(path, { headers: { authorization: `Bearer ${secret}` } });
      const list = requestOf('tools/list', {});
      const headers = { ...list.headers, authorization: `Bearer ${secret}` };
      const withApi = await tell(target.mcpUrl, { method: 'POST', headers, body: list.body });
      const statuses = [withAccess.status, withMine.status, withApi.status];
      return verdict(statuses.includes(200), { honest: honest.status, statuses });
    },
    protection: [
      {
        file: 'src/oauth/tokens/application-token.ts',
        text: 'if (token.entrance !== entrance) {',
        into: 'if (false) {',
      },
    ],
  },
  {
    id: 'web-held-bound-token-as-bearer',
    finding: 'web held',
    title: 'a token that is bound to a key is used without the key (RFC 9449 section 7.2)',
    place: web,
    on,
    async attack(target) {
      const { token, prove, call } = await bind(target, await target.person());
      const [honest, stolen] = [await call(`DPoP ${token}`, await prove()), await call(`Bearer ${token}`)];
      return verdict(stolen === 200, { honest, stolen });
    },
    protection: [
      {
        file: 'src/oauth/tokens/bearer.ts',
        text: '({ auth, thumbprint }: CachedVerification): Authenticated => {\n    if (thumbprint !== undefined) {',
        into: '({ auth, thumbprint }: CachedVerification): Authenticated => {\n    if (thumbprint === null) {',
      },
    ],
  },
  {
    id: 'web-held-proof-twice',
    finding: 'web held',
    title: 'a proof of a key is used twice (RFC 9449 section 11.1)',
    place: web,
    on,
    async attack(target) {
      const { token, prove, call } = await bind(target, await target.person());
      const proof = await prove();
      const [first, again] = [await call(`DPoP ${token}`, proof), await call(`DPoP ${token}`, proof)];
      return verdict(again === 200, { first, again });
    },
    protection: [
      { file: 'src/oauth/tokens/dpop.ts', text: "    if (!isFirstUse) refuse('it was already used.');\n", into: '' },
    ],
  },
];
