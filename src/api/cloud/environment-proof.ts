// Proves that the caller knows the environment secret without sending it. The proof is an HMAC over the method, the
// URL, the time and the token's hash, so it is useless for any other request.
import { hashToken, sameText, sign } from '../../core/secret.ts';

/** The request header with the proof. */
export const proofHeader = 'portico-environment';
const windowMs = 300_000;

export interface Proven {
  readonly method: string;
  /** The full URL. */
  readonly url: string;
  readonly token: string;
}

const compose = ({ method, url, token }: Proven, seconds: number, secret: string): string =>
  sign(['portico environment', method, url, seconds, hashToken(token)].join('\n'), secret);

export function proveEnvironment(proven: Proven, secret: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  return `t=${seconds}; proof=${compose(proven, seconds, secret)}`;
}

export type ProofState = 'good' | 'missing' | 'stale' | 'wrong';

/** Returns `stale` if the two clocks differ by more than five minutes. */
export function checkProof(
  header: string | undefined,
  proven: Proven,
  secrets: readonly string[],
  now: number,
): ProofState {
  const [, at, proof] = /^t=(\d{1,12}); proof=([\w-]{43})$/.exec(header ?? '') ?? [];
  if (at === undefined || proof === undefined) return 'missing';
  if (Math.abs(now - Number(at) * 1000) > windowMs) return 'stale';
  return secrets.some((secret) => sameText(proof, compose(proven, Number(at), secret))) ? 'good' : 'wrong';
}
