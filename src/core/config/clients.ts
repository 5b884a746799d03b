// Apps that connect, and the lifetimes of their tokens.
import { flagged, list, setting, whole } from './setting.ts';

export const clientSettings = {
  accessTokenSeconds: setting({
    env: 'SERVICE_ACCESS_TOKEN_SECONDS',
    about: 'Life of an access token',
    fallback: 900,
    read: whole(60, 3600),
  }),
  refreshTokenSeconds: setting({
    env: 'SERVICE_REFRESH_TOKEN_SECONDS',
    about: 'Life of a refresh token since its last use',
    fallback: 30 * 86_400,
    read: whole(3600, 365 * 86_400),
  }),
  refreshGraceSeconds: setting({
    env: 'SERVICE_REFRESH_GRACE_SECONDS',
    about: 'How long a used refresh token is taken again after a lost answer; 0 is strict',
    fallback: 60,
    read: whole(0, 600),
  }),
  authorizationCodeSeconds: setting({
    env: 'SERVICE_AUTHORIZATION_CODE_SECONDS',
    about: 'Life of an authorization code',
    fallback: 60,
    read: whole(10, 600),
  }),
  interactionSeconds: setting({
    env: 'SERVICE_INTERACTION_SECONDS',
    about: 'How long a sign-in may take',
    fallback: 600,
    read: whole(60, 3600),
  }),
  deviceCodeSeconds: setting({
    env: 'SERVICE_DEVICE_CODE_SECONDS',
    about: 'How long the code that a terminal shows can be typed in',
    fallback: 600,
    read: whole(10, 1800),
  }),
  sessionSeconds: setting({
    env: 'SERVICE_SESSION_SECONDS',
    about: 'Life of a browser session',
    fallback: 86_400,
    read: whole(300, 30 * 86_400),
  }),
  dynamicRegistration: setting({
    env: 'SERVICE_DCR',
    about: 'Clients may register themselves (RFC 7591)',
    fallback: true,
    read: flagged,
  }),
  registrationsPerHour: setting({
    env: 'SERVICE_DCR_PER_HOUR',
    about: 'Registrations for each client address in an hour',
    fallback: 60,
    read: whole(1, 100_000),
  }),
  unusedClientSeconds: setting({
    env: 'SERVICE_DCR_UNUSED_SECONDS',
    about: 'When a registered client that was never used is forgotten',
    fallback: 86_400,
    read: whole(3600, 365 * 86_400),
  }),
  clientMetadataDocuments: setting({
    env: 'SERVICE_CIMD',
    about: 'Clients may be named by the URL of their metadata document',
    fallback: true,
    read: flagged,
  }),
  clientMetadataDomains: setting({
    env: 'SERVICE_CIMD_DOMAINS',
    names: 'allowed',
    about: 'Only these domains may host client metadata documents; any by default',
    fallback: null as readonly string[] | null,
    read: list,
  }),
  clientMetadataDeniedDomains: setting({
    env: 'SERVICE_CIMD_DENIED_DOMAINS',
    names: 'denied',
    about: 'These domains may not host client metadata documents',
    fallback: [] as readonly string[],
    read: list,
  }),
  redirectDomains: setting({
    env: 'SERVICE_DCR_REDIRECT_DOMAINS',
    names: 'allowed',
    about: 'Registered clients may have web answers sent to these domains only; to any by default',
    fallback: null as readonly string[] | null,
    read: list,
  }),
  redirectDeniedDomains: setting({
    env: 'SERVICE_DCR_REDIRECT_DENIED_DOMAINS',
    names: 'denied',
    about: 'Registered clients may not have answers sent to these domains',
    fallback: [] as readonly string[],
    read: list,
  }),
  clientsMost: setting({
    env: 'SERVICE_DCR_MOST',
    about: 'Registered clients in all; for further ones the oldest that was never used is forgotten',
    fallback: 10_000,
    read: whole(1, 1_000_000),
  }),
  idleClientSeconds: setting({
    env: 'SERVICE_DCR_IDLE_SECONDS',
    about: 'When a registered client that nobody is connected through any more is forgotten, since its last use',
    fallback: 90 * 86_400,
    read: whole(3600, 3 * 365 * 86_400),
  }),
} as const;
