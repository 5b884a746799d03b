// The only token check of /mcp. Its result proves that it ran: only this file creates an `Authenticated`.
//
// A verified token is cached by its hash, with the versions of grants and permissions read before the check began. The
// entry is used only while both versions are unchanged and the token has not expired. A revocation or a change of
// rights therefore takes effect with the next call in every process. Failures are never cached. Each kind of token has
// its own rules (access-token.ts, application-token.ts). A token bound to a key (RFC 9449) is cached in the same way,
// but each request with it needs a new proof (dpop.ts).

import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { hashToken } from '../../core/secret.ts';
import { isApplicationToken } from '../../store/oauth/tokens.ts';
import type { Store } from '../../store/store.ts';
import type { Versions } from '../../store/version-types.ts';
import { sameRights } from '../../store/versions.ts';
import { versionsAtArrival } from '../server/allow-list.ts';
import { dpopAlgorithms } from '../server/metadata.ts';
import type { Paths } from '../server/paths.ts';
import { createAccessTokenCheck } from './access-token.ts';
import { createApplicationTokenCheck } from './application-token.ts';
import { createProofCheck, type PresentedRequest } from './dpop.ts';
import type { Authenticated, Verified, Verify } from './verify.ts';

export interface TokenAuthenticator {
  /**
   * Checks the token of a request, `Bearer` or `DPoP`. For a bearer token it returns (or throws) synchronously where it
   * can. UNAUTHENTICATED if there is no usable token: missing, malformed, unknown, expired, revoked, for another
   * audience, or with the wrong scheme. INVALID_DPOP_PROOF if the token is bound to a key and the proof is missing,
   * invalid or already used. Call it once per request, because the call uses up the proof.
   */
  check(request: PresentedRequest): Authenticated | Promise<Authenticated>;
  /**
   * Whether the rights are unchanged since `auth` was created. Reads check this while they work, and hold their result
   * until the check is done. Writes check this before their first mutating statement. They pass the `versions` of their
   * mark if the storage returned them with it.
   */
  isCurrent(auth: Authenticated, versions?: Versions): boolean | Promise<boolean>;
  /**
   * Verifies an `auth` again after `check`, when it no longer holds. Covers the token, the grant and the rights, but
   * not the proof, which can be used only once. UNAUTHENTICATED as for `check`.
   */
  renew(auth: Authenticated): Promise<Authenticated>;
  /**
   * The WWW-Authenticate value of a 401: Bearer, plus DPoP if the request used DPoP. The error goes with the scheme of
   * the request (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728 section 5.1). Assistants parse this header with
   * simple patterns, so a second scheme is named only to clients that already use it. Others find DPoP in the metadata.
   */
  challenge(request: PresentedRequest, error: 'invalid_token' | 'invalid_dpop_proof'): string;
  /** The WWW-Authenticate value of a 403 insufficient_scope. */
  scopeChallenge(request: PresentedRequest, scopes: readonly string[]): string;
}

interface TokenAuthenticatorOptions {
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'tokens' | 'connections' | 'versions'>;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether users sign in through an OpenID provider; default false. */
  readonly sso?: boolean;
  /** Scopes offered in the 401 challenge. */
  readonly defaultScopes: readonly string[];
}

interface CachedVerification extends Pick<Verified, 'thumbprint' | 'expiresAt'> {
  readonly auth: Authenticated;
}

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

/**
 * `access`: issued by the authorization server (access-token.ts). `application`: created by a user for a program
 * (application-token.ts).
 */
type TokenKind = 'access' | 'application';

interface PresentedToken {
  readonly hash: string;
  readonly kind: TokenKind;
}

function readPresentedToken(authorization: string | undefined): PresentedToken {
  const token = readToken(authorization);
  return { hash: hashToken(token), kind: isApplicationToken(token) ? 'application' : 'access' };
}

