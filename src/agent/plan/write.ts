// Plans a write as data: its statements, the returned columns, and guards. A guard is a condition that every record
// must satisfy after the write. The write statement checks a guard itself if the database can evaluate it on the new
// record. A guard that reads the written table again would read the old rows, so a later statement checks it.

import type { ScopeOf } from '../lower/filter.ts';
import { always, and, not, or } from '../lower/simplify.ts';
import type { Collection, Column, Relation } from '../model/types.ts';
import { pathTo, planTypeCondition } from '../resolve/paths.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import { filterRefersTo, joinsReferTo } from '../sources/references.ts';
import type { Delete, Insert, Row, Update } from '../sources/statement.ts';
import type { Values } from '../write/drafts.ts';
import { planJoins } from './read.ts';
import { splitFilter } from './residual.ts';
import type { Condition, Filter, Join, Path, ReadPlan } from './types.ts';

/**
 * The part of a condition that the database cannot decide. It is evaluated in memory, on columns that are read for it.
 */
export interface Residual {
  readonly where: Filter;
  /** The steps over the columns. */
  readonly plan: ReadPlan;
  readonly columns: readonly Path[];
  readonly joins: readonly Join[];
  /** Conditions for the `ask` steps of `plan`, which the database decides for each record. */
  readonly subqueries: readonly Condition[];
}

/** A condition on records whose keys are known. */
export interface Match extends Condition {
  readonly residual?: Residual;
}

/** Row scopes and decisions for a write in a transaction. Methods throw if they need data from outside it. */
export interface Prefetched {
  readonly scope: ScopeOf;
  /** The condition combined with the row scope. */
  withScope(collection: Collection, where: Filter): Match;
  /** Whether each row satisfies `rest`. A row has the columns of `rest`, then the results of `asked`. */
  evaluate(residual: Residual, rows: readonly Row[]): readonly boolean[];
}

export interface Guard {
  readonly condition: Match;
  /** The fields that point to a record the caller must be able to see. Empty for the row scope of the record itself. */
  readonly fields: readonly string[];
  /** The write statement cannot check it. */
  readonly isDeferred: boolean;
  /**
   * Set if the database cannot decide the visibility of the target. A separate read then looks for the target, and
   * `condition` selects the records that point to it.
   */
  readonly targetRelation?: Relation;
}

export interface Target {
  readonly collection: Collection;
  readonly key: readonly Path[];
  /** The visible stored columns, without computed and imported fields. */
  readonly visibleColumns: readonly Column[];
  /** The returned columns: `shown`, the remaining key columns, then further requested ones. */
  readonly columns: readonly Path[];
  /** The positions of the key in `columns`. */
  readonly keySlots: readonly number[];
}

/** The write also returns the columns `more`, for later steps. */
export function planTarget(view: CollectionView, more: Iterable<Column> = []): Target {
  const { collection } = view;
  const visibleColumns = view.columns.filter(isStored);
  const returned = [...new Set([...visibleColumns, ...collection.key, ...more])];
  return {
    collection,
    visibleColumns,
    key: collection.key.map((column) => pathTo(collection, [], column)),
    columns: returned.map((column) => pathTo(collection, [], column)),
    keySlots: collection.key.map((column) => returned.indexOf(column)),
  };
}

/** All columns of the table, including hidden and removed ones. */
export function storedColumns({ internalFields }: Collection): Column[] {
  return [...internalFields.values()].filter((field): field is Column => field.kind === 'column' && isStored(field));
}

const isStored = ({ computedFrom, route }: Column): boolean => computedFrom === undefined && route === undefined;

/**
 * After the write, the caller must be able to see the record and every record that the written columns point to.
 * Callers cannot write or link to records that they cannot read.
 */
