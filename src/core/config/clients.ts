// Apps that connect, and the lifetimes of their tokens.
import { flagged, list, setting, wholeNumber } from './setting.ts';

export const clientSettings = {
  accessTokenSeconds: setting({
    env: 'SERVICE_ACCESS_TOKEN_SECONDS',
    about: 'Lifetime of an access token',
    fallback: 900,
    read: wholeNumber(60, 3600),
  }),
  refreshTokenSeconds: setting({
    env: 'SERVICE_REFRESH_TOKEN_SECONDS',
    about: 'Lifetime of a refresh token after its last use',
    fallback: 30 * 86_400,
    read: wholeNumber(3600, 365 * 86_400),
  }),
  refreshGraceSeconds: setting({
    env: 'SERVICE_REFRESH_GRACE_SECONDS',
    about: 'How long a used refresh token is accepted again, if the response was lost; 0 is strict',
    fallback: 60,
    read: wholeNumber(0, 600),
  }),
  authorizationCodeSeconds: setting({
    env: 'SERVICE_AUTHORIZATION_CODE_SECONDS',
    about: 'Lifetime of an authorization code',
    fallback: 60,
    read: wholeNumber(10, 600),
  }),
  interactionSeconds: setting({
    env: 'SERVICE_INTERACTION_SECONDS',
    about: 'How long a sign-in may take',
    fallback: 600,
    read: wholeNumber(60, 3600),
  }),
  deviceCodeSeconds: setting({
    env: 'SERVICE_DEVICE_CODE_SECONDS',
    about: 'How long the code that a terminal shows can be entered',
    fallback: 600,
    read: wholeNumber(10, 1800),
  }),
  sessionSeconds: setting({
    env: 'SERVICE_SESSION_SECONDS',
    about: 'Lifetime of a browser session',
    fallback: 86_400,
    read: wholeNumber(300, 30 * 86_400),
  }),
  dynamicRegistration: setting({
    env: 'SERVICE_DCR',
    about: 'Clients may register themselves (RFC 7591)',
    fallback: true,
    read: flagged,
  }),
  registrationsPerHour: setting({
    env: 'SERVICE_DCR_PER_HOUR',
    about: 'Registrations per hour for each client address',
    fallback: 60,
    read: wholeNumber(1, 100_000),
  }),
  unusedClientSeconds: setting({
    env: 'SERVICE_DCR_UNUSED_SECONDS',
    about: 'How long until a registered client that was never used is deleted',
    fallback: 86_400,
    read: wholeNumber(3600, 365 * 86_400),
  }),
  clientMetadataDocuments: setting({
    env: 'SERVICE_CIMD',
    about: 'Clients may use the URL of their metadata document as their client ID',
    fallback: true,
    read: flagged,
  }),
  clientMetadataDomains: setting<readonly string[] | null>({
    env: 'SERVICE_CIMD_DOMAINS',
    names: 'allowed',
    about: 'Domains that may host client metadata documents; any by default',
    fallback: null,
    read: list,
  }),
  clientMetadataDeniedDomains: setting<readonly string[]>({
    env: 'SERVICE_CIMD_DENIED_DOMAINS',
    names: 'denied',
    about: 'Domains that may not host client metadata documents',
    fallback: [],
    read: list,
  }),
  redirectDomains: setting<readonly string[] | null>({
    env: 'SERVICE_DCR_REDIRECT_DOMAINS',
    names: 'allowed',
    about: 'Domains allowed in web redirect URIs of registered clients; any by default',
    fallback: null,
    read: list,
  }),
  redirectDeniedDomains: setting<readonly string[]>({
    env: 'SERVICE_DCR_REDIRECT_DENIED_DOMAINS',
    names: 'denied',
    about: 'Domains not allowed in redirect URIs of registered clients',
    fallback: [],
    read: list,
  }),
  clientsMost: setting({
    env: 'SERVICE_DCR_MOST',
    about: 'Maximum number of registered clients; for each further one, the oldest that was never used is deleted',
    fallback: 10_000,
    read: wholeNumber(1, 1_000_000),
  }),
  idleClientSeconds: setting({
    env: 'SERVICE_DCR_IDLE_SECONDS',
    about: 'How long after its last use a registered client without connections is deleted',
    fallback: 90 * 86_400,
    read: wholeNumber(3600, 3 * 365 * 86_400),
  }),
} as const;
