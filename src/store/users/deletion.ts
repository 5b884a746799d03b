// Deletes a user for good. What the logs keep is pseudonymous: the number of the user, and what was done (GDPR article 17,
// docs/accounts.md).
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { logChange } from '../permissions/roles.ts';
import { endSessionsOf } from '../sessions/sessions.ts';
import { raiseVersion } from '../versions.ts';
import { ending, setsOf } from '../workflows/run-writes.ts';
import { checkAdministrator, refuseSelf } from './administrators.ts';
import { readMember } from './member-value.ts';

/** Tables with rows of one user that end with the user, except those that need more than a deletion. */
const ownTables = [
  ...['consents', 'application_tokens', 'agent_sign_ins', 'one_time_links', 'recovery_codes', 'second_factors'],
  ...['identities', 'remote_sign_ins', 'remote_credentials', 'approvals', 'waiting_mails'],
] as const;

/** Runs in the transaction that raises the version of the permissions. `by` as in `checkAdministrator`. */
export async function deleteUserRows(
  trx: Knex.Transaction,
  clock: Pick<Clock, 'now'>,
  userId: number,
  by: number | undefined,
): Promise<void> {
  refuseSelf(userId, by, 'delete');
  await checkAdministrator(trx, by);
  const member = (await readMember(trx, userId))?.member;
  if (!member) fail('INVALID_ARGUMENT', { argument: 'userId', problem: `there is no user ${userId}.` });
  await refuseLastAdministrator(trx, userId);
  const now = clock.now();
  await endRuns(trx, userId, now, by ?? userId);
  await endSessionsOf(trx, userId, now);
  const account = { account_id: `${userId}` };
  const grants = await trx('oauth_store')
    .where({ ...account, model: 'Grant' })
    .pluck<string[]>('id');
  for (const grant_id of grants) await trx('oauth_store').where({ grant_id }).delete();
  await trx('oauth_store').where(account).delete();
  const files = await trx('files').where({ user_id: userId }).pluck<string[]>('id_hash');
  for (const id_hash of files) await trx('file_parts').where({ id_hash }).delete();
  await trx('files').where({ user_id: userId }).delete();
  for (const table of ownTables) await trx(table).where({ user_id: userId }).delete();
  await trx('memberships').where({ user_id: userId }).delete();
  await trx('users').where({ id: userId }).delete();
  await pseudonymize(trx, userId, [member.email, member.name]);
  await raiseVersion(trx, 'grants');
  const { level, team, role } = member;
  const subject = labelOf(userId);
  await logChange(trx, { at: now, by, action: 'user.delete', subject, detail: { level, team, role } });
}

const labelOf = (userId: number): string => `user ${userId}`;

/** At the command line, nobody else remains to undo it. */
async function refuseLastAdministrator(trx: Knex.Transaction, userId: number): Promise<void> {
  // All changes of rights lock this row and therefore run one at a time.
  await trx('versions').where({ name: 'permissions' }).forUpdate().first('number');
  const administrators = await trx('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .where({ level: 'admin' })
    .whereNull('users.disabled_at')
    .pluck<number[]>('users.id');
  if (administrators.length !== 1 || administrators[0] !== userId) return;
  const problem = 'this is the last administrator. Make another user an administrator first.';
  fail('INVALID_ARGUMENT', { argument: 'user', problem });
}

/** Runs that wait end at once; a running one ends before its next step. */
async function endRuns(trx: Knex.Transaction, userId: number, now: number, by: number): Promise<void> {
  const { sql, values } = setsOf({ ...ending(now), state: 'cancelled', cancelled_by: by, updated_at: now });
  const waiting = "user_id = ? AND state IN ('queued', 'awaiting-input')";
  await trx.raw(`UPDATE workflow_runs SET ${sql} WHERE ${waiting}`, [...values, userId]);
  await trx('workflow_runs')
    .where({ user_id: userId, state: 'running' })
    .whereNull('cancelled_by')
    .update({ cancelled_by: by, updated_at: now });
}

interface LoggedRow {
  readonly id: number;
  readonly subject: string;
  readonly detail: string;
  readonly new_value: string | null;
  readonly previous_value: string | null;
}

/** Replaces the addresses and names of the user in the admin log, including earlier ones, by the number of the user. */
async function pseudonymize(trx: Knex.Transaction, userId: number, current: readonly string[]): Promise<void> {
  const columns = ['id', 'subject', 'detail', 'new_value', 'previous_value'];
  const mark = `%"member":{"id":${userId},%`;
  const asMember = await trx('admin_logs')
    .where('new_value', 'like', mark)
    .orWhere('previous_value', 'like', mark)
    .select<LoggedRow[]>(columns);
  const earlier = asMember.flatMap((row) =>
    [row.new_value, row.previous_value].flatMap((text) => {
      const { member } = JSON.parse(text ?? '{}') as { member?: { id: number; email: string; name: string } };
      return member?.id === userId ? [member.email, member.name] : [];
    }),
  );
  const known = new Set([...current, ...earlier].filter(Boolean));
  const rows = new Map(asMember.map((row) => [row.id, row]));
  for (const name of known) {
    if (!name.includes('@')) continue;
    const found = await trx('admin_logs')
      .where({ subject: name })
      .orWhere('subject', 'like', `${name}: %`)
      .select<LoggedRow[]>(columns);
    // LIKE also finds other addresses: `_` matches any character.
    for (const row of found) if (hideName(row.subject, known, '') !== row.subject) rows.set(row.id, row);
  }
  const label = labelOf(userId);
  for (const row of rows.values()) {
    const hide = (text: string | null) => text && JSON.stringify(withoutPerson(JSON.parse(text), known, label));
    await trx('admin_logs')
      .where({ id: row.id })
      .update({
        subject: hideName(row.subject, known, label),
        detail: hide(row.detail),
        new_value: hide(row.new_value),
        previous_value: hide(row.previous_value),
      });
  }
}

function hideName(text: string, names: ReadonlySet<string>, label: string): string {
  if (names.has(text)) return label;
  const [name = '', rest] = text.split(/: (.*)/s);
  return rest !== undefined && names.has(name) ? `${label}: ${rest}` : text;
}

/** `subject` is the account at the identity provider. */
const personal: ReadonlySet<string> = new Set(['firstName', 'lastName', 'timezone', 'subject']);

/** The JSON value without names, time zone and tags of the person. */
function withoutPerson(value: unknown, names: ReadonlySet<string>, label: string): unknown {
  if (typeof value === 'string') return hideName(value, names, label);
  if (Array.isArray(value)) return value.map((one) => withoutPerson(one, names, label));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
      if (personal.has(key)) return [];
      return [[key, key === 'tags' ? {} : withoutPerson(inner, names, label)]];
    }),
  );
}
