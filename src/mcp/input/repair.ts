// Renames arguments, collections, relations and fields in a call, if the caller can mean only one thing. This runs
// before the log entry, the approval and the work of a call, so all three see the same arguments. Unclear names stay
// unchanged; the tool or the engine refuses them.

import { packId } from '../../agent/encode/record-id.ts';
import type { CallerNames } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import { MAX_MEASURES, type PlainMeasures } from '../../core/filter/measures.ts';
import { MAX_CONDITIONS, MAX_SORTS } from '../../core/filter.ts';
import { foldName, matchName } from '../../core/suggestions.ts';
import {
  isObject,
  type JsonObject,
  MAX_FIELDS,
  type NameContext,
  parseIfJson,
  readSort,
  requireAtMost,
  resolveField,
} from './arguments.ts';
import { failOnFiguresInFilters, readListFields } from './columns.ts';
import { toExpression } from './expressions.ts';
import { readFilter } from './filters.ts';
import { readGroupSort, readHaving, repairTop } from './group-order.ts';
import { readGroups } from './groups.ts';
import { failOnComparedPeriod, failOnDifference, repairEarlierPeriods } from './measure-calls.ts';
import { readMeasures } from './measures.ts';
import { failOnInnerGroups, failOnRelatedFigures, readOver } from './over.ts';
import { argumentWords, measureWords, operationWords } from './synonyms.ts';

