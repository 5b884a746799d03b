// The values of a member that the admin log stores before and after a change.
import type { Knex } from 'knex';
import { nameOf } from '../audit/log-order.ts';
import type { MemberValue } from '../audit/log-types.ts';

interface MemberRow {
  readonly id: number;
  readonly email: string;
  readonly first_name: string;
  readonly last_name: string;
  readonly level: string;
  readonly tags: string;
  readonly team: string;
  readonly role: string;
}

/** All members, oldest first, or only the one with this id. */
export async function readMembers(on: Knex, userId?: number): Promise<readonly MemberValue[]> {
  const rows = on('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .join('teams', 'teams.id', 'memberships.team_id')
    .join('roles', 'roles.id', 'memberships.role_id')
    .orderBy('users.id')
    .select<MemberRow[]>(
      'users.id',
      'email',
      'first_name',
      'last_name',
      'level',
      'tags',
      'teams.name as team',
      'roles.name as role',
    );
  if (userId !== undefined) rows.where('users.id', userId);
  return (await rows).map(({ id, email, first_name, last_name, level, role, team, tags }) => {
    const name = nameOf(email, first_name, last_name);
    return { id, email, name, level, role, team, tags: JSON.parse(tags) as Record<string, string> };
  });
}

/** Undefined when the user is not a member. */
export async function readMember(on: Knex, userId: number): Promise<{ readonly member: MemberValue } | undefined> {
  const [member] = await readMembers(on, userId);
  return member && { member };
}
