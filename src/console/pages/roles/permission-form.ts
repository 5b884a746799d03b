// Form for the permissions of one role on one collection.

import { verbs, type WriteVerb } from '../../../core/caller.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Page } from '../../../http/page.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { filterBuilder } from '../../ui/filter/builder.ts';
import { readJsonFilter } from '../../ui/filter/form.ts';
import type { Rows } from '../../ui/filter/state.ts';
import { areaField, checkField, type Option, openForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import type { ModelNames } from '../rights/model.ts';
import { collectionPage, permissionPage, rolePage } from '../rights/places.ts';
import { baseOf } from '../rights/proposal.ts';
import { safeRows } from '../rights/rows.ts';
import type { RoleTarget } from './role.ts';

import { permissionOf } from './role.ts';

const verbTexts: Readonly<Record<(typeof verbs)[number], readonly [label: string, hint: string]>> = {
  browse: ['Browse', 'See the collection and its records'],
  read: ['Read', 'Open single records and their charts'],
  edit: ['Edit', 'Change records, and trigger actions that are not listed below'],
  add: ['Add', 'Create records'],
  delete: ['Delete', 'Delete records'],
  export: ['Export', 'Export lists'],
};

const policyOptions: readonly Option[] = [
  ['ask', 'by the user in the assistant'],
  ['ask-person', 'in the console'],
  ['second', 'by a second person in the console'],
  ['deny', 'always blocked'],
];

const fieldOptions: readonly Option[] = [
  ['write', 'Can edit'],
  ['read', 'Read-only'],
  ['hidden', 'Hidden'],
];

const triggerOptions: readonly Option[] = [
  ['', 'same as editing'],
  ['always', 'everyone with the role'],
  ['never', 'no one'],
  ['when', 'on a condition'],
];

const writes: readonly (readonly [WriteVerb, string])[] = [
  ['add', 'To add'],
  ['edit', 'To edit'],
  ['delete', 'To delete'],
];

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));

export function permissionForm(
  request: SignedInRequest,
  parts: Parts,
  target: PermissionTarget,
  typed: Typed,
  problems: ReadonlyMap<string, string> = new Map(),
): Page {
  const { role, collection, environment, model, rights, suffix } = target;
  const { paths } = parts;
  const { own } = permissionOf(target, collection);
  const isRest = collection === '*';
  const name = isRest ? 'Every other collection' : collection;
  const isKnown = isRest || model.collections.includes(collection);
  const base =
    request.form.get('base') ?? baseOf(rights, { kind: 'permission', path: [role, environment, collection] });
  const title = `${name}, ${role}`;
  const content = html`<h1>${name}</h1>
<p class="lead">Permissions of ${role} in ${environment}. ${!own && !isRest && html`The collection has no custom permissions and uses those of <a href="${paths.path(permissionPage(role, '*'))}${suffix}">every other collection</a>. Saving a change creates custom permissions, which replace them.`}${isKnown && !isRest && html` <a href="${paths.path(collectionPage(collection))}">View fields</a>`}</p>
${!isKnown && html`<p class="warning">The model has no collection with this name. These permissions have no effect until it has one.</p>`}
${problems.size > 0 && html`<p class="alert" role="alert">Your changes are not saved. See below: ${[...problems.keys()].join(', ')}.</p>`}
${openForm(request, parts, permissionPage(role, collection))}<input type="hidden" name="in" value="${environment}"><input type="hidden" name="base" value="${base}">
<section><h2 class="plainly">Permissions</h2><div class="ticks">${verbs.map((verb) => checkField({ id: `may-${verb}`, name: 'may', value: verb, label: verbTexts[verb][0], hint: verbTexts[verb][1], checked: typed.may.has(verb) }))}</div></section>
<section><h2 class="plainly">Related records</h2>${checkField({ id: 'cascades', name: 'cascades', label: 'The database can extend a write', hint: 'ON DELETE CASCADE, SET NULL and similar, to or from these records. The role also needs permission to write those records.', checked: typed.cascades })}</section>
<section><h2 class="plainly">Approval</h2><div class="trio">${writes.map(([verb, label]) => html`<div><input type="hidden" name="verb" value="${verb}">${selectField({ id: `verb-${verb}`, name: 'verb-is', label, value: typed.approval[verb] ?? '', options: [['', 'not needed'], ...(typed.approval[verb] === 'allow' ? [['allow', 'not needed (set explicitly)'] as const] : []), ...policyOptions] })}</div>`)}</div></section>
${fieldSection(target, typed)}
${actionSection(target, typed, problems)}
<div class="row-of-buttons"><button class="primary slim" name="action" value="review">Review changes</button>${own && html`<button class="plain slim" name="action" value="remove">Remove custom permissions</button>`}</div></form>`;
  const shown = problems.size > 0 ? `Error: ${title}` : title;
  return createFramedPage(request, parts, {
    ...{ title: shown, under: '/roles', content, here: name },
    between: [html`<a href="${paths.path(rolePage(role))}${suffix}">${role}</a>`],
  });
}