/** The name and the argument schema of a tool. */
interface ToolSchema {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Listed once for each tool. */
const knownByTool = new WeakMap<ToolSchema, readonly string[]>();

function argumentsOf(tool: ToolSchema): readonly string[] {
  let known = knownByTool.get(tool);
  if (!known) {
    known = Object.keys(tool.inputSchema.properties as object);
    knownByTool.set(tool, known);
  }
  return known;
}

export function repairArguments(tool: ToolSchema, input: JsonObject, names: CallerNames): JsonObject {
  const known = argumentsOf(tool);
  const repaired = mergeMembers(renameArguments(input, known), known);
  refuseLongLists(repaired);
  if (typeof repaired.collectionName !== 'string') return repaired;
  const collection = names.collection(repaired.collectionName.trim());
  if (collection === undefined) return repaired;
  repaired.collectionName = collection;
  // The action defines the names of its form fields.
  if (known.includes('actionName')) return repaired;
  if (typeof repaired.relationName === 'string')
    repaired.relationName = names.relation(collection, repaired.relationName.trim()) ?? repaired.relationName;
  const queried = queriedCollectionOf(repaired, collection, names);
  if (queried !== undefined) repairQuery(repaired, known, { names, collection: queried });
  for (const id of ['recordId', 'recordIds', 'parentRecordId'])
    if (repaired[id] !== undefined) repaired[id] = toIds(repaired[id], names.key(collection));
  if (known.includes('attributes')) repaired.attributes = repairRecords(repaired.attributes, collection, names);
  return repaired;
}

/** The most entries of arguments with names, and what they are. */
const mostEntries: Readonly<Record<string, readonly [most: number, what: string]>> = {
  measures: [MAX_MEASURES, 'measures'],
  sort: [MAX_SORTS, 'fields to sort by'],
  filters: [MAX_CONDITIONS, 'conditions'],
  cells: [MAX_FIELDS, 'fields'],
  // No database has tables of so many columns that can be written.
  attributes: [5000, 'fields'],
};

/** Looking up a name takes microseconds, so thousands of them are refused first. Shorter lists have better errors. */
function refuseLongLists(args: JsonObject): void {
  for (const [name, [most, what]] of Object.entries(mostEntries)) {
    const value = parseIfJson(args[name]);
    // A list of records has its own limit.
    const isList = Array.isArray(value) && name !== 'attributes';
    const entries = isList ? (value as unknown[]) : isObject(value) ? Object.keys(value) : [];
    if (entries.length > 1000) requireAtMost(most, entries, name, what);
  }
  const over = parseIfJson(args.over);
  if (isObject(over)) refuseLongLists({ measures: over.measures });
}

/** The collection of the fields and filters: for a relation, its target. */
function queriedCollectionOf({ relationName }: JsonObject, collection: string, names: CallerNames): string | undefined {
  return typeof relationName === 'string' ? names.target(collection, relationName) : collection;
}

function repairQuery(args: Record<string, unknown>, known: readonly string[], context: NameContext): void {
  const put = (name: string, value: unknown) => {
    if (value !== undefined) args[name] = value;
  };
  const has = (name: string) => known.includes(name) && args[name] !== undefined && args[name] !== null;
  if (has('fields')) put('fields', readListFields(args, 'fields', context));
  if (known.includes('having') && has('filters')) moveToHaving(args, context);
  if (has('filters') && known.includes('fields')) failOnFiguresInFilters(args, context);
  if (has('filters')) put('filters', readFilter(args, 'filters', withColumns(args, context)));
  if (known.includes('measures')) repairSelect(args);
  if (known.includes('operation')) repairOperation(args, context);
  if (known.includes('measures')) repairAggregate(args, has, put, context);
  else if (has('sort')) put('sort', readSort(args, 'sort', withColumns(args, context)));
  if (has('cells')) put('cells', resolveKeys(parseIfJson(args.cells), withColumns(args, context)));
}

/** Conditions that name a measure, and no field, are about groups. */
function moveToHaving(args: Record<string, unknown>, { names, collection }: NameContext): void {
  const [filters, measures] = [parseIfJson(args.filters), parseIfJson(args.measures)];
  if (!isObject(measures) || args.having !== undefined || args.over !== undefined) return;
  const isAnd = isObject(filters) && /^and$/i.test(String(filters.aggregator)) && Array.isArray(filters.conditions);
  const conditions: readonly unknown[] = isAnd
    ? (filters.conditions as unknown[])
    : Array.isArray(filters)
      ? filters
      : [filters];
  const isOfGroups = (each: unknown) => {
    if (!isObject(each) || !('operator' in each)) return false;
    const name = each.measure ?? each.field;
    return typeof name === 'string' && Object.hasOwn(measures, name) && names.field(collection, name) === undefined;
  };
  const ofGroups = conditions.filter(isOfGroups);
  if (ofGroups.length === 0) return;
  const rest = conditions.filter((each) => !isOfGroups(each));
  args.having = ofGroups.length === 1 ? ofGroups[0] : ofGroups;
  args.filters = rest.length > 0 ? rest : undefined;
}

/** Names of computed columns stay unchanged. */
function withColumns({ fields }: JsonObject, context: NameContext): NameContext {
  if (!Array.isArray(fields) || fields.every((field) => typeof field === 'string')) return context;
  const columns = new Set(fields.map((field) => field?.name));
  const { names } = context;
  const field: CallerNames['field'] = (collection, text) => (columns.has(text) ? text : names.field(collection, text));
  return { ...context, names: { ...names, field } };
}

function repairAggregate(
  args: Record<string, unknown>,
  has: (name: string) => boolean,
  put: (name: string, value: unknown) => void,
  given: NameContext,
): void {
  if (has('over')) put('over', readOver(args, 'over', given));
  // With `over`, names are those of its columns.
  const context = has('over') ? undefined : given;
  if (has('measures')) failOnInnerGroups(args, given);
  if (has('measures')) failOnRelatedFigures(args, given);
  if (has('groups')) put('groups', readGroups(args, 'groups', context));
  failOnDifference(args);
  if (has('compare')) failOnComparedPeriod(args, given);
  repairEarlierPeriods(args, context);
  if (has('measures')) put('measures', readMeasures(args, 'measures', context));
  repairEarlierPeriods(args, context);
  const known = { measures: (isObject(args.measures) ? args.measures : {}) as PlainMeasures, context };
  // The own argument of `operation` is called order, and SQL's ORDER BY too.
  if (
    has('order') &&
    has('measures') &&
    !has('sort') &&
    !/^(value|groups|asc|desc|ascending|descending)$/i.test(String(args.order))
  ) {
    args.sort = args.order;
    delete args.order;
  }
  if (has('having')) put('having', readHaving(args, 'having', known));
  if (has('top')) for (const [name, value] of Object.entries(repairTop(args, known))) put(name, value);
  if (has('sort')) put('sort', readGroupSort(args, 'sort', known));
}

/** Resolves the keys of an object as fields. */
function resolveKeys(value: unknown, context: NameContext): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [resolveField(field, context), item]));
}

/** Renames arguments to the tool's names. A word with several meanings takes the first argument that the tool has. */
function renameArguments(input: JsonObject, known: readonly string[]): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(input)) {
    const resolved = resolveArgument(name, known);
    if (resolved in result || (resolved !== name && Object.hasOwn(input, resolved)))
      invalid(name, `same as '${resolved}', which was also sent: send only one.`);
    result[resolved] = value;
  }
  return result;
}

function resolveArgument(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const same = known.filter((each) => foldName(each) === foldName(name));
  const words = argumentWords.get(foldName(name)) ?? [];
  return (same.length === 1 ? same[0] : words.find((each) => known.includes(each.split('.')[0]!))) ?? name;
}

/** Moves separately sent members into `pagination` and `sort`. */
function mergeMembers(args: Record<string, unknown>, known: readonly string[]): Record<string, unknown> {
  if (known.includes('pagination')) mergePagination(args);
  const direction = args['sort.direction'];
  if (direction === undefined) return args;
  delete args['sort.direction'];
  if (typeof args.sort !== 'string' || args.sort.includes(','))
    invalid('sort', 'send [{"field":"name","ascending":false}].');
  args.sort = [{ field: args.sort, ascending: direction }];
  return args;
}

