// The one token check of /mcp. What it answers is proof that it ran: an Authenticated can only come from here.
//
// A verified token is remembered by its hash together with the versions of grants and permissions that were read before
// the check began. It is taken again only while both stand still and the token has not expired, so a revocation or a
// change of rights is felt by the next call in every process. Refusals are never remembered. The authorization server
// itself is not imported: a token is a row of the store. A token bound to a key (RFC 9449) is remembered alike, but each
// request with it brings a proof of its own (dpop.ts).
import { LRUCache } from 'lru-cache';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { hashToken } from '../core/secret.ts';
import type { ApplicationToken, OAuthRow, Store, Versions } from '../store/store.ts';
import { isApplicationToken, tokenScopes } from '../store/tokens.ts';
import { createProofCheck, type PresentedRequest } from './dpop.ts';
import { dpopAlgorithms } from './metadata.ts';
import type { Paths } from './paths.ts';
import { effectiveScopes } from './scopes.ts';

export interface Authenticated {
  readonly access: Access;
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  /** Of an access token. */
  readonly grantId?: string;
  /** Of an application token. */
  readonly tokenId?: number;
  /** OAuth scopes, with those that they include. */
  readonly scopes: ReadonlySet<string>;
  /** SHA-256 of the token, as the store knows it; it opens nothing. */
  readonly tokenHash: string;
  /** The versions at which all of this was true. */
  readonly versions: Versions;
}

export interface Gate {
  /**
   * Checks the token of a request, `Bearer` or `DPoP`; for a bearer token it answers (and refuses) synchronously where it
   * can. UNAUTHENTICATED when there is no usable token: missing, malformed, unknown, expired, revoked, for another
   * audience, or with the wrong scheme. INVALID_DPOP_PROOF when the token is bound to a key and the proof is missing, bad
   * or used before. Ask once for each request, since that uses the proof up.
   */
  check(request: PresentedRequest): Authenticated | Promise<Authenticated>;
  /**
   * Whether everything still stands as it did when `auth` was given. Reads ask it while they work and hold their
   * answer until it is known; writes ask it before their first mutating statement.
   */
  holds(auth: Authenticated): boolean | Promise<boolean>;
  /**
   * Looks again at what `check` let in, for when it no longer holds: at the token, the grant and the rights, not at the
   * proof, whose one use is taken. UNAUTHENTICATED as for `check`.
   */
  renew(auth: Authenticated): Promise<Authenticated>;
  /**
   * The WWW-Authenticate value of a 401: Bearer, and DPoP beside it where DPoP was used, the error with the scheme that
   * was used (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728 section 5.1). Assistants read the header with simple
   * patterns, so that it names a second scheme to those alone who speak it; the others find it in the metadata.
   */
  challenge(request: PresentedRequest, error: 'invalid_token' | 'invalid_dpop_proof'): string;
  /** The WWW-Authenticate value of a 403 insufficient_scope. */
  scopeChallenge(request: PresentedRequest, scopes: readonly string[]): string;
}

export interface GateOptions {
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'tokens' | 'versions'>;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  /** What the 401 challenge offers. */
  readonly defaultScopes: readonly string[];
}

interface Remembered {
  readonly auth: Authenticated;
  /** Of the key that the token is bound to. */
  readonly thumbprint: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

const same = (a: Versions, b: Versions): boolean => a.grants === b.grants && a.permissions === b.permissions;
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });
const signInAgain = 'Sign in again.';
const accountGone = 'The account is disabled or gone.';

/** Access tokens of the authorization server (oauth_store), and application tokens (store/tokens.ts). */
type TokenKind = 'access' | 'application';

interface Presented {
  readonly hash: string;
  readonly kind: TokenKind;
}

function present(authorization: string | undefined): Presented {
  const token = readToken(authorization);
  return { hash: hashToken(token), kind: isApplicationToken(token) ? 'application' : 'access' };
}

