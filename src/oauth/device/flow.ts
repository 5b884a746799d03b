// Configures the package's device authorization (RFC 8628) for a single client, our command line, with our own pages.
// The user enters the code, or opens a link that contains it, and confirms it on a page first. After the sign-in,
// consent.ts shows the requesting terminal and its request.

import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';
import { type Page, preparePage } from '../../http/page.ts';
import type { Store } from '../../store/store.ts';
import type { Paths } from '../server/paths.ts';
import type { DeviceInfo } from './pages.ts';
import { cancelledPage, codeEntryPage, connectedPage } from './pages.ts';

interface DeviceFlowParts {
  readonly store: Pick<Store, 'identity'>;
  readonly paths: Pick<Paths, 'prefix'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
  readonly addressOf: (req: object) => string;
}

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;

const codeByRequest = new WeakMap<object, string>();
const wrongCodeRequests = new WeakSet<object>();

/**
 * Stores the code from the URL of a composed request. The page shows it for comparison, and the user submits it with a
 * button.
 */
export function attachCode(req: object, code: string): void {
  codeByRequest.set(req, code.slice(0, 20));
}

/** Whether a composed request contained a wrong code. */
export function hasWrongCode(req: object): boolean {
  return wrongCodeRequests.has(req);
}

interface DeviceSession {
  readonly state: { readonly secret: string };
  /** Undefined for a session that was never saved. */
  readonly exp?: number;
  /** Whether the package should save it. */
  touched?: boolean;
}

const sessionOf = (ctx: KoaContextWithOIDC) => ctx.oidc.session as unknown as DeviceSession;

/** Errors of the package for a code that is wrong, expired or already used. */
const codeErrors: ReadonlySet<string> = new Set(['NoCodeError', 'NotFoundError', 'ExpiredError', 'AlreadyUsedError']);

export function createDeviceFlow(parts: DeviceFlowParts): DeviceFlow {
  const { store, paths, clock, observe, addressOf } = parts;

  const send = (ctx: KoaContextWithOIDC, status: number, page: Page): void => {
    const text = preparePage(ctx.res, page);
    ctx.status = status;
    ctx.type = 'html';
    ctx.body = text;
  };

  const sendEntry = async (ctx: KoaContextWithOIDC, code: string, problem?: string): Promise<void> => {
    const { secret } = sessionOf(ctx).state;
    const page = codeEntryPage({
      environment: await store.identity.place(),
      action: `${paths.prefix}/oauth/device`,
      csrf: secret,
      code,
      problem,
    });
    send(ctx, problem === undefined ? 200 : 400, page);
  };

  const restartEntry = (ctx: KoaContextWithOIDC): void => {
    // The package has marked a session that can no longer be saved; saving it would fail.
    sessionOf(ctx).touched = false;
    const code = `${ctx.oidc.params?.user_code ?? ''}`.slice(0, 20);
    ctx.status = 303;
    ctx.redirect(`${paths.prefix}/oauth/device${code && `?${new URLSearchParams({ user_code: code })}`}`);
  };

  return {
    enabled: true,
    // RFC 8628 section 6.1: eight characters from an alphabet of twenty letters without vowels.
    charset: 'base-20',
    mask: '****-****',
    deviceInfo: (ctx) => ({ address: addressOf(ctx.req), askedAt: clock.now() }) satisfies DeviceInfo,
    async userCodeInputSource(ctx, _form, _out, error) {
      if (!error) return sendEntry(ctx, codeByRequest.get(ctx.req) ?? '');
      if (error.name === 'AbortedError') return send(ctx, 200, cancelledPage);
      if (!codeErrors.has(error.name)) {
        // RFC 8628 section 5.1: requests that no page of ours can send count as wrong guesses.
        wrongCodeRequests.add(ctx.req);
        // A restarted browser submits the form without its session cookie. Redirect to start a new session.
        if (sessionOf(ctx).exp === undefined) return restartEntry(ctx);
        return sendEntry(ctx, '', 'This page has expired, or is not the latest one. Enter the code again.');
      }
      wrongCodeRequests.add(ctx.req);
      observe({ type: 'security', event: 'device.code-refused', address: addressOf(ctx.req), detail: error.message });
      return sendEntry(
        ctx,
        '',
        'The code is not valid. Compare it with your terminal. A code expires after a few minutes and works once.',
      );
    },
    // Reached only without the `confirm` field, which our form always sends.
    userCodeConfirmSource: (ctx, _form, _client, _info, code) => sendEntry(ctx, code),
    async successSource(ctx) {
      send(ctx, 200, connectedPage);
    },
  };
}
