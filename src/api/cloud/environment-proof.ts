// Proves that the caller knows the environment secret without sending it. The proof is an HMAC over the method, the
// URL, the time and the token's hash, so it is useless for any other request.
import { hashToken, sign, timingSafeEqualText } from '../../core/secret.ts';

/** The request header with the proof. */
export const proofHeader = 'portico-environment';
const PROOF_WINDOW_MS = 300_000;

interface ProofRequest {
  readonly method: string;
  /** The full URL. */
  readonly url: string;
  readonly token: string;
}

const signProof = ({ method, url, token }: ProofRequest, seconds: number, secret: string): string =>
  sign(['portico environment', method, url, seconds, hashToken(token)].join('\n'), secret);

export function createProof(request: ProofRequest, secret: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  return `t=${seconds}; proof=${signProof(request, seconds, secret)}`;
}

type ProofState = 'good' | 'missing' | 'stale' | 'wrong';

/** Returns `stale` if the two clocks differ by more than five minutes. */
export function checkProof(
  header: string | undefined,
  request: ProofRequest,
  secrets: readonly string[],
  now: number,
): ProofState {
  const [, sentSeconds, proof] = /^t=(\d{1,12}); proof=([\w-]{43})$/.exec(header ?? '') ?? [];
  if (sentSeconds === undefined || proof === undefined) return 'missing';
  if (Math.abs(now - Number(sentSeconds) * 1000) > PROOF_WINDOW_MS) return 'stale';
  return secrets.some((secret) => timingSafeEqualText(proof, signProof(request, Number(sentSeconds), secret)))
    ? 'good'
    : 'wrong';
}
