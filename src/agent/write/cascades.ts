// Cascades: changes that the database makes itself during a write. They need the rights and row scopes of the affected
// collections, they are added to the call's list of effects, and they must match the prediction.
import { fail } from '../../core/errors.ts';
import {
  type CascadedRecord,
  type CascadePermissions,
  canCascade,
  defaultValue,
  findCascades,
} from '../execute/cascades.ts';
import { type Cascades, readMatching } from '../execute/write.ts';
import type { WriteLog } from '../execute/written-records.ts';
import type { Collection, Column } from '../model/types.ts';
import { rowsLimitOf } from '../operations/call.ts';
import { findResidualScopeField } from '../operations/read-only-scopes.ts';
import { keysFilter, type Target } from '../plan/write.ts';
import { pathTo } from '../resolve/paths.ts';
import type { WriteEvent } from '../sources/described.ts';
import type { Session } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import type { CollectionWriteContext, WritableContext } from './target.ts';

/** `ledger` records the changes that the database made. */
export function createCascades(place: WritableContext, session: Session, writeLog: WriteLog): Cascades {
  return {
    noteTriggers: (collection, event) => noteTriggers(place, collection, event),
    async preview(collection, keys, set) {
      noteTriggers(place, collection, set ? 'update' : 'delete');
      if (!canCascade(collection, set)) return null;
      const records = await findCascades(session, createCascadePermissions(place, collection), collection, keys, set);
      const others = records.filter(({ isRoot }) => !isRoot);
      return {
        overlap: records.filter(({ isRoot, isCascaded: isExtended }) => isRoot && isExtended).length,
        async verify() {
          for (const some of groupCascades(others)) await recordCascades(place, session, writeLog, some);
        },
      };
    },
  };
}

/** The effects of a trigger cannot be predicted. */
function noteTriggers(
  { call, isInternal: isInside }: CollectionWriteContext,
  collection: Collection,
  event: WriteEvent,
): void {
  if (!collection.triggers.includes(event) || isInside) return;
  const { name, isPublished: published } = collection;
  const isSeen = published && call.access.can('browse', name);
  call.unseen.add(`${isSeen ? `The table of '${name}'` : 'A table'} has triggers; their effects are not shown.`);
}

function createCascadePermissions(
  { call, prefetched: known, verb, view, isInternal: isInside }: WritableContext,
  root: Collection,
): CascadePermissions {
  const { access } = call;
  const refuse = (why: string): never => fail('FORBIDDEN', { verb, collection: root.name, why });
  const refuseHidden = () => refuse('the database would also delete or change other records, and you may not do that.');
  const nameOf = ({ name, isPublished: published }: Collection) =>
    published && access.can('browse', name) ? name : undefined;
  return {
    requireWrite(collection, columns) {
      if (isInside) return;
      const { name, isPublished: published } = collection;
      if (!published) refuseHidden();
      if (!access.mayCascade(root.name) || !access.mayCascade(name))
        refuse('the database would also delete or change other records, and your role does not allow that.');
      const isDelete = columns === 'delete';
      const fields = isDelete ? [] : columns;
      const isAllowed = access.can(isDelete ? 'delete' : 'edit', name);
      if (isAllowed && fields.every((column) => isOpen(collection, column))) {
        const field = findResidualScopeField(call, collection);
        if (field === undefined) return;
        refuse(
          `the database would also ${isDelete ? 'delete' : 'change'} records of '${name}', and cannot evaluate '${field}' of your row scope there.`,
        );
      }
      if (!nameOf(collection)) refuseHidden();
      refuse(
        `the database would also ${isDelete ? 'delete' : 'change'} records of '${name}', and you may not do that.`,
      );
    },
    refuseUnserved() {
      if (!isInside) refuseHidden();
    },
    async requireVisible(session, collection, where, count) {
      if (isInside || !view.forCollection(collection).visibility.hidesRows(collection)) return;
      const columns = collection.key.map((column) => pathTo(collection, [], column));
      const seen = await readMatching(
        { session, prefetched: known, collection },
        columns,
        known.withScope(collection, where),
      );
      if (seen.length < count) refuseHidden();
    },
    requireWithinLimit(count) {
      const limit = rowsLimitOf(call.ops);
      if (count > limit)
        fail('INVALID_ARGUMENT', {
          argument: 'ids',
          problem: `the database would delete or change more than ${limit} other records with these. Delete the others first, in several calls.`,
        });
    },
  };

  /** A field that code removed is not writable. */
  function isOpen(collection: Collection, column: Column): boolean {
    return collection.fields.get(column.name) === column && access.field(collection.name, column.name) === 'write';
  }
}

