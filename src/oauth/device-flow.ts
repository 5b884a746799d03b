// Device authorization (RFC 8628) as the package is set up for it: for one client, our own command line, and with our own
// pages. Whoever typed the code, or came with it in the address, confirms it on a page before anything happens; who asks and
// for what is shown after the sign-in, by device-consent.ts.
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Store } from '../store/store.ts';
import { cancelledPage, codeEntryPage, connectedPage } from './device-view.ts';
import { type Page, setPageHeaders } from './page.ts';
import type { Paths } from './paths.ts';

export interface DeviceFlowParts {
  readonly store: Pick<Store, 'identity'>;
  readonly paths: Pick<Paths, 'prefix'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
  readonly addressOf: (req: object) => string;
}

/** What is kept of the request of a device, for the page on which it is allowed. */
export interface DeviceInfo {
  /** The client's address. */
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
}

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;

const codes = new WeakMap<object, string>();
const wrong = new WeakSet<object>();

/** The code that came in the address of a composed request: shown to be compared, and sent by the person's own press of a button. */
export function rememberCode(req: object, code: string): void {
  codes.set(req, code.slice(0, 20));
}

/** Whether a composed request brought a code that opens nothing. */
export function broughtWrongCode(req: object): boolean {
  return wrong.has(req);
}

/** Of the package's errors: what was typed is not, or no more, a code. */
const refusals: ReadonlySet<string> = new Set(['NoCodeError', 'NotFoundError', 'ExpiredError', 'AlreadyUsedError']);

export function describeDeviceFlow(parts: DeviceFlowParts): DeviceFlow {
  const { store, paths, clock, observe, addressOf } = parts;

  const send = (ctx: KoaContextWithOIDC, status: number, page: Page): void => {
    setPageHeaders(ctx.res, page);
    ctx.status = status;
    ctx.type = 'html';
    ctx.body = page.text;
  };

  const sendEntry = async (ctx: KoaContextWithOIDC, code: string, problem?: string): Promise<void> => {
    const { secret } = (ctx.oidc.session as unknown as { readonly state: { readonly secret: string } }).state;
    const page = codeEntryPage({
      place: await store.identity.place(),
      action: `${paths.prefix}/oauth/device`,
      csrf: secret,
      code,
      problem,
    });
    send(ctx, problem === undefined ? 200 : 400, page);
  };

  return {
    enabled: true,
    // RFC 8628 section 6.1: eight letters of twenty, without vowels.
    charset: 'base-20',
    mask: '****-****',
    deviceInfo: (ctx) => ({ address: addressOf(ctx.req), askedAt: clock.now() }) satisfies DeviceInfo,
    async userCodeInputSource(ctx, _form, _out, error) {
      if (!error) return sendEntry(ctx, codes.get(ctx.req) ?? '');
      if (error.name === 'AbortedError') return send(ctx, 200, cancelledPage);
      if (!refusals.has(error.name)) {
        return sendEntry(ctx, '', 'That took too long, or began on another page. Enter the code once more.');
      }
      wrong.add(ctx.req);
      observe({ type: 'security', event: 'device.code-refused', address: addressOf(ctx.req), detail: error.message });
      return sendEntry(
        ctx,
        '',
        'This is no code that is waiting. Compare it with your terminal; a code lasts for a few minutes and works once.',
      );
    },
    // Asked without having confirmed it: by no form of ours.
    userCodeConfirmSource: (ctx, _form, _client, _info, code) => sendEntry(ctx, code),
    async successSource(ctx) {
      send(ctx, 200, connectedPage);
    },
  };
}
