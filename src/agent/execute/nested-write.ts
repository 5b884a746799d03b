// Writes records together with those of their to-one relations, in one transaction. A referenced record is written
// first, because its key is needed; a referencing record is written last. Existing related records are updated, missing
// ones are created. Each record passes the same checks as in a separate write.
import { fail } from '../../core/errors.ts';
import { and, or } from '../lower/simplify.ts';
import type { Collection, Column, Relation } from '../model/types.ts';
import type { Filter } from '../plan/types.ts';
import { equals, keysFilter, type Match, type Target, toCondition } from '../plan/write.ts';
import { pathTo } from '../resolve/paths.ts';
import { equalityKey } from '../sources/evaluate.ts';
import type { Row } from '../sources/statement.ts';
import { type Draft, newDraft } from '../write/drafts.ts';
import {
  insertRecords,
  keysOf,
  NO_SUCH_RECORD,
  readBack,
  readMatching,
  readRecords,
  type TransactionContext,
  updateRecords,
} from './write.ts';

/** The context of writes to related records. */
export interface NestedWrites {
  /** The context of a write to a related collection. FORBIDDEN, READ_ONLY. `more`: further columns to return. */
  contextFor(
    collection: Collection,
    verb: 'add' | 'edit',
    written: readonly Draft[],
    more: readonly Column[],
  ): TransactionContext;
  /** INVALID_RECORD if a record that has to be created lacks required values. */
  checkCreatable(collection: Collection, draft: Draft): void;
  /** The name of the relation, for messages. */
  label(collection: Collection, relation: Relation): string;
}

export const isNested = (drafts: readonly Draft[]): boolean => drafts.some(({ related }) => related.size > 0);

/** The columns that link to the related records. */
export function linkColumns(drafts: readonly Draft[]): Column[] {
  return relationsOf(drafts).flatMap(({ on }) => on.map(({ from }) => from));
}

function relationsOf(drafts: readonly Draft[]): Relation[] {
  return [...new Set(drafts.flatMap(({ related }) => [...related.keys()]))];
}

/** In the order of the drafts. Guards run after all related records are written: a row scope may read them. */
export async function createNested(
  nest: NestedWrites,
  context: TransactionContext,
  drafts: readonly Draft[],
): Promise<Row[]> {
  const { target } = context;
  const values = drafts.map((draft) => new Map(draft.values));
  const relations = relationsOf(drafts);
  for (const relation of relations)
    if (!relation.inverse) {
      const created: { readonly inner: Draft; readonly into: Map<Column, unknown> }[] = [];
      for (const [index, { related }] of drafts.entries()) {
        const inner = related.get(relation);
        if (!inner) continue;
        const given = readForeignKey(nest, target, relation, values[index]!);
        if (given) await updateTargets(nest, context, relation, [given], inner);
        else created.push({ inner, into: values[index]! });
      }
      await createTargets(nest, relation, created);
    }
  const rows = await insertRecords({ ...context, guards: [] }, values);
  for (const relation of relations)
    if (relation.inverse) {
      const inners = drafts.flatMap(({ related }, index) => {
        const inner = related.get(relation);
        return inner ? [withForeignKey(target, relation, inner, rows[index]!)] : [];
      });
      await createReferencing(nest, relation, inners);
    }
  return readBack(context, keysOf(target, rows));
}

/** In the order of the keys. */
export async function updateNested(
  nest: NestedWrites,
  context: TransactionContext,
  keys: readonly (readonly unknown[])[],
  draft: Draft,
  condition: Match,
): Promise<Row[]> {
  const { target } = context;
  const rows = await readRecords(context, keys, condition);
  const own = new Map<number, Map<Column, unknown>>();
  for (const [relation, inner] of draft.related) {
    if (relation.inverse) {
      await writeReferencing(nest, context, relation, inner, rows, draft);
      continue;
    }
    const given = readForeignKey(nest, target, relation, draft.values);
    const tuples = new Map<string, readonly unknown[]>();
    const created: { readonly inner: Draft; readonly into: Map<Column, unknown> }[] = [];
    for (const [index, row] of rows.entries()) {
      const tuple = given ?? relation.on.map(({ from }) => row[slotOf(target, from)]);
      if (!tuple.includes(null)) tuples.set(tupleKey(relation, tuple), tuple);
      else {
        const into = own.get(index) ?? new Map(draft.values);
        own.set(index, into);
        created.push({ inner, into });
      }
    }
    if (tuples.size) await updateTargets(nest, context, relation, [...tuples.values()], inner);
    await createTargets(nest, relation, created);
  }
  // Selects by key, because the writes above may have changed values that `condition` tests.
  const write = async (some: readonly (readonly unknown[])[], values: ReadonlyMap<Column, unknown>) => {
    if (values.size && some.length)
      await updateRecords(
        { ...context, guards: [], current: rows },
        some,
        values,
        toCondition(keysFilter(target, some), context.prefetched.scope),
      );
  };
  await write(
    keys.filter((_, index) => !own.has(index)),
    draft.values,
  );
  for (const [index, values] of own) await write([keys[index]!], values);
  const next = keys.map((key) => target.collection.key.map((column, at) => draft.values.get(column) ?? key[at]));
  return readBack(context, next);
}

