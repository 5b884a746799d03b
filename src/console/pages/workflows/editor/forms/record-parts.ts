// Parts about records: the fields that a step reads, and the related record that it loads.
import type { PlainSort } from '../../../../../core/filter.ts';
import { type Html, html, visibleText } from '../../../../../http/html.ts';
import { findField } from '../../../../ui/filter/fields.ts';
import { checkField, type Option, selectField } from '../../../../ui/form.ts';
import { fillFilter, readFilter, showFilter } from './filter-part.ts';
import type { FormContext, Part } from './part.ts';

/** Fields of the record by its own name, and those of related records as `relation:field`. */
function readableFields({
  describe,
  collection,
}: FormContext): readonly (readonly [group: string, names: readonly string[]])[] {
  const described = describe(collection);
  const related = (described?.relations ?? []).filter(({ kind, fields }) => kind === 'one' && !fields);
  return [
    ['', (described?.fields ?? []).map(({ name }) => name)],
    ...related.map(
      ({ name, to }) => [name, (describe(to)?.fields ?? []).map((field) => `${name}:${field.name}`)] as const,
    ),
  ];
}

export const fieldsPart: Part = {
  prefix: 'field',
  fill({ fields = [] }, set, context) {
    // Check marks are sent in the order of the page, and with the text that it shows.
    const known = readableFields(context).flatMap(([, names]) => names);
    for (const name of new Set([...fields.filter((each) => !known.includes(each)), ...known]))
      if (fields.includes(name)) set('field', visibleText(name));
  },
  show({ context, form, problem }) {
    const chosen = form.getAll('field');
    const groups = readableFields(context);
    const known = groups.flatMap(([, names]) => names);
    const other = [...new Set(chosen.filter((name) => !known.includes(name)))];
    let at = 0;
    const ticks = (names: readonly string[]): Html =>
      html`<div class="ticks">${names.map((name) => checkField({ id: `field-${at++}`, name: 'field', value: name, label: name.split(':').at(-1)!, checked: chosen.includes(name) }))}</div>`;
    const wrong = problem('fields');
    return html`<fieldset class="wf-set"><legend>Fields to read</legend><p class="hint">Later steps can use these values.</p>
${wrong !== undefined && html`<p class="note" role="alert">${wrong}</p>`}
${other.length > 0 && html`<div class="ticks">${other.map((name) => checkField({ id: `field-${at++}`, name: 'field', value: name, label: name, checked: true }))}</div>`}
${groups.map(([group, names]) => {
  if (names.length === 0) return html``;
  if (group === '') return ticks(names);
  const isOpen = names.some((name) => chosen.includes(name));
  return html`<details class="more"${isOpen && html` open`}><summary>Fields of ${group}</summary>${ticks(names)}</details>`;
})}</fieldset>`;
  },
  read({ context, form, fail }) {
    const chosen = [...new Set(form.getAll('field'))];
    if (chosen.length === 0) fail('fields', 'Choose at least one field.');
    const old = context.base.fields ?? [];
    const kept = old.filter((name) => chosen.includes(visibleText(name)));
    return { fields: [...kept, ...chosen.filter((name) => !kept.some((each) => visibleText(each) === name))] };
  },
};

export const relationPart: Part = {
  prefix: 'relation',
  fill: (step, set) => set('relation', step.relation ?? ''),
  show({ context, form, problem }) {
    const { relations = [] } = context.describe(context.collection) ?? {};
    const names = relations.filter(({ fields }) => !fields).map(({ name }) => name);
    const value = form.get('relation') ?? '';
    const known = names.includes(value) || value === '' ? names : [value, ...names];
    return selectField({
      ...{ id: 'relation', label: 'Relation', value, problem: problem('relation') },
      hint: 'To choose conditions or an order, press “Update the form” after changing this.',
      options: [['', 'Choose'], ...known.map((name): Option => [name, name])],
    });
  },
  read({ form, fail }) {
    const relation = form.get('relation') ?? '';
    if (relation === '') fail('relation', 'Choose a relation.');
    return { relation };
  },
};

