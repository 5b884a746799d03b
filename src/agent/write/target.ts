// The site of a write: the collection, the author and their names, and the records in scope. A site for a caller
// checks the permission. A site for code has all permissions.
import { type Access, fullAccess } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { type RecordId, unpackId } from '../encode/record-id.ts';
import { keyMark } from '../execute/write.ts';
import type { ScopeOf } from '../lower/filter.ts';
import type { Collection, Column, Field, Moment, Route } from '../model/types.ts';
import { type Call, callOf, getCollection, type Operations } from '../operations/call.ts';
import { requireNativeScope } from '../operations/read-only-scopes.ts';
import { type Prefetched, planTarget, type Target } from '../plan/write.ts';
import type { WriteOptions } from '../requests.ts';
import { internalNameOf } from '../resolve/internal-names.ts';
import { type CollectionView, internalViewOf, viewOf } from '../resolve/visibility.ts';
import type { Writing } from '../sources/source.ts';
import { describeReadOnly, type Writer } from './drafts.ts';
import { createPrefetched } from './prefetch.ts';

/** The maximum number of records that one call may write. */
export const RECORDS_LIMIT = 500;

const phrases = { add: 'add to', edit: 'edit', delete: 'delete from' } as const;
export type WriteVerb = keyof typeof phrases;

export interface CollectionWriteContext {
  readonly call: Call;
  readonly view: CollectionView;
  readonly prefetched: Prefetched;
  /** From `known`: a scope that must be loaded outside the transaction is thrown (prefetch.ts). */
  readonly scope: ScopeOf;
  readonly target: Target;
  readonly verb: (typeof phrases)[WriteVerb];
  /** Whether the caller may see the whole key. */
  readonly showsKey: boolean;
  readonly writer: Writer;
  /** Code writes: hooks do not run. */
  readonly isInternal: boolean;
}

/** A site with a writable data source. */
export interface WritableContext extends CollectionWriteContext {
  readonly writing: Writing;
}

/** Throws FORBIDDEN without the permission. */
export function createWriteContext(
  ops: Operations,
  access: Access,
  { collection: name, timezone }: { readonly collection: string; readonly timezone?: string },
  verb: WriteVerb,
  options: WriteOptions = {},
): CollectionWriteContext {
  const collection = getCollection(ops.model, access, name);
  // The caller's role must allow this write.
  if (!access.can(verb, name)) fail('FORBIDDEN', { verb: phrases[verb], collection: name });
  const call = callOf(ops, access, { ...(timezone !== undefined && { timezone }) }, options);
  requireNativeScope(call, collection, phrases[verb]);
  const view = viewOf(access, collection);
  return buildWriteContext(call, view, createCallerWriter(access, view, call.moment, phrases[verb], options), false);
}

/** The site of code: every field by its internal name, and every row. */
export function createInternalWriteContext(
  call: Call,
  collection: Collection,
  verb: WriteVerb,
): CollectionWriteContext {
  const access = fullAccess(call.access.caller);
  const view = internalViewOf(access, collection);
  return buildWriteContext({ ...call, access }, view, createCodeWriter(access, view, call.moment, phrases[verb]), true);
}

function buildWriteContext(
  call: Call,
  view: CollectionView,
  writer: Writer,
  isInside: boolean,
): CollectionWriteContext {
  const { key } = view.collection;
  const showsKey = key.length > 0 && key.every((column) => view.columns.includes(column));
  const known = createPrefetched(call);
  return {
    call,
    view,
    prefetched: known,
    scope: known.scope,
    target: planTarget(view),
    verb: writer.verb as CollectionWriteContext['verb'],
    showsKey,
    writer,
    isInternal: isInside,
  };
}

/** Throws READ_ONLY if the data source cannot write. */
export function requireWritable<S extends CollectionWriteContext>(site: S): S & WritableContext {
  return { ...site, writing: requireWriting(site.view.collection) };
}

/** Throws FORBIDDEN without the permission, and READ_ONLY if the data source cannot write. */
export function createWritableContext(
  ops: Operations,
  access: Access,
  name: string,
  verb: WriteVerb,
  options: WriteOptions,
): WritableContext {
  return requireWritable(createWriteContext(ops, access, { collection: name }, verb, options));
}

