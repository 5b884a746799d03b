// Conditions as text, such as `revenue > 100 and orders >= 3`, and the ends of ranges.
import { fail } from '../../core/errors.ts';
import { isObject, parseIfJson } from './arguments.ts';

export interface TextCondition {
  readonly name: string;
  /** A word that `findOperator` knows. */
  readonly operator: string;
  readonly value?: unknown;
  /** A name without quotes in place of a value. */
  readonly other?: string;
}

const TEXT_LIMIT = 1000;

/** Conditions joined by `and` alone or by `or` alone. Undefined for other texts. */
export function readConditionText(
  text: string,
): { readonly aggregator: 'And' | 'Or'; readonly conditions: readonly TextCondition[] } | undefined {
  if (text.length > TEXT_LIMIT) return undefined;
  const texts: string[] = [];
  // Quoted texts may contain the words and signs of conditions.
  const plain = text.replace(/'((?:[^']|'')*)'|"([^"]*)"/g, (_all, quoted: string | undefined, other: string) => {
    texts.push(quoted?.replaceAll("''", "'") ?? other);
    return `\uE000${texts.length - 1}\uE000`;
  });
  const [ands, ors] = [plain.split(/\s+(?:and|&&)\s+/i), plain.split(/\s+(?:or|\|\|)\s+/i)];
  if (ands.length > 1 && ors.length > 1) return undefined;
  const conditions = (ors.length > 1 ? ors : ands).map((part) => readCondition(part.trim(), texts));
  if (!conditions.every((condition) => condition !== undefined)) return undefined;
  return { aggregator: ors.length > 1 ? 'Or' : 'And', conditions };
}

function readCondition(text: string, texts: readonly string[]): TextCondition | undefined {
  const [, tested, isNot] = /^([^\s<>=!]+)\s+is\s+(not\s+)?null$/i.exec(text) ?? [];
  if (tested !== undefined) return { name: tested, operator: isNot ? 'isNotNull' : 'isNull' };
  const [, listed, notIn, list = ''] = /^([^\s<>=!]+)\s+(not\s+)?in\s*\(([^()]*)\)$/i.exec(text) ?? [];
  if (listed !== undefined) {
    const values = list.split(',').map((each) => readLiteral(each.trim(), texts));
    return values.includes(undefined) ? undefined : { name: listed, operator: notIn ? 'NotIn' : 'In', value: values };
  }
  const [, name = '', operator = '', literal = ''] =
    /^([^<>=!]+?)\s*([<>=!]+|\slike\s)\s*([^<>=!]+)$/i.exec(text) ?? [];
  const value = readLiteral(literal, texts);
  const test = { name: name.trim(), operator: operator.trim() };
  if (value !== undefined) return { ...test, value };
  return /^[\p{L}_][\w.:]*$/u.test(literal) ? { ...test, other: literal } : undefined;
}

function readLiteral(text: string, texts: readonly string[]): string | number | boolean | undefined {
  const [, quoted] = /^\uE000(\d+)\uE000$/.exec(text) ?? [];
  if (quoted !== undefined) return texts[Number(quoted)];
  if (/^-?\d{1,15}(?:\.\d{1,9})?$/.test(text)) return Number(text);
  return /^(true|false)$/i.test(text) ? /^t/i.test(text) : undefined;
}

/** `[from, to]`, `{from, to}`, `{min, max}` or a text of two values with a comma or `and` between them. */
export function readRange({
  field,
  value,
}: {
  readonly field: string;
  readonly value?: unknown;
}): readonly [unknown, unknown] {
  const range = parseIfJson(value);
  const ends: readonly unknown[] = Array.isArray(range)
    ? range
    : isObject(range)
      ? [range.from ?? range.min ?? range.start, range.to ?? range.max ?? range.end]
      : typeof range === 'string'
        ? range.split(/\s*,\s*|\s+and\s+|\s+to\s+/i)
        : [];
  if (ends.length === 2 && ends.every((end) => typeof end === 'string' || typeof end === 'number'))
    return [ends[0], ends[1]];
  return fail('INVALID_ARGUMENT', {
    argument: `${field} between`,
    problem: 'send the first and the last value as a list, such as [1,5].',
  });
}
