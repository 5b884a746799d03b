// The texts of a meaning in a form: as typed, and as they are stored.
import type { FieldDescription } from '../../../../agent/requests.ts';
import { type FieldMeaning, MAX_VALUES } from '../../../../core/caller/meanings.ts';

/** What a form can say of a collection, field or relation. */
export interface MeaningForm {
  readonly parts: readonly (keyof FieldMeaning)[];
  /** The values that have a control each. Undefined if values are typed. */
  readonly enumValues: readonly string[] | undefined;
  readonly type: string;
}

/** As typed. */
export interface Typed {
  readonly description: string;
  readonly synonyms: string;
  readonly unit: string;
  readonly examples: string;
  /** Lines such as `A1 = Sent by air`. */
  readonly values: string;
  /** By value. */
  readonly ofValues: ReadonlyMap<string, string>;
  readonly hiddenByDefault: boolean;
}

export const textForm: MeaningForm = { parts: ['description', 'synonyms'], enumValues: undefined, type: '' };

const valueTypes = ['String', 'Number', 'Boolean', 'Enum'];
const exampleTypes = ['String', 'Number', 'Boolean', 'Date', 'Dateonly', 'Timeonly', 'Uuid'];

/** What can be said of a field of its type. */
export function formOf({ type, isKey, enumValues }: FieldDescription): MeaningForm {
  const values = type === 'Boolean' ? ['true', 'false'] : enumValues;
  const parts: (keyof FieldMeaning)[] = [
    ...textForm.parts,
    ...(type === 'Number' ? (['unit'] as const) : []),
    ...(exampleTypes.includes(type) ? (['examples'] as const) : []),
    ...(valueTypes.includes(type) ? (['values'] as const) : []),
    ...(isKey ? [] : (['hiddenByDefault'] as const)),
  ];
  return { parts, type, enumValues: values && values.length <= MAX_VALUES ? values : undefined };
}

export function toTyped(stored: FieldMeaning = {}): Typed {
  const { description = '', synonyms = [], unit = '', examples = [], values = {}, hiddenByDefault = false } = stored;
  const entries = Object.entries(values);
  return {
    ...{ description, unit, hiddenByDefault },
    synonyms: synonyms.join('\n'),
    examples: examples.join('\n'),
    values: entries.map(([value, text]) => `${value} = ${text}`).join('\n'),
    ofValues: new Map(entries),
  };
}

export function readTyped(form: URLSearchParams): Typed {
  const text = (name: string) => form.get(name) ?? '';
  const ofValues = Array.from({ length: MAX_VALUES }, (_, at) => at).flatMap((at) =>
    form.has(`v.${at}.of`) ? [[text(`v.${at}.of`), text(`v.${at}`)] as const] : [],
  );
  return {
    ...{ description: text('description'), synonyms: text('synonyms'), unit: text('unit') },
    ...{ examples: text('examples'), values: text('values'), ofValues: new Map(ofValues) },
    hiddenByDefault: form.has('hiddenByDefault'),
  };
}

export interface ReadMeaning {
  /** Null if it says nothing. */
  readonly value: FieldMeaning | null;
  readonly problems: ReadonlyMap<keyof FieldMeaning, string>;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const linesOf = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .map(oneLine)
    .filter((line) => line !== '');
const tooLong = (text: string, most: number): string => `At most ${most} characters. This text has ${text.length}.`;

/** `offered`: the parts that the form has. */
export function readMeaning(typed: Typed, form: MeaningForm, offered: readonly (keyof FieldMeaning)[]): ReadMeaning {
  const problems = new Map<keyof FieldMeaning, string>();
  const refuse = (part: keyof FieldMeaning, problem: string | undefined) => {
    if (problem !== undefined && !problems.has(part)) problems.set(part, problem);
  };
  const has = (part: keyof FieldMeaning) => offered.includes(part);
  const description = has('description') ? oneLine(typed.description) : '';
  const synonyms = has('synonyms') ? linesOf(typed.synonyms) : [];
  const unit = has('unit') ? oneLine(typed.unit) : '';
  const examples = has('examples') ? linesOf(typed.examples).map((line) => toExample(line, form.type)) : [];
  const values = has('values') ? readValues(typed, form, refuse) : {};
  if (description.length > 500) refuse('description', tooLong(description, 500));
  if (unit.length > 30) refuse('unit', tooLong(unit, 30));
  refuse('synonyms', findListProblem(synonyms, 20, 'words'));
  refuse('examples', findListProblem(examples, 5, 'examples'));
  if (examples.includes(undefined))
    refuse('examples', form.type === 'Number' ? 'Enter numbers, one on each line.' : 'Enter true or false.');
  const value: FieldMeaning = {
    ...(description !== '' && { description }),
    ...(synonyms.length > 0 && { synonyms }),
    ...(unit !== '' && { unit }),
    ...(examples.length > 0 && { examples: examples as readonly (string | number | boolean)[] }),
    ...(Object.keys(values).length > 0 && { values }),
    ...(has('hiddenByDefault') && typed.hiddenByDefault && { hiddenByDefault: true }),
  };
  return { value: Object.keys(value).length > 0 ? value : null, problems };
}

function findListProblem(list: readonly unknown[], most: number, what: string): string | undefined {
  if (list.length > most) return `At most ${most} ${what}. You entered ${list.length}.`;
  const long = list.find((each) => typeof each === 'string' && each.length > 60);
  return long === undefined ? undefined : `At most 60 characters on a line. '${String(long).slice(0, 60)}…' is longer.`;
}

/** Undefined for a text that the type does not have. */
function toExample(line: string, type: string): string | number | boolean | undefined {
  if (type === 'Number') return Number.isFinite(Number(line)) ? Number(line) : undefined;
  if (type === 'Boolean') return line === 'true' || line === 'false' ? line === 'true' : undefined;
  return line;
}

function readValues(
  { values, ofValues }: Typed,
  { enumValues }: MeaningForm,
  refuse: (part: 'values', problem: string) => void,
): Readonly<Record<string, string>> {
  const entries = enumValues
    ? enumValues.map((value) => [value, oneLine(ofValues.get(value) ?? '')] as const)
    : linesOf(values).map((line) => {
        const [value = '', text = ''] = line.split(/ ?= ?(.*)/s);
        if (value === '' || text === '')
          refuse('values', `Enter a value, an equals sign and its meaning on each line: '${line.slice(0, 60)}'.`);
        return [value, text] as const;
      });
  const known = entries.filter(([, text]) => text !== '');
  if (known.length > MAX_VALUES) refuse('values', `At most ${MAX_VALUES} values. You entered ${known.length}.`);
  const twice = known.find(([value], at) => known.findIndex(([other]) => other === value) < at);
  if (twice) refuse('values', `'${twice[0]}' is listed twice.`);
  for (const [value, text] of known)
    if (text.length > 200) refuse('values', `At most 200 characters. The meaning of '${value}' has ${text.length}.`);
  return Object.fromEntries(known);
}
