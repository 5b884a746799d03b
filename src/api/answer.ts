// Responses of the public API and the webhook: a JSON body, a stream, or an error in the shared format.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import { type AppError, type ErrorCode, isAppError } from '../core/errors.ts';
import { bearerChallenge, type ErrorReply, errorReply } from '../http/error-reply.ts';
import { attachmentHeader, sendStream } from '../http/reply.ts';
import type { Answer } from './route.ts';

/** The last middleware of the public API and the webhook. `where`: the operation in the log. */
export const apiErrorReply = (options: Pick<ErrorReply, 'observe' | 'readAddress' | 'where'>): ErrorRequestHandler =>
  errorReply({
    ...options,
    events: { name: 'api', codes: loggedCodes },
    challenge: (error, authorization) =>
      error.code === 'UNAUTHENTICATED'
        ? bearerChallenge('public api', authorization)
        : error.code === 'DENIED'
          ? 'Bearer realm="public api", error="insufficient_scope"'
          : undefined,
    send: (req, res, error) => sendAnswer(req, res, { status: error.status, body: errorBody(error) }),
  });

const loggedCodes: ReadonlySet<ErrorCode> = new Set([
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
