// A form as a model is told it: every field in as few words as say what may be sent, what is still missing or wrong, and
// nothing of how it would be drawn but the texts of its HTML blocks, which may hold instructions.
import type { AnsweredField, AnsweredLayout, FormAnswer } from '../../agent/actions/answer.ts';
import type { Option } from '../../agent/actions/elements.ts';
import { isFormFile } from '../../agent/actions/form-file.ts';
import { htmlToText } from './html-text.ts';
import { fitsTokens } from './tokens.ts';

/** Options of a field that are shown, least of all the last, so that the form fits the budget of an answer. */
const optionSteps = [100, 30, 10, 3, 0];
const VALUE_CHARACTERS = 2000;

/** Settings of widgets that bound what may be sent; the others say how a field looks. */
const bounds = [
  'min',
  'max',
  'step',
  'currency',
  'base',
  'minItems',
  'maxItems',
  'maxCount',
  'extensions',
  'maxSizeMb',
] as const;

/** `found`: by field, the options that its search gave, in place of those that the form offers at first. */
export function formText(
  answer: FormAnswer,
  found: Readonly<Record<string, readonly Option[]>>,
  budgetTokens: number,
): string {
  let text = '';
  for (const most of optionSteps) {
    text = JSON.stringify(formOf(answer, found, most));
    if (fitsTokens(text, budgetTokens)) break;
  }
  return text;
}

function formOf(answer: FormAnswer, found: Readonly<Record<string, readonly Option[]>>, most: number): object {
  const { fields, layout, missing, problems, canExecute } = answer;
  const notes = layout ? textsOf(layout) : [];
  return {
    fields: Object.fromEntries(fields.map((field) => [field.id, fieldOf(field, found[field.id], most)])),
    ...(notes.length > 0 && { notes }),
    ...(missing.length > 0 && { missing }),
    ...(problems.length > 0 && {
      problems: Object.fromEntries(problems.map(({ field, problem }) => [field, problem])),
    }),
    canExecute,
  };
}

function fieldOf(field: AnsweredField, found: readonly Option[] | undefined, most: number): object {
  const { id, label, type, value, isRequired, isReadOnly, isWatched, description, enumValues, collectionName } = field;
  const options = found ?? field.options;
  const settings = field.settings ?? {};
  return {
    type,
    ...(label !== id && { label }),
    ...(isRequired && { required: true }),
    ...(isReadOnly && { readOnly: true }),
    ...(value !== null && { value: shownValue(value) }),
    ...(enumValues && { values: firstOf(enumValues, most) }),
    ...(options && { options: firstOf(options.map(optionText), most) }),
    ...(field.search === 'dynamic' && { search: 'more by searches' }),
    ...(collectionName !== undefined && { idOf: collectionName }),
    ...Object.fromEntries(bounds.filter((name) => name in settings).map((name) => [name, settings[name]])),
    ...(description !== undefined && { description }),
    ...(isWatched && { reload: true }),
  };
}

function firstOf(items: readonly unknown[], most: number): unknown {
  return items.length <= most ? items : [...items.slice(0, most), `... ${items.length - most} more`];
}

/** The value alone where the label says no more. */
function optionText({ value, label }: Option): unknown {
  return label === String(value) ? value : { value, label };
}

/** The content of a file is never sent back. */
function shownValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownValue);
  if (isFormFile(value)) return { name: value.name, mimeType: value.mimeType, bytes: value.content.length };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= VALUE_CHARACTERS ? value : `${text.slice(0, VALUE_CHARACTERS)}…[${text.length} characters]`;
}

function textsOf(layout: readonly AnsweredLayout[]): readonly string[] {
  return layout.flatMap((element): readonly string[] => {
    switch (element.component) {
      case 'HtmlBlock':
        return [htmlToText(element.content)].filter(Boolean);
      case 'Row':
        return textsOf(element.fields);
      case 'Page':
        return textsOf(element.elements);
      default:
        return [];
    }
  });
}
