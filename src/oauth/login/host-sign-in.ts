// Sign-in through the host application: the code of the application that mounts Portico identifies the user. It is
// called only on our sign-in pages. Cookies of the host therefore give no access to /mcp or to any other endpoint for
// programs.
import type { IncomingMessage } from 'node:http';
import { type PermissionLevel, permissionLevels } from '../../core/caller.ts';
import type { Store } from '../../store/store.ts';
import type { ExternalIdentity, User } from '../../store/users/types.ts';
import { defaultRights } from '../sso/claims.ts';

/**
 * A user of the host application. Team, role, level and tags: a property that is present is set by the host at every
 * sign-in, and null or undefined means the default. A property that is absent is left to the administrators.
 */
export interface HostCaller {
  /** Permanent id of the user in the host application. Not an e-mail address, because addresses can change owners. */
  readonly subject: string;
  /** The e-mail address of the user. */
  readonly email: string;
  /** Whether the host has verified the e-mail address. Default false. */
  readonly emailVerified?: boolean;
  /** The first name. Default: the earlier one, or no name. */
  readonly firstName?: string | null | undefined;
  /** The last name. Default: the earlier one, or no name. */
  readonly lastName?: string | null | undefined;
  /** IANA name. Default: the earlier one, or `UTC`. */
  readonly timezone?: string | null | undefined;
  /** Name of an existing team; default `Operations`. */
  readonly team?: string | null | undefined;
  /** Name of an existing role; default `Member`. */
  readonly role?: string | null | undefined;
  /** Default `user`. */
  readonly level?: PermissionLevel | null | undefined;
  /** The complete set of tags; default no tags. */
  readonly tags?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * Returns the user who is signed in to the host application, from the original request (its cookies). Returns null if
 * no user is signed in. Middleware of the host has not run, unless the agent is mounted after it. Errors are logged,
 * and the user sees an error message.
 */
export type Authenticate = (
  req: IncomingMessage,
) => HostCaller | null | undefined | Promise<HostCaller | null | undefined>;

export interface HostSignInOptions {
  readonly authenticate: Authenticate;
  /** The host's sign-in page. `{returnTo}` in it is replaced by our URL to come back to. */
  readonly signInUrl: string | null;
  /** Whether users that the host does not know may sign in with a Portico password. */
  readonly passwords: boolean;
}

type HostAnswer =
  | { readonly state: 'nobody' }
  | { readonly state: 'ok'; readonly user: User }
  /** `why` is only for the log. */
  | { readonly state: 'refused'; readonly reason: string };

export interface HostSignIn {
  readonly issuer: string;
  readonly passwords: boolean;
  /** URL where the host signs users in and then redirects them back to `returnTo`; undefined if not configured. */
  signInUrl(returnTo: string): string | undefined;
  /** Returns the Portico user for the host's user. Creates the user, or updates them with the host's data. */
  identify(req: IncomingMessage): Promise<HostAnswer>;
  /** Returns only the host's user, without creating or changing one; undefined if no user is signed in. */
  peek(req: IncomingMessage): Promise<Pick<HostCaller, 'email'> | undefined>;
  /** Whether the host still reports this user. `made`: the host signed the user in; false: a password did. */
  isStillSignedIn(req: IncomingMessage, userId: number, byHost: boolean): Promise<boolean>;
}

/** The issuer contains the environment: when several share a storage, host users of one are unknown in the others. */
const hostIssuerOf = (environment: string | null): string => (environment === null ? 'host' : `host:${environment}`);

export function createHostSignIn(
  options: HostSignInOptions & {
    readonly store: Pick<Store, 'identities'>;
    readonly link: boolean;
    readonly environment: string | null;
  },
): HostSignIn {
  const { store, signInUrl } = options;
  const issuer = hostIssuerOf(options.environment);
  const read = async (req: IncomingMessage): Promise<ExternalIdentity | undefined> => {
    const caller = await options.authenticate(withWholeUrl(req));
    return caller === null || caller === undefined ? undefined : toIdentity(caller, issuer);
  };
  return {
    issuer,
    passwords: options.passwords,
    signInUrl: (returnTo) => (signInUrl === null ? undefined : composeSignInUrl(signInUrl, returnTo)),
    async identify(req) {
      const identity = await read(req);
      if (!identity) return { state: 'nobody' };
      const admission = await store.identities.admit(identity, options);
      if (admission.state === 'ok') return admission;
      return { state: 'refused', reason: `${admission.why} (subject ${identity.subject})` };
    },
    peek: read,
    async isStillSignedIn(req, userId, byHost) {
      const identity = await read(req);
      // A password was used because the host knew no user. By now the host may know a different one.
      if (!identity) return !byHost;
      return (await store.identities.findUserId(issuer, identity.subject)) === userId;
    },
  };
}

/** The same request with the URL that the host application knows: routers take their prefix off. */
function withWholeUrl(req: IncomingMessage): IncomingMessage {
  const { originalUrl } = req as { readonly originalUrl?: string };
  if (originalUrl === undefined) return req;
  const url = { value: originalUrl, writable: true, enumerable: true, configurable: true };
  return Object.create(req, { url }) as IncomingMessage;
}

function composeSignInUrl(template: string, returnTo: string): string {
  const encoded = encodeURIComponent(returnTo);
  if (template.includes('{returnTo}')) return template.replaceAll('{returnTo}', encoded);
  return `${template}${template.includes('?') ? '&' : '?'}returnTo=${encoded}`;
}

type FieldCheck = readonly [expected: string, takes: (value: unknown) => boolean, required?: true];

const isText =
  (maxLength: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;
const nameCheck: FieldCheck = ['a string of at most 191 characters', isText(191)];

const fieldChecks: Readonly<Record<keyof HostCaller, FieldCheck>> = {
  subject: ['a string of at most 255 characters', isText(255), true],
  email: [
    'an address such as ada@example.com',
    (value) => isText(254)(value) && /^[^\s@]+@[^\s@]+$/.test(`${value}`),
    true,
  ],
  emailVerified: ['true or false', (value) => typeof value === 'boolean'],
  firstName: nameCheck,
  lastName: nameCheck,
  timezone: nameCheck,
  team: nameCheck,
  role: nameCheck,
  level: [`one of ${permissionLevels.join(', ')}`, (value) => (permissionLevels as readonly unknown[]).includes(value)],
  tags: [
    'an object of texts',
    (value) =>
      typeof value === 'object' &&
      !Array.isArray(value) &&
      Object.values(value as object).every((tag) => typeof tag === 'string'),
  ],
};

/**
 * Validates the host's result. An invalid caller is a bug in the host's code: the sign-in fails, and the log names the
 * field.
 */
function toIdentity(caller: HostCaller, issuer: string): ExternalIdentity {
  if (typeof caller !== 'object') throw new TypeError('authenticate: expected a caller or null');
  for (const [field, [expected, accepts, required]] of Object.entries(fieldChecks)) {
    const value = caller[field as keyof HostCaller];
    if (value === undefined || value === null ? required : !accepts(value)) {
      throw new TypeError(`authenticate: '${field}' of the caller must be ${expected}`);
    }
  }
  const { subject, email, emailVerified, firstName, lastName, timezone, team, role, level, tags } = caller;
  return {
    issuer,
    subject,
    email,
    emailVerified: emailVerified ?? false,
    firstName: firstName ?? undefined,
    lastName: lastName ?? undefined,
    timezone: timezone ?? undefined,
    // Fail closed: a property that is present but empty gets the least rights.
    rights: {
      team: 'team' in caller ? [team ?? defaultRights.team] : undefined,
      role: 'role' in caller ? [role ?? defaultRights.role] : undefined,
      level: 'level' in caller ? (level ?? defaultRights.level) : undefined,
      tags: 'tags' in caller ? (tags ?? {}) : undefined,
      onlyTheseTags: true,
    },
  };
}