export function createTokenAuthenticator({
  store,
  paths,
  clock,
  defaultScopes,
  sso = false,
}: TokenAuthenticatorOptions): TokenAuthenticator {
  const cache = new LRUCache<string, CachedVerification>({ max: 10_000 });
  const checkProof = createProofCheck({ rows: store.oauth, paths, clock });
  const verifiers: Readonly<Record<TokenKind, Verify>> = {
    access: createAccessTokenCheck({ store, paths, clock }),
    application: createApplicationTokenCheck({ store, clock, sso }),
  };

  const findCached = (hash: string, versions: Versions): CachedVerification | undefined => {
    const cached = cache.get(hash);
    return cached && cached.expiresAt > clock.now() && sameRights(cached.auth.versions, versions) ? cached : undefined;
  };

  const verify = async (kind: TokenKind, hash: string, versions: Versions): Promise<CachedVerification> => {
    cache.delete(hash);
    const { thumbprint, expiresAt, ...holder } = await verifiers[kind](hash);
    const entry = { auth: { ...holder, tokenHash: hash, versions }, thumbprint, expiresAt };
    cache.set(hash, entry);
    return entry;
  };

  const touchToken = (auth: Authenticated): Authenticated => {
    if (auth.tokenId !== undefined) store.tokens.noteUse(auth.tokenId);
    else if (auth.grantId !== undefined) store.connections.noteUse(auth.grantId);
    return auth;
  };

  // RFC 9449 section 7.2: a token bound to a key is not usable as a plain bearer token.
  const requireBearer = ({ auth, thumbprint }: CachedVerification): Authenticated => {
    if (thumbprint !== undefined) {
      return refuse('The token is bound to a key: send it as `Authorization: DPoP <token>`, with a DPoP proof.');
    }
    return touchToken(auth);
  };

  const checkBearer = ({ hash, kind }: PresentedToken, versions: Versions): Authenticated | Promise<Authenticated> => {
    const cached = findCached(hash, versions);
    return cached ? requireBearer(cached) : verify(kind, hash, versions).then(requireBearer);
  };

  const checkBound = async (request: PresentedRequest): Promise<Authenticated> => {
    const { hash, kind } = readPresentedToken(request.headers.authorization);
    const versions = await store.versions();
    const { auth, thumbprint } = findCached(hash, versions) ?? (await verify(kind, hash, versions));
    // RFC 9449 section 7.1: the DPoP scheme is only for tokens bound to a key, and this token is not bound.
    if (thumbprint === undefined) {
      return refuse('The token is not bound to a key: send it as `Authorization: Bearer <token>`.');
    }
    await checkProof(request, { hash, thumbprint });
    return touchToken(auth);
  };

  return {
    check(request) {
      const { authorization } = request.headers;
      if (isDpop(authorization)) return checkBound(request);
      const presented = readPresentedToken(authorization);
      const versions = versionsAtArrival(request) ?? store.versions();
      if (!(versions instanceof Promise)) return checkBearer(presented, versions);
      return versions.then((current) => checkBearer(presented, current));
    },
    async renew({ tokenHash, tokenId }) {
      const versions = await store.versions();
      const kind = tokenId === undefined ? 'access' : 'application';
      return (findCached(tokenHash, versions) ?? (await verify(kind, tokenHash, versions))).auth;
    },
    isCurrent(auth, knownVersions) {
      const versions = knownVersions ?? store.versions();
      if (!(versions instanceof Promise)) return sameRights(auth.versions, versions);
      return versions.then((current) => sameRights(auth.versions, current));
    },
    challenge({ headers: { authorization } }, error) {
      const isBound = isDpop(authorization);
      // RFC 6750 section 3: no error code if the request carried no credentials.
      const bearer = challengeBearer(authorization === undefined || isBound ? {} : { error }, defaultScopes);
      return isBound ? `${bearer}, ${challengeDpop({ error })}` : bearer;
    },
    scopeChallenge({ headers: { authorization } }, scopes) {
      const error = { error: 'insufficient_scope' };
      if (!isDpop(authorization)) return challengeBearer(error, scopes);
      return `${challengeBearer({}, scopes)}, ${challengeDpop(error)}`;
    },
  };

  /** Always the first scheme: clients read the metadata URL and the scopes from it. */
  function challengeBearer(error: ChallengeParameters, scopes: readonly string[]): string {
    return `Bearer ${formatParameters({ ...error, resource_metadata: paths.resourceMetadata, scope: scopes.join(' ') })}`;
  }
}

type ChallengeParameters = Readonly<Record<string, string>>;

const formatParameters = (parameters: ChallengeParameters): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ');

const challengeDpop = (error: ChallengeParameters): string =>
  `DPoP ${formatParameters({ ...error, algs: dpopAlgorithms.join(' ') })}`;

/** Scheme names are case-insensitive (RFC 9110 section 11.1). */
function isDpop(authorization: string | undefined): boolean {
  return authorization !== undefined && /^DPoP(?: |$)/i.test(authorization);
}

/** RFC 6750 section 2.1, RFC 9449 section 7.1: the token is read only from the Authorization header. */
function readToken(authorization: string | undefined): string {
  if (!authorization) {
    return refuse('An access token is required. Sign in through the authorization server that the challenge names.');
  }
  const token = /^(?:Bearer|DPoP) +([A-Za-z0-9\-._~+/]{16,512}=*)$/i.exec(authorization)?.[1];
  return token ?? refuse('The Authorization header must be `Bearer <token>` or `DPoP <token>`.');
}
