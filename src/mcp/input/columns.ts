// The fields and computed columns of a list as models write them. Forms with only one possible meaning become the
// specified ones. The engine refuses all others with the form to send.
import { fail } from '../../core/errors.ts';
import type { PlainColumn } from '../../core/filter/columns.ts';
import { foldName } from '../../core/suggestions.ts';
import {
  isObject,
  type JsonObject,
  MAX_FIELDS,
  type NameContext,
  parseIfJson,
  readFields,
  requireAtMost,
} from './arguments.ts';
import { toExpression } from './expressions.ts';
import { toLeast } from './filter-refusals.ts';
import { readFilter } from './filters.ts';
import { toOperationForm } from './measure-forms.ts';
import { expressionWords, measureWords } from './synonyms.ts';

/** As `readFields`, with objects for computed columns among the fields. */
export function readListFields(
  input: JsonObject,
  name: string,
  context?: NameContext,
): readonly (string | PlainColumn)[] | undefined {
  const value = parseIfJson(input[name]);
  if (Array.isArray(value)) requireAtMost(MAX_FIELDS, value, name, 'fields');
  const entries = (Array.isArray(value) ? value : [value]).map(
    (entry) => toColumnOfText(entry, context) ?? parseIfJson(entry),
  );
  if (!entries.some(isObject)) return readFields(input, name, context);
  failOnJoinedTexts(entries, name, context);
  return entries.flatMap((entry): readonly (string | PlainColumn)[] =>
    isObject(entry) ? [toColumn(entry, name, context)] : (readFields({ [name]: [entry] }, name, context) ?? []),
  );
}

/** `{"concat": ["first_name", " ", "last_name"]}`: the fields have the same texts. */
function failOnJoinedTexts(entries: readonly unknown[], argument: string, context: NameContext | undefined): void {
  const fieldsOf = (entry: unknown): readonly unknown[] => {
    const { expression = entry } = isObject(entry) ? entry : {};
    const [, texts] = (isObject(expression) && Object.entries(expression).find(([word]) => joins.test(word))) || [];
    if (!context || !Array.isArray(texts)) return [entry];
    return texts.flatMap((text) => (typeof text === 'string' && context.names.field(context.collection, text)) || []);
  };
  const fields = entries.flatMap(fieldsOf);
  if (fields.length === entries.length && fields.every((field, at) => field === entries[at])) return;
  fail('INVALID_ARGUMENT', {
    argument,
    problem: `lists do not put texts together. Name their fields: send ${JSON.stringify(fields)}.`,
  });
}

const joins = /^(concat|concatenate|concat_?ws|join)$/i;

/** `count(orders)` or `sum(orders.total) as spent`, unless a field has such a name. */
function toColumnOfText(entry: unknown, context: NameContext | undefined): JsonObject | undefined {
  if (typeof entry !== 'string' || !context) return undefined;
  const [, figure = '', word = '', of, as] = /^\s*((\w+)\(([^()]+)\))(?:\s+as\s+(\w+))?\s*$/i.exec(entry) ?? [];
  const kind = figures.find((each) => each === measureWords.get(foldName(word))?.[0]);
  const isField = context.names.field(context.collection, entry) !== undefined;
  return kind && !isField ? { name: as ?? figure, [kind]: of!.trim() } : undefined;
}

/** `{name, count: "orders"}`, `{as, operation, field}`, `{name, times: [...]}` or `{"orders_count": {count: "orders"}}`. */
function toColumn(given: JsonObject, argument: string, context: NameContext | undefined): PlainColumn {
  const [[key = '', only] = [], ...others] = Object.entries(given);
  if (others.length === 0 && isObject(only) && !('name' in only))
    return toColumn({ name: key, ...only }, argument, context);
  const text = others.length === 0 ? toColumnOfText(only, context) : undefined;
  if (text) return toColumn({ ...text, name: key }, argument, context);
  const { name, alias = name, as = alias, ...rest } = given;
  const column: Record<string, unknown> = { name: as };
  const operation: Record<string, unknown> = {};
  for (const [word, item] of Object.entries(toOperationForm(rest) ?? rest)) {
    const kind = measureWords.get(foldName(word))?.[0];
    if (kind) column[kind] = parseIfJson(item);
    else if (/^(expression|expr|formula)$/i.test(word))
      column.expression = toExpression(item, context, `${argument}.${as}.expression`);
    else if (expressionWords.has(foldName(word))) operation[word] = item;
    else column[word] = item;
  }
  if (Object.keys(operation).length > 0) column.expression ??= toExpression(operation, context);
  for (const kind of figures)
    if (kind in column) column[kind] = toRelation(column[kind], context) ?? toExpression(column[kind], context);
  if ('where' in column)
    column.where = readFilter({ where: column.where }, 'where', targetOf(column, context)) ?? column.where;
  return column as unknown as PlainColumn;
}

