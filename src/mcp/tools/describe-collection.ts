import type { ActionDescription } from '../../agent/actions.ts';
import type { CollectionDescription, CollectionSummary, FieldDescription } from '../../agent/engine.ts';
import { fitsTokens } from '../answers/tokens.ts';
import { actionText } from '../arguments/action-arguments.ts';
import { checkNames, type Given, readChoice, readText } from '../arguments/arguments.ts';
import { chartNames } from '../offers/charts.ts';
import { offers } from '../offers/offers.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface DescribeArguments {
  /** Absent: the index of all collections. */
  readonly collection: string | undefined;
  readonly full: boolean;
}

export const describeCollection: Tool<DescribeArguments> = {
  name: 'describeCollection',
  title: 'Describe a collection',
  description:
    'Without collectionName: all collections, each with its relations. With one: its key, fields with type (`?` may be null, `!` needed to create, `ro` read-only) and relations as "one|many collection", actions and charts. detail "full" adds filter operators and your permissions. Call it first.',
  scope: 'mcp:read',
  isOffered: offers.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { collectionName: { type: 'string' }, detail: { type: 'string', enum: ['concise', 'full'] } },
  },
  parse,
  subject: (args) => (args.collection === undefined ? {} : { collection: args.collection }),
  run,
};

function parse(given: Given): DescribeArguments {
  checkNames(given, ['collectionName', 'detail']);
  return {
    collection: readText(given, 'collectionName')?.trim() || undefined,
    full: readChoice(given, 'detail', ['concise', 'full'] as const) === 'full',
  };
}

async function run(args: DescribeArguments, call: ToolCall): Promise<string> {
  if (args.collection === undefined) {
    return indexText(call.engine.index(call.access), call.config.answerTokens, chartNames(call));
  }
  const { access, engine } = call;
  const description = engine.describe(access, args.collection);
  return descriptionText(description, args.full, {
    actions: engine.actions.describe(access, args.collection),
    charts: chartNames(call, args.collection),
  });
}

/**
 * `{collections: {name: relations}, charts?: [name]}`; names of collections alone, and then as many as fit, when there are
 * very many.
 */
export function indexText(
  collections: readonly CollectionSummary[],
  budgetTokens: number,
  charts: readonly string[] = [],
): string {
  const entries = collections.map((collection): [string, string] => [collection.name, summary(collection)]);
  const whole = JSON.stringify({
    collections: Object.fromEntries(entries),
    ...(charts.length > 0 && { charts }),
  });
  if (fitsTokens(whole, budgetTokens)) return whole;
  const names = collections.map((collection) => collection.name);
  const namesOnly = JSON.stringify({ collections: names });
  if (fitsTokens(namesOnly, budgetTokens)) return namesOnly;
  for (let count = Math.floor(names.length * 0.8); ; count = Math.floor(count * 0.8)) {
    const note = `${count} of ${names.length} collections: the others are described by name.`;
    const text = JSON.stringify({ collections: names.slice(0, count), note });
    if (count <= 1 || fitsTokens(text, budgetTokens)) return text;
  }
}

function summary(collection: CollectionSummary): string {
  const kind = collection.kind === 'view' ? ['view'] : [];
  return [...kind, ...collection.relations].join(' ');
}

export interface Doings {
  readonly actions: readonly ActionDescription[];
  /** Of one record each. */
  readonly charts: readonly string[];
}

/**
 * `{name, key, fields: {name: type}, relations: {name: "one collection"}, actions: {name: "single form"}, charts: [name]}`;
 * `full` adds operators, permissions and what the actions say of themselves.
 */
export function descriptionText(
  description: CollectionDescription,
  full: boolean,
  { actions, charts }: Doings = { actions: [], charts: [] },
): string {
  const { name, kind, key, fields, relations, segments, searchable, countable, permissions } = description;
  return JSON.stringify({
    name,
    ...(kind === 'view' && { kind }),
    key: key.length === 1 ? key[0] : key,
    fields: Object.fromEntries(fields.map((field) => [field.name, fieldText(field)])),
    ...(relations.length > 0 && {
      relations: Object.fromEntries(
        relations.map((relation) => [relation.name, relationText(relation.kind, relation.to, relation.columns, full)]),
      ),
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

function actionLine(action: ActionDescription, full: boolean): string {
  const { description } = action;
  return full && description !== undefined ? `${actionText(action)}: ${description}` : actionText(action);
}

function fieldText(field: FieldDescription): string {
  const values = field.enumValues ? `(${field.enumValues.join('|')})` : '';
  const need = field.nullable ? '?' : field.required ? '!' : '';
  return `${field.type}${values}${need}${field.readOnly ? ' ro' : ''}${field.sortable ? '' : ' unsortable'}`;
}

function relationText(kind: 'one' | 'many', to: string, columns: readonly string[], full: boolean): string {
  return full && kind === 'one' && columns.length > 0 ? `${kind} ${to} by ${columns.join('+')}` : `${kind} ${to}`;
}

/** Operators once for a type; a field that differs from the rest of its type has its own line. */
function operatorTexts(fields: readonly FieldDescription[]): Record<string, string> {
  const byType = new Map<string, Map<string, string[]>>();
  for (const field of fields) {
    const text = field.operators.join(' ');
    const sets = byType.get(field.type) ?? new Map<string, string[]>();
    byType.set(field.type, sets.set(text, [...(sets.get(text) ?? []), field.name]));
  }
  const texts: Record<string, string> = {};
  for (const [type, sets] of byType) {
    const [usual, ...others] = [...sets].sort((a, b) => b[1].length - a[1].length);
    texts[type] = usual![0];
    for (const [text, names] of others) for (const name of names) texts[`${type} ${name}`] = text;
  }
  return texts;
}

function permissionText(permissions: CollectionDescription['permissions']): string {
  const granted = (['add', 'edit', 'delete'] as const).filter((verb) => permissions[verb]);
  return ['read', ...granted].join(' ');
}
