// How the two ends of the door know each other: by a secret that both have and neither sends. A request is signed with what
// identifies it (method, path, time, a number that is used once, the hash of its body), and its answer with the number of the
// request, so that an answer belongs to one question and cannot be another's. The hash of the body stands in the header: who
// may not ask is refused before the body is read.
import { hashToken, sameText, sign } from '../core/secret.ts';

export interface Signed {
  /** Below the door, such as `/v1/oauth/find`: a proxy may change what stands before it. */
  readonly path: string;
  /** Of whom signs; milliseconds since the epoch. */
  readonly time: number;
  /** 128 random bits. */
  readonly nonce: string;
  /** Hash of the body. */
  readonly body: string;
  /** Names the environment to a sandbox, which does not know it; a hash, never the secret. */
  readonly environment: string;
}

/** The secret is the operator's and names other things too: the key is made of it for this use alone. */
export const doorKeyOf = (secret: string): string => sign('portico platform door', secret);
/** What a sandbox knows an environment by. */
export const environmentMarkOf = (secret: string): string => sign('portico sandbox environment', secret);

/** Of authentication (RFC 9110 section 11.1). */
export const scheme = 'Portico-HMAC-SHA256';
export const answerHeader = 'portico-signature';

const textOf = ({ path, time, nonce, body, environment }: Signed): string =>
  ['request', 'POST', path, time, nonce, body, environment].join('\n');

/** The value of the Authorization header (RFC 9110 section 11.4). */
export function authorize(signed: Signed, key: string): string {
  const { time, nonce, body, environment } = signed;
  const signature = sign(textOf(signed), key);
  return `${scheme} time=${time}, nonce=${nonce}, body=${body}, environment=${environment}, signature=${signature}`;
}

export interface Presented extends Signed {
  readonly signature: string;
}

/** Undefined for what is no header of ours. Nothing is proved yet. */
export function readAuthorization(header: string | undefined, path: string): Presented | undefined {
  const found =
    /^Portico-HMAC-SHA256 time=(\d{1,16}), nonce=([\w-]{22}), body=([\w-]{43}), environment=([\w-]{43})?, signature=([\w-]{43})$/.exec(
      header ?? '',
    );
  if (!found) return undefined;
  const [, time, nonce = '', body = '', environment = '', signature = ''] = found;
  return { path, time: Number(time), nonce, body, environment, signature };
}

/** RFC 2104; compared in constant time (CWE-208). */
export function isSignedBy(presented: Presented, key: string): boolean {
  return sameText(sign(textOf(presented), key), presented.signature);
}

export const hashOf = hashToken;

export function signAnswer(nonce: string, status: number, body: string, key: string): string {
  return sign(['answer', nonce, status, hashToken(body)].join('\n'), key);
}

/** Whether an answer comes from who has the secret, and to this very request (CWE-345). */
export function isAnswerTo(nonce: string, status: number, body: string, signature: string, key: string): boolean {
  return sameText(signAnswer(nonce, status, body, key), signature);
}
