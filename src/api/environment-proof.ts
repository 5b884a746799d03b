// The proof that whoever asks knows the environment secret, which itself is never sent: an HMAC over what is asked, when, and
// with which token, so that it is of no use to anybody else or for anything else.
import { hashToken, sameText, sign } from '../core/secret.ts';

/** Header of the proof. */
export const proofHeader = 'portico-environment';
const windowMs = 300_000;

export interface Proven {
  readonly method: string;
  /** The whole address. */
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

/** `stale`: the clocks of the two are more than five minutes apart. */
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
