// Cascades: changes that the database makes itself during a write. They need the rights and row scopes of the affected
// collections, they are added to the call's list of effects, and they must match the prediction.
import { fail } from '../../core/errors.ts';
import { byDefault, type CascadeGate, findCascades, mayExtend, type Reached } from '../execute/cascades.ts';
import { type Cascades, readMeant } from '../execute/write.ts';
import type { Ledger } from '../execute/written-records.ts';
import type { Collection, Column } from '../model/types.ts';
import { rowsLimitOf } from '../operations/call.ts';
import { undecidedScope } from '../operations/read-only-scopes.ts';
import { keysFilter, type Target } from '../plan/write.ts';
import { pathTo } from '../resolve/paths.ts';
import type { WriteEvent } from '../sources/described.ts';
import type { Session } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import type { Place, Site } from './target.ts';

/** `ledger` records the changes that the database made. */
export function createCascades(place: Place, session: Session, ledger: Ledger): Cascades {
  return {
    note: (collection, event) => noteTriggers(place, collection, event),
    async foresee(collection, keys, set) {
      noteTriggers(place, collection, set ? 'update' : 'delete');
      if (!mayExtend(collection, set)) return null;
      const reached = await findCascades(session, createGate(place, collection), collection, keys, set);
      const others = reached.filter(({ isRoot }) => !isRoot);
      return {
        overlap: reached.filter(({ isRoot, isExtended }) => isRoot && isExtended).length,
        async settle() {
          for (const some of groupsOf(others)) await settle(place, session, ledger, some);
        },
      };
    },
  };
}

/** The effects of a trigger cannot be predicted. */
function noteTriggers({ call, isInside }: Site, collection: Collection, event: WriteEvent): void {
  if (!collection.triggers.includes(event) || isInside) return;
  const { name, published } = collection;
  const isSeen = published && call.access.can('browse', name);
  call.unseen.add(`${isSeen ? `The table of '${name}'` : 'A table'} has triggers; their effects are not shown.`);
}

function createGate({ call, known, verb, view, isInside }: Place, root: Collection): CascadeGate {
  const { access } = call;
  const refuse = (why: string): never => fail('FORBIDDEN', { verb, collection: root.name, why });
  const refuseUnseen = () => refuse('the database would also delete or change other records, which you may not.');
  const nameOf = ({ name, published }: Collection) => (published && access.can('browse', name) ? name : undefined);
  return {
    reach(collection, columns) {
      if (isInside) return;
      const { name, published } = collection;
      if (!published) refuseUnseen();
      if (!access.mayCascade(root.name) || !access.mayCascade(name))
        refuse('the database would also delete or change other records, and your role does not allow that.');
      const isDelete = columns === 'delete';
      const fields = isDelete ? [] : columns;
      const may = access.can(isDelete ? 'delete' : 'edit', name);
      if (may && fields.every((column) => isOpen(collection, column))) {
        const field = undecidedScope(call, collection);
        if (field === undefined) return;
        refuse(
          `the database would also ${isDelete ? 'delete' : 'change'} records of '${name}', and cannot decide '${field}' of your row scope there.`,
        );
      }
      if (!nameOf(collection)) refuseUnseen();
      refuse(`the database would also ${isDelete ? 'delete' : 'change'} records of '${name}', which you may not.`);
    },
    reachUnserved() {
      if (!isInside) refuseUnseen();
    },
    async needSeen(session, collection, where, count) {
      if (isInside || !view.other(collection).sight.withholds(collection)) return;
      const columns = collection.key.map((column) => pathTo(collection, [], column));
      const seen = await readMeant({ session, known, collection }, columns, known.within(collection, where));
      if (seen.length < count) refuseUnseen();
    },
    needBounded(count) {
      const limit = rowsLimitOf(call.ops);
      if (count > limit)
        fail('INVALID_ARGUMENT', {
          argument: 'ids',
          problem: `the database would delete or change more than ${limit} other records with these. Delete those first, in several calls.`,
        });
    },
  };

  /** A field that code removed is not writable. */
  function isOpen(collection: Collection, column: Column): boolean {
    return collection.fields.get(column.name) === column && access.field(collection.name, column.name) === 'write';
  }
}

/** Groups the records of one collection with the same change. */
function groupsOf(reached: readonly Reached[]): Reached[][] {
  const groups = new Map<Collection, Map<string, Reached[]>>();
  for (const each of reached) {
    if (!each.isDeleted && each.next.size === 0) continue;
    const mark = each.isDeleted ? 'deleted' : JSON.stringify([...each.next.keys()].map(({ column }) => column).sort());
    const group = groups.get(each.collection) ?? new Map<string, Reached[]>();
    groups.set(each.collection, group);
    group.set(mark, [...(group.get(mark) ?? []), each]);
  }
  return [...groups.values()].flatMap((group) => [...group.values()]);
}

async function settle(place: Place, session: Session, ledger: Ledger, records: readonly Reached[]): Promise<void> {
  const [first] = records as readonly [Reached, ...Reached[]];
  const { collection, isDeleted } = first;
  noteTriggers(place, collection, isDeleted ? 'delete' : 'update');
  const change = isDeleted ? ('deleted' as const) : ('updated' as const);
  const count = records.reduce((sum, each) => sum + each.count, 0);
  const target = targetOf(collection, isDeleted ? [] : [...first.next.keys()]);
  const before = records.map((each) => target.columns.map(({ field }) => each.before.get(field) ?? null));
  const keys = records.map((each) => collection.key.map((column) => keyAfter(each, column)));
  if (collection.key.length === 0 || keys.some((key) => key.includes(byDefault))) {
    ledger.cascade({ collection, change, count });
    return;
  }
  const found = await readByKeys(place, session, target, keys);
  if (found.length !== (isDeleted ? 0 : records.length)) failOtherwise(collection);
  const places = new Map(found.map((row) => [JSON.stringify(target.keySlots.map((slot) => row[slot])), row]));
  const after = isDeleted ? undefined : keys.map((key) => places.get(JSON.stringify(key)) ?? failOtherwise(collection));
  ledger.cascade({ collection, change, count, rows: { target, before, ...(after && { after }) } });
}

function keyAfter({ before, next }: Reached, column: Column): unknown {
  return next.has(column) ? next.get(column) : before.get(column);
}

function targetOf(collection: Collection, more: readonly Column[]): Target {
  const columns = [...new Set([...collection.key, ...more])];
  return {
    collection,
    shown: [],
    key: collection.key.map((column) => pathTo(collection, [], column)),
    columns: columns.map((column) => pathTo(collection, [], column)),
    keySlots: collection.key.map((_, at) => at),
  };
}

/** Reads the records after the cascade. Throws FORBIDDEN if one is outside the row scope. */
async function readByKeys(
  { known, view, verb, isInside }: Place,
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
    if (isInside || rows.length === 0 || !view.other(collection).sight.withholds(collection)) continue;
    const seen = await readMeant({ session, known, collection }, target.key, known.within(collection, where));
    if (seen.length < rows.length)
      fail('FORBIDDEN', {
        verb,
        collection: view.collection.name,
        why: 'the database would also change other records so that you could no longer see them.',
      });
  }
  return found;
}

function failOtherwise({ name }: Collection): never {
  return fail('READ_ONLY', {
    collection: name,
    why: 'the database did something else than its foreign keys say, so that nobody can see what is written. A trigger may be the cause.',
  });
}
