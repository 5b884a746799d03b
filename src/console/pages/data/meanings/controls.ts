// The controls for a meaning. What code says is shown, without a control.
import type { FieldMeaning } from '../../../../core/caller/meanings.ts';
import { type Html, html } from '../../../../http/html.ts';
import { areaField, checkField, field } from '../../../ui/form.ts';
import type { MeaningForm, ReadMeaning, Typed } from './texts.ts';

interface Controls {
  readonly form: MeaningForm;
  readonly typed: Typed;
  /** What code says. */
  readonly code: FieldMeaning;
  /** The comment of the database. */
  readonly comment?: string | undefined;
  readonly problems?: ReadMeaning['problems'] | undefined;
}

/** The parts that code leaves to the console. */
export const openParts = ({ parts }: MeaningForm, code: FieldMeaning): readonly (keyof FieldMeaning)[] =>
  parts.filter((part) => code[part] === undefined);

const labels: Readonly<Record<keyof FieldMeaning, string>> = {
  description: 'Description',
  synonyms: 'Other words for it',
  unit: 'Unit',
  examples: 'Examples',
  values: 'Meaning of the values',
  hiddenByDefault: 'Read only if named',
};

export function meaningControls({ form, typed, code, comment, problems }: Controls): readonly Html[] {
  const problemOf = (part: keyof FieldMeaning) => problems?.get(part);
  const control = (part: keyof FieldMeaning): Html => {
    const common = { id: part, label: labels[part], problem: problemOf(part) };
    if (part === 'description')
      return areaField({
        ...{ ...common, value: typed.description, rows: 3 },
        hint: `At most 500 characters.${comment === undefined ? '' : ` Without a text: “${comment}”, the comment of the database.`}`,
      });
    if (part === 'synonyms')
      return areaField({
        ...{ ...common, value: typed.synonyms, rows: 3 },
        hint: 'One on each line, at most 20. Searches find them.',
      });
    if (part === 'unit')
      return field({ ...common, value: typed.unit, maxLength: 255, hint: 'Such as EUR, kg or minutes.' });
    if (part === 'examples')
      return areaField({ ...common, value: typed.examples, rows: 3, hint: 'One on each line, at most 5.' });
    if (part === 'values') return valueControls(form, typed, common.problem);
    return checkField({
      ...{ id: part, name: part, checked: typed.hiddenByDefault, label: labels[part] },
      hint: 'Lists and searches leave the field out unless a call names it. Use it for long texts and technical values. It is not a permission.',
    });
  };
  return form.parts.map((part) => (code[part] === undefined ? control(part) : fixed(part, code[part])));
}

function valueControls({ enumValues }: MeaningForm, { values, ofValues }: Typed, problem: string | undefined): Html {
  const { values: label } = labels;
  if (!enumValues)
    return areaField({
      ...{ id: 'values', label, value: values, problem, rows: 4 },
      hint: 'A value, an equals sign and its meaning on each line, such as: A1 = Sent by air',
    });
  return html`<fieldset class="values"><legend>${label}</legend>${problem !== undefined && html`<p class="note" role="alert">${problem}</p>`}
${enumValues.map((value, at) => html`<input type="hidden" name="v.${at}.of" value="${value}">${field({ id: `v.${at}`, label: value, value: ofValues.get(value) ?? '' })}`)}</fieldset>`;
}

function fixed(part: keyof FieldMeaning, value: FieldMeaning[keyof FieldMeaning]): Html {
  return html`<div class="fixed field"><b>${labels[part]}</b><span>${wordsOf(value)}</span><small>Set in code</small></div>`;
}

function wordsOf(value: FieldMeaning[keyof FieldMeaning]): string {
  if (value === undefined || value === '') return 'None';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.join(', ');
  return Object.entries(value)
    .map(([each, text]) => `${each}: ${text}`)
    .join('; ');
}
