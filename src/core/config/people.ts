// Users and programs: sign-in, session lifetimes, rate limits and log retention.
import { flagged, issuer, list, oneOf, setting, text, wholeNumber } from './setting.ts';
import { readProviders } from './sso.ts';

export const peopleSettings = {
  adminEmail: setting<string | null>({
    env: 'SERVICE_ADMIN_EMAIL',
    about: 'E-mail of the first administrator, whom `portico start` creates; you@example.com if not set',
    fallback: null,
    read: text,
  }),
  adminPassword: setting<string | null>({
    env: 'SERVICE_ADMIN_PASSWORD',
    secret: true,
    about:
      'Password of the first administrator, used only at the first start; generated and shown in a terminal if not set',
    fallback: null,
    read: text,
  }),
  activityDays: setting<number | null>({
    env: 'SERVICE_ACTIVITY_DAYS',
    about: 'Number of days to keep entries of the activity log; forever if not set',
    fallback: null,
    read: wholeNumber(1, 36_500),
  }),
  adminLogDays: setting<number | null>({
    env: 'SERVICE_ADMIN_LOG_DAYS',
    about: 'Number of days to keep entries of the admin log; forever if not set',
    fallback: null,
    read: wholeNumber(1, 36_500),
  }),
  consoleIdleSeconds: setting({
    env: 'SERVICE_CONSOLE_IDLE_SECONDS',
    about: 'How long until an unused console session ends',
    fallback: 8 * 3600,
    read: wholeNumber(300, 30 * 86_400),
  }),
  consoleSessionSeconds: setting({
    env: 'SERVICE_CONSOLE_SESSION_SECONDS',
    about: 'Lifetime of a console session, used or not',
    fallback: 7 * 86_400,
    read: wholeNumber(300, 90 * 86_400),
  }),
  agentSessionSeconds: setting({
    env: 'SERVICE_AGENT_SESSION_SECONDS',
    about: "Lifetime of a session of the agent's HTTP API",
    fallback: 3600,
    read: wholeNumber(300, 86_400),
  }),
  aiPerMinute: setting({
    env: 'SERVICE_AI_PER_MINUTE',
    about: "Requests per minute of one user to the AI provider through the agent's HTTP API, in each process",
    fallback: 20,
    read: wholeNumber(1, 1_000_000),
  }),
  apiPerMinute: setting({
    env: 'SERVICE_API_PER_MINUTE',
    about: 'Calls of the public API per minute for each token',
    fallback: 60,
    read: wholeNumber(1, 1_000_000),
  }),
  apiPerHour: setting({
    env: 'SERVICE_API_PER_HOUR',
    about: 'Calls of the public API per hour for each token',
    fallback: 1000,
    read: wholeNumber(1, 10_000_000),
  }),
  apiPerDay: setting({
    env: 'SERVICE_API_PER_DAY',
    about: 'Calls of the public API per day for each token',
    fallback: 10_000,
    read: wholeNumber(1, 100_000_000),
  }),
  webhookPerMinute: setting({
    env: 'SERVICE_WEBHOOK_PER_MINUTE',
    about: 'Webhook calls per minute for each workflow',
    fallback: 60,
    read: wholeNumber(1, 1_000_000),
  }),
  invitationSeconds: setting({
    env: 'SERVICE_INVITATION_SECONDS',
    about: 'Lifetime of an invitation link',
    fallback: 7 * 86_400,
    read: wholeNumber(300, 90 * 86_400),
  }),
  resetSeconds: setting({
    env: 'SERVICE_RESET_SECONDS',
    about: 'Lifetime of a password reset link',
    fallback: 3600,
    read: wholeNumber(300, 7 * 86_400),
  }),
  signInAttempts: setting({
    env: 'SERVICE_SIGN_IN_ATTEMPTS',
    about: 'Wrong passwords before an account or address must wait 15 minutes',
    fallback: 10,
    read: wholeNumber(3, 1000),
  }),
  secondFactor: setting<'optional' | 'required'>({
    env: 'SERVICE_SECOND_FACTOR',
    about: 'required: whoever signs in with a password needs an authenticator app, and sets it up at the next sign-in',
    fallback: 'optional',
    read: oneOf('optional', 'required'),
  }),

  ssoIssuer: setting<string | null>({
    env: 'SERVICE_SSO_ISSUER',
    about: 'Issuer of the OpenID provider for single sign-on; turns passwords off',
    fallback: null,
    read: issuer,
  }),
  ssoClientId: setting<string | null>({
    env: 'SERVICE_SSO_CLIENT_ID',
    about: 'Client ID of this server at the OpenID provider',
    fallback: null,
    read: text,
  }),
  ssoClientSecret: setting<string | null>({
    env: 'SERVICE_SSO_CLIENT_SECRET',
    secret: true,
    about: 'Client secret of this server at the OpenID provider; not set for a public client',
    fallback: null,
    read: text,
  }),
  ssoName: setting<string | null>({
    env: 'SERVICE_SSO_NAME',
    about: 'Name of the provider on the button "Sign in with ..."; its host by default',
    fallback: null,
    read: text,
  }),
  ssoScopes: setting<readonly string[]>({
    env: 'SERVICE_SSO_SCOPES',
    about: 'Scopes to request from the provider; openid is always included',
    fallback: ['openid', 'email', 'profile'],
    read: (value) => [...new Set(['openid', ...value.split(/[\s,]+/).filter(Boolean)])],
  }),
  ssoEmailClaim: setting({
    env: 'SERVICE_SSO_EMAIL_CLAIM',
    about: 'Claim that contains the e-mail address',
    fallback: 'email',
    read: text,
  }),
  ssoVerifiedEmail: setting({
    env: 'SERVICE_SSO_VERIFIED_EMAIL',
    about: 'Accept only users with an address that the provider has verified (email_verified)',
    fallback: true,
    read: flagged,
  }),
  ssoDomains: setting<readonly string[] | null>({
    env: 'SERVICE_SSO_DOMAINS',
    names: 'allowed',
    about: 'Accept only users with an address of these domains; any by default',
    fallback: null,
    read: (value) => list(value.toLowerCase()),
  }),
  ssoMapping: setting<string | null>({
    env: 'SERVICE_SSO_MAPPING',
    about: 'Claims that determine team, role, level and tags, as JSON',
    fallback: null,
    read: text,
  }),
  ssoProviders: setting<string | null>({
    env: 'SERVICE_SSO_PROVIDERS',
    // Nobody should write a client secret into it, but somebody will.
    secret: true,
    about: 'OpenID providers in addition to that of SERVICE_SSO_ISSUER, as JSON',
    fallback: null,
    read: readProviders,
  }),
  ssoPasswords: setting({
    env: 'SERVICE_SSO_PASSWORDS',
    about: 'Allow passwords in addition to the provider, for the time of an outage',
    fallback: false,
    read: flagged,
  }),
  linkUsers: setting({
    env: 'SERVICE_LINK_USERS',
    about: 'Link the first sign-in through the provider to the existing user with the same verified address',
    fallback: false,
    read: flagged,
  }),
} as const;
