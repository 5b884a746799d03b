// The site of a write: the collection, the author and their names, and the records in scope. A site for a caller
// checks the permission. A site for code has all permissions.
import { type Access, fullAccess } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { type RecordId, unpackId } from '../encode/record-id.ts';
import { markKey } from '../execute/write.ts';
import type { ScopeOf } from '../lower/filter.ts';
import type { Collection, Column, Field, Moment, Route } from '../model/types.ts';
import { type Call, callOf, getCollection, type Operations } from '../operations/call.ts';
import { needDecidedScope } from '../operations/read-only-scopes.ts';
import { type Known, planTarget, type Target } from '../plan/write.ts';
import type { WriteOptions } from '../requests.ts';
import { insideNameOf } from '../resolve/internal-names.ts';
import { insideViewOf, type View, viewOf } from '../resolve/visibility.ts';
import type { Writing } from '../sources/source.ts';
import { type Writer, whyReadOnly } from './drafts.ts';
import { createKnown } from './prefetch.ts';

/** The maximum number of records that one call may write. */
export const RECORDS_LIMIT = 500;

const phrases = { add: 'add to', edit: 'edit', delete: 'delete from' } as const;
export type WriteVerb = keyof typeof phrases;

export interface Site {
  readonly call: Call;
  readonly view: View;
  readonly known: Known;
  /** From `known`: a scope that must be loaded outside the transaction is thrown (prefetch.ts). */
  readonly scope: ScopeOf;
  readonly target: Target;
  readonly verb: (typeof phrases)[WriteVerb];
  /** Whether the caller may see the whole key. */
  readonly showsKey: boolean;
  readonly writer: Writer;
  /** Code writes: hooks do not run. */
  readonly isInside: boolean;
}

/** A site with a writable data source. */
export interface Place extends Site {
  readonly writing: Writing;
}

/** Throws FORBIDDEN without the permission. */
export function siteOf(
  ops: Operations,
  access: Access,
  { collection: name, timezone }: { readonly collection: string; readonly timezone?: string },
  verb: WriteVerb,
  options: WriteOptions = {},
): Site {
  const collection = getCollection(ops.model, access, name);
  // The caller's role must allow this write.
  if (!access.can(verb, name)) fail('FORBIDDEN', { verb: phrases[verb], collection: name });
  const call = callOf(ops, access, { ...(timezone !== undefined && { timezone }) }, options);
  needDecidedScope(call, collection, phrases[verb]);
  const view = viewOf(access, collection);
  return createSite(call, view, callerWriter(access, view, call.moment, phrases[verb], options), false);
}

/** The site of code: every field by its internal name, and every row. */
export function insideSiteOf(call: Call, collection: Collection, verb: WriteVerb): Site {
  const access = fullAccess(call.access.caller);
  const view = insideViewOf(access, collection);
  return createSite({ ...call, access }, view, codeWriter(access, view, call.moment, phrases[verb]), true);
}

function createSite(call: Call, view: View, writer: Writer, isInside: boolean): Site {
  const { key } = view.collection;
  const showsKey = key.length > 0 && key.every((column) => view.columns.includes(column));
  const known = createKnown(call);
  return {
    call,
    view,
    known,
    scope: known.scope,
    target: planTarget(view),
    verb: writer.verb as Site['verb'],
    showsKey,
    writer,
    isInside,
  };
}

/** Throws READ_ONLY if the data source cannot write. */
export function writable<S extends Site>(site: S): S & Place {
  return { ...site, writing: needWriting(site.view.collection) };
}

/** Throws FORBIDDEN without the permission, and READ_ONLY if the data source cannot write. */
export function placeOf(ops: Operations, access: Access, name: string, verb: WriteVerb, options: WriteOptions): Place {
  return writable(siteOf(ops, access, { collection: name }, verb, options));
}

export function needWriting({ name, readOnly, source: { writing } }: Collection): Writing {
  if (readOnly === undefined && writing) return writing;
  return fail('READ_ONLY', { collection: name, why: readOnly ?? 'its data source only reads.' });
}

