// Error responses of the endpoint: the status from the error table, the challenge of RFC 6750 and RFC 9449 for token
// errors, and a JSON body that clients of both protocol eras can read.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.ts';
import { retryAfterOf } from '../../core/errors/retry-after.ts';
import { type AppError, type ErrorCode, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import type { TokenAuthenticator } from '../../oauth/tokens/bearer.ts';

export interface ErrorParts {
  readonly authenticator: TokenAuthenticator;
  readonly observe: Observe;
  readonly limitBytes: number;
  readonly clock: Clock;
}

const PARSE_ERROR = -32700;
const INTERNAL_ERROR = -32603;
const REFUSED_ERROR = -32000;
/**
 * How long (in milliseconds) and how much (in body limits) of a refused body is still read. Closing at once could lose
 * the response.
 */
const LINGER_MS = 2000;
const LINGER_FACTOR = 16;

/** Errors that operators want in the log; an expired token is not one of them. */
const loggedCodes: ReadonlySet<ErrorCode> = new Set(['HOST_NOT_ALLOWED', 'ORIGIN_NOT_ALLOWED', 'INSUFFICIENT_SCOPE']);

/** Sends an error. `body` replaces the JSON-RPC error, for endpoints that are not MCP. */
export function sendError(
  parts: ErrorParts,
  req: IncomingMessage,
  res: ServerResponse,
  error: AppError,
  body: object = bodyOf(error),
): void {
  const { remoteAddress } = req.socket;
  const addressPart = remoteAddress === undefined ? {} : { address: remoteAddress };
  if (loggedCodes.has(error.code)) {
    parts.observe({ type: 'security', event: 'mcp.refused', ...addressPart, detail: error.code });
  }
  // The request had an invalid token. The token itself is not logged.
  if (error.status === 401 && req.headers.authorization !== undefined) {
    parts.observe({ type: 'security', event: 'mcp.token-refused', ...addressPart, detail: error.message });
  }
  if (res.headersSent) {
    res.end();
    return;
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...challenge(parts.authenticator, req, error),
  };
  if (isAppError(error, 'METHOD_NOT_ALLOWED')) headers.allow = error.details.allow.join(', ');
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  const isAbandoned = hasUnreadBody(req, parts.limitBytes);
  if (isAbandoned) headers.connection = 'close';
  const text = JSON.stringify(body);
  headers['content-length'] = String(Buffer.byteLength(text));
  res.writeHead(error.status, headers);
  res.end(text);
  if (isAbandoned) discardBody(parts, req);
}

/** Node discards a small unread body and reuses the connection; this is about all other bodies. */
function hasUnreadBody(req: IncomingMessage, limitBytes: number): boolean {
  if (req.complete) return false;
  const length = req.headers['content-length'];
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : Number(length) > limitBytes;
}

function challenge(authenticator: TokenAuthenticator, req: IncomingMessage, error: AppError): Record<string, string> {
  if (isAppError(error, 'UNAUTHENTICATED'))
    return { 'www-authenticate': authenticator.challenge(req, 'invalid_token') };
  if (isAppError(error, 'INVALID_DPOP_PROOF'))
    return { 'www-authenticate': authenticator.challenge(req, 'invalid_dpop_proof') };
  if (isAppError(error, 'INSUFFICIENT_SCOPE')) {
    return { 'www-authenticate': authenticator.scopeChallenge(req, error.details.scopes) };
  }
  return {};
}

function bodyOf(error: AppError): object {
  if (error.code === 'UNAUTHENTICATED') return { error: 'invalid_token', error_description: error.message };
  if (error.code === 'INVALID_DPOP_PROOF') return { error: 'invalid_dpop_proof', error_description: error.message };
  if (error.code === 'INSUFFICIENT_SCOPE') return { error: 'insufficient_scope', error_description: error.message };
  const code =
    error.code === 'MALFORMED_JSON' ? PARSE_ERROR : error.code === 'INTERNAL' ? INTERNAL_ERROR : REFUSED_ERROR;
  return { jsonrpc: '2.0', error: { code, message: error.message, data: { code: error.code } }, id: null };
}

/**
 * Reads and discards more of the body for a while, then closes the socket. A socket that closes with unread data can
 * lose the response.
 */
function discardBody(parts: ErrorParts, req: IncomingMessage): void {
  let remaining = parts.limitBytes * LINGER_FACTOR;
  const destroySocket = () => req.socket.destroy();
  const stop = parts.clock.after(LINGER_MS, destroySocket);
  req.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) destroySocket();
  });
  req.on('close', stop);
  req.on('error', stop);
  req.resume();
}
