// Users and their passwords.
import type { Knex } from 'knex';
import type { PermissionLevel } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { hashPassword, verifyPassword } from '../../core/secret.ts';
import type { LogValue } from '../audit/log-types.ts';
import type { Database } from '../database/database.ts';
import { type EnvironmentInfoReader, ensureNamed, ensureTeam, getProjectId, logChange } from '../permissions/roles.ts';
import { endSessionsOf } from '../sessions/sessions.ts';
import type { VersionRows } from '../versions.ts';
import { checkAdministrator, refuseSelf } from './administrators.ts';
import { deleteUserRows } from './deletion.ts';
import { readMember } from './member-value.ts';
import { checkLevel, checkName, checkTimezone } from './members.ts';
import { checkPassword, MAX_PASSWORD_LENGTH, writePassword } from './passwords.ts';
import type { Identity, NewUser, User } from './types.ts';

interface UserRow {
  readonly id: number;
  readonly email: string;
  readonly password_hash: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly timezone: string;
  readonly disabled_at: number | null;
  readonly sessions_from: number | string | null;
  readonly level: PermissionLevel;
  readonly tags: string;
  readonly team: string;
  readonly role: string;
  /** True or 1, depending on the database. */
  readonly has_identity: boolean | number | string;
}

export function createIdentity(
  database: Database,
  versions: VersionRows,
  getEnvironment: EnvironmentInfoReader,
  clock: Clock,
): Identity {
  const { knex } = database;

  return {
    async addUser(input, by) {
      const user = check(input);
      // An empty hash means no password; a link lets the user set one.
      const password_hash = input.password === undefined ? '' : await hashPassword(input.password);
      try {
        return await versions.change('permissions', (trx) => insertUser(trx, user, password_hash, by));
      } catch (error) {
        if (await knex('users').where({ email: user.email }).first('id')) failTaken(user.email);
        throw error;
      }
    },
    async countUsers() {
      const row = await knex('users').count<{ n: number | string }[]>({ n: '*' });
      return Number(row[0]?.n ?? 0);
    },
    async listUsers() {
      const rows = await selectUsers(knex).orderBy('users.id');
      return rows.map(toUser);
    },
    findUser: (id) => findUserBy(knex, { 'users.id': id }),
    findUserByEmail: (email) => findUserBy(knex, { 'users.email': fold(email) }),
    async verifyPassword(email, password) {
      const row = await findRow(knex, { 'users.email': fold(email) });
      // OWASP ASVS 2.2: response time must not reveal whether a user exists or is disabled. The password is therefore
      // always stretched, before the row is checked.
      const right = await verifyPassword(password.slice(0, MAX_PASSWORD_LENGTH), row?.password_hash ?? null);
      return right && row && row.disabled_at === null && password.length <= MAX_PASSWORD_LENGTH
        ? toUser(row)
        : undefined;
    },
    async setPassword(userId, password, by) {
      const user = await knex('users').where({ id: userId }).first<{ id: number; email: string } | undefined>();
      if (!user) failUnknownUser(userId);
      checkPassword(password, user.email);
      const password_hash = await hashPassword(password);
      await versions.change('permissions', (trx) =>
        writePassword(trx, clock, user, { password_hash, ...(by && { by }) }),
      );
    },
    async setProfile(userId, input) {
      const profile = checkProfile(input);
      await versions.change('permissions', (trx) =>
        updateUser(
          trx,
          clock,
          userId,
          'user.profile',
          { first_name: profile.firstName, last_name: profile.lastName, timezone: profile.timezone },
          userId,
        ),
      );
    },
    async setDisabled(userId, disabled, by) {
      const disabled_at = disabled ? clock.now() : null;
      if (disabled) refuseSelf(userId, by, 'disable');
      await versions.change('permissions', async (trx) => {
        await checkAdministrator(trx, by);
        await updateUser(trx, clock, userId, disabled ? 'user.disable' : 'user.enable', { disabled_at }, by);
        if (disabled) await endSessionsOf(trx, userId, clock.now());
      });
    },
    deleteUser: (userId, by) => versions.change('permissions', (trx) => deleteUserRows(trx, clock, userId, by)),
    async place() {
      const { organization, project, environment, environmentId } = await getEnvironment(knex);
      return { organization, project, environment, environmentId };
    },
  };

  async function insertUser(
    trx: Knex.Transaction,
    user: CheckedUser,
    password_hash: string,
    by: number | undefined,
  ): Promise<User> {
    await checkAdministrator(trx, by);
    if (await trx('users').where({ email: user.email }).first('id')) failTaken(user.email);
    const project_id = await getProjectId(trx);
    const team_id = await ensureTeam(trx, project_id, user.team);
    const role_id = await ensureNamed(trx, 'roles', project_id, user.role);
    const user_id = await database.insert(trx, 'users', {
      email: user.email,
      password_hash,
      first_name: user.firstName,
      last_name: user.lastName,
      timezone: user.timezone,
      disabled_at: null,
      created_at: clock.now(),
    });
    const { level } = user;
    const tags = JSON.stringify(user.tags);
    await trx('memberships').insert({ user_id, project_id, level, team_id, role_id, tags });
    await logChange(trx, {
      at: clock.now(),
      by,
      action: 'user.add',
      subject: user.email,
      detail: { level, team: user.team, role: user.role },
      after: await readMember(trx, user_id),
    });
    return toUser((await findRow(trx, { 'users.id': user_id }))!);
  }
}

