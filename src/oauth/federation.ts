// The way of an interaction through the OpenID provider and back. The interaction's own cookie lies at the path of its page
// alone, and the provider comes back to one address for all; what binds the way to the browser is a cookie of our own.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { Clock } from '../core/clock.ts';
import { randomToken } from '../core/secret.ts';
import { completeSignIn } from './login.ts';
import { sendPage } from './page.ts';
import type { Paths } from './paths.ts';
import { lostPage, tryAgainPage } from './sign-in-choices.ts';
import type { SignInWays } from './sign-in-ways.ts';

export interface Federation {
  /** Sends the browser to the provider. SSO_UNAVAILABLE when it does not answer. */
  begin(req: IncomingMessage, res: ServerResponse, asked: Asked): Promise<void>;
  /** Takes it back, to where the interaction goes on. */
  finish(req: IncomingMessage, res: ServerResponse, query: URLSearchParams): Promise<void>;
}

interface Asked {
  /** Of an interaction that the browser has shown to be its own. */
  readonly uid: string;
  readonly again: boolean;
  readonly hint: string | undefined;
}

export interface FederationOptions {
  readonly provider: Provider;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly addressOf: (req: object) => string;
  readonly ways: Pick<SignInWays, 'sso'>;
}

export function createFederation({ provider, paths, clock, addressOf, ways: { sso } }: FederationOptions): Federation {
  const { port } = new URL(paths.origin);
  // RFC 6265bis section 4.1.3.2: a __Host- cookie was set by this host alone; a neighbour of the domain cannot plant one, and
  // with it a sign-in of his own (login CSRF). It needs Path=/ for that.
  const name = `${paths.secure ? '__Host-' : ''}portico_sso${port ? `_${port}` : ''}`;
  const attributes = `HttpOnly; SameSite=Lax; ${paths.secure ? 'Path=/; Secure' : `Path=${paths.prefix}/oauth`}`;
  const place = { door: 'oauth', redirectUri: paths.ssoCallback } as const;

  return {
    async begin(req, res, { uid, again, hint }) {
      // Kept for the other tabs of this browser, which may be on their way too.
      const known = readBinding(req, name);
      const binding = known ?? randomToken();
      const address = addressOf(req);
      const url = await sso!.begin({ ...place, binding, address, about: uid, again, loginHint: hint });
      if (known === undefined) res.appendHeader('Set-Cookie', `${name}=${binding}; ${attributes}`);
      res.writeHead(303, { Location: url.href, 'Content-Length': '0' }).end();
    },

    async finish(req, res, query) {
      // No cookie, no attempt: nothing was begun in a browser that has none.
      const binding = readBinding(req, name) ?? randomToken();
      const returned = await sso!.finish({ ...place, binding, address: addressOf(req), query });
      if (returned.state === 'lost') return sendPage(res, 400, lostPage());
      const back = paths.interaction(returned.about);
      if (returned.state === 'failed') {
        const { status, message } = returned.error;
        return sendPage(res, status, tryAgainPage(message, back));
      }
      const details = await provider.Interaction.find(returned.about);
      // Answered meanwhile, in another tab, or run out: what was answered is not answered again.
      if (details?.prompt.name !== 'login' || details.result) return sendPage(res, 400, lostPage());
      const signedIn = { userId: returned.user.id, issuer: sso!.issuer };
      const location = await completeSignIn({ provider, clock }, details, signedIn);
      res.writeHead(303, { Location: location, 'Content-Length': '0' }).end();
    },
  };
}

function readBinding(req: IncomingMessage, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [found, value = ''] = pair.trim().split(/=(.*)/s);
    if (found === name) return /^[\w-]{43}$/.test(value) ? value : undefined;
  }
  return undefined;
}
