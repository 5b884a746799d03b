// Mutual authentication between agent and platform, with a shared secret that is never transmitted. The request
// signature covers the method, path, time, nonce and hash of the body. The response signature covers the nonce of the
// request, which binds a response to one request. The body hash is in the header, which allows refusing a request
// before its body is read.
import { hashToken, sign, timingSafeEqualText } from '../core/secret.ts';

interface Signed {
  /** Below the endpoint, such as `/v1/oauth/find`, because a proxy may change the path before it. */
  readonly path: string;
  /** Time of the signer, in milliseconds since the epoch. */
  readonly time: number;
  /** 128 random bits. */
  readonly nonce: string;
  /** Hash of the body. */
  readonly body: string;
  /** Identifies the environment to a sandbox, which does not know it. A hash, never the secret. */
  readonly environment: string;
}

/** The secret has other uses. This key is derived from it for signatures only. */
export const rpcKeyOf = (secret: string): string => sign('portico platform door', secret);
/** Identifies an environment to a sandbox. */
export const environmentHashOf = (secret: string): string => sign('portico sandbox environment', secret);

/** The authentication scheme (RFC 9110 section 11.1). */
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

/** Undefined for a header of another scheme. The signature is not yet verified. */
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
  return timingSafeEqualText(sign(textOf(presented), key), presented.signature);
}

export const hashOf = hashToken;

export function signAnswer(nonce: string, status: number, body: string, key: string): string {
  return sign(['answer', nonce, status, hashToken(body)].join('\n'), key);
}

/** Whether the sender of a response has the secret and answers this request (CWE-345). */
export function isAnswerTo(nonce: string, status: number, body: string, signature: string, key: string): boolean {
  return timingSafeEqualText(signAnswer(nonce, status, body, key), signature);
}
