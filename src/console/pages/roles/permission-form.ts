// Form for the permissions of one role on one collection.

import { verbs, type WriteVerb } from '../../../core/caller.ts';
import type { PlainFilter } from '../../../core/filter.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Page } from '../../../http/page.ts';
import type { MemberVisit, Parts } from '../../page-request.ts';
import { areaField, checkField, formOf, type Option, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import type { ModelNames } from '../rights/model.ts';
import { collectionPage, permissionPage, rolePage } from '../rights/places.ts';
import { baseOf } from '../rights/proposal.ts';
import type { Asked } from './role.ts';

import { permissionOf } from './role.ts';

const verbTexts: Readonly<Record<(typeof verbs)[number], readonly [label: string, hint: string]>> = {
  browse: ['Browse', 'See that there is a collection, and its records'],
  read: ['Read', 'What concerns one record, such as its charts'],
  edit: ['Edit', 'Change records, and trigger actions that are not named below'],
  add: ['Add', 'Make records'],
  delete: ['Delete', 'Remove records'],
  export: ['Export', 'Take whole lists away as a file'],
};

const wishOptions: readonly Option[] = [
  ['ask', 'the person at the assistant'],
  ['ask-person', 'a person, in the console'],
  ['second', 'another person, in the console'],
  ['deny', 'denied, whoever says yes'],
];

const fieldOptions: readonly Option[] = [
  ['write', 'seen and written'],
  ['read', 'seen, not written'],
  ['hidden', 'hidden'],
];

const triggerOptions: readonly Option[] = [
  ['', 'by those who may edit'],
  ['always', 'always'],
  ['never', 'never'],
  ['when', 'on a condition'],
];

const writes: readonly (readonly [WriteVerb, string])[] = [
  ['add', 'To add'],
  ['edit', 'To edit'],
  ['delete', 'To delete'],
];

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));

export function permissionForm(
  visit: MemberVisit,
  parts: Parts,
  asked: AskedCollection,
  typed: Typed,
  problems: ReadonlyMap<string, string> = new Map(),
): Page {
  const { role, collection, environment, model, rights, suffix } = asked;
  const { paths } = parts;
  const { own } = permissionOf(asked, collection);
  const isRest = collection === '*';
  const name = isRest ? 'Every other collection' : collection;
  const known = isRest || model.collections.includes(collection);
  const base = visit.form.get('base') ?? baseOf(rights, { kind: 'permission', path: [role, environment, collection] });
  const title = `${name}, ${role}`;
  const content = html`<p class="quietly"><a href="${paths.path('/roles')}">Roles</a> / <a href="${paths.path(rolePage(role))}${suffix}">${role}</a></p><h1>${name}</h1>
<p class="lead">What ${role} may do with it in ${environment}. ${!own && !isRest && html`It has no line of its own: what stands here is what <a href="${paths.path(permissionPage(role, '*'))}${suffix}">every other collection</a> says. Saving something else gives it one, which holds alone.`}${known && !isRest && html` <a href="${paths.path(collectionPage(collection))}">What is in it</a>`}</p>
${!known && html`<p class="warning">The model has no collection of this name. The line does nothing until there is one.</p>`}
${problems.size > 0 && html`<p class="alert" role="alert">Nothing was saved. ${[...problems.keys()].join(', ')}: see below.</p>`}
${formOf(visit, parts, permissionPage(role, collection))}<input type="hidden" name="in" value="${environment}"><input type="hidden" name="base" value="${base}">
<section><h2 class="plainly">May</h2><div class="ticks">${verbs.map((verb) => checkField({ id: `may-${verb}`, name: 'may', value: verb, label: verbTexts[verb][0], hint: verbTexts[verb][1], checked: typed.may.has(verb) }))}</div></section>
<section><h2 class="plainly">Other records</h2>${checkField({ id: 'cascades', name: 'cascades', label: 'The database may extend a write', hint: 'ON DELETE CASCADE, SET NULL and the like, to these records or from them to others; only with the rights to write those', checked: typed.cascades })}</section>
<section><h2 class="plainly">Whose yes it needs</h2><div class="trio">${writes.map(([verb, label]) => html`<div><input type="hidden" name="verb" value="${verb}">${selectField({ id: `verb-${verb}`, name: 'verb-is', label, value: typed.approval[verb] ?? '', options: [['', 'nobody’s'], ...(typed.approval[verb] === 'allow' ? [['allow', 'nobody’s, said so'] as const] : []), ...wishOptions] })}</div>`)}</div></section>
${fieldSection(asked, typed)}
${actionSection(asked, typed, problems)}
<div class="row-of-buttons"><button class="primary slim" name="action" value="review">Look at the changes</button>${own && html`<button class="plain slim" name="action" value="remove">Remove this line</button>`}</div></form>`;
  const shown = problems.size > 0 ? `Error: ${title}` : title;
  return createFramed(visit, parts, { title: shown, under: '/roles', content });
}

