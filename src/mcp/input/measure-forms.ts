// One measure as models write it, with other members than the specified form. The names in it stay unchanged.
import { foldName } from '../../core/suggestions.ts';
import { isObject, type JsonObject } from './arguments.ts';
import { expressionWords, measureWords, operationFormWords, sortWords, topWords } from './synonyms.ts';

export const isEveryRecord = (of: unknown): boolean => of === true || of === '*' || of === 1;

const kindOf = (key: string) => measureWords.get(foldName(key))?.[0];

/** Forms of one measure with other members. */
export function toKnownForm(value: JsonObject): JsonObject | undefined {
  const [[key = '', of] = [], ...others] = Object.entries(value);
  const isOnly = others.length === 0;
  if (isOnly && /^(expression|expr|formula)$/i.test(key) && typeof of === 'string') {
    const parts = toQuotient(of);
    return parts && { ratio: parts };
  }
  const other = toPercent(value) ?? toCase(value);
  if (other) return other;
  const within = toMovingForm(value) ?? toWindowForm(value);
  if (within) return within;
  // An expression is no measure, but a quotient of measures is.
  if (isOnly && expressionWords.get(foldName(key))?.[0] === 'dividedBy') return { ratio: of };
  if (isOnly && /^countif$/i.test(foldName(key))) return { count: true, where: of };
  const [, hundredths] = /^(?:p|percentile|quantile)(\d\d)$/.exec(foldName(key)) ?? [];
  if (isOnly && hundredths !== undefined) return { percentile: [of, Number(hundredths) / 100] };
  const { count, distinct, ...rest } = value;
  if (count !== undefined && !isEveryRecord(count) && distinct === true) return { countDistinct: count, ...rest };
  if (isCondition(count)) return { count: true, where: count, ...(distinct !== undefined && { distinct }), ...rest };
  return toPercentileForm(value);
}

const isCondition = (value: unknown): boolean =>
  isObject(value) && ('operator' in value || 'aggregator' in value || 'some' in value || 'none' in value);

/** `{"percentile": 0.9, "field": "total"}`, `{"percentile": "total", "p": 90}` or both members inside `percentile`. */
function toPercentileForm({ where, ...value }: JsonObject): JsonObject | undefined {
  const [[key = '', of] = [], ...others] = Object.entries(value);
  const isInside = others.length === 0 && kindOf(key) === 'percentile' && isObject(of);
  const entries = Object.entries(isInside ? of : value);
  const fraction = entries.find(([, item]) => typeof item === 'number');
  const field = entries.find((entry) => entry !== fraction);
  if (entries.length !== 2 || !fraction || !field) return undefined;
  const isField = operationFormWords.get(foldName(field[0]))?.[0] === 'field' || kindOf(field[0]) === 'percentile';
  const isFraction = /^(p|q|at|fraction|percent|value)$/i.test(fraction[0]) || kindOf(fraction[0]) === 'percentile';
  if (!isField || !isFraction || (!isInside && !entries.some(([name]) => kindOf(name) === 'percentile')))
    return undefined;
  return { percentile: [field[1], fraction[1]], ...(where !== undefined && { where }) };
}

/** The 90th percentile is 0.9. */
export const toFraction = (given: unknown): unknown =>
  typeof given === 'number' && given > 1 && given < 100 ? given / 100 : given;

/** `revenue / orders`, but not `sum(price / 2)`. */
export function toQuotient(text: string): readonly string[] | undefined {
  const outside = text.replace(/\([^()]*\)/g, (inner) => inner.replaceAll('/', '\0'));
  const parts = outside.split('/').map((part) => part.replaceAll('\0', '/').trim());
  const isOperand = (part: string) => /^[^()+*]+(\([^()]*\))?$/.test(part) && !/\s-\s/.test(part);
  return parts.length === 2 && parts.every(isOperand) ? parts : undefined;
}

/** `{operation, field}` as `{[operation]: field}`. Undefined for other forms. */
export function toOperationForm(value: JsonObject): JsonObject | undefined {
  const words = new Map(Object.keys(value).map((key) => [operationFormWords.get(foldName(key))?.[0] ?? key, key]));
  const operation = value[words.get('operation') ?? ''];
  if (typeof operation !== 'string') return undefined;
  const kind = measureWords.get(foldName(operation))?.[0];
  if (!kind || kind === 'where') return undefined;
  const field = value[words.get('field') ?? ''] ?? true;
  const rest = Object.entries(value).filter(([key]) => key !== words.get('operation') && key !== words.get('field'));
  return { [kind]: field, ...Object.fromEntries(rest) };
}

/** A list of two, `{numerator, denominator}` or `returned / orders`. */
export function toRatio(given: unknown): readonly unknown[] | undefined {
  if (Array.isArray(given)) return given;
  if (typeof given === 'string') return toQuotient(given);
  const { numerator, denominator, ...others } = isObject(given) ? given : {};
  if (numerator === undefined || denominator === undefined || Object.keys(others).length > 0) return undefined;
  return [numerator, denominator];
}

