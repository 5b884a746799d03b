// Sends a first guess, reads the call out of an error, and compares the result with SQL.
import { isDeepStrictEqual } from 'node:util';
import { readAllJson } from '../json-in-text.ts';
import type { Guess } from './guess.ts';

export type Outcome = 'done' | 'refused with the call' | 'refused without it' | 'WRONG';
export type Rows = readonly (readonly unknown[])[];
export type Ask = (tool: string, args: Args) => Promise<string>;
export type Select = (sql: string) => Rows;
type Args = Readonly<Record<string, unknown>>;
interface Call {
  readonly tool: 'aggregate' | 'list';
  readonly args: Args;
}

export const isRefusal = (text: string): boolean => /^[A-Z_]+: /.test(text);

/** The outcome, and the texts that led to it. */
export async function outcomeOf(guess: Guess, ask: Ask, select: Select): Promise<readonly [Outcome, string]> {
  const text = await ask(guess.tool, guess.args);
  if (!isRefusal(text)) return [(await isMeant(guess, guess, text, ask, select)) ? 'done' : 'WRONG', text];
  const calls = readCalls(text, guess);
  let tried = text;
  for (const next of await withFigure(text, guess, calls, ask)) {
    const second = await ask(next.tool, next.args);
    tried += `\n-> ${JSON.stringify(next)}\n${second}`;
    if (!isRefusal(second) && (await isMeant(guess, next, second, ask, select)))
      return ['refused with the call', tried];
  }
  return ['refused without it', tried];
}

/** A refusal may name a call for a figure, and the condition that takes the figure in place of 0. */
async function withFigure(text: string, guess: Guess, calls: readonly Call[], ask: Ask): Promise<readonly Call[]> {
  if (!text.includes('with the figure as value')) return calls;
  const [first, condition] = jsonIn(text) as [Args, Args];
  const figure = await ask('aggregate', first);
  if (isRefusal(figure)) return [];
  const { rows } = JSON.parse(figure) as { rows: Rows };
  return [{ tool: guess.tool, args: { ...guess.args, filters: { ...condition, value: rows[0]![0] } } }];
}

/** Whether columns of the result have the values of the SQL, row by row. Reads all pages. */
export async function isMeant(
  guess: Pick<Guess, 'rows' | 'ordered'>,
  call: Call,
  text: string,
  ask: Ask,
  select: Select,
): Promise<boolean> {
  const shown: (readonly unknown[])[] = [];
  for (let page = JSON.parse(text); page !== undefined; ) {
    shown.push(...page.rows);
    const isCut = page.hasMore && !('limit' in call.args) && !('pagination' in call.args);
    page = isCut ? JSON.parse(await ask(call.tool, { ...call.args, cursor: page.nextCursor })) : undefined;
  }
  const meant = select(guess.rows);
  if (meant.length !== shown.length || meant.length === 0) return false;
  const all = meant[0]!.map((_value, place) => place);
  const print = (rows: Rows, places: readonly number[]) => {
    const lines = rows.map((row) => places.map((place) => plain(row[place])));
    return guess.ordered ? lines : lines.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  };
  const search = (places: readonly number[]): boolean => {
    if (places.length > 0 && !isDeepStrictEqual(print(shown, places), print(meant, all.slice(0, places.length))))
      return false;
    if (places.length === all.length) return true;
    return shown[0]!.some((_value, place) => !places.includes(place) && search([...places, place]));
  };
  return search([]);
}

/** SQLite adds fractions with an error, also to a half, such as 459.0279375. Results have long numbers as text. */
function plain(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number') return Math.round((value + 1e-9) * 1e6) / 1e6;
  if (typeof value !== 'string') return value ?? null;
  return /^-?\d+\.\d+$/.test(value) ? plain(Number(value)) : value.replace(/T00:00:00(\.0+)?Z$/, '');
}

/** The calls that an error offers: the reader chooses by what they mean. */
const readCalls = (error: string, call: Call): readonly Call[] =>
  jsonIn(error).flatMap((json) => withJson(error, json, call) ?? []);

/** Without the place that an error begins with, such as `filters.conditions[1]`. */
const jsonIn = (error: string): unknown[] => [...readAllJson(error.replace(/^[A-Z_]+: (\w[\w.[\]]*: )?/, ''))];

/** The first of them. */
export const readCall = (error: string, call: Call): Call | undefined => readCalls(error, call)[0];

/**
 * The call that an error says to send, by form only. JSON with a collection is the whole call. Other JSON replaces the
 * arguments that it names, or the value at the place that the error begins with, or the object that holds this value.
 */
function withJson(error: string, json: unknown, { tool, args }: Call): Call | undefined {
  const text = error.replace(/^[A-Z_]+: /, '');
  const place =
    /^(\w[\w.[\]]*): /
      .exec(text)?.[1]
      ?.split(/[.[\]]+/)
      .filter(Boolean) ?? [];
  if (isObject(json) && 'collectionName' in json)
    return { tool: /send list\b/.test(text) ? 'list' : 'aggregate', args: json };
  const [argument] = place;
  if (argument === undefined) return isFilter(json) ? { tool, args: { ...args, filters: json } } : undefined;
  if (place.length === 1) {
    if (!isObject(json) || isFilter(json) || !argumentNames.has(Object.keys(json)[0]!))
      return { tool, args: { ...args, [argument]: json } };
    const { [argument]: _replaced, ...rest } = args;
    return { tool, args: { ...rest, ...json } };
  }
  if (argument === 'fields')
    return { tool, args: { ...args, fields: withColumn(args.fields, place[1]!, place[2], json) } };
  const copy = structuredClone(args) as Record<string, unknown>;
  const names = place.slice(0, -1);
  let holder: Record<string, unknown> = copy;
  for (const name of names.slice(0, -1)) holder = (holder?.[name] ?? {}) as Record<string, unknown>;
  const last = names.at(-1)!;
  const held = holder[last];
  if (!isObject(held)) return undefined;
  // A measure has one condition, whatever the call named it.
  if (place.at(-1) === 'where' && isFilter(json)) {
    const { where: _where, filter: _filter, filters: _filters, condition: _condition, ...measure } = held;
    holder[last] = { ...measure, where: json };
    return { tool, args: copy };
  }
  // An expression, a measure or a condition replaces the one that holds the wrong member.
  holder[last] = place.at(-1)! in held && isNamed(names) ? { ...held, [place.at(-1)!]: json } : json;
  return { tool, args: copy };
}

/** The fields of a list with another column of this name, or another member of it. */
const withColumn = (fields: unknown, name: string, member: string | undefined, json: unknown) =>
  (fields as unknown[]).map((field) =>
    isObject(field) && field.name === name ? (member === undefined ? json : { ...field, [member]: json }) : field,
  );

const argumentNames = new Set(
  'collectionName measures groups having sort order top compare over operation field filters fields timezone'.split(
    ' ',
  ),
);
const isNamed = (names: readonly string[]) => names.length === 1 && names[0] === 'measures';
const isObject = (value: unknown): value is Args =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isFilter = (value: unknown) =>
  isObject(value) && ['operator', 'aggregator', 'some', 'none', 'every'].some((name) => name in value);
