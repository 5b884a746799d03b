// The enabled sign-in methods: passwords, an OpenID provider, the host application. Each session records its method, so
// disabling a method also invalidates the sessions that used it.
import { fail } from '../../core/errors.ts';
import { createSso, type Sso, type SsoOptions } from '../sso/sign-in.ts';
import { createHostSignIn, type HostSignIn, type HostSignInOptions } from './host-sign-in.ts';

export interface LoginMethods {
  readonly sso?: Sso | undefined;
  readonly host?: HostSignIn | undefined;
  /** Whether users can sign in with a password. */
  readonly passwords: boolean;
  /** Page for a forgotten password; absent if no mail can be sent or users have no passwords. */
  readonly forgotUrl?: string | undefined;
  /** Whether sessions from this issuer are valid; null for a password. */
  accepts(issuer: string | null): boolean;
}

export const passwordsOnly: LoginMethods = { passwords: true, accepts: (issuer) => issuer === null };

interface LoginMethodsOptions extends SsoOptions {
  readonly hostSignIn?: HostSignInOptions | undefined;
  /** Page for a forgotten password, if mail can be sent. */
  readonly forgotUrl?: string | undefined;
}

/** CONFIGURATION if two methods exclude each other, or if one of them is misconfigured. */
export function createLoginMethods({ hostSignIn, forgotUrl, ...options }: LoginMethodsOptions): LoginMethods {
  const { config, store } = options;
  const sso = createSso(options);
  if (sso && hostSignIn) {
    fail('CONFIGURATION', {
      problem: 'authenticate and SERVICE_SSO_ISSUER are both set. Set only one of them.',
    });
  }
  const host =
    hostSignIn && createHostSignIn({ ...hostSignIn, store, link: config.linkUsers, environment: config.environment });
  const passwords = sso ? config.ssoPasswords : (host?.passwords ?? true);
  const issuer = (sso ?? host)?.issuer;
  return {
    sso,
    host,
    passwords,
    forgotUrl: passwords ? forgotUrl : undefined,
    accepts: (sessionIssuer) => (sessionIssuer === null ? passwords : sessionIssuer === issuer),
  };
}