/** `{"percent": "paid"}` of the total, or `{"percentage": ["paid", "all"]}`. */
function toPercent(value: JsonObject): JsonObject | undefined {
  const [[key = '', of] = [], ...others] = Object.entries(value);
  if (!/^(percent|percentage|pct)(oftotal)?$/.test(foldName(key))) return undefined;
  const parts = others.length === 0 ? toRatio(of) : undefined;
  const figure = parts ? { ratio: parts } : toWindowForm({ share: of, ...Object.fromEntries(others) });
  return figure || typeof of === 'string' || isObject(of) ? { times: [figure ?? { share: of }, 100] } : undefined;
}

/** `{"rank": {"by": "revenue"}, "partitionBy": "city", "order": "desc"}`: the largest is the first. */
function toWindowForm(value: JsonObject): JsonObject | undefined {
  const [[key = '', given] = [], ...others] = Object.entries(value);
  const kind = kindOf(key);
  if (kind !== 'rank' && kind !== 'share' && kind !== 'running') return undefined;
  const [inside, outside] = isObject(given) ? splitMembers(given) : [[], given];
  const members = [...inside, ...others];
  if (members.length === 0 && inside.length === 0 && outside === given) return undefined;
  let of = outside;
  const form: Record<string, unknown> = {};
  for (const [word, item] of members) {
    const isPer = topWords.get(foldName(word))?.[0] === 'per';
    const order = sortWords.get(foldName(word))?.[0];
    if (isPer) form.per = Array.isArray(item) ? item : [item];
    else if (kind !== 'rank' || !order || order === 'field') return undefined;
    else if (/^(asc|ascending|true)$/i.test(String(item)) !== (order === 'desc')) of = { minus: [0, of] };
  }
  return { [kind]: of, ...form };
}

export const isWindow = (word: string): boolean =>
  /^(last|window|periods|size|n|rows|length|windowsize)$/.test(foldName(word));

/** `{"movingAverage": "revenue", "window": 7}`, `{"rollingSum": ["revenue", 7]}` or both members inside. */
function toMovingForm(value: JsonObject): JsonObject | undefined {
  const [[key = '', given] = [], ...others] = Object.entries(value);
  const isSum = /^(rolling|moving|trailing)(sum|total)$/.test(foldName(key));
  const kind = isSum ? 'running' : kindOf(key);
  if (kind !== 'running' && kind !== 'movingAverage') return undefined;
  const [inside, of] = isObject(given) ? splitMembers(given) : [[], given];
  const isPair = Array.isArray(of) && of.length === 2;
  const members = isPair ? [['last', of[1]] as const, ...inside, ...others] : [...inside, ...others];
  const [[word = '', last] = [], ...more] = members;
  return isWindow(word) && more.length === 0 ? { [kind]: isPair ? of[0] : of, last } : undefined;
}

/** `avg(revenue) over (order by month rows between 6 preceding and current row)`. Totals follow the date anyway. */
export function toWindowOfText(text: string): JsonObject | undefined {
  const [, word = '', of, before] =
    /^\s*(sum|avg)\((\w+)\)\s+over\s*\([^()]*?\brows\s+(?:between\s+)?(\d{1,3})\s+preceding(?:\s+and\s+current\s+row)?\s*\)\s*$/i.exec(
      text,
    ) ?? [];
  const kind = /^avg$/i.test(word) ? 'movingAverage' : 'running';
  return before === undefined ? undefined : { [kind]: of, last: Number(before) + 1 };
}

/** The other members of `{"by": "revenue", ...}`, and the measure. */
function splitMembers(given: JsonObject): readonly [[string, unknown][], unknown] {
  const entries = Object.entries(given);
  const at = entries.findIndex(([key]) => /^(measure|of|by|field|on|value)$/i.test(key));
  const of = entries[at]?.[1];
  return at < 0 || typeof of !== 'string' ? [[], given] : [entries.toSpliced(at, 1), of];
}

/** `{"sum": "case when status = 'paid' then total else 0 end"}` as a measure with `where`. */
function toCase(value: JsonObject): JsonObject | undefined {
  const [[key = '', of] = [], ...others] = Object.entries(value);
  const kind = kindOf(key);
  const [, where, then = '', otherwise = 'null'] =
    /^\s*case\s+when\s+(.+?)\s+then\s+(.+?)(?:\s+else\s+(0|null))?\s+end\s*$/i.exec(String(of)) ?? [];
  if (where === undefined || others.length > 0 || /\b(when|case)\b/i.test(where + then)) return undefined;
  const isZero = otherwise === '0';
  if (then === '1' && (kind === 'sum' ? isZero : kind === 'count' && !isZero)) return { count: true, where };
  if (kind !== 'sum') return undefined;
  return isZero ? { coalesce: [{ sum: then, where }, 0] } : { sum: then, where };
}
