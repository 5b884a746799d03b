import type { ActionDescription } from '../../agent/actions/catalogue.ts';
import { chartNames } from '../../agent/charts/visible.ts';
import { findParts } from '../../agent/model/find.ts';
import type {
  CollectionDescription,
  CollectionSummary,
  FieldDescription,
  RelationDescription,
} from '../../agent/requests.ts';
import type { FieldMeaning } from '../../core/caller/meanings.ts';
import { fail } from '../../core/errors.ts';
import { mapInTurns } from '../../core/limit/in-turns.ts';
import { createTurns } from '../../core/limit/turns.ts';
import { describeAction } from '../input/action-arguments.ts';
import { checkNames, type JsonObject, parseIfJson, readChoice, readText } from '../input/arguments.ts';
import { queryLanguage } from '../resources/query-language.ts';
import { fitsTokens } from '../results/tokens.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface DescribeArguments {
  /** Empty: the index of all collections. One with `*`: the index of those that match. */
  readonly collections: readonly string[];
  readonly detail: Detail;
  /** Only what matches these words. */
  readonly search: string | undefined;
}

const details = ['concise', 'full', 'query'] as const;
type Detail = (typeof details)[number];

export const describeCollection: Tool<DescribeArguments> = {
  name: 'describeCollection',
  title: 'Describe a collection',
  description:
    'Without collectionName: all collections. With one, or a list: key, fields with type (`?` may be null, `!` needed to create, `ro` read-only), relations as "one|many collection", actions. search finds fields by words. detail "full" adds operators and permissions; "query" explains filters.',
  scope: 'mcp:read',
  isVisible: toolVisibility.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      search: { type: 'string' },
      detail: { type: 'string', enum: details },
    },
  },
  parse,
  subject: ({ collections: [collection, ...others] }) =>
    collection === undefined || others.length > 0 || isPattern(collection) ? {} : { collection },
  run,
};

function parse(input: JsonObject): DescribeArguments {
  checkNames(input, ['collectionName', 'search', 'detail']);
  const search = readText(input, 'search')?.trim() || undefined;
  if (search && search.length > MAX_SEARCH_CHARACTERS)
    fail('INVALID_ARGUMENT', {
      argument: 'search',
      problem: `at most ${MAX_SEARCH_CHARACTERS} characters: a few words.`,
    });
  return {
    collections: readCollections(input),
    search,
    detail: readChoice(input, 'detail', details) ?? 'concise',
  };
}

const MAX_COLLECTIONS = 20;
const MAX_SEARCH_CHARACTERS = 200;

/** One name, a list of names, or names with commas. */
function readCollections(input: JsonObject): readonly string[] {
  const value = parseIfJson(input.collectionName);
  const names = Array.isArray(value)
    ? value.map((name) => (typeof name === 'string' ? name : failCollections('send a name, or a list of names.')))
    : [readText({ collectionName: value }, 'collectionName') ?? ''];
  const all = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  return all.length > MAX_COLLECTIONS ? failCollections(`at most ${MAX_COLLECTIONS} names.`) : all;
}

const failCollections = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'collectionName', problem });

async function run({ collections, detail, search }: DescribeArguments, call: ToolCall): Promise<string> {
  if (detail === 'query') return queryLanguage(call.hiddenTools());
  const { access, engine } = call;
  const budget = call.config.answerTokens;
  if (search !== undefined) return foundText(collections, search, detail === 'full', call);
  const [only = '', ...others] = collections;
  if (collections.length === 0) return indexText(engine.index(access), budget, chartNames(call));
  if (others.length === 0 && isPattern(only)) {
    const all = engine.index(access);
    const matching = all.filter(({ name }) => matchesPattern(name, only));
    const isName = all.some(({ name }) => name === only);
    if (matching.length > 0 && !isName) return indexText(matching, budget);
  }
  const names = others.length > 0 ? collections : splitNames(only, call);
  const described = names.map((name) => describeOne(name, call));
  return describedText(described, { full: detail === 'full', isList: described.length > 1 }, budget);
}