function mergePagination(args: Record<string, unknown>): void {
  const names = Object.keys(args);
  if (!names.some((name) => name.startsWith('pagination'))) return;
  const page: Record<string, unknown> = {};
  const pagination = parseIfJson(args.pagination);
  const parts = [
    ...Object.entries(isObject(pagination) ? pagination : {}),
    ...names.filter((name) => name.startsWith('pagination.')).map((name) => [name, args[name]] as const),
  ];
  if (parts.length === 0) return;
  for (const [name, value] of parts) {
    const word = name.startsWith('pagination.')
      ? name
      : argumentWords.get(foldName(name))?.find((each) => each.startsWith('pagination.'));
    const member = word?.slice('pagination.'.length) ?? name;
    if (member in page) invalid(`pagination.${member}`, 'sent twice: send {"size":15,"number":1}.');
    page[member] = value;
    delete args[name];
  }
  if (page.offset !== undefined) page.number = toPageNumber(page);
  delete page.offset;
  args.pagination = page;
}

/** Pages start at multiples of their size. */
function toPageNumber({ offset, size, number }: JsonObject): number | undefined {
  const [from, length] = [Number(offset), Number(size)];
  if (number === undefined && Number.isInteger(from / length) && from >= 0) return from / length + 1;
  if (from === 0 && number === undefined) return 1;
  return invalid('offset', 'send {"pagination":{"size":15,"number":2}} for the second page, or nextCursor as cursor.');
}

function repairOperation(args: Record<string, unknown>, context: NameContext): void {
  const { names, collection } = context;
  const [, functionName, inner] = /^\s*(\w+)\s*\(\s*(.*?)\s*\)\s*$/.exec(String(args.operation ?? '')) ?? [];
  if (functionName !== undefined && args.field === undefined) {
    args.operation = functionName;
    if (inner) args.field = inner;
  }
  if (typeof args.operation === 'string' && typeof args.field === 'string')
    repairKind(args, args.operation, args.field, context);
  const operation = typeof args.operation === 'string' ? operationWords.get(foldName(args.operation))?.[0] : undefined;
  if (operation) args.operation = operation;
  if (operation === 'count' && args.field === '*') delete args.field;
  if (typeof args.field === 'string') args.field = names.field(collection, args.field.trim()) ?? args.field;
}

/** `median`, `countDistinct` and arithmetic are for measures only. */
function repairKind(args: Record<string, unknown>, operation: string, field: string, context: NameContext): void {
  const kind = measureWords.get(foldName(operation))?.[0];
  if (!kind || args.measures !== undefined || args.order !== undefined) return;
  const isOwn = kind === 'median' || kind === 'countDistinct';
  if (!isOwn && typeof toExpression(field, context) === 'string') return;
  args.measures = { [`${kind}(${field})`]: { [kind]: field } };
  delete args.operation;
  delete args.field;
}

/** `select: ["status", "count(*) as n"]` with `groups: ["status"]`. */
function repairSelect(args: Record<string, unknown>): void {
  const name = ['select', 'fields', 'columns'].find((each) => args[each] !== undefined);
  const given = name && parseIfJson(args[name]);
  if (!name || !Array.isArray(given) || args.measures !== undefined || args.operation !== undefined) return;
  const groups = parseIfJson(args.groups);
  const own = (Array.isArray(groups) ? groups : [groups]).map((each) => (isObject(each) ? each.field : each));
  const rest = given.filter((each) => !own.includes(each));
  if (rest.length === 0 || !rest.every((each) => isObject(each) || (typeof each === 'string' && each.includes('('))))
    return;
  args.measures = rest;
  delete args[name];
}

/** Converts an id object by key column to one text. */
function toIds(value: unknown, key: readonly string[]): unknown {
  const parsed = parseIfJson(value);
  if (Array.isArray(parsed)) return parsed.map((each) => (isObject(each) ? toIds(each, key) : each));
  if (!isObject(parsed) || Object.keys(parsed).length !== key.length) return value;
  const parts = new Map(Object.entries(parsed).map(([name, part]) => [matchName(name, key), part]));
  if (!key.every((name) => parts.has(name))) return value;
  return packId(key.map((name) => parts.get(name)));
}

/** Resolves the field names of one record or a list of records. */
function repairRecords(value: unknown, collection: string, names: CallerNames): unknown {
  const parsed = parseIfJson(value);
  if (Array.isArray(parsed)) return parsed.map((each) => repairRecords(each, collection, names));
  if (!isObject(parsed)) return value;
  const record: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(parsed)) {
    const resolved = names.field(collection, name) ?? names.relation(collection, name) ?? name;
    if (resolved in record || (resolved !== name && Object.hasOwn(parsed, resolved))) return parsed;
    record[resolved] = item;
  }
  return record;
}