export function createGate({ store, paths, clock, defaultScopes }: GateOptions): Gate {
  const remembered = new LRUCache<string, Remembered>({ max: 10_000 });
  const checkProof = createProofCheck({ rows: store.oauth, paths, clock });

  const recall = (hash: string, versions: Versions): Remembered | undefined => {
    const found = remembered.get(hash);
    return found && found.expiresAt > clock.now() && same(found.auth.versions, versions) ? found : undefined;
  };

  const verify = (kind: TokenKind, hash: string, versions: Versions): Promise<Remembered> => {
    remembered.delete(hash);
    return verifiers[kind](hash, versions);
  };

  const remember = (found: Remembered): Remembered => {
    remembered.set(found.auth.tokenHash, found);
    return found;
  };

  const verifyAccessToken = async (hash: string, versions: Versions): Promise<Remembered> => {
    // RFC 6750 section 2.1, RFC 7009 section 2: the token exists; a revoked one is no longer there.
    const row =
      (await store.oauth.find('AccessToken', hash)) ??
      refuse(`The token is unknown, expired or revoked. ${signInAgain}`);
    const expiresAt = checkToken(row);
    const { payload } = row;
    const grantId = text(payload.grantId);
    const userId = Number(payload.accountId);
    const [grant, access] = await Promise.all([store.oauth.find('Grant', grantId), store.permissions.accessOf(userId)]);
    // RFC 6749 section 10.4: what the user withdrew is withdrawn from every token that was made of it.
    if (!grant || grant.payload.accountId !== payload.accountId || grant.payload.clientId !== payload.clientId) {
      return refuse(`The authorization was revoked. ${signInAgain}`);
    }
    if (!access) return refuse(accountGone);
    const clientId = text(payload.clientId);
    const extra = payload.extra as { readonly client_name?: unknown } | undefined;
    const auth: Authenticated = {
      access,
      userId,
      clientId,
      clientName: text(extra?.client_name) || clientId,
      grantId,
      scopes: effectiveScopes(text(payload.scope)),
      tokenHash: hash,
      versions,
    };
    const thumbprint = payload.jkt === undefined ? undefined : text(payload.jkt);
    return remember({ auth, thumbprint, expiresAt });
  };

  const verifyApplicationToken = async (hash: string, versions: Versions): Promise<Remembered> => {
    const token =
      (await store.tokens.find(hash)) ??
      refuse("The token is unknown or revoked. 'portico token create' makes another.");
    const expiresAt = checkApplicationToken(token);
    // The rights are those of the user, and as they are now.
    const access = (await store.permissions.accessOf(token.userId)) ?? refuse(accountGone);
    const auth: Authenticated = {
      access,
      userId: token.userId,
      // No client of OAuth has such an id: those are made here, or are URLs.
      clientId: `token:${token.name}`,
      clientName: token.name,
      tokenId: token.id,
      scopes: effectiveScopes(token.scopes.join(' ')),
      tokenHash: hash,
      versions,
    };
    return remember({ auth, thumbprint: undefined, expiresAt });
  };

  const checkApplicationToken = ({ entrance, expiresAt }: ApplicationToken): number => {
    const expires = expiresAt ?? Number.POSITIVE_INFINITY;
    // Spec public-http-api 7: an expired token is told from an unknown one.
    if (!(expires > clock.now())) return refuse("The token has expired. 'portico token create' makes another.");
    // RFC 9700 section 2.3: a token opens one entrance; the scopes of one are no rights at the other.
    if (entrance !== 'mcp') {
      return refuse(
        `The token is for the public API. One for /mcp has some of the scopes ${tokenScopes.mcp.join(', ')}.`,
      );
    }
    return expires;
  };

  const verifiers = { access: verifyAccessToken, application: verifyApplicationToken };

  const checkToken = ({ payload, expiresAt }: OAuthRow): number => {
    const expires = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, Number(payload.exp) * 1000);
    // RFC 6749 section 1.4, RFC 6750 section 3.1: not expired. Written so that a missing time is expired.
    if (!(expires > clock.now())) return refuse('The token has expired. Refresh it or sign in again.');
    // The row is an access token and no other kind of secret that hashes alike.
    if (payload.kind !== 'AccessToken') return refuse('This is no access token.');
    // RFC 8707 section 2, RFC 9728 section 7.4: the audience is this resource, and only this one.
    if (payload.aud !== paths.resource) return refuse('The token was issued for another resource.');
    // RFC 8705 section 3: a token bound to a TLS certificate is of no use where no certificate is looked at.
    if (payload['x5t#S256'] !== undefined)
      return refuse('The token is bound to a certificate and cannot be used here.');
    return expires;
  };

  // RFC 9449 section 7.2: a token bound to a key is not usable as a plain bearer token.
  const asBearer = ({ auth, thumbprint }: Remembered): Authenticated => {
    if (thumbprint !== undefined) {
      return refuse('The token is bound to a key: send it as `Authorization: DPoP <token>`, with a DPoP proof.');
    }
    if (auth.tokenId !== undefined) store.tokens.noteUse(auth.tokenId);
    return auth;
  };

  const checkBearer = ({ hash, kind }: Presented, versions: Versions): Authenticated | Promise<Authenticated> => {
    const found = recall(hash, versions);
    return found ? asBearer(found) : verify(kind, hash, versions).then(asBearer);
  };

  const checkBound = async (request: PresentedRequest): Promise<Authenticated> => {
    const { hash, kind } = present(request.headers.authorization);
    const versions = await store.versions();
    const { auth, thumbprint } = recall(hash, versions) ?? (await verify(kind, hash, versions));
    // RFC 9449 section 7.1: the scheme says that the token is bound to a key; this one is bound to none.
    if (thumbprint === undefined) {
      return refuse('The token is not bound to a key: send it as `Authorization: Bearer <token>`.');
    }
    await checkProof(request, { hash, thumbprint });
    return auth;
  };

  return {
    check(request) {
      const { authorization } = request.headers;
      if (isDpop(authorization)) return checkBound(request);
      const presented = present(authorization);
      const versions = store.versions();
      if (!(versions instanceof Promise)) return checkBearer(presented, versions);
      return versions.then((known) => checkBearer(presented, known));
    },
    async renew({ tokenHash, tokenId }) {
      const versions = await store.versions();
      const kind = tokenId === undefined ? 'access' : 'application';
      return (recall(tokenHash, versions) ?? (await verify(kind, tokenHash, versions))).auth;
    },
    holds(auth) {
      const versions = store.versions();
      if (!(versions instanceof Promise)) return same(auth.versions, versions);
      return versions.then((known) => same(auth.versions, known));
    },
    challenge({ headers: { authorization } }, error) {
      const bound = isDpop(authorization);
      // RFC 6750 section 3: no error code when the request carried no credentials at all.
      const bearer = challengeBearer(authorization === undefined || bound ? {} : { error }, defaultScopes);
      return bound ? `${bearer}, ${challengeDpop({ error })}` : bearer;
    },
    scopeChallenge({ headers: { authorization } }, scopes) {
      const error = { error: 'insufficient_scope' };
      if (!isDpop(authorization)) return challengeBearer(error, scopes);
      return `${challengeBearer({}, scopes)}, ${challengeDpop(error)}`;
    },
  };

  /** The first of the schemes: clients look there for the metadata and the scopes. */
  function challengeBearer(error: ChallengeParameters, scopes: readonly string[]): string {
    return `Bearer ${write({ ...error, resource_metadata: paths.resourceMetadata, scope: scopes.join(' ') })}`;
  }
}

type ChallengeParameters = Readonly<Record<string, string>>;

const write = (parameters: ChallengeParameters): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ');

const challengeDpop = (error: ChallengeParameters): string =>
  `DPoP ${write({ ...error, algs: dpopAlgorithms.join(' ') })}`;

/** Schemes are compared without regard to case (RFC 9110 section 11.1). */
function isDpop(authorization: string | undefined): boolean {
  return authorization !== undefined && /^DPoP(?: |$)/i.test(authorization);
}

/** RFC 6750 section 2.1, RFC 9449 section 7.1: the token of the Authorization header, and no other place. */
function readToken(authorization: string | undefined): string {
  if (!authorization) {
    return refuse('An access token is needed. Sign in through the authorization server that the challenge names.');
  }
  const token = /^(?:Bearer|DPoP) +([A-Za-z0-9\-._~+/]{16,512}=*)$/i.exec(authorization)?.[1];
  return token ?? refuse('The Authorization header must be `Bearer <token>` or `DPoP <token>`.');
}
