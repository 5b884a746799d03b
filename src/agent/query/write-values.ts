// What is written as a record becomes a Draft: the canonical values of columns, and the drafts of records at the end of
// to-one relations, which are written along. Everything that is wrong with a record is told at once, and every problem
// names its field.
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { Collection, Column, Moment, Relation } from '../model/types.ts';
import { firstOf } from './resolve.ts';
import { checkStored } from './values.ts';
import type { View } from './view.ts';

/** What is stored: columns of the table alone. */
export type Values = ReadonlyMap<Column, unknown>;

export interface Draft {
  /** Columns as they were given: replaced ones too, until they have been replaced. */
  readonly values: Map<Column, unknown>;
  readonly related: Map<Relation, Draft>;
}

/** Who writes: a caller, with names and permissions, or code. */
export interface Writer {
  readonly view: View;
  readonly moment: Moment;
  /** What code leaves null where nothing may be null is told with what is missing. */
  readonly isCode: boolean;
  /** The same writer at the other end of a relation. */
  at(collection: Collection): Writer;
  /** Why the field is not written by this writer; undefined when it is. */
  refuses(column: Column): string | undefined;
  /** What the writer calls the field; undefined for one that is closed to him. */
  label(field: Column | Relation): string | undefined;
  /** What the writer wants to do, for messages. */
  readonly verb: string;
}

export interface DraftRead {
  readonly draft: Draft;
  /** Fields as they were written, `relation:field` for those of related records. */
  readonly problems: readonly FieldProblem[];
}

const DEPTH_LIMIT = 8;

export const newDraft = (): Draft => ({ values: new Map(), related: new Map() });

/** INVALID_ARGUMENT for what is no record at all. */
export function readDraft(writer: Writer, given: unknown, argument: string): DraftRead {
  if (!isPlain(given))
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
  const fields = view.sight.fields(view.collection);
  const [first, separator] = fields.has(name) ? [name, ''] : firstOf(name);
  const field = fields.get(first);
  if (!field || !view.sight.sees(view.collection, field) || (separator && field.kind === 'column'))
    return describeUnknown(view, name);
  if (field.kind === 'column') return writer.refuses(field) ?? readValue(writer, field, value, draft);
  const problem = cannotNest(view, field, depth);
  if (problem) return problem;
  const rest = separator ? { [name.slice(first.length + separator.length)]: value } : value;
  if (!isPlain(rest) || Object.keys(rest).length === 0)
    return `is a relation: give ${field.inverse ? '' : `${field.on.map(({ from }) => `'${from.name}'`).join(' and ')}, or `}an object of fields of '${field.to.name}'.`;
  const inner = relatedDraft(draft, field);
  const inside = `${prefix}${first}:`;
  readInto(inner, writer.at(field.to), rest, inside, add, depth + 1);
  return undefined;
}

export function relatedDraft({ related }: Draft, relation: Relation): Draft {
  let inner = related.get(relation);
  if (!inner) {
    inner = newDraft();
    related.set(relation, inner);
  }
  return inner;
}

/** Records that are written along are written in the same transaction. */
function cannotNest({ collection }: View, { kind, to, given, only }: Relation, depth: number): string | undefined {
  if (given) return 'is given by code, and cannot be written.';
  if (only) return `is about one of several collections: write to '${to.name}' itself.`;
  if (kind !== 'one') return `is a relation to '${to.name}': write there, or associate.`;
  if (to.source !== collection.source) return `leads to another data source: write to '${to.name}' there.`;
  if (depth >= DEPTH_LIMIT) return `at most ${DEPTH_LIMIT} relations can be followed.`;
  return undefined;
}

function readValue(writer: Writer, column: Column, value: unknown, draft: Draft): string | undefined {
  const { moment } = writer;
  const { route } = column;
  if (value === null && !column.nullable && !writer.isCode) return `may not be null: ${wanted(column)}.`;
  // An imported field is written where it comes from.
  let [into, leaf] = [draft, column];
  if (route && !column.writing) {
    for (const relation of route.via) into = relatedDraft(into, relation);
    leaf = route.field;
    if (value === null && !leaf.nullable) return `may not be null: ${wanted(column)}.`;
  }
  const read = readOne(leaf, column.name, value, moment);
  if ('problem' in read) return read.problem;
  if (into.values.has(leaf) && !isSame(into.values.get(leaf), read.value))
    return 'is given twice with different values: send one of them.';
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
    return { value: checkStored(value, { column, at, moment, days: true }) };
  } catch (error) {
    if (!isAppError(error, 'INVALID_VALUE')) throw error;
    return { problem: error.message.slice(at.length + 2) };
  }
}

/** Of canonical values. */
export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** For messages, of a field that nobody can write, or no caller. */
export function whyReadOnly({ isGenerated, made, route }: Column): string {
  if (isGenerated) return 'is filled by the database; leave it out.';
  if (route) return 'comes from another record; leave it out.';
  return made ? 'is made of other fields; leave it out.' : 'is read-only; leave it out.';
}

function describeUnknown(view: View, name: string): string {
  const { sight, collection } = view;
  const visible = [...sight.fields(collection)].filter(([, field]) => sight.sees(collection, field));
  const near = nearNames(
    name,
    visible.map(([each]) => each),
  );
  return `no such field.${near.length ? ` Near: ${near.join(', ')}.` : ''}`;
}

export function wanted({ type, enumValues }: Column): string {
  if (enumValues) return `send one of ${enumValues.slice(0, 10).join(', ')}${enumValues.length > 10 ? ', ...' : ''}`;
  return typeof type === 'string' ? `send a ${type}` : `send a list of ${type[0]}`;
}

function isPlain(given: unknown): given is Record<string, unknown> {
  return (
    typeof given === 'object' &&
    given !== null &&
    !Array.isArray(given) &&
    !Buffer.isBuffer(given) &&
    !(given instanceof Date)
  );
}

/** The draft as code sees it: inside names, related records nested. */
export function draftRecord(
  { values, related }: Draft,
  nameOf: (collection: Collection, field: Column | Relation) => string,
  collection: Collection,
): Record<string, unknown> {
  const record: Record<string, unknown> = {};
  for (const [column, value] of values) record[nameOf(collection, column)] = value;
  for (const [relation, inner] of related)
    record[nameOf(collection, relation)] = draftRecord(inner, nameOf, relation.to);
  return record;
}
