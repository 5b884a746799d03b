// External identities: accounts of an OpenID provider or of the host application, and their users. The key is (issuer,
// subject) and never the address, which can pass to another person (OpenID Connect Core section 5.7). Each sign-in
// applies the team, role, level and tags that the issuer reports. Unknown teams and roles are never created, because a
// team without row scopes would show every row.

import type { Knex } from 'knex';
import { isZone } from '../../core/clock/timezone.ts';
import type { Clock } from '../../core/clock.ts';
import { hashToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { createTables, type Tables } from '../migrations/first-tables.ts';
import { type AdminEntry, getProjectId, logChange } from '../permissions/roles.ts';
import type { VersionRows } from '../versions.ts';
import { fold } from './identity.ts';
import { readMember } from './member-value.ts';
import type { Admission, AdmissionRules, ExternalIdentity, Identities, Identity } from './types.ts';

const identityTables: Tables = {
  identities(table) {
    // SHA-256 of issuer and subject: some databases cannot index long text, and compare it with padding.
    table.string('key_hash', 43).primary();
    table.text('issuer').notNullable();
    table.text('subject').notNullable();
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.bigInteger('created_at').notNullable();
    table.index(['user_id']);
  },
};

/**
 * The twelfth migration: identities, and how sessions and tokens were created. Null or 0 in older rows means that a
 * password was used.
 */
export async function addIdentities({ dialect }: Database, on: Knex): Promise<void> {
  await createTables(on, dialect, identityTables);
  if (!(await on.schema.hasColumn('console_sessions', 'issuer'))) {
    await on.schema.alterTable('console_sessions', (table) => {
      table.text('issuer');
    });
  }
  if (!(await on.schema.hasColumn('application_tokens', 'sso'))) {
    await on.schema.alterTable('application_tokens', (table) => {
      table.integer('sso').notNullable().defaultTo(0);
    });
  }
}

const DEFAULT_TEAM = ['Operations'];
const DEFAULT_ROLE = ['Member'];

interface MemberRow {
  readonly id: number;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly timezone: string;
  readonly disabled_at: number | null;
  readonly level: string;
  readonly tags: string;
  readonly team_id: number;
  readonly role_id: number;
}

/** The changes of a sign-in. For a new user every part is present. */
interface Plan {
  readonly projectId: number;
  readonly email: string;
  /** The user of the identity, or the user that it would be linked with. */
  readonly user: MemberRow | undefined;
  readonly isKnown: boolean;
  readonly profile: Readonly<Record<string, string>>;
  readonly membership: Readonly<Record<string, string | number>>;
}

type Planned = Plan | Extract<Admission, { state: 'refused' }>;

const refused = (why: string): Planned => ({ state: 'refused', why });
const keyOf = (issuer: string, subject: string): string => hashToken(JSON.stringify([issuer, subject]));

export function createIdentities(
  database: Database,
  versions: VersionRows,
  clock: Clock,
  findUser: Identity['findUser'],
): Identities {
  const { knex } = database;

  async function applyPlan(trx: Knex.Transaction, planned: Plan, identity: ExternalIdentity): Promise<number> {
    const { projectId, user, email, profile, membership } = planned;
    const at = clock.now();
    const log = (action: string, detail: unknown, values: Pick<AdminEntry, 'before' | 'after'> = {}) =>
      logChange(trx, { at, action, subject: email, detail, initiator: 'identityProvider', ...values });
    let userId = user?.id;
    if (userId === undefined) {
      userId = await database.insert(trx, 'users', {
        ...profile,
        // An empty hash matches no password.
        password_hash: '',
        disabled_at: null,
        created_at: at,
      });
      await trx('memberships').insert({ ...membership, user_id: userId, project_id: projectId });
      const detail = { issuer: identity.issuer, ...(await named(trx, membership)) };
      await log('user.add', detail, { after: await readMember(trx, userId) });
    } else {
      if (Object.keys(profile).length > 0) {
        await trx('users').where({ id: userId }).update(profile);
        if ('email' in profile) await log('user.address', { issuer: identity.issuer, before: user!.email });
      }
      if (Object.keys(membership).length > 0) {
        const was = await readMember(trx, userId);
        await trx('memberships').where({ user_id: userId, project_id: projectId }).update(membership);
        const before = Object.fromEntries(Object.keys(membership).map((key) => [key, user![key as keyof MemberRow]]));
        const detail = { before: await named(trx, before), after: await named(trx, membership) };
        const values = { before: was, after: await readMember(trx, userId) };
        await log('user.claims', { issuer: identity.issuer, ...detail }, values);
      }
    }
    if (!planned.isKnown) {
      const { issuer, subject } = identity;
      const key_hash = keyOf(issuer, subject);
      await trx('identities').insert({ key_hash, issuer, subject, user_id: userId, created_at: at });
      if (user) await log('user.link', { issuer, subject });
    }
    return userId;
  }

  return {
    async admit(identity, rules) {
      for (let attempt = 1; ; attempt++) {
        try {
          const planned = await plan(knex, identity, rules);
          if ('state' in planned) return planned;
          const changes = Object.keys(planned.profile).length + Object.keys(planned.membership).length;
          const isUnchanged = planned.isKnown && changes === 0;
          const userId = isUnchanged
            ? planned.user!.id
            : await versions.change('permissions', async (trx) => {
                const replanned = await plan(trx, identity, rules);
                return 'state' in replanned ? replanned : applyPlan(trx, replanned, identity);
              });
          if (typeof userId !== 'number') return userId;
          const user = await findUser(userId);
          // Disabled since the plan was read.
          if (!user || user.disabled) return { state: 'refused', why: `user ${userId} is disabled` };
          return { state: 'ok', user, isNew: planned.user === undefined };
        } catch (error) {
          // With two simultaneous first sign-ins, the second attempt finds the row of the first.
          if (attempt === 2) throw error;
        }
      }
    },
    findUserId: (issuer, subject) => findUserId(knex, issuer, subject),
    async has(userId, issuer) {
      const rows = await knex('identities').where({ user_id: userId }).select<{ issuer: string }[]>('issuer');
      return rows.some((row) => row.issuer === issuer);
    },
  };
}

async function findUserId(on: Knex, issuer: string, subject: string): Promise<number | undefined> {
  const row = await on('identities')
    .where({ key_hash: keyOf(issuer, subject) })
    .first<{ user_id: number } | undefined>('user_id');
  return row?.user_id;
}

async function plan(on: Knex, given: ExternalIdentity, { link, otherIssuers = [] }: AdmissionRules): Promise<Planned> {
  const projectId = await getProjectId(on);
  const members = () =>
    on('users')
      .join('memberships', 'memberships.user_id', 'users.id')
      .where('memberships.project_id', projectId)
      .select<MemberRow[]>('users.*', 'level', 'tags', 'team_id', 'role_id');
  const email = fold(given.email);
  const known = await findUserId(on, given.issuer, given.subject);
  const [sameAddress] = await members().where('users.email', email);
  let user = sameAddress;
  if (known !== undefined) {
    [user] = await members().where('users.id', known);
    if (!user) return refused('the user was removed');
    // Row scopes may use the address: it must be current, and no two users may share it.
    if (sameAddress && sameAddress.id !== user.id)
      return refused(`another user now has the address of user ${user.id}`);
  } else if (sameAddress) {
    // OpenID Connect Core section 5.7: an address does not prove identity, unless the operator allows linking by it.
    if (!link) return refused(`user ${sameAddress.id} has this address, and linking users by address is off`);
    if (!given.emailVerified) return refused(`user ${sameAddress.id} has this address, and it is not verified`);
    const others = await on('identities').where({ user_id: sameAddress.id }).select('issuer');
    if (others.some(({ issuer }: { issuer: string }) => issuer === given.issuer)) {
      return refused(`user ${sameAddress.id} has this address, and is another account of the issuer`);
    }
    // Otherwise each provider could sign in as the users of all others, by their addresses.
    const inUse = others.find(({ issuer }: { issuer: string }) => otherIssuers.includes(issuer));
    if (inUse) return refused(`user ${sameAddress.id} has this address, and signs in through ${inUse.issuer}`);
  }
  if (user?.disabled_at) return refused(`user ${user.id} is disabled`);

  const { rights } = given;
  const team_id = await chooseId(
    on,
    'teams',
    projectId,
    rights.team ?? (user ? undefined : DEFAULT_TEAM),
    user?.team_id,
  );
  const role_id = await chooseId(
    on,
    'roles',
    projectId,
    rights.role ?? (user ? undefined : DEFAULT_ROLE),
    user?.role_id,
  );
  const level = rights.level === undefined ? (user?.level ?? 'user') : rights.level;
  if (team_id === undefined) return refused(`the team does not exist (requested: ${rights.team ?? DEFAULT_TEAM})`);
  if (role_id === undefined) return refused(`the role does not exist (requested: ${rights.role ?? DEFAULT_ROLE})`);
  if (level === null) return refused('there is no valid permission level');

  const before = JSON.parse(user?.tags ?? '{}') as Record<string, string>;
  const keptTags = rights.tags && rights.onlyTheseTags ? {} : before;
  const tags = Object.entries({ ...keptTags, ...rights.tags }).filter(([, value]) => value !== null);
  const profile = {
    email,
    first_name: given.firstName ?? user?.first_name ?? '',
    last_name: given.lastName ?? user?.last_name ?? '',
    timezone: given.timezone && isZone(given.timezone) ? given.timezone : (user?.timezone ?? 'UTC'),
  };
  const membership = { level, team_id, role_id, tags: JSON.stringify(Object.fromEntries(tags)) };
  return {
    projectId,
    email,
    user,
    isKnown: known !== undefined,
    profile: changedValues(profile, user),
    membership: changedValues(membership, user && { ...user, tags: JSON.stringify(before) }),
  };
}

/** The id of the first name that exists; `otherwise` when the issuer reports no names. */
async function chooseId(
  on: Knex,
  table: 'teams' | 'roles',
  projectId: number,
  names: readonly string[] | undefined,
  otherwise: number | undefined,
): Promise<number | undefined> {
  if (!names) return otherwise;
  if (names.length === 0) return undefined;
  const rows = await on(table)
    .where({ project_id: projectId })
    .whereIn('name', [...names])
    .select<{ id: number; name: string }[]>('id', 'name');
  return names.map((name) => rows.find((row) => row.name === name)?.id).find((id) => id !== undefined);
}

/** The entries of `wanted` that differ from `have`. */
function changedValues<T extends string | number>(desired: Readonly<Record<string, T>>, current: object | undefined) {
  const now = (current ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(desired).filter(([name, value]) => now[name] !== value)) as Record<
    string,
    T
  >;
}

/** For the log: names in place of the ids of team and role. */
async function named(trx: Knex.Transaction, membership: Readonly<Record<string, unknown>>) {
  const { team_id, role_id, tags, ...rest } = membership;
  const nameOf = async (table: string, id: unknown) =>
    (
      await trx(table)
        .where({ id: id as number })
        .first<{ name: string }>('name')
    ).name;
  return {
    ...rest,
    ...(team_id !== undefined && { team: await nameOf('teams', team_id) }),
    ...(role_id !== undefined && { role: await nameOf('roles', role_id) }),
    ...(tags !== undefined && { tags: JSON.parse(`${tags}`) as unknown }),
  };
}
