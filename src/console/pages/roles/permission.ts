// Permissions of one role on one collection: the verbs, their approvals, each field and each action. An invalid form is
// shown again with the typed values. A valid one becomes a proposal.

import { type PolicyInput, type PolicyName, verbs } from '../../../core/caller.ts';
import { fail } from '../../../core/errors.ts';
import { findInexactNumber } from '../../../core/filter/exact-numbers.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import type { ActionTrigger, CollectionPermission } from '../../../store/permissions/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { hasRows, partOf, readRows } from '../../ui/filter/form.ts';
import { isUnfinished, toFilter } from '../../ui/filter/state.ts';
import type { ModelNames } from '../rights/model.ts';
import { readModel } from '../rights/model.ts';
import { permissionPage, rightOf, rolePage } from '../rights/places.ts';
import { findScopeProblem, propose } from '../rights/proposal.ts';
import { refusal, reviewProposal } from '../rights/review.ts';
import { readVariables } from '../rights/rows.ts';
import type { PermissionTarget, Typed, TypedAction } from './permission-form.ts';
import { conditionPrefix, permissionForm, rowsOf } from './permission-form.ts';
import { collectionsOf, permissionOf, readRoleTarget } from './role.ts';

async function readPermissionTarget(request: SignedInRequest, parts: Parts): Promise<PermissionTarget> {
  const target = await readRoleTarget(request, parts);
  const model = readModel(parts.engine, request.access.caller);
  const collection = request.params.collection!;
  if (collection !== '*' && !collectionsOf(target, model).includes(collection)) {
    return fail('NOT_FOUND', { path: parts.paths.path(rolePage(target.role)) });
  }
  return { ...target, collection, model, variables: await readVariables(parts.store) };
}

export async function showPermission(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readPermissionTarget(request, parts);
  const { permission } = permissionOf(target, target.collection);
  return { page: permissionForm(request, parts, target, typedOf(permission)) };
}

/** `` allows without approval; `second` requires approval by another person. */
function policyText(input: PolicyInput | undefined): string {
  const { policy, secondPerson } = typeof input === 'object' ? input : { policy: input ?? '', secondPerson: false };
  return secondPerson ? 'second' : policy;
}

function typedOf({ fields = {}, actions = {}, approval = {}, cascades, ...may }: CollectionPermission): Typed {
  return {
    may: new Set(verbs.filter((verb) => may[verb])),
    approval: Object.fromEntries(Object.entries(approval).map(([verb, policy]) => [verb, policyText(policy)])),
    fields,
    cascades: cascades !== 'deny',
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, { trigger, approval }]) => [
        name,
        {
          trigger: typeof trigger === 'object' ? 'when' : trigger ? 'always' : 'never',
          when: typeof trigger === 'object' ? JSON.stringify(trigger.when, null, 2) : '',
          approval: policyText(approval),
        },
      ]),
    ),
  };
}

export async function changePermission(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readPermissionTarget(request, parts);
  const { rights, role, environment, collection } = target;
  const about = { kind: 'permission', path: [role, environment, collection] } as const;
  const proposal = { about, base: request.form.get('base') ?? '' };
  if (request.form.get('action') === 'remove') {
    if (rightOf(rights, ...([about.kind, ...about.path] as const)) === undefined) {
      const problem = 'it has no custom permissions.';
      return refusal(request, parts, { under: '/roles', problem, back: permissionPage(role, collection) });
    }
    return reviewProposal(request, parts, propose(rights, about, [about]), rights);
  }
  const typed = readTyped(request.form, target);
  if (request.form.has('do')) return { page: permissionForm(request, parts, target, typed) };
  const { value, problems } = readPermission(typed, target);
  if (problems.size > 0) return { status: 400, page: permissionForm(request, parts, target, typed, problems) };
  // An unchanged permission that comes from `*` does not become a separate entry.
  const { permission, own } = permissionOf(target, collection);
  const same = !own && JSON.stringify(typedOf(permission), setsToo) === JSON.stringify(typedOf(value), setsToo);
  return reviewProposal(request, parts, { ...proposal, wanted: same ? [] : [{ ...about, value }] }, rights);
}

const setsToo = (_: string, value: unknown): unknown => (value instanceof Set ? [...value] : value);