/** Own properties only: a field may be called `constructor`. */
function ownOf<T>(from: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

function fieldSection({ model, collection }: PermissionTarget, typed: Typed): Html | false {
  const inModel = model.fields(collection);
  const names = sorted([...inModel, ...Object.keys(typed.fields)]);
  if (names.length === 0) return false;
  const rows = names.map((name, at) => {
    const mark =
      !inModel.includes(name) && collection !== '*' && html` <span class="badge unsure">not in the model</span>`;
    const is = ownOf(typed.fields, name) ?? 'write';
    const options = fieldOptions.map(
      ([value, text]) => html`<option value="${value}"${value === is && html` selected`}>${text}</option>`,
    );
    return html`<li><label for="field-${at}">${name}${mark}</label><input type="hidden" name="field" value="${name}"><select id="field-${at}" name="field-is">${options}</select></li>`;
  });
  return html`<section><h2 class="plainly">Fields</h2><ul class="named">${rows}</ul></section>`;
}

function actionSection(
  { model, collection, variables }: PermissionTarget,
  typed: Typed,
  problems: ReadonlyMap<string, string>,
): Html | false {
  const inModel = model.actions(collection);
  const names = sorted([...inModel.map(({ name }) => name), ...Object.keys(typed.actions)]);
  if (names.length === 0) return false;
  const rows = names.map((name, at) => {
    const action = inModel.find((one) => one.name === name);
    const shown: TypedAction = ownOf(typed.actions, name) ?? { trigger: '', when: '', approval: '' };
    const { trigger, when, approval } = shown;
    const canHaveRows = model.collections.includes(collection) && action !== undefined && action.scope !== 'Global';
    const rows = canHaveRows && trigger === 'when' ? (shown.rows ?? rowsOf(when, collection, model)) : undefined;
    const prefix = conditionPrefix(at);
    const problem = problems.get(name);
    const [unclear] =
      trigger === 'when' && problems.size === 0 && !shown.rows
        ? model.findUnclear(collection, JSON.parse(when) as PlainFilter)
        : [];
    const kind = action ? `for ${scopeTexts[action.scope]}` : 'not in the model';
    return html`<fieldset class="action"><legend>${name} <small>${kind}</small></legend>
<div class="two"><input type="hidden" name="act" value="${name}">${selectField({ id: `act-${at}-trigger`, name: 'act-trigger', label: 'Who can run it', value: trigger, options: triggerOptions })}
${selectField({ id: `act-${at}-approval`, name: 'act-approval', label: 'Approval', value: approval, hint: 'Default: the same as for editing if the right to edit decides who can run it; otherwise no approval.', options: [['', 'default'], ['allow', 'not needed'], ...policyOptions] })}</div>
${unclear !== undefined && html`<p class="warning">This condition keeps its meaning, but cannot be saved again unchanged. ${unclear}</p>`}
${rows && problem !== undefined && html`<p class="note" role="alert">${problem}</p>`}
${rows && html`<p class="quietly">It runs only if every selected record matches.</p>${filterBuilder({ rows, describe: model.describe, collection, variables, prefix, about: `${name}: ` })}`}
${canHaveRows && trigger !== 'when' && html`<p><button class="plain slim" name="do" value="${prefix}open" aria-label="Set a condition for ${name}">Set a condition</button></p>`}
<input type="hidden" name="act-shown" value="${when}"><details class="more"${!rows && (trigger === 'when' || problem !== undefined) && html` open`}><summary>Condition as JSON</summary>
${areaField({ id: `act-${at}-when`, name: 'act-when', label: `Condition of ${name} (JSON filter)`, value: when, rows: 4, problem: rows ? undefined : problem, hint: html`Such as <code>{"field":"status","operator":"Equal","value":"paid"}</code>. Every selected record must match.` })}</details></fieldset>`;
  });
  return html`<section><h2 class="plainly">Actions</h2>${rows}</section>`;
}

/** Starts the names of the rows of one action. */
export const conditionPrefix = (at: number): string => `when-${at}.`;

/** The rows of a condition as JSON; undefined if they cannot show it. */
export function rowsOf(when: string, collection: string, model: ModelNames): Rows | undefined {
  const read = readJsonFilter(when);
  return 'problem' in read ? undefined : safeRows(read.filter, collection, model);
}

const scopeTexts: Readonly<Record<string, string>> = {
  Single: 'one record',
  Bulk: 'selected records',
  Global: 'no selected records',
};

/** Form values as typed, valid or not. */
export interface Typed {
  readonly may: ReadonlySet<string>;
  readonly approval: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  readonly actions: Readonly<Record<string, TypedAction>>;
  /** Whether the database may extend writes through cascades. */
  readonly cascades: boolean;
}

export interface TypedAction {
  /** `` (not set), `always`, `never` or `when`. */
  readonly trigger: string;
  readonly when: string;
  readonly approval: string;
  /** The condition as rows, if the form had them. */
  readonly rows?: Rows;
}

export interface PermissionTarget extends RoleTarget {
  /** Attributes of the current user that conditions can compare with. */
  readonly variables: readonly string[];
  readonly collection: string;
  readonly model: ModelNames;
}