/** The foreign key in the written values, or undefined if they contain no column of it. */
function readForeignKey(
  nest: NestedWrites,
  { collection }: Target,
  relation: Relation,
  values: ReadonlyMap<Column, unknown>,
): readonly unknown[] | undefined {
  const foreignKey = relation.on.map(({ from }) => values.get(from));
  if (foreignKey.every((value) => value === undefined)) return undefined;
  if (!foreignKey.some((value) => value === undefined || value === null)) return foreignKey;
  const problem = 'there is no record to write, because its key is null: leave the key out to create one.';
  return fail('INVALID_RECORD', {
    collection: collection.name,
    problems: [{ field: nest.label(collection, relation), problem }],
  });
}

/** The draft of a related record, with a foreign key to this row. */
function withForeignKey(target: Target, relation: Relation, inner: Draft, row: Row): Draft {
  const draft = { ...newDraft(), values: new Map(inner.values), related: inner.related };
  for (const { from, to } of relation.on) draft.values.set(to, row[slotOf(target, from)]);
  return draft;
}

const slotOf = ({ columns }: Target, column: Column): number => columns.findIndex(({ field }) => field === column);

async function createTargets(
  nest: NestedWrites,
  relation: Relation,
  created: readonly { readonly inner: Draft; readonly into: Map<Column, unknown> }[],
): Promise<void> {
  if (created.length === 0) return;
  const inners = created.map(({ inner }) => inner);
  for (const inner of inners) nest.checkCreatable(relation.to, inner);
  const targets = relation.on.map(({ to }) => to);
  const targetContext = nest.contextFor(relation.to, 'add', inners, [...targets, ...linkColumns(inners)]);
  const rows = await createNested(nest, targetContext, inners);
  for (const [index, { into }] of created.entries())
    for (const { from, to } of relation.on) into.set(from, rows[index]![slotOf(targetContext.target, to)]);
}

async function createReferencing(nest: NestedWrites, relation: Relation, inners: readonly Draft[]): Promise<void> {
  if (inners.length === 0) return;
  for (const inner of inners) nest.checkCreatable(relation.to, inner);
  await createNested(nest, nest.contextFor(relation.to, 'add', inners, linkColumns(inners)), inners);
}

/** Updates the records with these keys. INVALID_RECORD unless all exist and the caller may see them. */
async function updateTargets(
  nest: NestedWrites,
  context: TransactionContext,
  relation: Relation,
  tuples: readonly (readonly unknown[])[],
  inner: Draft,
): Promise<void> {
  const { target } = context;
  const targetContext = nest.contextFor(relation.to, 'edit', [inner], linkColumns([inner]));
  const keys = await findTargets(context, relation, tuples, targetContext.target.key);
  if (keys.length !== tuples.length)
    fail('INVALID_RECORD', {
      collection: target.collection.name,
      problems: [{ field: nest.label(target.collection, relation), problem: NO_SUCH_RECORD }],
    });
  await updateEach(nest, targetContext, keys, inner);
}

async function updateEach(
  nest: NestedWrites,
  targetContext: TransactionContext,
  keys: readonly Row[],
  inner: Draft,
): Promise<void> {
  const condition = toCondition(keysFilter(targetContext.target, keys), targetContext.prefetched.scope);
  if (isNested([inner])) await updateNested(nest, targetContext, keys, inner, condition);
  else await updateRecords(targetContext, keys, inner.values, condition);
}

/** Updates the related records that reference these rows, and creates the missing ones. */
async function writeReferencing(
  nest: NestedWrites,
  context: TransactionContext,
  relation: Relation,
  inner: Draft,
  rows: readonly Row[],
  { values }: Draft,
): Promise<void> {
  const { target } = context;
  if (relation.on.some(({ from }) => values.has(from)))
    fail('INVALID_RECORD', {
      collection: target.collection.name,
      problems: [
        {
          field: nest.label(target.collection, relation),
          problem: 'cannot be written in a call that also changes its key: use two calls.',
        },
      ],
    });
  const tuples = rows.map((row) => relation.on.map(({ from }) => row[slotOf(target, from)]));
  const { key } = relation.to;
  const columns = [...key, ...relation.on.map(({ to }) => to)].map((column) => pathTo(relation.to, [], column));
  const found = await findTargets(context, relation, tuples, columns);
  const existing = new Set(found.map((row) => tupleKey(relation, row.slice(key.length))));
  if (found.length) {
    const targetContext = nest.contextFor(relation.to, 'edit', [inner], linkColumns([inner]));
    const keys = found.map((row) => row.slice(0, key.length));
    await updateEach(nest, targetContext, keys, inner);
  }
  const missing = rows.filter((_, index) => !existing.has(tupleKey(relation, tuples[index]!)));
  await createReferencing(
    nest,
    relation,
    missing.map((row) => withForeignKey(target, relation, inner, row)),
  );
}

/** Finds only records that the caller may see. */
function findTargets(
  { session, prefetched: known }: TransactionContext,
  { to: collection, on }: Relation,
  tuples: readonly (readonly unknown[])[],
  columns: Target['key'],
): Promise<Row[]> {
  const keys: Filter[] = tuples.map((tuple) =>
    and(...on.map(({ to }, at) => equals(pathTo(collection, [], to), tuple[at]))),
  );
  return readMatching({ session, prefetched: known, collection }, columns, known.withScope(collection, or(...keys)));
}

function tupleKey({ on }: Relation, tuple: readonly unknown[]): string {
  return JSON.stringify(tuple.map((value, at) => (value === null ? null : equalityKey(value, on[at]!.to))));
}
