// The last middleware of a router: it logs an error and sends the reply. The formats of the APIs differ; the headers,
// the log and the security events do not.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler } from 'express';
import { retryAfterOf } from '../core/errors/retry-after.ts';
import { AppError, type ErrorCode, isAppError } from '../core/errors.ts';
import { reportFailure } from '../core/observe/failures.ts';
import type { Observe } from '../core/observe.ts';

export interface ErrorReply {
  readonly observe: Observe;
  /** The operation in the log, such as `public api`. */
  readonly where: string | ((req: IncomingMessage) => string);
  /** The client's IP address, for security events. */
  readonly readAddress: (req: IncomingMessage) => string;
  /** Security events `<name>.refused`, and `<name>.token-refused` for a token that is not valid. Default: no events. */
  readonly events?: { readonly name: string; readonly codes: ReadonlySet<ErrorCode> };
  /** The id of the request in the log. Default: a new one. */
  readonly requestId?: (res: ServerResponse) => string | undefined;
  /** The value of WWW-Authenticate for these errors (RFC 9110 section 11.6.1). */
  readonly challenge?: (error: AppError, authorization: string | undefined) => string | undefined;
  /** Sends the status and the body. Headers that follow from the error are set. */
  readonly send: (req: IncomingMessage, res: ServerResponse, error: AppError) => unknown;
}

export function errorReply(reply: ErrorReply): ErrorRequestHandler {
  const { observe, where, readAddress, events, requestId, challenge, send } = reply;
  return (thrown, req: IncomingMessage, res: ServerResponse, _next) => {
    const operation = typeof where === 'string' ? where : where(req);
    const error = reportFailure(observe, operation, toRequestError(thrown), requestId?.(res));
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const { authorization } = req.headers;
    const challengeText = challenge?.(error, authorization);
    if (challengeText !== undefined) res.setHeader('WWW-Authenticate', challengeText);
    if (events) {
      const refuse = (event: string, detail: string) =>
        observe({ type: 'security', event: `${events.name}.${event}`, address: readAddress(req), detail });
      // The message never contains the token.
      if (error.code === 'UNAUTHENTICATED' && authorization !== undefined) refuse('token-refused', error.message);
      if (events.codes.has(error.code)) refuse('refused', error.code);
    }
    if (isAppError(error, 'METHOD_NOT_ALLOWED')) res.setHeader('Allow', error.details.allow.join(', '));
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) res.setHeader('Retry-After', `${retryAfter}`);
    if (isAppError(error, 'BODY_TOO_LARGE')) {
      // The rest of the body is not kept.
      res.setHeader('Connection', 'close');
      req.resume();
    }
    send(req, res, error);
  };
}

/** RFC 6750 section 3: no error code if the request had no credentials. */
export const bearerChallenge = (realm: string, authorization: string | undefined): string =>
  `Bearer realm="${realm}"${authorization === undefined ? '' : ', error="invalid_token"'}`;

/** Express reports a path segment that cannot be decoded as a URIError. */
const toRequestError = (thrown: unknown): unknown =>
  thrown instanceof URIError
    ? new AppError('INVALID_ARGUMENT', { argument: 'the path', problem: 'expected valid URL encoding.' })
    : thrown;
