// An action form for a model. For each field it shows the allowed values, and whether its value is missing or invalid.
// It omits the layout, except the texts of HTML blocks, which may contain instructions.
import type { AnsweredField, AnsweredLayout, FormAnswer } from '../../agent/actions/answer.ts';
import type { Option } from '../../agent/actions/elements.ts';
import { isFormFile } from '../../agent/actions/form-file.ts';
import { htmlToText } from './html-text.ts';
import { fitsTokens } from './tokens.ts';

/** The numbers of options per field, tried in order until the form fits the token budget. */
const optionSteps = [100, 30, 10, 3, 0];
const VALUE_CHARACTERS = 2000;

/** Widget settings that limit the values; all others only affect the display. */
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

/** `found`: the options of a search, by field. They replace the form's initial options. */
export function formText(
  answer: FormAnswer,
  found: Readonly<Record<string, readonly Option[]>>,
  budgetTokens: number,
  description?: string,
): string {
  let text = '';
  for (const most of optionSteps) {
    text = JSON.stringify({ ...(description && { description }), ...formOf(answer, found, most) });
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

/** Only the value, if the label is the same text. */
function optionText({ value, label }: Option): unknown {
  return label === String(value) ? value : { value, label };
}

/** File contents are never sent back. */
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
