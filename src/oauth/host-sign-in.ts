// Signing in through the application that Portico is mounted in: its own code says who sits in front of the browser. It is
// asked on our sign-in pages and nowhere else, so that its cookies open neither /mcp nor any other door for programs.
import type { IncomingMessage } from 'node:http';
import { type PermissionLevel, permissionLevels } from '../core/caller.ts';
import type { ExternalIdentity, User } from '../store/identity-types.ts';
import type { Store } from '../store/store.ts';
import { defaultRights } from './claims.ts';

/**
 * Somebody whom the host application knows. Team, role, level and tags: a property that is there is the host's to say, at
 * every sign-in, and says the default when it is null or undefined; one that is not there is the administrators'.
 */
export interface HostCaller {
  /** What the host knows the person by, for ever: never an address, which can change hands. */
  readonly subject: string;
  readonly email: string;
  /** Whether the host has seen that the address is the person's. Default false. */
  readonly emailVerified?: boolean;
  readonly firstName?: string | null | undefined;
  readonly lastName?: string | null | undefined;
  /** IANA name. */
  readonly timezone?: string | null | undefined;
  /** The name of one that exists here; by default `Operations`. */
  readonly team?: string | null | undefined;
  /** The name of one that exists here; by default `Member`. */
  readonly role?: string | null | undefined;
  /** By default `user`. */
  readonly level?: PermissionLevel | null | undefined;
  /** All of them; by default none. */
  readonly tags?: Readonly<Record<string, string>> | null | undefined;
}

/**
 * Who is signed in to the host application, by the request as it came (its cookies); null for nobody. Middleware of the host
 * has not run, unless the agent is mounted behind it. What it throws is logged, and the person is told of an error.
 */
export type Authenticate = (
  req: IncomingMessage,
) => HostCaller | null | undefined | Promise<HostCaller | null | undefined>;

export interface HostSignInOptions {
  readonly authenticate: Authenticate;
  /** The host's sign-in page; `{returnTo}` in it is replaced by the address of ours to come back to. */
  readonly signInUrl: string | null;
  /** Whether those whom the host does not know may sign in with a password of ours. */
  readonly passwords: boolean;
}

export type HostAnswer =
  | { readonly state: 'nobody' }
  | { readonly state: 'ok'; readonly user: User }
  /** `why` is for the log. */
  | { readonly state: 'refused'; readonly why: string };

export interface HostSignIn {
  readonly issuer: string;
  readonly passwords: boolean;
  /** Where the host signs people in, who then come back to an address of ours. */
  signInUrl(returnTo: string): string | undefined;
  /** Who the host says it is, and the user that he is here: made, or changed as the host says now. */
  ask(req: IncomingMessage): Promise<HostAnswer>;
  /** The name alone, nothing made or changed; undefined for nobody. */
  peek(req: IncomingMessage): Promise<Pick<HostCaller, 'email'> | undefined>;
  /** Whether the host still says that it is this user, whom it (`made`) or a password has signed in. */
  isStill(req: IncomingMessage, userId: number, made: boolean): Promise<boolean>;
}

/** A user of the host of one environment is nobody of another's, where several share a storage. */
const hostIssuer = (environment: string | null): string => (environment === null ? 'host' : `host:${environment}`);

export function createHostSignIn(
  options: HostSignInOptions & {
    readonly store: Pick<Store, 'identities'>;
    readonly link: boolean;
    readonly environment: string | null;
  },
): HostSignIn {
  const { store, signInUrl } = options;
  const issuer = hostIssuer(options.environment);
  const read = async (req: IncomingMessage): Promise<ExternalIdentity | undefined> => {
    const caller = await options.authenticate(req);
    return caller === null || caller === undefined ? undefined : toIdentity(caller, issuer);
  };
  return {
    issuer,
    passwords: options.passwords,
    signInUrl: (returnTo) => (signInUrl === null ? undefined : composeSignInUrl(signInUrl, returnTo)),
    async ask(req) {
      const identity = await read(req);
      if (!identity) return { state: 'nobody' };
      const admission = await store.identities.admit(identity, options);
      if (admission.state === 'ok') return admission;
      return { state: 'refused', why: `${admission.why} (subject ${identity.subject})` };
    },
    peek: read,
    async isStill(req, userId, made) {
      const identity = await read(req);
      // A password was typed because the host knew nobody; whom it knows by now may be another.
      if (!identity) return !made;
      return (await store.identities.findUserId(issuer, identity.subject)) === userId;
    },
  };
}

function composeSignInUrl(template: string, returnTo: string): string {
  const encoded = encodeURIComponent(returnTo);
  if (template.includes('{returnTo}')) return template.replaceAll('{returnTo}', encoded);
  return `${template}${template.includes('?') ? '&' : '?'}returnTo=${encoded}`;
}

type Check = readonly [expected: string, takes: (value: unknown) => boolean, required?: true];

const text =
  (most: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' && value.trim() !== '' && value.length <= most;
const name: Check = ['a text of at most 191 characters', text(191)];

const fields: Readonly<Record<keyof HostCaller, Check>> = {
  subject: ['a text of at most 255 characters', text(255), true],
  email: [
    'an address such as ada@example.com',
    (value) => text(254)(value) && /^[^\s@]+@[^\s@]+$/.test(`${value}`),
    true,
  ],
  emailVerified: ['true or false', (value) => typeof value === 'boolean'],
  firstName: name,
  lastName: name,
  timezone: name,
  team: name,
  role: name,
  level: [`one of ${permissionLevels.join(', ')}`, (value) => (permissionLevels as readonly unknown[]).includes(value)],
  tags: [
    'an object of texts',
    (value) =>
      typeof value === 'object' &&
      !Array.isArray(value) &&
      Object.values(value as object).every((tag) => typeof tag === 'string'),
  ],
};

/** A caller that is not one is a mistake in the code of the host: it signs nobody in, and the log names the field. */
function toIdentity(caller: HostCaller, issuer: string): ExternalIdentity {
  if (typeof caller !== 'object') throw new TypeError('authenticate: expected a caller or null');
  for (const [field, [expected, takes, required]] of Object.entries(fields)) {
    const value = caller[field as keyof HostCaller];
    if (value === undefined || value === null ? required : !takes(value)) {
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
    // Fail closed: a property that is there and says nothing says the least.
    rights: {
      team: 'team' in caller ? [team ?? defaultRights.team] : undefined,
      role: 'role' in caller ? [role ?? defaultRights.role] : undefined,
      level: 'level' in caller ? (level ?? defaultRights.level) : undefined,
      tags: 'tags' in caller ? (tags ?? {}) : undefined,
      onlyTheseTags: true,
    },
  };
}
