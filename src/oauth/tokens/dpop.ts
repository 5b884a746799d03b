// Checks the proof that accompanies a token bound to a key (DPoP, RFC 9449): a JWT, signed with that key, for a single
// request.
//
// The check runs after the token is verified, so callers without a valid token cannot make us verify signatures. The
// `jti` is stored last, when every other check has passed. The storage is shared by all processes, so a proof is
// accepted only once in total. The JWT package is loaded with the first proof.
import type { JWTVerifyResult } from 'jose';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { hashToken, timingSafeEqualText } from '../../core/secret.ts';
import type { OAuthRows } from '../../store/oauth/types.ts';
import { dpopAlgorithms } from '../server/metadata.ts';
import type { Paths } from '../server/paths.ts';

/** The parts of a request that the check reads; a Node request qualifies. */
export interface PresentedRequest {
  readonly method?: string | undefined;
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly dpop?: string | readonly string[] | undefined;
  };
}

/** The token that the proof is for. */
interface BoundToken {
  /** SHA-256 of the token, base64url. */
  readonly hash: string;
  /** RFC 7638 thumbprint of the key that the token is bound to. */
  readonly thumbprint: string;
}

/** INVALID_DPOP_PROOF if there is no usable proof. UNAUTHENTICATED if the proof uses a different key than the token. */
type CheckProof = (request: PresentedRequest, token: BoundToken) => Promise<void>;

interface ProofOptions {
  readonly rows: Pick<OAuthRows, 'insertOnce'>;
  readonly paths: Pick<Paths, 'resource'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Seconds that `iat` may differ from our clock, in either direction. */
const CLOCK_TOLERANCE_SECONDS = 60;
/** Seconds to remember a `jti` beyond that, because the clocks of our processes differ slightly. */
const CLOCK_MARGIN_SECONDS = 60;

const algorithms: readonly string[] = dpopAlgorithms;
const refuse = (problem: string, cause?: unknown): never => fail('INVALID_DPOP_PROOF', { problem }, cause);

export function createProofCheck({ rows, paths, clock }: ProofOptions): CheckProof {
  return async (request, token) => {
    const proof = readOnlyProof(request.headers.dpop);
    const { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } = await import('jose');
    // RFC 9449 section 4.3, checks 2 to 7: a JWT of type dpop+jwt. It is signed with an asymmetric algorithm that we
    // advertise, and the header contains the public key.
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...algorithms],
      typ: 'dpop+jwt',
      currentDate: new Date(clock.now()),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    }).catch(failWithReason);
    const { jti, iat } = checkClaims(payload, request.method, token.hash);
    // RFC 9449 section 4.3, check 12, and section 6.1: the key of the proof is the one that the token is bound to.
    if (!timingSafeEqualText(await calculateJwkThumbprint(protectedHeader.jwk ?? {}), token.thumbprint)) {
      fail('UNAUTHENTICATED', { problem: 'The token and the DPoP proof have different keys.' });
    }
    // RFC 9449 section 11.1: the same key cannot reuse a jti while its proof would still be accepted.
    const isFirstUse = await rows.insertOnce({
      model: 'DPoPProof',
      id: hashToken(`${token.thumbprint}.${jti}`),
      payload: {},
      expiresAt: Math.ceil((iat + CLOCK_TOLERANCE_SECONDS + CLOCK_MARGIN_SECONDS) * 1000),
    });
    if (!isFirstUse) refuse('it was already used.');
  };

  function checkClaims(payload: JWTVerifyResult['payload'], method: string | undefined, tokenHash: string) {
    const { htm, htu, ath, jti, iat } = payload;
    // RFC 9449 section 4.3, check 3: the claims of section 4.2 are present; with an access token, its hash is one of
    // them.
    if (typeof jti !== 'string' || jti === '') return refuse('it has no jti.');
    if (typeof iat !== 'number') return refuse('it has no iat.');
    // RFC 9449 section 4.3, check 8: made for this method.
    if (htm !== method) return refuse(`its htm must be ${method}.`);
    // RFC 9449 section 4.3, check 9: made for this URL, ignoring query and fragment.
    if (!isResource(htu, paths.resource)) return refuse(`its htu must be ${paths.resource}.`);
    // RFC 9449 section 4.3, check 11, and section 11.1: made recently. This form also rejects NaN.
    if (!(Math.abs(clock.now() / 1000 - iat) <= CLOCK_TOLERANCE_SECONDS)) {
      return refuse(`its iat is more than ${CLOCK_TOLERANCE_SECONDS} seconds away from the server time.`);
    }
    // RFC 9449 section 4.3, check 12: made for this token.
    if (typeof ath !== 'string' || !timingSafeEqualText(ath, tokenHash)) {
      return refuse('its ath must be the SHA-256 of the access token.');
    }
    return { jti, iat };
  }
}

/**
 * RFC 9449 section 4.3, check 1: exactly one DPoP header. Node joins several headers with commas, which never occur in
 * a JWT.
 */
function readOnlyProof(header: string | readonly string[] | undefined): string {
  if (header === undefined || header === '') return refuse('the DPoP header is missing.');
  if (typeof header !== 'string' || header.includes(',')) return refuse('there is more than one DPoP header.');
  return header;
}

/** Ignores a trailing slash: clients add or omit it at random. */
function isResource(htu: unknown, resource: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false;
  const url = new URL(htu);
  return url.origin + url.pathname.replace(/\/$/, '') === resource;
}

/** Translates the package's errors for client developers. */
function failWithReason(error: unknown): never {
  const { code, claim } = error as { readonly code?: unknown; readonly claim?: unknown };
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return refuse(`it must be signed with ${algorithms.join(' or ')}.`, error);
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return refuse('its signature is wrong.', error);
  if (claim === 'typ') return refuse('its typ must be dpop+jwt.', error);
  if (typeof claim === 'string') return refuse(`its ${claim} does not allow its use now.`, error);
  return refuse('it is not a signed JWT with a public key (jwk) in its header.', error);
}