/** The collections with only the fields, relations and metrics that match, as several collections are described. */
async function foundText(
  collections: readonly string[],
  search: string,
  full: boolean,
  call: ToolCall,
): Promise<string> {
  const { access, engine, config } = call;
  const names = engine.names(access);
  const within = collections.length > 0 ? collections : engine.index(access).map(({ name }) => name);
  const all: CollectionDescription[] = [];
  await mapInTurns(within, createTurns(), (name) => all.push(engine.describe(access, names.collection(name) ?? name)));
  const found = await findParts(all, search);
  if (found.length === 0)
    return JSON.stringify({
      collections: {},
      note: 'Nothing matches. Send other words, or no search for all collections.',
    });
  const described = found.map(({ collection, parts }): Described => {
    const each = all.find(({ name }) => name === collection)!;
    const pick = <T extends { readonly name: string }>(list: readonly T[]) =>
      list.filter(({ name }) => parts.includes(name));
    const [fields, relations, metrics] = [pick(each.fields), pick(each.relations), pick(each.metrics)];
    return {
      ...each,
      fields,
      relations,
      metrics,
      segments: [],
      actions: [],
      charts: [],
      searchable: true,
      countable: true,
    };
  });
  return describedText(described, { full, isList: true }, config.answerTokens);
}

/** The names in a text with commas, unless it is a name. */
function splitNames(text: string, { access, engine }: ToolCall): readonly string[] {
  if (!text.includes(',') || engine.names(access).collection(text) !== undefined) return [text];
  const names = [...new Set(text.split(',').flatMap((name) => name.trim() || []))];
  return names.length > MAX_COLLECTIONS ? failCollections(`at most ${MAX_COLLECTIONS} names.`) : names;
}

interface Described extends CollectionDescription {
  readonly actions: readonly ActionDescription[];
  /** Charts of one record. */
  readonly charts: readonly string[];
}

function describeOne(given: string, call: ToolCall): Described {
  const { access, engine } = call;
  const name = engine.names(access).collection(given) ?? given;
  return {
    ...engine.describe(access, name),
    actions: engine.actions.describe(access, name),
    charts: chartNames(call, name),
  };
}

/**
 * One collection as it is; several as `{collections: {name: description}}`. An answer that is too long leaves out the
 * meanings of fields, then the last collections.
 */
function describedText(
  all: readonly Described[],
  { full, isList }: { readonly full: boolean; readonly isList: boolean },
  budgetTokens: number,
): string {
  const format = (count: number, hasMeanings: boolean): string => {
    const notes = [
      ...(hasMeanings ? [] : ['Too many descriptions: send search with words for some.']),
      ...(count < all.length ? [`Left out: ${namesOf(all.slice(count))}. Ask for fewer at a time.`] : []),
    ];
    const note = notes.length > 0 ? { note: notes.join(' ') } : {};
    if (!isList) return JSON.stringify({ ...describedObject(all[0]!, full, hasMeanings), ...note });
    const collections = all.slice(0, count).map((each) => {
      const { name, ...rest } = describedObject(each, full, hasMeanings);
      return [name, rest];
    });
    return JSON.stringify({ collections: Object.fromEntries(collections), ...note });
  };
  const hasMeanings = all.some(
    (each) =>
      'descriptions' in describeMeanings([...each.fields, ...each.relations, ...each.metrics, ...segmentsOf(each)]),
  );
  const whole = format(all.length, true);
  if (fitsTokens(whole, budgetTokens)) return whole;
  for (let count = all.length; ; count--) {
    const text = format(count, !hasMeanings);
    if (count <= 1 || fitsTokens(text, budgetTokens)) return text;
  }
}

const namesOf = (all: readonly { readonly name: string }[]): string => all.map(({ name }) => name).join(', ');

const isPattern = (name: string): boolean => name.includes('*');

/** `*` is any text. Upper and lower case are equal. */
function matchesPattern(name: string, pattern: string): boolean {
  const text = name.toLowerCase();
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at + last.length <= text.length;
}

/**
 * `{collections: {name: relations}, descriptions?: {name: text}, charts?: [name]}`. With very many collections it
 * contains only names, as many as fit.
 */
