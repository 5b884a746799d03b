// Responses of the public API and the webhook: a JSON body, a stream, or an error in the shared format.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { retryAfterOf } from '../core/errors/retry-after.ts';
import { type AppError, isAppError } from '../core/errors.ts';
import { reportFailure } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';
import { attachmentHeader, sendStream } from '../http/reply.ts';
import type { Answer } from './route.ts';

interface FailureOptions {
  readonly observe: Observe;
  /** The client's IP address. */
  readonly address: string;
  /** Context for the log. */
  readonly where: string;
}

export function sendFailure(
  req: IncomingMessage,
  res: ServerResponse,
  thrown: unknown,
  { observe, address, where }: FailureOptions,
): void {
  const error = reportFailure(observe, where, thrown);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { authorization } = req.headers;
  if (isAppError(error, 'UNAUTHENTICATED')) {
    // RFC 6750 section 3: no error code when the request carried no credentials at all.
    const errorParameter = authorization === undefined ? '' : ', error="invalid_token"';
    res.setHeader('WWW-Authenticate', `Bearer realm="public api"${errorParameter}`);
    if (authorization !== undefined)
      observe({ type: 'security', event: 'api.token-refused', address, detail: error.message });
  }
  if (isAppError(error, 'DENIED')) {
    res.setHeader('WWW-Authenticate', 'Bearer realm="public api", error="insufficient_scope"');
  }
  if (loggedCodes.has(error.code)) observe({ type: 'security', event: 'api.refused', address, detail: error.code });
  if (isAppError(error, 'METHOD_NOT_ALLOWED')) res.setHeader('Allow', error.details.allow.join(', '));
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) res.setHeader('Retry-After', `${retryAfter}`);
  if (isAppError(error, 'BODY_TOO_LARGE')) {
    res.setHeader('Connection', 'close');
    req.resume();
  }
  void sendAnswer(req, res, { status: error.status, body: errorBody(error) });
}

const loggedCodes: ReadonlySet<string> = new Set([
  'HOST_NOT_ALLOWED',
  'RATE_LIMITED',
  'DENIED',
  'FORBIDDEN',
  'INVALID_WEBHOOK_ADDRESS',
]);

const statusMeanings: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  429: 'Too many requests',
  503: 'Unavailable',
};

/** Contains the members of both error formats (behaviour api 7.1 and 7.2). */
function errorBody(error: AppError): object {
  const { status, message, code } = error;
  const retryPart = isAppError(error, 'RATE_LIMITED') && { retry_after: error.details.retryAfterSeconds };
  // Behaviour api 4.2, 4: the body is `{ error: <message> }`.
  const meaning = status === 409 ? message : statusMeanings[status];
  return { error: meaning ?? (status < 500 ? 'Refused' : 'Failed'), message, code, ...retryPart };
}

export async function sendAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  { status, body, stream }: Answer,
): Promise<void> {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  if (stream) {
    res.setHeader('Content-Type', stream.type);
    res.setHeader('Content-Disposition', attachmentHeader(stream.filename));
    return sendStream(req, res, status, stream.parts, stream.recheckAccess);
  }
  if (body === undefined) {
    res.writeHead(status).end();
    return;
  }
  const json = JSON.stringify(body);
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) });
  res.end(req.method === 'HEAD' ? undefined : json);
}
