// The resource and the type of change of an admin log entry, derived from the name of its action.
import type { AdminChangeType } from './log-types.ts';

/** Actions on the membership of a user in the project. All other user actions concern the account. */
const ofMembership: ReadonlySet<string> = new Set(['user.add', 'user.set', 'user.claims']);

const added: ReadonlySet<string> = new Set(['add', 'create', 'allow', 'invite', 'reset', 'rotate', 'link', 'totp-on']);
const removed: ReadonlySet<string> = new Set([
  'remove',
  'delete',
  'revoke',
  'retire',
  'sweep',
  'end-session',
  'sign-out',
  'totp-off',
]);

interface ActionKind {
  readonly resource: string;
  readonly type: AdminChangeType;
}

/** `action`: a name such as `role.add`. */
export function describeAction(action: string): ActionKind {
  const [about = '', verb = ''] = action.split('.');
  return { resource: resourceOf(action, about), type: typeOf(verb) };
}

function resourceOf(action: string, about: string): string {
  if (about !== 'user') return about.slice(0, 100);
  return ofMembership.has(action) ? 'user-project' : 'account';
}

function typeOf(verb: string): AdminChangeType {
  if (verb === 'initial') return 'initial';
  if (added.has(verb)) return 'add';
  return removed.has(verb) ? 'remove' : 'update';
}