/** The collection that the chosen relation leads to. */
function targetOf({ describe, collection }: FormContext, relation: string | null | undefined): string | undefined {
  const found = describe(collection)?.relations.find(({ name }) => name === relation);
  return found && describe(found.to) ? found.to : undefined;
}

export const relatedFilterPart: Part = {
  prefix: 'filter.',
  fill({ filter, relation }, set, context) {
    fillFilter(filter, { context, prefix: 'filter.', collection: targetOf(context, relation) ?? '' }, set);
  },
  show({ context, form, problem }) {
    const collection = targetOf(context, form.get('relation'));
    // Without a known relation there is nothing to choose from, but a stored filter stays.
    if (collection === undefined && !form.has('filter.json'))
      return html`<input type="hidden" name="filter.match" value="And">`;
    return html`<fieldset class="wf-set"><legend>Only records that match</legend>${showFilter({ context, prefix: 'filter.', collection: collection ?? '', form }, { about: '', problem: problem('filter') })}</fieldset>`;
  },
  read({ context, form, fail }) {
    const collection = targetOf(context, form.get('relation')) ?? '';
    const controls = { context, prefix: 'filter.', collection, form };
    return { filter: readFilter(controls, context.base.filter, (text) => fail('filter', text)) };
  },
};

const MAX_SORTS = 5;
const directions: readonly Option[] = [
  ['up', 'lowest first'],
  ['down', 'highest first'],
];

export const sortPart: Part = {
  prefix: 'sort.',
  fill({ sort = [] }, set) {
    for (const [at, { field, ascending = true }] of sort.entries()) {
      set(`sort.${at}.field`, field);
      set(`sort.${at}.way`, ascending ? 'up' : 'down');
    }
    for (let at = sort.length; at < Math.min(MAX_SORTS, sort.length + 1); at++) set(`sort.${at}.way`, 'up');
  },
  show({ context, form, problem }) {
    const collection = targetOf(context, form.get('relation')) ?? '';
    const names = (context.describe(collection)?.fields ?? []).flatMap(({ name, sortable }) =>
      sortable ? [name] : [],
    );
    const filled = Array.from({ length: MAX_SORTS }, (_, at) => form.get(`sort.${at}.field`) ?? '').filter(
      Boolean,
    ).length;
    const rows = Array.from({ length: Math.min(MAX_SORTS, filled + 1) }, (_, at) => {
      const chosen = form.get(`sort.${at}.field`) ?? '';
      const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names];
      return html`<div class="two">${selectField({ id: `sort.${at}.field`, label: at === 0 ? 'Order by' : 'Then by', value: chosen, options: [['', at === 0 ? 'The key' : 'Nothing'], ...known.map((name): Option => [name, findField(context.describe, collection, name)?.label ?? name])] })}${selectField({ id: `sort.${at}.way`, label: 'Direction', value: form.get(`sort.${at}.way`) ?? 'up', options: directions })}</div>`;
    });
    const wrong = problem('sort');
    return html`<fieldset class="wf-set"><legend>The first record, in this order</legend>${wrong !== undefined && html`<p class="note" role="alert">${wrong}</p>`}${rows}</fieldset>`;
  },
  read({ context, form }) {
    const { sort: old = [] } = context.base;
    const sort = Array.from({ length: MAX_SORTS }, (_, at): readonly PlainSort[] => {
      const field = form.get(`sort.${at}.field`) ?? '';
      const ascending = form.get(`sort.${at}.way`) !== 'down';
      const same = old[at]?.field === field && (old[at].ascending ?? true) === ascending ? old[at] : undefined;
      return field === '' ? [] : [same ?? { field, ...(!ascending && { ascending }) }];
    }).flat();
    return { sort: sort.length > 0 ? sort : undefined };
  },
};