export function callerWriter(
  access: Access,
  view: View,
  moment: Moment,
  verb: string,
  options: Pick<WriteOptions, 'onlyAllowedRelations'> = {},
): Writer {
  const { collection, sight } = view;
  return {
    view,
    moment,
    verb,
    isCode: false,
    mayFollow: ({ isWritten }) => !options.onlyAllowedRelations || isWritten === true,
    at: (other) => callerWriter(access, viewOf(access, other), moment, verb, options),
    refuses(column) {
      if (column.readOnly) return whyReadOnly(column);
      const isOpen = access.field(collection.name, column.name) === 'write' && (!column.route || opens(column.route));
      return isOpen ? undefined : 'is read-only for you; leave it out.';
    },
    label: (field) =>
      collection.fields.get(field.name) === field && sight.sees(collection, field) ? field.name : undefined,
  };

  /**
   * An imported field needs the permission of its original field. No permission applies to removed collections and
   * fields.
   */
  function opens({ via, field }: Route): boolean {
    const { to } = via.at(-1)!;
    return !to.published || !to.fields.has(field.name) || access.field(to.name, field.name) === 'write';
  }
}

/** Code may write fields that are only closed to callers. */
export function codeWriter(access: Access, view: View, moment: Moment, verb: string): Writer {
  const { collection } = view;
  return {
    view,
    moment,
    verb,
    isCode: true,
    mayFollow: () => true,
    at: (other) => codeWriter(access, insideViewOf(access, other), moment, verb),
    refuses: (column) => (isFixed(column) ? whyReadOnly(column) : undefined),
    label: (field: Field) => insideNameOf(collection, field),
  };
}

function isFixed({ isGenerated, made, route, readOnly, writing }: Column): boolean {
  if (writing?.write) return false;
  return isGenerated === true || made !== undefined || (route !== undefined && readOnly);
}

export function noKey({ view }: Pick<Site, 'view'>): never {
  return fail('READ_ONLY', {
    collection: view.collection.name,
    why: 'it has no key that would tell one record from another. Give the table a primary key.',
  });
}

export function needKey(site: Site): void {
  if (site.target.key.length === 0) noKey(site);
  if (!site.showsKey)
    fail('FORBIDDEN', {
      verb: site.verb,
      collection: site.view.collection.name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
}

export function checkCount(argument: string, given: readonly unknown[]): void {
  if (!Array.isArray(given) || given.length === 0)
    fail('INVALID_ARGUMENT', { argument, problem: 'give at least one; none never means all.' });
  if (given.length > RECORDS_LIMIT)
    fail('INVALID_ARGUMENT', { argument, problem: `at most ${RECORDS_LIMIT} in one call.` });
}

/** Removes duplicate keys. */
export function readKeys(
  { target, view }: Pick<Site, 'target' | 'view'>,
  ids: readonly RecordId[],
  argument: string,
  moment: Moment,
): unknown[][] {
  checkCount(argument, ids);
  const keys = new Map<string, unknown[]>();
  for (const id of ids) {
    const key = unpackId(view.collection.key, id, argument, moment);
    keys.set(markKey(target, key), key);
  }
  return [...keys.values()];
}

/** The filter for these keys, by internal names. */
export function keyConditions(collection: Collection, keys: readonly (readonly unknown[])[]): PlainFilter {
  const names = collection.key.map((column) => insideNameOf(collection, column));
  const plain = (value: unknown): unknown => (Buffer.isBuffer(value) ? value.toString('hex') : value);
  if (names.length === 1) return { field: names[0]!, operator: 'In', value: keys.map(([value]) => plain(value)) };
  const conditions = keys.map((key) => ({
    aggregator: 'And' as const,
    conditions: names.map((field, at) => ({ field, operator: 'Equal' as const, value: plain(key[at]) })),
  }));
  return { aggregator: 'Or', conditions };
}
