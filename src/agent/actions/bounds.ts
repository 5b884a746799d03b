// Checks of a canonical value beyond its type. A check that fails returns what to send instead.
import { suggestNames } from '../../core/suggestions.ts';
import type { FormFile } from './definitions.ts';
import type { Option, WidgetName } from './elements.ts';
import type { FieldType } from './field-types.ts';

/** A field with its options evaluated. */
interface EvaluatedField {
  readonly type: FieldType;
  readonly widget: WidgetName | undefined;
  /** By name; absent ones are undefined. */
  readonly options: Readonly<Record<string, unknown>>;
}

type Check = (field: EvaluatedField, value: unknown) => string | undefined;

/** Returns what to send instead, or undefined for a valid value. `value` is canonical and not empty. */
export function findProblem(field: EvaluatedField, value: unknown): string | undefined {
  for (const check of checks) {
    const problem = check(field, value);
    if (problem) return problem;
  }
  return undefined;
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const checks: readonly Check[] = [
  function enumerated({ type, options }, value) {
    if (type !== 'Enum' && type !== 'EnumList') return undefined;
    const known = options.enumValues as readonly string[];
    const wrong = itemsOf(value).find((item) => !known.includes(item as string));
    return wrong === undefined
      ? undefined
      : `send ${type === 'Enum' ? 'one' : 'some'} of ${suggestValues(wrong, known)}`;
  },
  function least({ type, options: { min } }, value) {
    if (min === undefined || min === null) return undefined;
    return itemsOf(value).some((item) => isBefore(item, min))
      ? `send ${formatFieldType(type)} from ${min} on`
      : undefined;
  },
  function most({ type, options: { max } }, value) {
    if (max === undefined || max === null) return undefined;
    return itemsOf(value).some((item) => isBefore(max, item))
      ? `send ${formatFieldType(type)} up to ${max}`
      : undefined;
  },
  function stepped({ options }, value) {
    const step = number(options.step);
    if (step === undefined || step <= 0) return undefined;
    const from = number(options.min) ?? 0;
    if (itemsOf(value).every((item) => isMultiple((item as number) - from, step))) return undefined;
    return `send a number in steps of ${step} from ${from}`;
  },
  function cents({ options: { base } }, value) {
    return base === 'Cent' && !Number.isInteger(value) ? 'send a whole number of cents' : undefined;
  },
  function color({ widget, options }, value) {
    if (widget !== 'ColorPicker') return undefined;
    const form = options.enableOpacity ? /^#[0-9a-f]{6}(?:[0-9a-f]{2})?$/i : /^#[0-9a-f]{6}$/i;
    return form.test(value as string)
      ? undefined
      : `send a color such as '#1a7f37${options.enableOpacity ? 'cc' : ''}'`;
  },
  function long({ options: { minItems, maxItems, maxCount } }, value) {
    if (!Array.isArray(value)) return undefined;
    const [fewest, highest] = [
      number(minItems) ?? 0,
      Math.min(number(maxItems) ?? Infinity, number(maxCount) ?? Infinity),
    ];
    if (value.length < fewest) return `send at least ${fewest} values`;
    return value.length > highest ? `send at most ${highest} values` : undefined;
  },
  function filled({ type, widget, options }, value) {
    if (type !== 'StringList' || widget !== 'TextInputList' || options.allowEmptyValues === true) return undefined;
    return itemsOf(value).includes('') ? 'send no empty strings' : undefined;
  },
  function distinct({ widget, options }, value) {
    if ((widget !== 'TextInputList' && widget !== 'NumberInputList') || options.allowDuplicates === true)
      return undefined;
    const items = itemsOf(value);
    return new Set(items).size < items.length ? 'send each value once' : undefined;
  },
  function extended({ options: { extensions } }, value) {
    if (!Array.isArray(extensions) || extensions.length === 0) return undefined;
    const known = extensions.map((extension) => String(extension).replace(/^\./, '').toLowerCase());
    const wrong = itemsOf(value).some((file) => {
      const name = (file as FormFile).name.toLowerCase();
      return !known.some((extension) => name.endsWith(`.${extension}`));
    });
    return wrong
      ? `send a file with one of these extensions: ${known.map((extension) => `.${extension}`).join(', ')}`
      : undefined;
  },
  function small({ options }, value) {
    const most = number(options.maxSizeMb);
    if (most === undefined) return undefined;
    const large = itemsOf(value).some((file) => (file as FormFile).content.length > most * 1_000_000);
    return large ? `send a file of at most ${most} MB` : undefined;
  },
];

/** The first item of `value` that is not among the options, or undefined. */
export function findInvalidOption(value: unknown, options: readonly Option[]): unknown {
  return itemsOf(value).find((item) => !options.some((option) => option.value === item));
}

/** Similar values among the known ones, else the first ten. */
export function suggestValues(wrong: unknown, known: readonly (string | number)[]): string {
  const near = suggestNames(String(wrong), known.map(String));
  const offered = near.length > 0 ? near : known.slice(0, 10).map(String);
  return `${offered.join(', ')}${offered.length < known.length ? ', ...' : ''}`;
}

/** Canonical days, times and instants sort as texts. The `Z` is removed because some instants have microseconds. */
function isBefore(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return String(a).replace('Z', '') < String(b).replace('Z', '');
}

/** With a tolerance, since 0.3 is not three times 0.1 in floating point. */
function isMultiple(distance: number, step: number): boolean {
  const ratio = distance / step;
  return Math.abs(ratio - Math.round(ratio)) <= Math.max(1, Math.abs(ratio)) * 1e-9;
}

function formatFieldType(type: FieldType): string {
  if (type === 'Number' || type === 'NumberList') return 'a number';
  return type === 'Dateonly' ? 'a date' : 'a timestamp';
}
