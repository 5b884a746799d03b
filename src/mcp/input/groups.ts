// Groups as models write them. Forms with only one possible meaning become the specified ones.
import { fail } from '../../core/errors.ts';
import { type DatePart, dateParts } from '../../core/filter/expression.ts';
import { bucketUnits, type PeriodUnit, type PlainGroup, periodUnits } from '../../core/filter/measures.ts';
import { MAX_GROUPS } from '../../core/filter.ts';
import { foldName, matchName } from '../../core/suggestions.ts';
import { isObject, type JsonObject, type NameContext, parseIfJson, requireAtMost, resolveField } from './arguments.ts';
import { applySynonyms, groupWords } from './synonyms.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

const groupExample = 'send a list such as ["status",{"field":"created_at","bucket":"Month"}].';

/** The position of a group, and the context of its names. */
interface GroupPosition {
  readonly name: string;
  readonly context: NameContext | undefined;
  /** All groups as JSON, with `form` in place of this one. */
  readonly allWith: (form: unknown) => string;
}

/** `"field"`, `{field, bucket}`, `"field:month"`, or a list of these. Buckets and parts ignore case. */
export function readGroups(input: JsonObject, name: string, context?: NameContext): readonly PlainGroup[] | undefined {
  const value = parseIfJson(input[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const groups = Array.isArray(value) ? value : [value];
  requireAtMost(MAX_GROUPS, groups, name);
  return groups.map((group, index) => {
    const position = { name, context, allWith: (form: unknown) => JSON.stringify(groups.with(index, form)) };
    if (typeof group === 'string') return toGroup(group, position);
    if (!isObject(group)) return invalid(name, groupExample);
    return toGroupByName(group, position) ?? toGroupOf(group, position);
  });
}

function toGroupOf(given: JsonObject, position: GroupPosition): PlainGroup {
  const { name, context } = position;
  const { relation, ...own } = given;
  const group =
    typeof relation === 'string' && typeof own.field === 'string'
      ? { ...own, field: `${relation}:${own.field}` }
      : given;
  const { field, bucket: period, part, ranges } = applySynonyms(group, groupWords) ?? {};
  if (typeof field !== 'string') return failUnclear(group, position);
  const bucket = typeof period === 'string' ? withoutCount(period) : period;
  const asPart = matchName(String(bucket), dateParts) as DatePart | undefined;
  const unit = asPart ?? readUnit(bucket, periodUnits, `${name}.bucket`);
  const resolved = resolveField(field, context);
  const partUnit = readPartUnit(part, resolved, position);
  return {
    field: resolved,
    ...(unit && byUnit(unit)),
    ...(partUnit && byUnit(partUnit)),
    ...(ranges !== undefined && ranges !== null && { ranges: toBounds(ranges, resolved, position) }),
  };
}

/** Groups by the part that is the year are those of the period. Other periods belong to one year. */
function readPartUnit(part: unknown, field: string, { name, allWith }: GroupPosition): DatePart | 'Year' | undefined {
  const period = typeof part === 'string' ? matchName(part, periodUnits) : undefined;
  if (period === 'Year') return period;
  const word = partWords.get(foldName(String(part))) ?? part;
  if (period !== undefined && word === part)
    return invalid(
      name,
      `no part '${period}'. For each ${period.toLowerCase()}, send ${allWith({ field, bucket: period })}.`,
    );
  return readUnit(word, dateParts, `${name}.part`);
}

const isPart = (unit: PeriodUnit | DatePart): unit is DatePart => dateParts.includes(unit as DatePart);
const byUnit = (unit: PeriodUnit | DatePart): Pick<PlainGroup, 'bucket' | 'part'> =>
  isPart(unit) ? { part: unit } : { bucket: unit };

/** The error for an unknown member has the form that its value means, or the group without a name of its own. */
function failUnclear(given: JsonObject, { name, context, allWith }: GroupPosition): never {
  if (isObject(given.expression) || isObject(given.field))
    return invalid(name, `groups take fields, with a bucket, a part or ranges, and no expressions: ${groupExample}`);
  const { timezone, ...group } = given;
  const form: Record<string, unknown> = {};
  const others: string[] = [];
  for (const [key, item] of Object.entries(group)) {
    const word = groupWords.get(foldName(key))?.[0] ?? wordOf(key, item);
    if (word === undefined || word in form) return invalid(name, groupExample);
    if (word === 'name' || !groupWords.has(foldName(key))) others.push(key);
    if (word !== 'name') form[word] = word === 'bucket' || word === 'part' ? unitOf(String(item)) : item;
  }
  const isZoned = typeof timezone === 'string';
  if (typeof form.field !== 'string' || (others.length === 0 && !isZoned)) return invalid(name, groupExample);
  const resolved = { ...form, field: resolveField(form.field, context) };
  if (isZoned)
    return invalid(
      name,
      `the timezone is that of the call: send {"${name}":${allWith(resolved)},"timezone":${JSON.stringify(timezone)}}.`,
    );
  return invalid(name, `a group has no '${others[0]}': send ${allWith(resolved)}.`);
}

/** What an unknown member means, by its value. */
function wordOf(key: string, item: unknown): 'bucket' | 'part' | 'ranges' | 'name' | undefined {
  if (/^(name|alias|as|label|title)$/i.test(key)) return 'name';
  if (Array.isArray(item) && item.every((each) => typeof each === 'number')) return 'ranges';
  const unit = typeof item === 'string' ? unitOf(item) : undefined;
  return unit && (isPart(unit) ? 'part' : 'bucket');
}

/** `{"placed_at": "month"}` or `{"month": "placed_at"}`. */
function toGroupByName(group: JsonObject, { name, context, allWith }: GroupPosition): PlainGroup | undefined {
  const [[key, value] = ['', undefined], ...others] = Object.entries(group);
  if (!context || others.length > 0 || typeof value !== 'string') return undefined;
  const fieldOf = (text: string) => context.names.field(context.collection, text.trim());
  const named = fieldOf(key);
  const [field, unit] = named === undefined ? [fieldOf(value), unitOf(key)] : [named, unitOf(value)];
  if (field === undefined || !unit) return undefined;
  if (unit === 'Hour')
    return failBetween(
      `'${key}'`,
      name,
      [
        { field, bucket: unit },
        { field, part: 'HourOfDay' },
      ],
      allWith,
    );
  return { field, ...byUnit(unit) };
}

function failBetween(
  what: string,
  name: string,
  forms: readonly PlainGroup[],
  allWith: GroupPosition['allWith'],
): never {
  return invalid(name, `${what} can mean a period or a part: send ${forms.map(allWith).join(' or ')}.`);
}

/** `1 month` and `monthly` are months. */
function withoutCount(text: string): string {
  const word = text.trim().replace(/^1\s+/, '');
  return /^(year|quarter|month|week|hour)ly$/i.test(word) ? word.slice(0, -2) : /^daily$/i.test(word) ? 'Day' : word;
}

const unitOf = (text: string): PeriodUnit | DatePart | undefined =>
  matchName(withoutCount(text).replace(/^'(.*)'$/, '$1'), [...periodUnits, ...dateParts]) as
    | PeriodUnit
    | DatePart
    | undefined;

/** `[{from: 0, to: 50}, {from: 50}]` as bounds, if each range ends where the next begins and the last one is open. */
function toBounds(given: unknown, field: string, { name, allWith }: GroupPosition): readonly number[] {
  const ranges = parseIfJson(given);
  if (!Array.isArray(ranges) || !ranges.some((range) => typeof range === 'object' && range !== null))
    return ranges as readonly number[];
  const bounds = boundsOf(ranges);
  const isPlain = ranges.every(
    (range) => isObject(range) && Object.keys(range).every((key) => /^(from|to)$/.test(key)),
  );
  if (isJoined(ranges) && isPlain) return bounds as readonly number[];
  return invalid(
    name,
    `ranges are bounds, each range without its end: send ${allWith({ field, ranges: [...new Set(bounds)] })}.`,
  );
}

/** Whether each range ends where the next begins. */
export function isJoined(ranges: readonly unknown[]): boolean {
  const ends = ranges.map(toEnds);
  return ends.every(([from, to], at) => to === ends[at + 1]?.[0] && (at === 0 || from !== undefined));
}

/** The starts of `[{from, to}, ...]`, and the end of the last one. */
export function boundsOf(ranges: readonly unknown[]): readonly unknown[] {
  const ends = ranges.map(toEnds);
  return [...ends.map(([from]) => from), ends.at(-1)![1]].filter((bound) => bound !== undefined);
}

function toEnds(range: unknown): readonly [from: unknown, to: unknown] {
  const {
    from,
    min = from,
    gte = min,
    to,
    max = to,
    lt = max,
  } = (Array.isArray(range) ? { from: range[0], to: range[1] } : isObject(range) ? range : {}) as JsonObject;
  return [gte ?? undefined, lt ?? undefined];
}

const partWords: ReadonlyMap<string, string> = new Map([
  ['hour', 'HourOfDay'],
  ['month', 'MonthOfYear'],
  ['dayofweek', 'Weekday'],
  ['dow', 'Weekday'],
]);

function readUnit<U extends string>(given: unknown, units: readonly U[], at: string): U | undefined {
  if (given === undefined || given === null) return undefined;
  const unit = matchName(String(given), units) as U | undefined;
  return unit ?? invalid(at, `send ${units.map((each) => `"${each}"`).join(' or ')}.`);
}

function toGroup(text: string, position: GroupPosition): PlainGroup {
  const { context } = position;
  const field = context?.names.field(context.collection, text.trim());
  const [, head = '', word = ''] = /^(.+)[:.](\w+)$/.exec(text.trim()) ?? [];
  const bucket = bucketUnits.find((unit) => unit.toLowerCase() === word.toLowerCase());
  const dated = field === undefined && bucket && context?.names.field(context.collection, head);
  if (dated) return { field: dated, bucket };
  return (field === undefined && toGroupByCall(text.trim(), position)) || { field: field ?? text.trim() };
}

/** `date_trunc('month', placed_at)`, `year(placed_at)`. `month(placed_at)` may mean a period or a part. */
function toGroupByCall(text: string, { name, context, allWith }: GroupPosition): PlainGroup | undefined {
  const [, word = '', list = ''] = /^(\w+)\s*\((.*)\)$/.exec(text) ?? [];
  const given = list.split(',').map((each) => each.trim());
  if (!context || word === '' || given.length > 2) return undefined;
  const fields = given.map((each) => context.names.field(context.collection, each));
  const [field, ...others] = fields.filter((each) => each !== undefined);
  if (field === undefined || others.length > 0) return undefined;
  const operand = given.find((_each, at) => fields[at] === undefined);
  const period = periodUnits.find((each) => each === unitOf(operand ?? word));
  if (operand !== undefined) return /^date_?trunc$/i.test(word) && period ? { field, bucket: period } : undefined;
  if (/^date$/i.test(word)) return { field, bucket: 'Day' };
  if (period === 'Year' || !period) return unitOf(word) && { field, ...byUnit(unitOf(word)!) };
  const part = dateParts.find((each) => each.startsWith(`${period}Of`));
  return failBetween(`'${text}'`, name, [{ field, bucket: period }, ...(part ? [{ field, part }] : [])], allWith);
}
