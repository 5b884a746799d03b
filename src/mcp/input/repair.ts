// Renames arguments, collections, relations and fields in a call, if the caller can mean only one thing. This runs
// before the log entry, the approval and the work of a call, so all three see the same arguments. Unclear names stay
// unchanged; the tool or the engine refuses them.

import { packId } from '../../agent/encode/record-id.ts';
import type { CallerNames } from '../../agent/engine.ts';
import { fail } from '../../core/errors.ts';
import { findMeant, foldName } from '../../core/suggestions.ts';
import { fromText, type Given, isObject } from './arguments.ts';
import { type Home, readFields, readGroups, readSort, toField } from './columns.ts';
import { readFilter } from './filters.ts';
import { argumentWords, operationWords } from './synonyms.ts';

/** The name and the argument schema of a tool. */
interface Arguments {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

export function repairArguments(tool: Arguments, sent: Given, names: CallerNames): Given {
  const known = Object.keys(tool.inputSchema.properties as object);
  const given = withMembers(rename(sent, known), known);
  if (typeof given.collectionName !== 'string') return given;
  const collection = names.collection(given.collectionName.trim());
  if (collection === undefined) return given;
  given.collectionName = collection;
  // The action defines the names of its form fields.
  if (known.includes('actionName')) return given;
  if (typeof given.relationName === 'string')
    given.relationName = names.relation(collection, given.relationName.trim()) ?? given.relationName;
  const about = aboutOf(given, collection, names);
  if (about !== undefined) repairQuery(given, known, { names, collection: about });
  for (const id of ['recordId', 'recordIds', 'parentRecordId'])
    if (given[id] !== undefined) given[id] = toIds(given[id], names.key(collection));
  if (known.includes('attributes')) given.attributes = repairRecords(given.attributes, collection, names);
  return given;
}

/** The collection of the fields and filters: for a relation, its target. */
function aboutOf({ relationName }: Given, collection: string, names: CallerNames): string | undefined {
  return typeof relationName === 'string' ? names.target(collection, relationName) : collection;
}

function repairQuery(given: Record<string, unknown>, known: readonly string[], home: Home): void {
  const put = (name: string, value: unknown) => {
    if (value !== undefined) given[name] = value;
  };
  const has = (name: string) => known.includes(name) && given[name] !== undefined && given[name] !== null;
  if (has('filters')) put('filters', readFilter(given, 'filters', home));
  if (has('fields')) put('fields', readFields(given, 'fields', home));
  if (has('sort')) put('sort', readSort(given, 'sort', home));
  if (has('groups')) put('groups', readGroups(given, 'groups', home));
  if (has('cells')) put('cells', byField(fromText(given.cells), home));
  if (known.includes('operation')) repairOperation(given, home);
}

/** Resolves the keys of an object as fields. */
function byField(value: unknown, home: Home): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, item]) => [toField(field, home), item]));
}

/** Renames arguments to the tool's names. A word with several meanings takes the first argument that the tool has. */
function rename(sent: Given, known: readonly string[]): Record<string, unknown> {
  const given: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(sent)) {
    const meant = argumentOf(name, known);
    if (meant in given || (meant !== name && Object.hasOwn(sent, meant)))
      invalid(name, `it means '${meant}', which was sent too: send one of them.`);
    given[meant] = value;
  }
  return given;
}

function argumentOf(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const same = known.filter((each) => foldName(each) === foldName(name));
  const words = argumentWords.get(foldName(name)) ?? [];
  return (same.length === 1 ? same[0] : words.find((each) => known.includes(each.split('.')[0]!))) ?? name;
}

/** Moves separately sent members into `pagination` and `sort`. */
function withMembers(given: Record<string, unknown>, known: readonly string[]): Record<string, unknown> {
  if (known.includes('pagination')) mergePages(given);
  const direction = given['sort.direction'];
  if (direction === undefined) return given;
  delete given['sort.direction'];
  if (typeof given.sort !== 'string' || given.sort.includes(','))
    invalid('sort', 'send [{"field":"name","ascending":false}].');
  given.sort = [{ field: given.sort, ascending: direction }];
  return given;
}

function mergePages(given: Record<string, unknown>): void {
  const page: Record<string, unknown> = {};
  const inside = fromText(given.pagination);
  const parts = [
    ...Object.entries(isObject(inside) ? inside : {}),
    ...Object.entries(given).filter(([name]) => name.startsWith('pagination.')),
  ];
  if (parts.length === 0) return;
  for (const [name, value] of parts) {
    const word = name.startsWith('pagination.')
      ? name
      : argumentWords.get(foldName(name))?.find((each) => each.startsWith('pagination.'));
    const meant = word?.slice('pagination.'.length) ?? name;
    if (meant in page) invalid(`pagination.${meant}`, 'it was sent twice: send {"size":15,"number":1}.');
    page[meant] = value;
    delete given[name];
  }
  if (page.offset !== undefined) page.number = pageOf(page);
  delete page.offset;
  given.pagination = page;
}

/** Pages start at multiples of their size. */
function pageOf({ offset, size, number }: Given): number | undefined {
  const [from, length] = [Number(offset), Number(size)];
  if (number === undefined && Number.isInteger(from / length) && from >= 0) return from / length + 1;
  if (from === 0 && number === undefined) return 1;
  return invalid('offset', 'send {"pagination":{"size":15,"number":2}} for the second page, or nextCursor as cursor.');
}

function repairOperation(given: Record<string, unknown>, { names, collection }: Home): void {
  const [, called, inner] = /^\s*(\w+)\s*\(\s*(.*?)\s*\)\s*$/.exec(String(given.operation ?? '')) ?? [];
  if (called !== undefined && given.field === undefined) {
    given.operation = called;
    if (inner) given.field = inner;
  }
  const operation =
    typeof given.operation === 'string' ? operationWords.get(foldName(given.operation))?.[0] : undefined;
  if (operation) given.operation = operation;
  if (operation === 'count' && given.field === '*') delete given.field;
  if (typeof given.field === 'string') given.field = names.field(collection, given.field.trim()) ?? given.field;
}

/** Converts an id object by key column to one text. */
function toIds(value: unknown, key: readonly string[]): unknown {
  const sent = fromText(value);
  if (Array.isArray(sent)) return sent.map((each) => (isObject(each) ? toIds(each, key) : each));
  if (!isObject(sent) || Object.keys(sent).length !== key.length) return value;
  const parts = new Map(Object.entries(sent).map(([name, part]) => [findMeant(name, key), part]));
  if (!key.every((name) => parts.has(name))) return value;
  return packId(key.map((name) => parts.get(name)));
}

/** Resolves the field names of one record or a list of records. */
function repairRecords(value: unknown, collection: string, names: CallerNames): unknown {
  const sent = fromText(value);
  if (Array.isArray(sent)) return sent.map((each) => repairRecords(each, collection, names));
  if (!isObject(sent)) return value;
  const record: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(sent)) {
    const meant = names.field(collection, name) ?? names.relation(collection, name) ?? name;
    if (meant in record || (meant !== name && Object.hasOwn(sent, meant))) return sent;
    record[meant] = item;
  }
  return record;
}
