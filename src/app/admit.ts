// The first thing that happens to a request that is ours: may it come from where it comes from?
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, isAppError } from '../core/errors.ts';
import type { AddressCheck } from '../oauth/allow-list.ts';
import { messagePage, sendPage } from '../oauth/page.ts';
import { sendRefusal } from './doors.ts';

/** Every request that is ours, whatever its path: there is no other way in. */
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
  // Fails closed: where the list cannot be read, nobody is let in.
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
  // The rest of the request is of no interest.
  res.setHeader('Connection', 'close');
  const isForPerson = /\btext\/html\b/.test(req.headers.accept ?? '');
  if (isForPerson) sendPage(res, error.status, messagePage({ title: 'Not from here', text: error.message }));
  else sendRefusal(res, error);
}
