// The form of a record: a control for each field that the viewer may write. An edit sends only what the person changed.
// The form carries a hash of each shown value, so a change by somebody else in the meantime is found.
import type { CollectionDescription, FieldDescription, ListAnswer } from '../../../agent/requests.ts';
import { isAppError } from '../../../core/errors.ts';
import { hashToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import { parseInput } from '../../../workflows/input-requests/answers.ts';
import { columnTypes, type InputRequestField } from '../../../workflows/input-requests/fields.ts';
import { inputName, textOf, valueInput } from '../../ui/value-input.ts';

/** Longer values do not fit a form, and are left as they are. */
const MAX_VALUE_CHARACTERS = 20_000;

/** A field as a control. Files and long values have none. */
export function formFields(
  described: CollectionDescription,
  answer: Pick<ListAnswer, 'columns' | 'rows' | 'files'> | undefined,
): readonly InputRequestField[] {
  return described.fields.flatMap((field): readonly InputRequestField[] => {
    const { name, readOnly, isKey, binaryMode } = field;
    if (readOnly || binaryMode === 'datauri' || (answer && isKey)) return [];
    const at = answer ? answer.columns.indexOf(name) : -1;
    if (answer && at < 0) return [];
    const value = at < 0 ? undefined : answer!.rows[0]![at];
    if (textOf(value).length > MAX_VALUE_CHARACTERS) return [];
    return [toInput(field, value, answer === undefined)];
  });
}

function toInput(field: FieldDescription, value: unknown, isNew: boolean): InputRequestField {
  const { name, type, nullable, required, enumValues, unit, description, values = {} } = field;
  const known = columnTypes[type] ?? (/^\[(String|Enum)\]$/.test(type) ? 'list' : type === 'Binary' ? 'text' : 'json');
  const options = enumValues?.map((each) => ({ value: each, label: values[each] ? `${each}: ${values[each]}` : each }));
  const yesNo = [
    { value: 'true', label: 'Yes' },
    { value: 'false', label: 'No' },
  ];
  const isFlag = known === 'boolean';
  const hint = [description, nullable && !isNew && value !== null && 'Leave it empty for no value.']
    .filter(Boolean)
    .join(' ');
  return {
    name,
    label: unit === undefined ? name : `${name} (${unit})`,
    // A check mark cannot say "no value".
    type: isFlag ? 'enum' : known === 'text' && options ? 'enum' : known,
    required: isNew ? required : !nullable && known !== 'text' && known !== 'list',
    ...(value !== undefined && value !== null && { value: isFlag ? String(value) : value }),
    ...(isFlag ? { options: yesNo } : options && { options }),
    ...(hint !== '' && { description: hint }),
  };
}

const shownText = ({ value }: InputRequestField): string => normal(textOf(value));
/** Browsers send line breaks as CRLF. */
const normal = (text: string): string => text.replaceAll('\r\n', '\n');
const hashOf = (text: string): string => hashToken(text).slice(0, 16);

/** The controls, with the hash of each shown value. */
export function recordInputs(
  fields: readonly InputRequestField[],
  submitted: URLSearchParams | undefined,
  problems: ReadonlyMap<string, string>,
  lookups: ReadonlyMap<string, Html>,
): Html {
  return html`${fields.map((field, at) => {
    const control =
      lookups.get(field.name) ??
      valueInput(field, at, {
        submitted,
        fileLimitBytes: 0,
        isRecord: true,
        submittedProblem: problems.get(field.name),
        isRetry: submitted !== undefined,
      });
    return html`${control}<input type="hidden" name="was.${field.name}" value="${submitted?.get(`was.${field.name}`) ?? hashOf(shownText(field))}">`;
  })}`;
}

interface ReadRecord {
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: ReadonlyMap<string, string>;
}

/** The values that the person entered or changed. */
export function readRecord(
  fields: readonly InputRequestField[],
  form: URLSearchParams,
  described: CollectionDescription,
  isNew: boolean,
): ReadRecord {
  const values: [string, unknown][] = [];
  const problems = new Map<string, string>();
  for (const field of fields) {
    const { name } = field;
    if (!form.has(inputName(field))) continue;
    const text = normal(form.getAll(inputName(field)).join('\n'));
    if (isNew ? text === '' : hashOf(text) === form.get(`was.${name}`)) continue;
    if (text === '') {
      const { nullable = false, type = '' } = described.fields.find((each) => each.name === name) ?? {};
      values.push([name, nullable || type !== 'String' ? null : '']);
      continue;
    }
    try {
      values.push([name, toValue(field, text)]);
    } catch (error) {
      if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
      problems.set(name, error.details.problem);
    }
  }
  return { values: Object.fromEntries(values), problems };
}

/** The value of a text that is not empty. Throws INVALID_ARGUMENT for a text that does not fit the field. */
export function toValue(field: InputRequestField, text: string): unknown {
  if (field.type === 'enum' && field.options?.every(({ value }) => value === 'true' || value === 'false'))
    return parseInput({ ...field, type: 'boolean' }, text);
  if (field.type === 'list')
    return parseInput(
      field,
      text
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    );
  return field.type === 'text' ? text : parseInput(field, text);
}

/** Fields whose stored value is no longer the one that the form showed. */
export const changedMeanwhile = (
  fields: readonly InputRequestField[],
  form: URLSearchParams,
): readonly InputRequestField[] =>
  fields.filter((field) => {
    const was = form.get(`was.${field.name}`);
    return was !== null && was !== hashOf(shownText(field));
  });