function indexText(
  collections: readonly CollectionSummary[],
  budgetTokens: number,
  charts: readonly string[] = [],
): string {
  const entries = collections.map((collection): [string, string] => [collection.name, summarizeCollection(collection)]);
  const index = { collections: Object.fromEntries(entries), ...(charts.length > 0 && { charts }) };
  const descriptions = describeMeanings(collections);
  for (const whole of [JSON.stringify({ ...index, ...descriptions }), JSON.stringify(index)])
    if (fitsTokens(whole, budgetTokens)) return whole;
  const names = collections.map((collection) => collection.name);
  const namesOnly = JSON.stringify({ collections: names });
  if (fitsTokens(namesOnly, budgetTokens)) return namesOnly;
  for (let count = Math.floor(names.length * 0.8); ; count = Math.floor(count * 0.8)) {
    const note = `${count} of ${names.length} collections. To find the others, send a part of the name with *, such as {"collectionName":"*invoice*"}.`;
    const text = JSON.stringify({ collections: names.slice(0, count), note });
    if (count <= 1 || fitsTokens(text, budgetTokens)) return text;
  }
}

function summarizeCollection(collection: CollectionSummary): string {
  const kind = collection.kind === 'view' ? ['view'] : [];
  return [...kind, ...collection.relations].join(' ');
}

/** `{descriptions: {name: text}}`, apart from names and types because comments of a database are untrusted. */
function describeMeanings(all: readonly ({ readonly name: string } & FieldMeaning)[], full = false): object {
  const texts = all.flatMap((each) => {
    const text = meaningText(each, full);
    return text === '' ? [] : [[each.name, text]];
  });
  return texts.length > 0 ? { descriptions: Object.fromEntries(texts) } : {};
}

/** `Paid or not; paid: The money arrived; such as paid; also: state`. Synonyms only in full. */
function meaningText({ description, unit, values = {}, examples = [], synonyms = [] }: FieldMeaning, full: boolean) {
  const parts = [
    description,
    unit && `in ${unit}`,
    ...Object.entries(values).map(([value, text]) => `${value}: ${text}`),
    examples.length > 0 && `such as ${examples.join(', ')}`,
    full && synonyms.length > 0 && `also: ${synonyms.join(', ')}`,
  ];
  return parts.filter(Boolean).join('; ');
}

/**
 * `{name, description?, key, fields: {name: type}, descriptions?: {field: text}, relations: {name: "one collection"},
 * actions: {name: "single form"}, charts: [name]}`, with `zoneless: {timezone: [fields]}` for timestamps without zone
 * that are read in another timezone than UTC. `full` adds operators, permissions, synonyms and the descriptions of
 * actions.
 */
function describedObject(described: Described, full: boolean, hasMeanings: boolean) {
  const { name, kind, key, fields, relations, searchable, countable, permissions } = described;
  const { actions, charts, description, synonyms, metrics, aggregates } = described;
  const segments = segmentsOf(described);
  return {
    name,
    ...(kind === 'view' && { kind }),
    ...(description !== undefined && { description }),
    ...(full && synonyms && { synonyms }),
    key: key.length === 1 ? key[0] : key,
    ...(key.length > 1 && { ids: key.join('|') }),
    fields: Object.fromEntries(fields.map((field) => [field.name, fieldText(field)])),
    ...(fields.some(({ parameter }) => parameter) && { parameters: 'send in filters with Equal; ! needed' }),
    ...(aggregates && { aggregates: describeAggregates(aggregates) }),
    ...(hasMeanings && describeMeanings([...fields, ...(aggregates?.fields ?? []), ...relations], full)),
    ...describeZoneless(fields, full),
    ...(relations.length > 0 && {
      relations: Object.fromEntries(relations.map((relation) => [relation.name, relationText(relation, full)])),
    }),
    ...(segments.length > 0 && { segments: namedTexts(segments, hasMeanings) }),
    ...(metrics.length > 0 && { metrics: namedTexts(metrics, hasMeanings) }),
    ...(actions.length > 0 && {
      actions: Object.fromEntries(actions.map((action) => [action.name, actionLine(action, full)])),
    }),
    ...(charts.length > 0 && { charts }),
    ...(!searchable && { searchable }),
    ...(!countable && { countable }),
    ...(full && { operators: operatorTexts(fields), permissions: permissionText(permissions) }),
  };
}

