import type { ActionDescription } from '../../agent/actions/catalogue.ts';
import type {
  CollectionDescription,
  CollectionSummary,
  FieldDescription,
  RelationDescription,
} from '../../agent/requests.ts';
import { describeAction } from '../input/action-arguments.ts';
import { checkNames, type JsonObject, readChoice, readText } from '../input/arguments.ts';
import { queryLanguage } from '../resources/query-language.ts';
import { fitsTokens } from '../results/tokens.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { chartNames } from '../visibility/charts.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface DescribeArguments {
  /** Absent: the index of all collections. */
  readonly collection: string | undefined;
  readonly detail: Detail;
}

const details = ['concise', 'full', 'query'] as const;
type Detail = (typeof details)[number];

export const describeCollection: Tool<DescribeArguments> = {
  name: 'describeCollection',
  title: 'Describe a collection',
  description:
    'Without collectionName: all collections, each with its relations. With one: its key, fields with type (`?` may be null, `!` needed to create, `ro` read-only) and relations as "one|many collection", actions and charts. detail "full" adds operators, descriptions of actions and permissions; "query" explains filters. Call it first.',
  scope: 'mcp:read',
  isVisible: toolVisibility.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { collectionName: { type: 'string' }, detail: { type: 'string', enum: details } },
  },
  parse,
  subject: (args) => (args.collection === undefined ? {} : { collection: args.collection }),
  run,
};

function parse(input: JsonObject): DescribeArguments {
  checkNames(input, ['collectionName', 'detail']);
  return {
    collection: readText(input, 'collectionName')?.trim() || undefined,
    detail: readChoice(input, 'detail', details) ?? 'concise',
  };
}

async function run(args: DescribeArguments, call: ToolCall): Promise<string> {
  if (args.detail === 'query') return queryLanguage(call.hiddenTools());
  if (args.collection === undefined) {
    return indexText(call.engine.index(call.access), call.config.answerTokens, chartNames(call));
  }
  const { access, engine } = call;
  const description = engine.describe(access, args.collection);
  return descriptionText(description, args.detail === 'full', {
    actions: engine.actions.describe(access, args.collection),
    charts: chartNames(call, args.collection),
  });
}

/**
 * `{collections: {name: relations}, charts?: [name]}`. With very many collections it contains only names, as many as
 * fit.
 */
function indexText(
  collections: readonly CollectionSummary[],
  budgetTokens: number,
  charts: readonly string[] = [],
): string {
  const entries = collections.map((collection): [string, string] => [collection.name, summarizeCollection(collection)]);
  const whole = JSON.stringify({
    collections: Object.fromEntries(entries),
    ...(charts.length > 0 && { charts }),
  });
  if (fitsTokens(whole, budgetTokens)) return whole;
  const names = collections.map((collection) => collection.name);
  const namesOnly = JSON.stringify({ collections: names });
  if (fitsTokens(namesOnly, budgetTokens)) return namesOnly;
  for (let count = Math.floor(names.length * 0.8); ; count = Math.floor(count * 0.8)) {
    const note = `${count} of ${names.length} collections: for the others, send collectionName.`;
    const text = JSON.stringify({ collections: names.slice(0, count), note });
    if (count <= 1 || fitsTokens(text, budgetTokens)) return text;
  }
}

function summarizeCollection(collection: CollectionSummary): string {
  const kind = collection.kind === 'view' ? ['view'] : [];
  return [...kind, ...collection.relations].join(' ');
}

interface RecordFeatures {
  readonly actions: readonly ActionDescription[];
  /** Charts of one record. */
  readonly charts: readonly string[];
}

/**
 * `{name, key, fields: {name: type}, relations: {name: "one collection"}, actions: {name: "single form"}, charts:
 * [name]}`, with `zoneless: {timezone: [fields]}` for timestamps without zone that are read in another timezone than
 * UTC. `full` adds operators, permissions and the descriptions of actions.
 */
function descriptionText(
  description: CollectionDescription,
  full: boolean,
  { actions, charts }: RecordFeatures = { actions: [], charts: [] },
): string {
  const { name, kind, key, fields, relations, segments, searchable, countable, permissions } = description;
  return JSON.stringify({
    name,
    ...(kind === 'view' && { kind }),
    key: key.length === 1 ? key[0] : key,
    ...(key.length > 1 && { ids: key.join('|') }),
    fields: Object.fromEntries(fields.map((field) => [field.name, fieldText(field)])),
    ...describeZoneless(fields, full),
    ...(relations.length > 0 && {
      relations: Object.fromEntries(relations.map((relation) => [relation.name, relationText(relation, full)])),
    }),
    ...(segments.length > 0 && { segments }),
    ...(actions.length > 0 && {
      actions: Object.fromEntries(actions.map((action) => [action.name, actionLine(action, full)])),
    }),
    ...(charts.length > 0 && { charts }),
    ...(!searchable && { searchable }),
    ...(!countable && { countable }),
    ...(full && { operators: operatorTexts(fields), permissions: permissionText(permissions) }),
  });
}

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
  const values = field.enumValues ? `(${field.enumValues.join('|')})` : '';
  const marker = field.nullable ? '?' : field.required ? '!' : '';
  const type = field.binaryMode === 'datauri' ? field.type.replace('Binary', 'File') : field.type;
  return `${type}${values}${marker}${field.readOnly ? ' ro' : ''}${field.sortable ? '' : ' unsortable'}`;
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
