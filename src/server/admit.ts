// The first check of each request to Portico: whether its client address is allowed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, isAppError } from '../core/errors.ts';
import { messagePage, sendPage } from '../http/page.ts';
import type { AddressCheck } from '../oauth/server/allow-list.ts';
import { sendRefusal } from './http-server.ts';

/** Guards every path of Portico; no request bypasses it. */
export function admit(
  checkAddress: AddressCheck,
  req: IncomingMessage,
  res: ServerResponse,
  dispatch: () => void,
): void {
  const go = (refusal: AppError | undefined): void => {
    if (res.destroyed) return;
    if (refusal) refuseAddress(req, res, refusal);
    else dispatch();
  };
  // Fails closed: if the list cannot be read, the request is refused.
  const lost = (cause: unknown) =>
    go(isAppError(cause, 'PLATFORM_UNAVAILABLE') ? cause : new AppError('SOURCE_UNAVAILABLE', {}, cause));
  let decided: ReturnType<AddressCheck>;
  try {
    decided = checkAddress(req);
  } catch (cause) {
    lost(cause);
    return;
  }
  if (decided instanceof Promise) void decided.then(go, lost);
  else go(decided);
}

function refuseAddress(req: IncomingMessage, res: ServerResponse, error: AppError): void {
  // The rest of the request is not read.
  res.setHeader('Connection', 'close');
  const isForPerson = /\btext\/html\b/.test(req.headers.accept ?? '');
  if (isForPerson) sendPage(res, error.status, messagePage({ title: 'Not from here', text: error.message }));
  else sendRefusal(res, error);
}
