// The enabled sign-in methods: passwords, OpenID providers, the host application. Each session records its method, so
// disabling a method also invalidates the sessions that used it.
import { fail } from '../../core/errors.ts';
import { createSsoProviders, type Sso, type SsoOptions } from '../sso/sign-in.ts';
import { createHostSignIn, type HostSignIn, type HostSignInOptions } from './host-sign-in.ts';

export interface LoginMethods {
  /** The OpenID providers, in the order of their buttons. */
  readonly providers: readonly Sso[];
  readonly host?: HostSignIn | undefined;
  /** Whether users can sign in with a password. */
  readonly passwords: boolean;
  /** Page for a forgotten password; absent if no mail can be sent or users have no passwords. */
  readonly forgotUrl?: string | undefined;
  /** Whether sessions from this issuer are valid; null for a password. */
  accepts(issuer: string | null): boolean;
}

export const passwordsOnly: LoginMethods = { providers: [], passwords: true, accepts: (issuer) => issuer === null };

interface LoginMethodsOptions extends SsoOptions {
  readonly hostSignIn?: HostSignInOptions | undefined;
  /** Page for a forgotten password, if mail can be sent. */
  readonly forgotUrl?: string | undefined;
}

/** CONFIGURATION if two methods exclude each other, or if one of them is misconfigured. */
export function createLoginMethods({ hostSignIn, forgotUrl, ...options }: LoginMethodsOptions): LoginMethods {
  const { config, store } = options;
  const providers = createSsoProviders(options);
  if (providers.length > 0 && hostSignIn) {
    fail('CONFIGURATION', {
      problem: 'authenticate and SERVICE_SSO_ISSUER (or SERVICE_SSO_PROVIDERS) are both set. Set only one of them.',
    });
  }
  const host =
    hostSignIn && createHostSignIn({ ...hostSignIn, store, link: config.linkUsers, environment: config.environment });
  const passwords = providers.length > 0 ? config.ssoPasswords : (host?.passwords ?? true);
  const issuers = new Set([...providers, ...(host ? [host] : [])].map(({ issuer }) => issuer));
  return {
    providers,
    host,
    passwords,
    forgotUrl: passwords ? forgotUrl : undefined,
    accepts: (sessionIssuer) => (sessionIssuer === null ? passwords : issuers.has(sessionIssuer)),
  };
}

/** For sentences: `Google or Example ID`. */
export const listProviders = (providers: readonly Pick<Sso, 'name'>[]): string =>
  providers.map(({ name }) => name).join(' or ');

/** The value of a button: `sso` and `sso-again`, with the id of the provider if it has one. */
export const ssoAction = ({ id }: Pick<Sso, 'id'>, forceLogin: boolean): string =>
  `sso${forceLogin ? '-again' : ''}${id === '' ? '' : `:${id}`}`;

/** Undefined for another button, and for a provider that is not configured. */
export function readSsoAction(
  action: string | undefined,
  { providers }: Pick<LoginMethods, 'providers'>,
): { readonly sso: Sso; readonly forceLogin: boolean } | undefined {
  for (const sso of providers)
    for (const forceLogin of [false, true]) if (action === ssoAction(sso, forceLogin)) return { sso, forceLogin };
  return undefined;
}
