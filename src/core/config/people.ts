// Users and programs: sign-in, session lifetimes, rate limits and log retention.
import { flagged, issuer, list, setting, text, whole } from './setting.ts';

export const peopleSettings = {
  activityDays: setting({
    env: 'SERVICE_ACTIVITY_DAYS',
    about: 'For how many days entries of the activity log are kept; for ever when not set',
    fallback: null as number | null,
    read: whole(1, 36_500),
  }),
  adminLogDays: setting({
    env: 'SERVICE_ADMIN_LOG_DAYS',
    about: 'For how many days entries of the admin log are kept; for ever when not set',
    fallback: null as number | null,
    read: whole(1, 36_500),
  }),
  consoleIdleSeconds: setting({
    env: 'SERVICE_CONSOLE_IDLE_SECONDS',
    about: 'When a console session that is not used ends',
    fallback: 8 * 3600,
    read: whole(300, 30 * 86_400),
  }),
  consoleSessionSeconds: setting({
    env: 'SERVICE_CONSOLE_SESSION_SECONDS',
    about: 'Life of a console session, used or not',
    fallback: 7 * 86_400,
    read: whole(300, 90 * 86_400),
  }),
  agentSessionSeconds: setting({
    env: 'SERVICE_AGENT_SESSION_SECONDS',
    about: "Life of a session of the agent's HTTP API",
    fallback: 3600,
    read: whole(300, 86_400),
  }),
  aiPerMinute: setting({
    env: 'SERVICE_AI_PER_MINUTE',
    about: "Questions of one user to the AI provider over the agent's HTTP API in a minute, in each process",
    fallback: 20,
    read: whole(1, 1_000_000),
  }),
  apiPerMinute: setting({
    env: 'SERVICE_API_PER_MINUTE',
    about: 'Calls of the public API for each token in a minute',
    fallback: 60,
    read: whole(1, 1_000_000),
  }),
  apiPerHour: setting({
    env: 'SERVICE_API_PER_HOUR',
    about: 'Calls of the public API for each token in an hour',
    fallback: 1000,
    read: whole(1, 10_000_000),
  }),
  apiPerDay: setting({
    env: 'SERVICE_API_PER_DAY',
    about: 'Calls of the public API for each token in a day',
    fallback: 10_000,
    read: whole(1, 100_000_000),
  }),
  webhookPerMinute: setting({
    env: 'SERVICE_WEBHOOK_PER_MINUTE',
    about: 'Calls of the webhook of each workflow in a minute',
    fallback: 60,
    read: whole(1, 1_000_000),
  }),
  invitationSeconds: setting({
    env: 'SERVICE_INVITATION_SECONDS',
    about: 'Life of the link that invites a user',
    fallback: 7 * 86_400,
    read: whole(300, 90 * 86_400),
  }),
  resetSeconds: setting({
    env: 'SERVICE_RESET_SECONDS',
    about: 'Life of the link that lets a user choose another password',
    fallback: 3600,
    read: whole(300, 7 * 86_400),
  }),
  signInAttempts: setting({
    env: 'SERVICE_SIGN_IN_ATTEMPTS',
    about: 'Wrong passwords for an account or address before it waits 15 minutes',
    fallback: 10,
    read: whole(3, 1000),
  }),

  ssoIssuer: setting({
    env: 'SERVICE_SSO_ISSUER',
    about: 'Issuer of the OpenID provider through which people sign in; passwords are off then',
    fallback: null as string | null,
    read: issuer,
  }),
  ssoClientId: setting({
    env: 'SERVICE_SSO_CLIENT_ID',
    about: 'What the OpenID provider calls this server',
    fallback: null as string | null,
    read: text,
  }),
  ssoClientSecret: setting({
    env: 'SERVICE_SSO_CLIENT_SECRET',
    secret: true,
    about: 'What the OpenID provider gave with it; none for a public client',
    fallback: null as string | null,
    read: text,
  }),
  ssoName: setting({
    env: 'SERVICE_SSO_NAME',
    about: 'Of the provider, on the button "Sign in with ..."; its host by default',
    fallback: null as string | null,
    read: text,
  }),
  ssoScopes: setting({
    env: 'SERVICE_SSO_SCOPES',
    about: 'What the provider is asked for; openid is always among it',
    fallback: ['openid', 'email', 'profile'] as readonly string[],
    read: (value) => [...new Set(['openid', ...value.split(/[\s,]+/).filter(Boolean)])],
  }),
  ssoEmailClaim: setting({
    env: 'SERVICE_SSO_EMAIL_CLAIM',
    about: 'Claim that holds the e-mail address',
    fallback: 'email',
    read: text,
  }),
  ssoVerifiedEmail: setting({
    env: 'SERVICE_SSO_VERIFIED_EMAIL',
    about: 'Only those whose address the provider calls verified (email_verified) come in',
    fallback: true,
    read: flagged,
  }),
  ssoDomains: setting({
    env: 'SERVICE_SSO_DOMAINS',
    names: 'allowed',
    about: 'Only people with an address of these domains come in; any by default',
    fallback: null as readonly string[] | null,
    read: (value) => list(value.toLowerCase()),
  }),
  ssoMapping: setting({
    env: 'SERVICE_SSO_MAPPING',
    about: 'Which claims say team, role, level and tags, as JSON',
    fallback: null as string | null,
    read: text,
  }),
  ssoPasswords: setting({
    env: 'SERVICE_SSO_PASSWORDS',
    about: 'Passwords work beside the provider, for as long as it is broken',
    fallback: false,
    read: flagged,
  }),
  linkUsers: setting({
    env: 'SERVICE_LINK_USERS',
    about: 'Who signs in elsewhere for the first time becomes the user who has the same verified address',
    fallback: false,
    read: flagged,
  }),
} as const;