export function requireWriting({ name, readOnly, source: { writing } }: Collection): Writing {
  if (readOnly === undefined && writing) return writing;
  return fail('READ_ONLY', { collection: name, why: readOnly ?? 'its data source is read-only.' });
}

export function createCallerWriter(
  access: Access,
  view: CollectionView,
  moment: Moment,
  verb: string,
  options: Pick<WriteOptions, 'onlyAllowedRelations'> = {},
): Writer {
  const { collection, visibility } = view;
  return {
    view,
    moment,
    verb,
    isCode: false,
    canNest: ({ isWritten }) => !options.onlyAllowedRelations || isWritten === true,
    forCollection: (other) => createCallerWriter(access, viewOf(access, other), moment, verb, options),
    refusalReason(column) {
      if (column.readOnly) return describeReadOnly(column);
      const isOpen =
        access.field(collection.name, column.name) === 'write' && (!column.route || canWrite(column.route));
      return isOpen ? undefined : 'is read-only for you; leave it out.';
    },
    label: (field) =>
      collection.fields.get(field.name) === field && visibility.canSee(collection, field) ? field.name : undefined,
  };

  /**
   * An imported field needs the permission of its original field. No permission applies to removed collections and
   * fields.
   */
  function canWrite({ via, field }: Route): boolean {
    const { to } = via.at(-1)!;
    return !to.isPublished || !to.fields.has(field.name) || access.field(to.name, field.name) === 'write';
  }
}

/** Code may write fields that are only closed to callers. */
export function createCodeWriter(access: Access, view: CollectionView, moment: Moment, verb: string): Writer {
  const { collection } = view;
  return {
    view,
    moment,
    verb,
    isCode: true,
    canNest: () => true,
    forCollection: (other) => createCodeWriter(access, internalViewOf(access, other), moment, verb),
    refusalReason: (column) => (isFixed(column) ? describeReadOnly(column) : undefined),
    label: (field: Field) => internalNameOf(collection, field),
  };
}

function isFixed({ isGenerated, computedFrom, route, readOnly, writing }: Column): boolean {
  if (writing?.write) return false;
  return isGenerated === true || computedFrom !== undefined || (route !== undefined && readOnly);
}

export function failWithoutKey({ view }: Pick<CollectionWriteContext, 'view'>): never {
  return fail('READ_ONLY', {
    collection: view.collection.name,
    why: 'it has no key to identify records. Add a primary key to the table.',
  });
}

export function requireKey(site: CollectionWriteContext): void {
  if (site.target.key.length === 0) failWithoutKey(site);
  if (!site.showsKey)
    fail('FORBIDDEN', {
      verb: site.verb,
      collection: site.view.collection.name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
}

export function checkCount(argument: string, given: readonly unknown[]): void {
  if (!Array.isArray(given) || given.length === 0)
    fail('INVALID_ARGUMENT', { argument, problem: 'send at least one; an empty list does not mean all records.' });
  if (given.length > RECORDS_LIMIT)
    fail('INVALID_ARGUMENT', { argument, problem: `at most ${RECORDS_LIMIT} in one call.` });
}

/** Removes duplicate keys. */
export function readKeys(
  { target, view }: Pick<CollectionWriteContext, 'target' | 'view'>,
  ids: readonly RecordId[],
  argument: string,
  moment: Moment,
): unknown[][] {
  checkCount(argument, ids);
  const keys = new Map<string, unknown[]>();
  for (const id of ids) {
    const key = unpackId(view.collection.key, id, argument, moment);
    keys.set(keyMark(target, key), key);
  }
  return [...keys.values()];
}

/** The filter for these keys, by internal names. */
export function toKeyFilter(collection: Collection, keys: readonly (readonly unknown[])[]): PlainFilter {
  const names = collection.key.map((column) => internalNameOf(collection, column));
  const plain = (value: unknown): unknown => (Buffer.isBuffer(value) ? value.toString('hex') : value);
  if (names.length === 1) return { field: names[0]!, operator: 'In', value: keys.map(([value]) => plain(value)) };
  const conditions = keys.map((key) => ({
    aggregator: 'And' as const,
    conditions: names.map((field, at) => ({ field, operator: 'Equal' as const, value: plain(key[at]) })),
  }));
  return { aggregator: 'Or', conditions };
}
