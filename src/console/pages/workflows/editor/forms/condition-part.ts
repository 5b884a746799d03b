// The options of a condition: each with its label, its filter and the step that it leads to. Their order counts: the
// first option with a matching filter is taken.
import { html, visibleText } from '../../../../../http/html.ts';
import type { StepOf } from '../../../../../workflows/definition/definition.ts';
import { field, selectField } from '../../../../ui/form.ts';
import { createId } from '../connections.ts';
import { fillFilter, readFilter, showFilter } from './filter-part.ts';
import { type FormContext, isUnchanged, oneLine, type Part, rowsIn, textFrom } from './part.ts';
import { fillNext, readNext, stepChoices } from './parts.ts';

type ConditionOption = StepOf<'condition'>['options'][number];

export const MAX_OPTIONS = 20;

/** `mark`: the position of the stored option; '' for a new one. */
function fillOption(
  { id, label, when, next }: ConditionOption,
  { mark, prefix, context }: { readonly mark: string; readonly prefix: string; readonly context: FormContext },
  set: (name: string, value: string) => void,
): void {
  set(`${prefix}mark`, mark);
  set(`${prefix}label`, oneLine(label ?? id));
  set(`${prefix}next`, fillNext(next, true));
  fillFilter(when, { context, prefix: `${prefix}w.`, collection: context.collection }, set);
}

export const optionsPart: Part = {
  prefix: 'o.',
  fill({ options = [] }, set, context) {
    for (const [at, option] of options.entries()) {
      // An option without an id is one of a new step.
      fillOption(option, { mark: option.id === '' ? '' : `${at}`, prefix: `o.${at}.`, context }, set);
    }
  },
  show({ context, form, problem }) {
    const rows = rowsIn(form, 'o', MAX_OPTIONS);
    const shown = rows.map((prefix, at) => {
      const label = form.get(`${prefix}label`) ?? '';
      const about = `Option ${at + 1}: `;
      const button = (action: string, text: string) =>
        html`<button class="plain slim" name="action" value="${action}:${at}" formnovalidate aria-label="${text} option ${at + 1}">${text}</button>`;
      return html`<fieldset class="wf-part"><legend>Option ${at + 1}</legend><input type="hidden" name="${prefix}mark" value="${form.get(`${prefix}mark`)}">
${field({ id: `${prefix}label`, label: 'Label', value: label, maxLength: 191, problem: problem(`options.${at}.label`) ?? problem(`options.${at}.id`) })}
${showFilter({ context, prefix: `${prefix}w.`, collection: context.collection, form }, { about, problem: problem(`options.${at}.when`) })}
${context.counts.get(at)}
${selectField({ id: `${prefix}next`, label: 'Leads to', value: form.get(`${prefix}next`) ?? '-', options: stepChoices(context, 'The next step below'), problem: problem(`options.${at}.next`) })}
<div class="fb-tools">${at > 0 && button('up-o', 'Move up')}${rows.length > 2 && button('remove-o', 'Remove')}</div></fieldset>`;
    });
    const wrong = problem('options');
    const isOwn = rows.some((_, at) => problem(`options.${at}`) !== undefined);
    return html`<fieldset class="wf-set"><legend>Options</legend><p class="hint">The first option whose conditions the record satisfies is taken. An option without conditions always matches, so put it last.</p>
${wrong !== undefined && !isOwn && html`<p class="note" role="alert">${wrong}</p>`}${shown}
<div class="fb-tools">${rows.length < MAX_OPTIONS && html`<button class="plain slim" name="action" value="add-o" formnovalidate>Add an option</button>`}<button class="plain slim" name="action" value="count" formnovalidate>Count the matching records</button></div></fieldset>`;
  },
  read({ context, form, fail }) {
    const old = context.base.options ?? [];
    const options: ConditionOption[] = [];
    for (const [at, prefix] of rowsIn(form, 'o', MAX_OPTIONS).entries()) {
      const mark = form.get(`${prefix}mark`) ?? '';
      const base = mark === '' ? undefined : old[Number(mark)];
      const shown = new URLSearchParams();
      if (base) fillOption(base, { mark, prefix, context }, (name, value) => shown.append(name, visibleText(value)));
      if (base && isUnchanged(form, shown, prefix)) {
        options.push(base);
        continue;
      }
      const label = textFrom(form, `${prefix}label`);
      if (label === '') fail(`options.${at}.label`, 'Enter a label.');
      const isSameLabel = base !== undefined && label === textFrom(shown, `${prefix}label`);
      const controls = { context, prefix: `${prefix}w.`, collection: context.collection, form };
      const when = readFilter(controls, base?.when, (text) => fail(`options.${at}.when`, text));
      const isSameNext = base !== undefined && isUnchanged(form, shown, `${prefix}next`);
      const next = isSameNext ? base.next : readNext(form.get(`${prefix}next`) ?? '-');
      const { label: oldLabel, when: _when, next: _next, ...rest } = base ?? {};
      const taken = [...old, ...options].map(({ id }) => id);
      const nextLabel = isSameLabel ? oldLabel : label;
      options.push({
        ...rest,
        id: base?.id || createId(label, taken, 'option'),
        ...(nextLabel !== undefined && nextLabel !== '' && { label: nextLabel }),
        ...(when !== undefined && { when }),
        ...(next !== undefined && { next }),
      });
    }
    return { options };
  },
};