export function planGuards(
  view: CollectionView,
  prefetched: Prefetched,
  written: ReadonlySet<Column>,
  mayJoin: boolean,
): Guard[] {
  const { collection, visibility } = view;
  const { scope } = prefetched;
  const guards: Guard[] = [];
  const add = (condition: Match, fields: readonly string[]) => {
    if (condition.where.op === 'always' && !condition.residual) return;
    guards.push({ condition, fields, isDeferred: isDeferred(condition, collection, mayJoin) });
  };
  add(prefetched.withScope(collection, always), []);
  for (const relation of view.relations) {
    // A record of another source is checked before the write.
    if (relation.inverse || relation.reach !== 'join' || !visibility.hidesRows(relation.to)) continue;
    const referencing = [...relation.on.map(({ from }) => from), ...(relation.only ? [relation.only.column] : [])];
    if (!referencing.some((column) => written.has(column))) continue;
    const fields = relation.on.map(({ from }) => from.name);
    if (splitFilter(scope(relation.to)).residual.op !== 'always') {
      const condition = toCondition(planTypeCondition(relation, 'from', collection, []), scope);
      guards.push({ condition, fields, isDeferred: true, targetRelation: relation });
      continue;
    }
    const missing = relation.on.map(({ from }) => isMissing(pathTo(collection, [], from)));
    const found = not(isMissing(pathTo(collection, [relation], relation.on[0]!.to)));
    add(toCondition(or(...missing, not(planTypeCondition(relation, 'from', collection, [])), found), scope), fields);
  }
  return guards;
}

function isDeferred(condition: Match, { table }: Collection, mayJoin: boolean): boolean {
  const { joins, where, residual: rest } = condition;
  if (rest || joinsReferTo(joins, table) || filterRefersTo(where, table)) return true;
  return !mayJoin && (joins.length > 0 || hasExists(where));
}

/** A condition without lookups. */
export function toCondition(where: Filter, scope: ScopeOf): Condition {
  return { where, joins: planJoins(where, scope) };
}

function hasExists(filter: Filter): boolean {
  if (filter.op === 'not') return hasExists(filter.of);
  return filter.op === 'some' || ((filter.op === 'and' || filter.op === 'or') && filter.of.some(hasExists));
}

const isMissing = (path: Path): Filter => ({ op: 'test', path, is: 'Missing', value: null });

/** Matches the records with one of these keys. */
export function keysFilter({ key }: Pick<Target, 'key'>, keys: readonly (readonly unknown[])[]): Filter {
  const [only] = key;
  if (key.length === 1 && only)
    return keys.length === 1
      ? { op: 'test', path: only, is: 'Equal', value: keys[0]![0] }
      : { op: 'test', path: only, is: 'In', value: keys.map(([value]) => value) };
  return or(...keys.map((values) => and(...key.map((path, at) => equals(path, values[at])))));
}

/** For stored columns only: every source can compare them, even if customization code replaces their operators. */
export function equals(path: Path, value: unknown): Filter {
  return value === null ? isMissing(path) : { op: 'test', path, is: 'Equal', value };
}

/** SQLite allows 32,766 values per statement; other databases allow more. */
const VALUES_LIMIT = 30_000;

/**
 * Groups records with the same columns into one statement each, since the database applies its defaults to omitted
 * columns. Also returns the positions of the records of each statement.
 */
export function planInserts(
  target: Target,
  records: readonly Values[],
  guards: readonly Guard[],
  one: boolean,
): { readonly insert: Insert; readonly positions: readonly number[] }[] {
  const { collection } = target;
  const groups = new Map<string, { columns: Column[]; rows: Row[]; positions: number[] }>();
  for (const [position, values] of records.entries()) {
    const columns = storedColumns(collection).filter((column) => values.has(column));
    const most = one || columns.length === 0 ? 1 : Math.floor(VALUES_LIMIT / columns.length);
    let id = columns.map(({ name }) => JSON.stringify(name)).join();
    while ((groups.get(id)?.rows.length ?? 0) >= most) id += '+';
    const group = groups.get(id) ?? { columns, rows: [], positions: [] };
    groups.set(id, group);
    group.rows.push(columns.map((column) => values.get(column) ?? null));
    group.positions.push(position);
  }
  return [...groups.values()].map(({ columns, rows, positions }) => ({
    insert: {
      table: collection.table,
      columns: columns.map((column) => pathTo(collection, [], column)),
      rows,
      returning: target.columns,
      checks: guards.filter(({ isDeferred: isLate }) => !isLate).map(({ condition }) => condition),
    },
    positions,
  }));
}

export function planUpdate(target: Target, set: Values, condition: Condition, guards: readonly Guard[]): Update {
  const { collection, key, columns } = target;
  return {
    table: collection.table,
    key,
    set: [...set].map(([column, value]) => [pathTo(collection, [], column), value]),
    joins: condition.joins,
    where: condition.where,
    returning: columns,
    checks: guards.filter(({ isDeferred: isLate }) => !isLate).map((guard) => guard.condition),
  };
}

export function planDelete(target: Target, { joins, where }: Condition): Delete {
  return { table: target.collection.table, key: target.key, joins, where, returning: target.columns };
}