/** `{"of": "at least 5 records", "fields": {"salary": "Number"}, "by": ["city"]}`: what only aggregates show. */
function describeAggregates({ minGroupSize, fields, by }: NonNullable<CollectionDescription['aggregates']>): object {
  return {
    of: `at least ${minGroupSize} records`,
    fields: Object.fromEntries(fields.map((field) => [field.name, field.type])),
    by,
  };
}

/** The names, or `{name: text}` if one has a description. */
function namedTexts(all: CollectionDescription['metrics'], hasMeanings: boolean): object {
  if (!hasMeanings || all.every(({ description }) => !description)) return all.map(({ name }) => name);
  return Object.fromEntries(all.map(({ name, description = '' }) => [name, description]));
}

const segmentsOf = ({ segments, segmentDescriptions = {} }: CollectionDescription): CollectionDescription['metrics'] =>
  segments.map((name) => {
    const description = Object.hasOwn(segmentDescriptions, name) ? segmentDescriptions[name] : undefined;
    return { name, ...(description !== undefined && { description }) };
  });

/** `{zoneless: {"America/New_York": ["placed_at"]}}`. The concise form omits UTC. */
function describeZoneless(fields: readonly FieldDescription[], full: boolean): object {
  const zones: Record<string, string[]> = {};
  for (const { name, timezone } of fields)
    if (timezone !== undefined && (full || timezone !== 'UTC')) zones[timezone] = [...(zones[timezone] ?? []), name];
  return Object.keys(zones).length > 0 ? { zoneless: zones } : {};
}

function actionLine(action: ActionDescription, full: boolean): string {
  const { description } = action;
  return full && description !== undefined ? `${describeAction(action)}: ${description}` : describeAction(action);
}

function fieldText(field: FieldDescription): string {
  const { parameter } = field;
  if (parameter)
    return `${field.type} parameter${'default' in parameter ? ` = ${JSON.stringify(parameter.default)}` : '!'}`;
  const values = field.enumValues ? `(${field.enumValues.join('|')})` : '';
  const marker = field.nullable ? '?' : field.required ? '!' : '';
  const type = field.binaryMode === 'datauri' ? field.type.replace('Binary', 'File') : field.type;
  const named = field.hiddenByDefault ? ' named only' : '';
  return `${type}${values}${marker}${field.readOnly ? ' ro' : ''}${field.sortable ? '' : ' unsortable'}${named}`;
}

/**
 * `nested writes`: a create or update may contain fields of the related record. `the lowest key of several`: several
 * records may belong to this one, and the relation leads to the one with the lowest key.
 */
function relationText({ kind, to, columns, isWritten, isLowest }: RelationDescription, full: boolean): string {
  const keyText = full && kind === 'one' && columns.length > 0 ? ` by ${columns.join('+')}` : '';
  const lowestText = isLowest ? ' (the lowest key of several)' : '';
  return `${kind} ${to}${keyText}${isWritten ? ' (nested writes)' : ''}${lowestText}`;
}

/** Operators per type. A field that differs from its type has its own line. */
function operatorTexts(fields: readonly FieldDescription[]): Record<string, string> {
  const byType = new Map<string, Map<string, string[]>>();
  for (const field of fields) {
    const text = field.operators.join(' ');
    const sets = byType.get(field.type) ?? new Map<string, string[]>();
    byType.set(field.type, sets.set(text, [...(sets.get(text) ?? []), field.name]));
  }
  const texts: Record<string, string> = {};
  for (const [type, sets] of byType) {
    const [mostCommon, ...others] = [...sets].sort((a, b) => b[1].length - a[1].length);
    texts[type] = mostCommon![0];
    for (const [text, names] of others) for (const name of names) texts[`${type} ${name}`] = text;
  }
  return texts;
}

function permissionText(permissions: CollectionDescription['permissions']): string {
  const granted = (['add', 'edit', 'delete'] as const).filter((verb) => permissions[verb]);
  return ['read', ...granted].join(' ');
}
