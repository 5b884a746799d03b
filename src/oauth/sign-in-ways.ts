// The ways in that are open: passwords, an OpenID provider, the host application. Which of them made a session is kept with
// it, so that a session of before a way was closed is no session afterwards.
import { fail } from '../core/errors.ts';
import { createHostSignIn, type HostSignIn, type HostSignInOptions } from './host-sign-in.ts';
import { createSso, type Sso, type SsoOptions } from './sso.ts';

export interface SignInWays {
  readonly sso?: Sso | undefined;
  readonly host?: HostSignIn | undefined;
  /** Whether a password opens anything. */
  readonly passwords: boolean;
  /** Whether a session counts that was made through this issuer; null: by a password. */
  accepts(issuer: string | null): boolean;
}

export const passwordsAlone: SignInWays = { passwords: true, accepts: (issuer) => issuer === null };

export interface SignInWaysOptions extends SsoOptions {
  readonly hostSignIn?: HostSignInOptions | undefined;
}

/** CONFIGURATION when two ways shut each other out, or one cannot be used as it is configured. */
export function createSignInWays({ hostSignIn, ...options }: SignInWaysOptions): SignInWays {
  const { config, store } = options;
  const sso = createSso(options);
  if (sso && hostSignIn) {
    fail('CONFIGURATION', {
      problem: 'authenticate and SERVICE_SSO_ISSUER are two ways of signing in. Leave one of them out.',
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
    accepts: (made) => (made === null ? passwords : made === issuer),
  };
}
