// The one token check of /mcp. What it answers is proof that it ran: an Authenticated can only come from here.
//
// A verified token is remembered by its hash together with the versions of grants and permissions that were read before
// the check began. It is taken again only while both stand still and the token has not expired, so a revocation or a
// change of rights is felt by the next call in every process. Refusals are never remembered. What makes a token good is
// said for each of the two kinds in a file of its own (access-token.ts, application-token.ts). A token bound to a key (RFC 9449) is remembered alike, but each
// request with it brings a proof of its own (dpop.ts).
import { LRUCache } from 'lru-cache';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { hashToken } from '../core/secret.ts';
import type { Store, Versions } from '../store/store.ts';
import { isApplicationToken } from '../store/tokens.ts';
import { sameRights } from '../store/versions.ts';
import { createAccessTokenCheck } from './access-token.ts';
import { versionsAtArrival } from './allow-list.ts';
import { createApplicationTokenCheck } from './application-token.ts';
import { createProofCheck, type PresentedRequest } from './dpop.ts';
import { dpopAlgorithms } from './metadata.ts';
import type { Paths } from './paths.ts';

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
   * answer until it is known; writes ask it before their first mutating statement, by the versions of their mark where the
   * storage told them along with it.
   */
  holds(auth: Authenticated, versions?: Versions): boolean | Promise<boolean>;
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

/** What a token says of its holder, once it was found good. */
export interface Verified extends Omit<Authenticated, 'tokenHash' | 'versions'> {
  /** Of the key that the token is bound to. */
  readonly thumbprint: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** By the hash of the token; UNAUTHENTICATED for one that is not good. Nothing is remembered here. */
export type Verify = (hash: string) => Promise<Verified>;

export interface GateOptions {
  readonly store: Pick<Store, 'oauth' | 'permissions' | 'tokens' | 'connections' | 'versions'>;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether people sign in through an OpenID provider; default false. */
  readonly sso?: boolean;
  /** What the 401 challenge offers. */
  readonly defaultScopes: readonly string[];
}

interface Remembered extends Pick<Verified, 'thumbprint' | 'expiresAt'> {
  readonly auth: Authenticated;
}

const refuse = (problem: string): never => fail('UNAUTHENTICATED', { problem });

/** Of the authorization server (access-token.ts), or made by a person for a program (application-token.ts). */
type TokenKind = 'access' | 'application';

interface Presented {
  readonly hash: string;
  readonly kind: TokenKind;
}

function present(authorization: string | undefined): Presented {
  const token = readToken(authorization);
  return { hash: hashToken(token), kind: isApplicationToken(token) ? 'application' : 'access' };
}

export function createGate({ store, paths, clock, defaultScopes, sso = false }: GateOptions): Gate {
  const remembered = new LRUCache<string, Remembered>({ max: 10_000 });
  const checkProof = createProofCheck({ rows: store.oauth, paths, clock });
  const verifiers: Readonly<Record<TokenKind, Verify>> = {
    access: createAccessTokenCheck({ store, paths, clock }),
    application: createApplicationTokenCheck({ store, clock, sso }),
  };

  const recall = (hash: string, versions: Versions): Remembered | undefined => {
    const found = remembered.get(hash);
    return found && found.expiresAt > clock.now() && sameRights(found.auth.versions, versions) ? found : undefined;
  };

  const verify = async (kind: TokenKind, hash: string, versions: Versions): Promise<Remembered> => {
    remembered.delete(hash);
    const { thumbprint, expiresAt, ...holder } = await verifiers[kind](hash);
    const found = { auth: { ...holder, tokenHash: hash, versions }, thumbprint, expiresAt };
    remembered.set(hash, found);
    return found;
  };

  const noteUse = (auth: Authenticated): Authenticated => {
    if (auth.tokenId !== undefined) store.tokens.noteUse(auth.tokenId);
    else if (auth.grantId !== undefined) store.connections.noteUse(auth.grantId);
    return auth;
  };

  // RFC 9449 section 7.2: a token bound to a key is not usable as a plain bearer token.
  const asBearer = ({ auth, thumbprint }: Remembered): Authenticated => {
    if (thumbprint !== undefined) {
      return refuse('The token is bound to a key: send it as `Authorization: DPoP <token>`, with a DPoP proof.');
    }
    return noteUse(auth);
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
    return noteUse(auth);
  };

  return {
    check(request) {
      const { authorization } = request.headers;
      if (isDpop(authorization)) return checkBound(request);
      const presented = present(authorization);
      const versions = versionsAtArrival(request) ?? store.versions();
      if (!(versions instanceof Promise)) return checkBearer(presented, versions);
      return versions.then((known) => checkBearer(presented, known));
    },
    async renew({ tokenHash, tokenId }) {
      const versions = await store.versions();
      const kind = tokenId === undefined ? 'access' : 'application';
      return (recall(tokenHash, versions) ?? (await verify(kind, tokenHash, versions))).auth;
    },
    holds(auth, marked) {
      const versions = marked ?? store.versions();
      if (!(versions instanceof Promise)) return sameRights(auth.versions, versions);
      return versions.then((known) => sameRights(auth.versions, known));
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
