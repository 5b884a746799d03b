// Checks the administrator who makes a change; the command line needs no check. The level is read within the
// transaction, not when the page was opened. If two administrators demote each other at once, the second is no longer
// an administrator and is refused. Administrators cannot demote themselves. At least one therefore always remains.
import type { Knex } from 'knex';
import { fail } from '../../core/errors.ts';

/**
 * Runs in the transaction of the change, before any other read. `by`: undefined for the command line, which is always
 * allowed.
 */
export async function checkAdministrator(trx: Knex.Transaction, by: number | undefined): Promise<void> {
  if (by === undefined) return;
  // OWASP authorization: check at the time of the change. All changes of rights lock this row and therefore run one at
  // a time.
  await trx('versions').where({ name: 'permissions' }).forUpdate().first('number');
  const found = await trx('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .where({ 'users.id': by, level: 'admin' })
    .whereNull('users.disabled_at')
    .first<{ id: number } | undefined>('users.id');
  if (!found) fail('DENIED', { problem: 'You are no longer an administrator. No changes were made.' });
}

/** Refuses changes that administrators must not make to their own account: no one might be left to undo them. */
export function refuseSelf(userId: number, by: number | undefined, what: string): void {
  if (userId !== by) return;
  fail('DENIED', { problem: `You cannot ${what} yourself. Ask another administrator.` });
}