function readTyped(form: URLSearchParams, target: PermissionTarget): Typed {
  const named = (list: string, ...parts: readonly string[]) =>
    Object.fromEntries(
      form
        .getAll(list)
        .map((name, at) => [
          name,
          Object.fromEntries(parts.map((part) => [part, form.getAll(`${list}-${part}`)[at] ?? ''])),
        ]),
    ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  const each = (list: string) =>
    Object.fromEntries(Object.entries(named(list, 'is')).map(([name, { is = '' }]) => [name, is]));
  return {
    may: new Set(form.getAll('may')),
    approval: each('verb'),
    fields: each('field'),
    cascades: form.get('cascades') === 'yes',
    actions: Object.fromEntries(form.getAll('act').map((name, at) => [name, readAction(form, at, target)])),
  };
}

/** The condition is that of the rows, unless its JSON was changed. */
function readAction(form: URLSearchParams, at: number, { model, collection }: PermissionTarget): TypedAction {
  const typed = (part: string) => form.getAll(`act-${part}`)[at] ?? '';
  const [trigger, when, shown, approval] = [typed('trigger'), typed('when'), typed('shown'), typed('approval')];
  const plain = (text: string) => text.replaceAll(/\r\n?/g, '\n').trim();
  const part = partOf(form, conditionPrefix(at));
  const isOpened = part.get('do') === 'open';
  if (plain(when) !== plain(shown) || !(hasRows(part) || isOpened)) return { trigger, when, approval };
  const rows = readRows(part, model.describe, collection);
  const isSame = JSON.stringify(rows) === JSON.stringify(rowsOf(shown, collection, model));
  const built = toFilter(rows, model.describe, collection);
  return {
    ...{ trigger: isOpened ? 'when' : trigger, approval, rows },
    when: isSame ? shown : built === undefined ? '' : JSON.stringify(built, null, 2),
  };
}

interface ReadPermission {
  readonly value: CollectionPermission;
  /** Keyed by action name. */
  readonly problems: ReadonlyMap<string, string>;
}

const policies: readonly string[] = ['allow', 'ask', 'ask-person', 'deny'] satisfies readonly PolicyName[];

/** Undefined for an unknown policy. The storage rejects a known policy that the form does not offer. */
function parsePolicy(text: string): PolicyInput | undefined {
  if (text === 'second') return { policy: 'ask-person', secondPerson: true };
  return policies.includes(text) ? (text as PolicyName) : undefined;
}

function readPermission(typed: Typed, target: PermissionTarget): ReadPermission {
  const problems = new Map<string, string>();
  const approval = Object.entries(typed.approval).flatMap(([verb, text]) => {
    const policy = parsePolicy(text);
    return policy === undefined ? [] : [[verb, policy] as const];
  });
  const fields = Object.entries(typed.fields).filter(([, is]) => is === 'read' || is === 'hidden');
  const actions = Object.entries(typed.actions).flatMap(([name, action]) => {
    const policy = parsePolicy(action.approval);
    if (action.trigger !== 'when' && action.when.trim() !== '') {
      problems.set(name, 'Choose “on a condition”, or remove the conditions.');
      return [];
    }
    if (action.trigger === '') {
      if (policy === undefined) return [];
      problems.set(name, 'Choose who can run it: a separate approval requires that.');
      return [];
    }
    const trigger = readTrigger(name, action, target);
    if (typeof trigger === 'string') {
      problems.set(name, trigger);
      return [];
    }
    return [[name, { trigger, ...(policy !== undefined && { approval: policy }) }] as const];
  });
  const value = {
    ...Object.fromEntries(verbs.map((verb) => [verb, typed.may.has(verb)])),
    ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
    ...(actions.length > 0 && { actions: Object.fromEntries(actions) }),
    ...(approval.length > 0 && { approval: Object.fromEntries(approval) }),
    ...(!typed.cascades && { cascades: 'deny' as const }),
  } as unknown as CollectionPermission;
  return { value, problems };
}

/** Returns the trigger, or an error message. */
function readTrigger(
  name: string,
  action: TypedAction,
  { model, collection }: PermissionTarget,
): ActionTrigger | string {
  if (action.trigger !== 'when') return action.trigger === 'always';
  if (action.rows && isUnfinished(action.rows)) return 'A condition has no value. Enter one, or remove the condition.';
  if (action.when.trim() === '') return 'Add a condition, or choose who else can run it.';
  const read = readFilter(action.when, collection, model);
  if ('problem' in read) return read.problem;
  const scope = model.actions(collection).find((one) => one.name === name)?.scope;
  if (scope === 'Global') return 'This action has no selected records, so a condition would block every run.';
  return { when: read.filter };
}

/** Parses a typed filter with the same rules as the roles file, and checks that its fields exist. */
export function readFilter(
  text: string,
  collection: string,
  model: ModelNames,
): { readonly filter: PlainFilter } | { readonly problem: string } {
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) return { problem: inexact };
  let filter: unknown;
  try {
    filter = JSON.parse(text);
  } catch (error) {
    return { problem: `Invalid JSON: ${(error as Error).message}` };
  }
  const problem = findScopeProblem(filter);
  if (problem) return { problem };
  const unknown = collection === '*' ? [] : model.findUnknown(collection, filter as PlainFilter);
  const [wrong] = [...unknown, ...model.findUnclear(collection, filter as PlainFilter)];
  return wrong === undefined ? { filter: filter as PlainFilter } : { problem: wrong };
}
