// Changes a user's place in the project: level, team, role, tags and profile.
import type { Knex } from 'knex';
import { type PermissionLevel, permissionLevels } from '../../core/caller.ts';
import { isZone } from '../../core/clock/timezone.ts';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { getProjectId, logChange } from '../permissions/roles.ts';
import type { VersionRows } from '../versions.ts';
import { checkAdministrator, refuseSelf } from './administrators.ts';
import { readMember } from './member-value.ts';
import type { Members, UserChange } from './types.ts';

interface MemberRow {
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly timezone: string;
  readonly level: PermissionLevel;
  readonly team: string;
  readonly role: string;
  readonly tags: string;
}

export function createMembers(versions: VersionRows, clock: Clock): Members {
  return {
    async change(userId, change, by) {
      const checked = check(change);
      return versions.change('permissions', async (trx) => {
        await checkAdministrator(trx, by);
        const project_id = await getProjectId(trx);
        const member = await findMember(trx, project_id, userId);
        const changes = findDifferences(member, checked);
        if (Object.keys(changes).length === 0) return changes;
        const before = await readMember(trx, userId);
        const after = Object.fromEntries(Object.entries(changes).map(([name, { after }]) => [name, after]));
        if (changes.level) refuseSelf(userId, by, 'change the permission level of');
        const { team, role, tags, level, firstName: first_name, lastName: last_name, timezone } = after;
        const key = { user_id: userId, project_id };
        await update(trx('users').where({ id: userId }), { first_name, last_name, timezone });
        await update(trx('memberships').where(key), {
          level,
          team_id: team && (await findNamed(trx, 'team', project_id, team as string)),
          role_id: role && (await findNamed(trx, 'role', project_id, role as string)),
          tags: tags && JSON.stringify(tags),
        });
        await logChange(trx, {
          ...{ at: clock.now(), by, action: 'user.set', subject: member.email, detail: changes },
          ...{ before, after: await readMember(trx, userId) },
        });
        return changes;
      });
    },
  };
}

async function findMember(on: Knex, projectId: number, userId: number): Promise<MemberRow> {
  const row = await on('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .join('teams', 'teams.id', 'memberships.team_id')
    .join('roles', 'roles.id', 'memberships.role_id')
    .where({ 'users.id': userId, 'memberships.project_id': projectId })
    .first<MemberRow | undefined>('users.*', 'level', 'tags', 'teams.name as team', 'roles.name as role');
  return row ?? fail('INVALID_ARGUMENT', { argument: 'userId', problem: `there is no user ${userId}.` });
}

type Differences = Record<string, { readonly before: unknown; readonly after: unknown }>;

function findDifferences(member: MemberRow, { tags = {}, ...fields }: UserChange): Differences {
  const { first_name: firstName, last_name: lastName, timezone, level, team, role } = member;
  const current: Readonly<Record<string, unknown>> = { firstName, lastName, timezone, level, team, role };
  const changes: Differences = {};
  for (const [name, after] of Object.entries(fields)) {
    if (after !== undefined && current[name] !== after) changes[name] = { before: current[name], after };
  }
  const before = JSON.parse(member.tags) as Record<string, string>;
  const unchangedTags = Object.entries(before).filter(([key]) => !Object.hasOwn(tags, key));
  const set = Object.entries(tags).filter(([, value]) => value !== null);
  const after = Object.fromEntries([...unchangedTags, ...set].sort(([a], [b]) => (a < b ? -1 : 1)));
  const text = (some: Readonly<Record<string, unknown>>) =>
    JSON.stringify(Object.entries(some).sort(([a], [b]) => (a < b ? -1 : 1)));
  if (text(before) !== text(after)) changes.tags = { before, after };
  return changes;
}

async function update(row: Knex.QueryBuilder, columns: Readonly<Record<string, unknown>>): Promise<void> {
  const definedColumns = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  if (Object.keys(definedColumns).length > 0) await row.update(definedColumns);
}

/** Finds an existing team or role. A typo must not create a team, because no row scope would apply to it. */
async function findNamed(on: Knex, kind: 'team' | 'role', projectId: number, name: string): Promise<number> {
  const rows = await on(`${kind}s`)
    .where({ project_id: projectId })
    .select<{ id: number; name: string }[]>('id', 'name');
  const found = rows.find((row) => row.name === name);
  if (found) return found.id;
  const near = suggestNames(
    name,
    rows.map((row) => row.name),
  );
  const hint = near.length > 0 ? ` Near: ${near.join(', ')}.` : '';
  fail('INVALID_ARGUMENT', { argument: kind, problem: `there is no ${kind} '${name}'.${hint}` });
}

function check(change: UserChange): UserChange {
  const { firstName, lastName, timezone, level, tags = {} } = change;
  if (level !== undefined) checkLevel(level);
  if (timezone !== undefined) checkTimezone(timezone);
  for (const [key, value] of Object.entries(tags)) {
    if (!/^[^\s={}.](?:[^={}]*[^\s={}])?$/u.test(key) || key.length > 100 || (value?.length ?? 0) > 1000) {
      const problem = 'expected a key of at most 100 characters without =, { and }, and a value of at most 1,000.';
      fail('INVALID_ARGUMENT', { argument: 'tags', problem });
    }
  }
  return {
    ...change,
    ...(firstName !== undefined && { firstName: checkName('firstName', firstName, 0) }),
    ...(lastName !== undefined && { lastName: checkName('lastName', lastName, 0) }),
  };
}

export function checkLevel(level: PermissionLevel): PermissionLevel {
  if (permissionLevels.includes(level)) return level;
  return fail('INVALID_ARGUMENT', { argument: 'level', problem: `expected one of ${permissionLevels.join(', ')}.` });
}

export function checkTimezone(timezone: string): string {
  if (isZone(timezone)) return timezone;
  return fail('INVALID_ARGUMENT', { argument: 'timezone', problem: 'expected an IANA name such as Europe/Paris.' });
}

export function checkName(argument: string, value: string, least: number): string {
  const name = value.trim();
  if (name.length < least || name.length > 191) {
    fail('INVALID_ARGUMENT', { argument, problem: `expected ${least} to 191 characters.` });
  }
  return name;
}