const figures = ['count', 'countDistinct', 'sum', 'avg', 'min', 'max'] as const;

/** Whether a column can have such a figure of related records. */
export const isFigure = (kind: string): boolean => figures.some((each) => each === kind);

/** The relation that `count` counts. */
function toRelation(given: unknown, context: NameContext | undefined): string | undefined {
  if (typeof given !== 'string' || !context || context.names.field(context.collection, given.trim())) return undefined;
  return context.names.relation(context.collection, given.trim());
}

/** The collection of the names in `where`: that of the related records. */
function targetOf(column: JsonObject, context: NameContext | undefined): NameContext | undefined {
  const given = figures.map((kind) => column[kind]).find((each) => typeof each === 'string') as string | undefined;
  if (!context || given === undefined) return undefined;
  const { names, collection } = context;
  const target = names.target(collection, given) ?? names.target(collection, given.slice(0, given.lastIndexOf(':')));
  return target === undefined ? undefined : { names, collection: target };
}

/**
 * Conditions on figures of related records within the filters, such as `{"some": "orders", "atLeast": 4}` or a value
 * `{"avg": "category:products:price"}`: columns have the figures, and filters name them. The refusal has that list.
 */
export function failOnFiguresInFilters(args: JsonObject, context: NameContext): void {
  const filters = parseIfJson(args.filters);
  const isAnd = isObject(filters) && /^and$/i.test(String(filters.aggregator)) && Array.isArray(filters.conditions);
  const conditions: readonly unknown[] = isAnd ? (filters.conditions as unknown[]) : [filters];
  const columns: JsonObject[] = [];
  const changed = conditions.map((each) => {
    const found = isObject(each) ? toFigureCondition(each, context) : undefined;
    if (!found) return each;
    columns.push(...found.columns);
    return found.condition;
  });
  if (columns.length === 0) return;
  const given = parseIfJson(args.fields);
  const fields = [...(Array.isArray(given) ? given : context.names.key(context.collection)), ...columns];
  const [only, ...more] = changed;
  const form = { fields, filters: more.length === 0 ? only : { aggregator: 'And', conditions: changed } };
  fail('INVALID_ARGUMENT', {
    argument: 'filters',
    problem: `figures of related records are columns, which filters name: send ${JSON.stringify(form)}.`,
  });
}

interface FigureCondition {
  readonly columns: readonly JsonObject[];
  readonly condition: JsonObject;
}

function toFigureCondition(condition: JsonObject, { names, collection }: NameContext): FigureCondition | undefined {
  const { some, where, ...members } = condition;
  const [[member = '', least] = [], ...others] = Object.entries(members);
  if (typeof some === 'string') {
    const relation = names.relation(collection, some);
    const bound = toLeast(member, least);
    if (relation === undefined || !bound || others.length > 0) return undefined;
    const name = `number of ${relation}`;
    return {
      columns: [{ name, count: relation, ...(where !== undefined && { where }) }],
      condition: { field: name, ...bound },
    };
  }
  const { field, operator, value } = condition;
  if (Object.keys(condition).length !== 3 || typeof operator !== 'string') return undefined;
  const columns: JsonObject[] = [];
  const other = nameFigures(value, { names, collection }, columns);
  if (typeof field === 'string' && columns.length > 0) return { columns, condition: { field, operator, other } };
  const ofField = toFigureColumn(field, { names, collection });
  if (!ofField || value === 0) return undefined;
  return { columns: [ofField], condition: { field: ofField.name, operator, value } };
}

/** The value with names in place of figures of related records, which become columns. */
function nameFigures(value: unknown, context: NameContext, columns: JsonObject[]): unknown {
  const column = toFigureColumn(value, context);
  if (column) {
    if (!columns.some(({ name }) => name === column.name)) columns.push(column);
    return column.name;
  }
  if (Array.isArray(value)) return value.map((each) => nameFigures(each, context, columns));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, nameFigures(each, context, columns)]));
}

/** `{"avg": "category:products:price"}`, with a name. Undefined for a field of the record. */
function toFigureColumn(value: unknown, { names, collection }: NameContext): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const [[word = '', of] = [], ...others] = Object.entries(value);
  const kind = figures.find((each) => each === measureWords.get(foldName(word))?.[0]);
  if (!kind || others.length > 0 || typeof of !== 'string') return undefined;
  const relation = names.relation(collection, of) ?? names.relation(collection, of.slice(0, of.lastIndexOf(':')));
  return relation === undefined ? undefined : { name: `${kind} of ${of}`, [kind]: of };
}
