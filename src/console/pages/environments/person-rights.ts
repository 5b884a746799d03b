// The rights of one person on a collection, in words. They come from the Access that every call uses.
import { type Access, readPolicy, verbs, type WriteVerb } from '../../../core/caller.ts';
import { type Html, html } from '../../../http/html.ts';
import { describeFilter, describePolicy } from '../../../store/permissions/rights-words.ts';
import { facts } from '../../ui/data.ts';
import type { ModelNames } from '../rights/model.ts';

const writes: readonly WriteVerb[] = ['add', 'edit', 'delete'];

export function describeRights(access: Access, name: string, collection: string, model: ModelNames): Html {
  const { caller } = access;
  const may = verbs.filter((verb) => access.can(verb, collection));
  const scope = access.scope(collection);
  const fields = model.fields(collection);
  const of = (fieldAccess: 'read' | 'hidden') =>
    fields.filter((field) => access.field(collection, field) === fieldAccess).join(', ');
  const sees = scope === null ? 'every record' : `records where ${describeFilter(scope)}`;
  const approvals = writes
    .filter((verb) => may.includes(verb) && access.policy(verb, collection).policy !== readPolicy(undefined).policy)
    .map((verb) => `to ${verb}: ${describePolicy(access.policy(verb, collection))}`);
  const actions = model
    .actions(collection)
    .filter((action) => access.canTrigger(collection, action.name))
    .map((action) => {
      const condition = access.triggerCondition(collection, action.name);
      const policy = access.actionPolicy(collection, action.name);
      const policyText = policy.policy === 'allow' ? '' : ` (${describePolicy(policy)})`;
      return `${action.name}${condition === null ? '' : ` where ${describeFilter(condition)}`}${policyText}`;
    });
  return facts([
    ['Person', html`${name}<small>${caller.team} · ${caller.role}</small>`],
    ['Permissions', may.length === 0 ? 'none' : may.join(', ')],
    ['Visible records', may.includes('browse') ? sees : 'none'],
    ['Read-only fields', may.length > 0 && of('read')],
    ['Hidden fields', may.length > 0 && of('hidden')],
    ['Approval required', approvals.join('; ')],
    ['Actions', actions.join('; ')],
  ]);
}
