// Parses a record to write into a Draft: the canonical values of its columns, and the drafts of nested to-one records.
// All problems of a record are reported together, each with its field.
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { Collection, Column, Moment, Relation } from '../model/types.ts';
import { splitFirst } from '../resolve/names.ts';
import { checkStored } from '../resolve/values.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { isGeometry } from '../sources/values/geometry.ts';

/** Stored values: only columns of the table. */
export type Values = ReadonlyMap<Column, unknown>;

export interface Draft {
  /** Values by column, including replaced columns until their code has run. */
  readonly values: Map<Column, unknown>;
  readonly related: Map<Relation, Draft>;
}

/** The author of a write: a caller with names and permissions, or code. */
export interface Writer {
  readonly view: CollectionView;
  readonly moment: Moment;
  /** For code, a null in a required field is reported together with missing fields. */
  readonly isCode: boolean;
  /** Whether the relation accepts nested records. */
  canNest(relation: Relation): boolean;
  /** The same author for the foreign collection of a relation. */
  forCollection(collection: Collection): Writer;
  /** Why this author may not write the field. Undefined if they may. */
  refusalReason(column: Column): string | undefined;
  /** The author's name of the field. Undefined if it is hidden from them. */
  label(field: Column | Relation): string | undefined;
  /** The verb of the write, for messages. */
  readonly verb: string;
}

export interface ParsedDraft {
  readonly draft: Draft;
  /** Field names as the author wrote them, `relation:field` for nested records. */
  readonly problems: readonly FieldProblem[];
}

const DEPTH_LIMIT = 8;

export const newDraft = (): Draft => ({ values: new Map(), related: new Map() });

/** Throws INVALID_ARGUMENT for a value that is not a record. */
export function readDraft(writer: Writer, given: unknown, argument: string): ParsedDraft {
  if (!isPlainObject(given))
    return fail('INVALID_ARGUMENT', { argument, problem: 'expected an object of fields and their values.' });
  const draft = newDraft();
  const problems: FieldProblem[] = [];
  const add = (field: string, problem: string) => void problems.push({ field, problem });
  readInto(draft, writer, given, '', add, 0);
  return { draft, problems };
}

type Add = (field: string, problem: string) => void;

function readInto(draft: Draft, writer: Writer, given: object, prefix: string, add: Add, depth: number): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const problem = readField(draft, writer, name, value, prefix, add, depth);
    if (problem) add(`${prefix}${name}`, problem);
  }
}

function readField(
  draft: Draft,
  writer: Writer,
  name: string,
  value: unknown,
  prefix: string,
  add: Add,
  depth: number,
): string | undefined {
  const { view } = writer;
  const fields = view.visibility.fields(view.collection);
  const [first, separator] = fields.has(name) ? [name, ''] : splitFirst(name);
  const field = fields.get(first);
  if (!field || !view.visibility.canSee(view.collection, field) || (separator && field.kind === 'column'))
    return describeUnknown(view, name);
  if (field.kind === 'column') return writer.refusalReason(field) ?? readValue(writer, field, value, draft);
  const problem = cannotNest(view, field, depth) ?? (writer.canNest(field) ? undefined : suggestLink(field));
  if (problem) return problem;
  const rest = separator ? { [name.slice(first.length + separator.length)]: value } : value;
  if (!isPlainObject(rest) || Object.keys(rest).length === 0)
    return `is a relation: send ${field.inverse ? '' : `${field.on.map(({ from }) => `'${from.name}'`).join(' and ')}, or `}an object of fields of '${field.to.name}'.`;
  const inner = relatedDraftOf(draft, field);
  const prefixed = `${prefix}${first}:`;
  readInto(inner, writer.forCollection(field.to), rest, prefixed, add, depth + 1);
  return undefined;
}

export function relatedDraftOf({ related }: Draft, relation: Relation): Draft {
  let inner = related.get(relation);
  if (!inner) {
    inner = newDraft();
    related.set(relation, inner);
  }
  return inner;
}

/**
 * Why the relation accepts no nested record. Undefined if it does. A nested record is written in the same transaction,
 * so it must be in the same source.
 */