/** Own properties only: a field may be called `constructor`. */
function ownOf<T>(from: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

function fieldSection({ model, collection }: AskedCollection, typed: Typed): Html | false {
  const there = model.fields(collection);
  const names = sorted([...there, ...Object.keys(typed.fields)]);
  if (names.length === 0) return false;
  const rows = names.map((name, at) => {
    const mark =
      !there.includes(name) && collection !== '*' && html` <span class="badge unsure">not in the model</span>`;
    const is = ownOf(typed.fields, name) ?? 'write';
    const options = fieldOptions.map(
      ([value, text]) => html`<option value="${value}"${value === is && html` selected`}>${text}</option>`,
    );
    return html`<li><label for="field-${at}">${name}${mark}</label><input type="hidden" name="field" value="${name}"><select id="field-${at}" name="field-is">${options}</select></li>`;
  });
  return html`<section><h2 class="plainly">Fields</h2><ul class="named">${rows}</ul></section>`;
}

function actionSection(
  { model, collection }: AskedCollection,
  typed: Typed,
  problems: ReadonlyMap<string, string>,
): Html | false {
  const there = model.actions(collection);
  const names = sorted([...there.map(({ name }) => name), ...Object.keys(typed.actions)]);
  if (names.length === 0) return false;
  const rows = names.map((name, at) => {
    const action = there.find((one) => one.name === name);
    const { trigger, when, approval } = ownOf(typed.actions, name) ?? { trigger: '', when: '', approval: '' };
    const problem = problems.get(name);
    const [unclear] =
      trigger === 'when' && problems.size === 0 ? model.findUnclear(collection, JSON.parse(when) as PlainFilter) : [];
    const kind = action ? `about ${scopeTexts[action.scope]}` : 'not in the model';
    return html`<fieldset class="action"><legend>${name} <small>${kind}</small></legend>
<div class="two"><input type="hidden" name="act" value="${name}">${selectField({ id: `act-${at}-trigger`, name: 'act-trigger', label: 'May be triggered', value: trigger, options: triggerOptions })}
${selectField({ id: `act-${at}-approval`, name: 'act-approval', label: 'Whose yes it needs', value: approval, options: [['', 'as the trigger says'], ['allow', 'nobody’s'], ...wishOptions] })}</div>
${unclear !== undefined && html`<p class="warning">This condition goes on meaning what it did, and cannot be saved again as it is. ${unclear}</p>`}
<details class="more"${(trigger === 'when' || problem !== undefined) && html` open`}><summary>Condition</summary>
${areaField({ id: `act-${at}-when`, name: 'act-when', label: `Every record must satisfy, to trigger ${name}`, value: when, rows: 4, problem, hint: html`A filter as JSON, such as <code>{"field":"status","operator":"Equal","value":"paid"}</code>` })}</details></fieldset>`;
  });
  return html`<section><h2 class="plainly">Actions</h2>${rows}</section>`;
}

const scopeTexts: Readonly<Record<string, string>> = {
  Single: 'one record',
  Bulk: 'chosen records',
  Global: 'no chosen records',
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
}

export interface AskedCollection extends Asked {
  readonly collection: string;
  readonly model: ModelNames;
}