/** Groups the records of one collection with the same change. */
function groupCascades(reached: readonly CascadedRecord[]): CascadedRecord[][] {
  const groups = new Map<Collection, Map<string, CascadedRecord[]>>();
  for (const each of reached) {
    if (!each.isDeleted && each.next.size === 0) continue;
    const mark = each.isDeleted ? 'deleted' : JSON.stringify([...each.next.keys()].map(({ column }) => column).sort());
    const group = groups.get(each.collection) ?? new Map<string, CascadedRecord[]>();
    groups.set(each.collection, group);
    group.set(mark, [...(group.get(mark) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => [...group.values()]);
}

async function recordCascades(
  place: WritableContext,
  session: Session,
  writeLog: WriteLog,
  records: readonly CascadedRecord[],
): Promise<void> {
  const [first] = records as readonly [CascadedRecord, ...CascadedRecord[]];
  const { collection, isDeleted } = first;
  noteTriggers(place, collection, isDeleted ? 'delete' : 'update');
  const change = isDeleted ? ('deleted' as const) : ('updated' as const);
  const count = records.reduce((sum, each) => sum + each.count, 0);
  const target = targetOf(collection, isDeleted ? [] : [...first.next.keys()]);
  const before = records.map((each) => target.columns.map(({ field }) => each.before.get(field) ?? null));
  const keys = records.map((each) => collection.key.map((column) => keyAfter(each, column)));
  if (collection.key.length === 0 || keys.some((key) => key.includes(defaultValue))) {
    writeLog.cascade({ collection, change, count });
    return;
  }
  const found = await readByKeys(place, session, target, keys);
  if (found.length !== (isDeleted ? 0 : records.length)) failUnexpectedCascade(collection);
  const places = new Map(found.map((row) => [JSON.stringify(target.keySlots.map((slot) => row[slot])), row]));
  const after = isDeleted
    ? undefined
    : keys.map((key) => places.get(JSON.stringify(key)) ?? failUnexpectedCascade(collection));
  writeLog.cascade({ collection, change, count, rows: { target, before, ...(after && { after }) } });
}

function keyAfter({ before, next }: CascadedRecord, column: Column): unknown {
  return next.has(column) ? next.get(column) : before.get(column);
}

function targetOf(collection: Collection, more: readonly Column[]): Target {
  const columns = [...new Set([...collection.key, ...more])];
  return {
    collection,
    visibleColumns: [],
    key: collection.key.map((column) => pathTo(collection, [], column)),
    columns: columns.map((column) => pathTo(collection, [], column)),
    keySlots: collection.key.map((_, at) => at),
  };
}

/** Reads the records after the cascade. Throws FORBIDDEN if one is outside the row scope. */
async function readByKeys(
  { prefetched: known, view, verb, isInternal: isInside }: WritableContext,
  session: Session,
  target: Target,
  keys: readonly Row[],
): Promise<Row[]> {
  const { collection, columns } = target;
  const found: Row[] = [];
  for (let at = 0; at < keys.length; at += 500) {
    const where = keysFilter(target, keys.slice(at, at + 500));
    const rows = await session.read({ table: collection.table, columns, joins: [], where, order: [] });
    found.push(...rows);
    if (isInside || rows.length === 0 || !view.forCollection(collection).visibility.hidesRows(collection)) continue;
    const seen = await readMatching(
      { session, prefetched: known, collection },
      target.key,
      known.withScope(collection, where),
    );
    if (seen.length < rows.length)
      fail('FORBIDDEN', {
        verb,
        collection: view.collection.name,
        why: 'the database would also change other records, and you could no longer see them.',
      });
  }
  return found;
}

function failUnexpectedCascade({ name }: Collection): never {
  return fail('READ_ONLY', {
    collection: name,
    why: 'the database did not follow its foreign keys, so the effects of this write are unknown. A trigger may be the cause.',
  });
}
