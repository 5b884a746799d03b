// A change that a person makes, as against the command: whoever makes it must be an administrator when it is made, and not
// merely when the page was opened. Of two who take each other's level away at once, the second is none any more; and since
// nobody takes his own, one administrator is always left.
import type { Knex } from 'knex';
import { fail } from '../core/errors.ts';

/** Within the transaction of the change, before anything else is read in it. `by`: undefined is the command, which may. */
export async function checkAdministrator(trx: Knex.Transaction, by: number | undefined): Promise<void> {
  if (by === undefined) return;
  // OWASP authorization: asked where it is done. Every change of rights meets at this row, so that one waits for the other.
  await trx('versions').where({ name: 'permissions' }).forUpdate().first('number');
  const found = await trx('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .where({ 'users.id': by, level: 'admin' })
    .whereNull('users.disabled_at')
    .first<{ id: number } | undefined>('users.id');
  if (!found) fail('DENIED', { problem: 'You are not an administrator any more. Nothing was changed.' });
}

/** What nobody may do to himself, since there might be nobody left to undo it. */
export function refuseSelf(userId: number, by: number | undefined, what: string): void {
  if (userId !== by) return;
  fail('DENIED', { problem: `You cannot ${what} yourself. Ask another administrator.` });
}
