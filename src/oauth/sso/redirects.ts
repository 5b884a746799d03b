// The redirects of an interaction to the OpenID provider and back. The interaction's own cookie is valid only for the
// path of its page, and the provider has one redirect URI for all interactions. A separate cookie binds the sign-in to
// the browser.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import { randomToken } from '../../core/secret.ts';
import { sendPage } from '../../http/page.ts';
import { completeSignIn } from '../login/completion.ts';
import { invalidSignInPage, tryAgainPage } from '../login/sign-in-choices.ts';
import type { Paths } from '../server/paths.ts';
import type { Sso } from './sign-in.ts';

interface SsoRedirects {
  /** Redirects the browser to the provider. SSO_UNAVAILABLE if it does not respond. */
  begin(req: IncomingMessage, res: ServerResponse, sso: Sso, start: SsoStart): Promise<void>;
  /** Handles the redirect back and continues the interaction. */
  finish(req: IncomingMessage, res: ServerResponse, sso: Sso, query: URLSearchParams): Promise<void>;
}

interface SsoStart {
  /** Id of the interaction, already verified to belong to this browser. */
  readonly uid: string;
  readonly forceLogin: boolean;
  readonly hint: string | undefined;
}

interface SsoRedirectOptions {
  readonly provider: Provider;
  readonly paths: Paths;
  readonly clock: Pick<Clock, 'now'>;
  readonly addressOf: (req: object) => string;
}

export function createSsoRedirects({ provider, paths, clock, addressOf }: SsoRedirectOptions): SsoRedirects {
  const { port } = new URL(paths.origin);
  // RFC 6265bis section 4.1.3.2: only this host can set a __Host- cookie. A sibling domain cannot set one to inject its
  // own sign-in (login CSRF). The prefix requires Path=/.
  const name = `${paths.secure ? '__Host-' : ''}portico_sso${port ? `_${port}` : ''}`;
  const attributes = `HttpOnly; SameSite=Lax; ${paths.secure ? 'Path=/; Secure' : `Path=${paths.prefix}/oauth`}`;
  const contextOf = ({ id }: Sso) => ({ door: 'oauth', redirectUri: paths.ssoCallback(id) }) as const;

  return {
    async begin(req, res, sso, { uid, forceLogin, hint }) {
      // Reuse the cookie: other tabs of this browser may be signing in too.
      const existing = readBinding(req, name);
      const binding = existing ?? randomToken();
      const address = addressOf(req);
      const url = await sso.begin({ ...contextOf(sso), binding, address, about: uid, forceLogin, loginHint: hint });
      if (existing === undefined) res.appendHeader('Set-Cookie', `${name}=${binding}; ${attributes}`);
      res.writeHead(303, { Location: url.href, 'Content-Length': '0' }).end();
    },

    async finish(req, res, sso, query) {
      // Without the cookie no sign-in was started in this browser; a random value matches no attempt.
      const binding = readBinding(req, name) ?? randomToken();
      const outcome = await sso.finish({ ...contextOf(sso), binding, address: addressOf(req), query });
      if (outcome.state === 'lost') return sendPage(res, 400, invalidSignInPage());
      const pageUrl = paths.interaction(outcome.about);
      if (outcome.state === 'failed') {
        const { status, message } = outcome.error;
        return sendPage(res, status, tryAgainPage(message, pageUrl));
      }
      const details = await provider.Interaction.find(outcome.about);
      // The interaction was answered in another tab, or has expired. It cannot be answered twice.
      if (details?.prompt.name !== 'login' || details.result) return sendPage(res, 400, invalidSignInPage());
      const signedIn = { userId: outcome.user.id, issuer: sso.issuer };
      const location = await completeSignIn({ provider, clock }, details, signedIn);
      res.writeHead(303, { Location: location, 'Content-Length': '0' }).end();
    },
  };
}

function readBinding(req: IncomingMessage, name: string): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(';')) {
    const [cookieName, value = ''] = pair.trim().split(/=(.*)/s);
    if (cookieName === name) return /^[\w-]{43}$/.test(value) ? value : undefined;
  }
  return undefined;
}