function cannotNest(
  { collection }: CollectionView,
  { kind, to, recordsColumn: given, only, lowestBy }: Relation,
  depth: number,
): string | undefined {
  if (given) return 'comes from code and cannot be written.';
  if (only) return `leads to one of several collections: write to '${to.name}' directly.`;
  if (kind !== 'one') return `is a relation to '${to.name}': write there, or use associate to link existing records.`;
  if (lowestBy)
    return `leads to the first of several records: write to '${to.name}' directly, by the id of the intended record.`;
  if (to.source !== collection.source) return `leads to another data source: write to '${to.name}' directly.`;
  if (depth >= DEPTH_LIMIT) return `at most ${DEPTH_LIMIT} relations can be followed.`;
  return undefined;
}

/** Suggests the likely intention: a link to another record. */
function suggestLink({ to, on, inverse }: Relation): string {
  const values = (names: readonly string[], what: string) =>
    `{${names.map((name) => `"${name}": <${what}>`).join(', ')}}`;
  const link = inverse
    ? `update it with ${values(namesOf(on.map((pair) => pair.to)), 'key of this record')}`
    : `send ${values(namesOf(on.map(({ from }) => from)), 'its key')}`;
  return `nested writes to '${to.name}' are off. To link: list '${to.name}', then ${link}. To change it: update '${to.name}'.`;
}

const namesOf = (columns: readonly Column[]): string[] => columns.map(({ name }) => name);

function readValue(writer: Writer, column: Column, value: unknown, draft: Draft): string | undefined {
  const { moment } = writer;
  const { route } = column;
  if (value === null && !column.nullable && !writer.isCode) return `may not be null: ${describeExpected(column)}.`;
  // An imported field is written in its original record.
  let [into, leaf] = [draft, column];
  if (route && !column.writing) {
    for (const relation of route.via) into = relatedDraftOf(into, relation);
    leaf = route.field;
    if (value === null && !leaf.nullable) return `may not be null: ${describeExpected(column)}.`;
  }
  const read = readOne(leaf, column.name, value, moment);
  if ('problem' in read) return read.problem;
  if (into.values.has(leaf) && !isSame(into.values.get(leaf), read.value))
    return 'is sent twice with different values: send one of them.';
  into.values.set(leaf, read.value);
  return undefined;
}

function readOne(
  column: Column,
  at: string,
  value: unknown,
  moment: Moment,
): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: checkStored(value, { column, label: at, moment, acceptsDays: true }) };
  } catch (error) {
    if (!isAppError(error, 'INVALID_VALUE')) throw error;
    return { problem: error.message.slice(at.length + 2) };
  }
}

/** Compares canonical values. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** For messages about a field that is read-only for all callers, or for code as well. */
export function describeReadOnly({ isGenerated, computedFrom, route }: Column): string {
  if (isGenerated) return 'is filled by the database; leave it out.';
  if (route) return 'comes from another record; leave it out.';
  return computedFrom ? 'is computed from other fields; leave it out.' : 'is read-only; leave it out.';
}

function describeUnknown(view: CollectionView, name: string): string {
  const { visibility, collection } = view;
  const visible = [...visibility.fields(collection)].filter(([, field]) => visibility.canSee(collection, field));
  const near = suggestNames(
    name,
    visible.map(([each]) => each),
  );
  return `no such field.${near.length ? ` Near: ${near.join(', ')}.` : ''}`;
}

export function describeExpected({ type, enumValues, nativeType }: Column): string {
  if (type === 'String' && isGeometry(nativeType)) return "send well-known text such as 'POINT(2.35 48.85)'";
  if (enumValues) return `send one of ${enumValues.slice(0, 10).join(', ')}${enumValues.length > 10 ? ', ...' : ''}`;
  return typeof type === 'string' ? `send a ${type}` : `send a list of ${type[0]}`;
}

function isPlainObject(given: unknown): given is Record<string, unknown> {
  return (
    typeof given === 'object' &&
    given !== null &&
    !Array.isArray(given) &&
    !Buffer.isBuffer(given) &&
    !(given instanceof Date)
  );
}

/** The draft as a record for code, with internal names and nested records. */
export function toCodeRecord(
  { values, related }: Draft,
  nameOf: (collection: Collection, field: Column | Relation) => string,
  collection: Collection,
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [column, value] of values) record[nameOf(collection, column)] = value;
  for (const [relation, inner] of related)
    record[nameOf(collection, relation)] = toCodeRecord(inner, nameOf, relation.to);
  return record;
}