async function updateUser(
  trx: Knex.Transaction,
  clock: Clock,
  userId: number,
  action: string,
  change: Record<string, unknown>,
  by?: number,
) {
  const user = await trx('users').where({ id: userId }).first<UserRow | undefined>();
  if (!user) failUnknownUser(userId);
  await trx('users').where({ id: userId }).update(change);
  const was = Object.fromEntries(Object.keys(change).map((name) => [name, user[name as keyof UserRow]]));
  await logChange(trx, {
    ...{ at: clock.now(), by, action, subject: user.email },
    ...{ before: toAccount(user.email, was), after: toAccount(user.email, change) },
  });
}

/** Form of the values in the admin log. */
function toAccount(name: string, { disabled_at, ...profile }: Readonly<Record<string, unknown>>): LogValue {
  const { first_name: firstName, last_name: lastName, timezone } = profile;
  const details = disabled_at === undefined ? { firstName, lastName, timezone } : { disabled: disabled_at !== null };
  return { name, details };
}

function selectUsers(on: Knex): Knex.QueryBuilder<object, UserRow[]> {
  return on('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .join('teams', 'teams.id', 'memberships.team_id')
    .join('roles', 'roles.id', 'memberships.role_id')
    .select('users.*', 'memberships.level', 'memberships.tags', 'teams.name as team', 'roles.name as role')
    .select(on.raw('exists (select 1 from identities where identities.user_id = users.id) as has_identity'));
}

/** Finds the user that matches the conditions, such as `users.id`. */
export async function findUserBy(on: Knex, where: Record<string, unknown>): Promise<User | undefined> {
  const row = await findRow(on, where);
  return row && toUser(row);
}

async function findRow(on: Knex, where: Record<string, unknown>): Promise<UserRow | undefined> {
  return selectUsers(on).where(where).first<UserRow | undefined>();
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    timezone: row.timezone,
    disabled: row.disabled_at !== null,
    hasPassword: row.password_hash !== '',
    hasIdentity: Number(row.has_identity) === 1,
    sessionsFrom: row.sessions_from === null ? null : Number(row.sessions_from),
    level: row.level,
    team: row.team,
    role: row.role,
    tags: JSON.parse(row.tags) as Record<string, string>,
  };
}

/** Addresses are stored and compared in lower case. */
export function fold(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

type CheckedUser = Required<Omit<NewUser, 'password'>>;

function check(user: NewUser): CheckedUser {
  const email = fold(user.email);
  if (email.length > 254 || !/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email)) {
    fail('INVALID_ARGUMENT', { argument: 'email', problem: 'expected an address such as ada@example.com.' });
  }
  if (user.password !== undefined) checkPassword(user.password, email);
  const level = checkLevel(user.level ?? 'user');
  return {
    email,
    level,
    ...checkProfile(user),
    team: checkName('team', user.team ?? 'Operations', 1),
    role: checkName('role', user.role ?? (level === 'admin' ? 'Administrator' : 'Member'), 1),
    tags: user.tags ?? {},
  };
}

function checkProfile({ firstName = '', lastName = '', timezone = 'UTC' }: Omit<NewUser, 'email'>) {
  return {
    timezone: checkTimezone(timezone),
    firstName: checkName('firstName', firstName, 0),
    lastName: checkName('lastName', lastName, 0),
  };
}

function failUnknownUser(userId: number): never {
  fail('INVALID_ARGUMENT', { argument: 'userId', problem: `there is no user ${userId}.` });
}

function failTaken(email: string): never {
  fail('INVALID_ARGUMENT', { argument: 'email', problem: `'${email}' is taken.` });
}
