// An action form for a model. For each field it shows the allowed values, and whether its value is missing or invalid.
// It omits the layout, except the texts of HTML blocks, which may contain instructions.
import type { FieldAnswer, FormAnswer, LayoutAnswer } from '../../agent/actions/answer.ts';
import type { Option } from '../../agent/actions/elements.ts';
import { isFormFile } from '../../agent/actions/form-file.ts';
import { htmlToText } from '../../http/html-text.ts';
import { fitsTokens } from './tokens.ts';

/** The numbers of options per field, tried in order until the form fits the token budget. */
const optionSteps = [100, 30, 10, 3, 0];
const MAX_VALUE_CHARACTERS = 2000;

/** Widget settings that limit the values; all others only affect the display. */
const boundSettings = [
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
  searchResults: Readonly<Record<string, readonly Option[]>>,
  budgetTokens: number,
  description?: string,
): string {
  let text = '';
  for (const maxOptions of optionSteps) {
    text = JSON.stringify({ ...(description && { description }), ...toForm(answer, searchResults, maxOptions) });
    if (fitsTokens(text, budgetTokens)) break;
  }
  return text;
}

function toForm(
  answer: FormAnswer,
  searchResults: Readonly<Record<string, readonly Option[]>>,
  maxOptions: number,
): object {
  const { fields, layout, missing, problems, canExecute } = answer;
  const notes = layout ? collectTexts(layout) : [];
  return {
    fields: Object.fromEntries(fields.map((field) => [field.id, toField(field, searchResults[field.id], maxOptions)])),
    ...(notes.length > 0 && { notes }),
    ...(missing.length > 0 && { missing }),
    ...(problems.length > 0 && {
      problems: Object.fromEntries(problems.map(({ field, problem }) => [field, problem])),
    }),
    canExecute,
  };
}

function toField(field: FieldAnswer, searchResults: readonly Option[] | undefined, maxOptions: number): object {
  const { id, label, type, value, isRequired, isReadOnly, isWatched, description, enumValues, collectionName } = field;
  const options = searchResults ?? field.options;
  const settings = field.settings ?? {};
  return {
    type,
    ...(label !== id && { label }),
    ...(isRequired && { required: true }),
    ...(isReadOnly && { readOnly: true }),
    ...(value !== null && { value: formatValue(value) }),
    ...(enumValues && { values: limitItems(enumValues, maxOptions) }),
    ...(options && { options: limitItems(options.map(formatOption), maxOptions) }),
    ...(field.search === 'dynamic' && { search: 'more through searches' }),
    ...(collectionName !== undefined && { idOf: collectionName }),
    ...Object.fromEntries(boundSettings.filter((name) => name in settings).map((name) => [name, settings[name]])),
    ...(description !== undefined && { description }),
    ...(isWatched && { reload: true }),
  };
}

function limitItems(items: readonly unknown[], max: number): unknown {
  return items.length <= max ? items : [...items.slice(0, max), `... ${items.length - max} more`];
}

/** Only the value, if the label is the same text. */
function formatOption({ value, label }: Option): unknown {
  return label === String(value) ? value : { value, label };
}

/** File contents are never sent back. */
function formatValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formatValue);
  if (isFormFile(value)) return { name: value.name, mimeType: value.mimeType, bytes: value.content.length };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MAX_VALUE_CHARACTERS
    ? value
    : `${text.slice(0, MAX_VALUE_CHARACTERS)}…[${text.length} characters]`;
}

function collectTexts(layout: readonly LayoutAnswer[]): readonly string[] {
  return layout.flatMap((element): readonly string[] => {
    switch (element.component) {
      case 'HtmlBlock':
        return [htmlToText(element.content)].filter(Boolean);
      case 'Row':
        return collectTexts(element.fields);
      case 'Page':
        return collectTexts(element.elements);
      default:
        return [];
    }
  });
}
