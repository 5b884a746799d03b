// Filters of rights as rows of the filter builder: row scopes of teams, and conditions of actions.
import type { PlainFilter } from '../../../core/filter.ts';
import type { Parts } from '../../page-request.ts';
import { type Rows, toRows } from '../../ui/filter/state.ts';
import type { ModelNames } from './model.ts';

/** A stored filter of the wrong shape is shown as JSON. */
export function safeRows(filter: PlainFilter | undefined, collection: string, model: ModelNames): Rows | undefined {
  try {
    return toRows(filter, model.describe, collection);
  } catch {
    return undefined;
  }
}

/** The attributes of the current user that a condition can compare with. */
export async function readVariables(store: Pick<Parts['store'], 'identity'>): Promise<readonly string[]> {
  const users = await store.identity.listUsers();
  const tags = [...new Set(users.flatMap((user) => Object.keys(user.tags)))].sort();
  const names = ['id', 'email', 'team', 'role', 'timezone', ...tags.map((tag) => `tags.${tag}`)];
  return names.map((name) => `currentUser.${name}`);
}
