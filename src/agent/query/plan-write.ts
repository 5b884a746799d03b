// What a write does, as data: the statements, what comes back, and the guards, which are conditions that every record must
// satisfy afterwards. A guard goes into the statement where the database can tell of the new record there; a guard that
// looks at the written table again would see it as it was before, and is asked afterwards.

import type { Collection, Column, Relation } from '../model/types.ts';
import { follows, looksAt } from '../sources/looks-at.ts';
import type { Condition, Delete, Insert, Join, Row, Update } from '../sources/source.ts';
import { splitFilter } from './here.ts';
import type { ScopeOf } from './lower.ts';
import { onlyAt, pathTo } from './paths.ts';
import { planJoins } from './plan-read.ts';
import { always, and, not, or } from './simplify.ts';
import type { Filter, Path, ReadPlan } from './types.ts';
import type { View } from './view.ts';
import type { Values } from './write-values.ts';

/** What is left of a condition once the database has decided its part: decided here, by columns that are read for it. */
export interface Rest {
  readonly where: Filter;
  /** The steps over the columns. */
  readonly plan: ReadPlan;
  readonly columns: readonly Path[];
  readonly joins: readonly Join[];
  /** What the database is asked about each record, for the steps that would ask it. */
  readonly asked: readonly Condition[];
}

/** A condition on records whose keys are known. */
export interface Meant extends Condition {
  readonly rest?: Rest;
}

/** What a write knows within its transaction. What has to be asked outside is thrown. */
export interface Known {
  readonly scope: ScopeOf;
  /** The condition, within the row scope. */
  within(collection: Collection, where: Filter): Meant;
  /** Of each row of the columns of the rest, and then of what is asked. */
  judge(rest: Rest, rows: readonly Row[]): readonly boolean[];
}

export interface Guard {
  readonly condition: Meant;
  /** The fields that point to a record which must be visible; empty for the row scope of the record itself. */
  readonly fields: readonly string[];
  /** It cannot be told by the statement that writes. */
  readonly isLate: boolean;
  /**
   * What it points to is looked for by itself, since its database cannot decide whether it may be seen; `condition` then says
   * which records point there.
   */
  readonly pointer?: Relation;
}

export interface Target {
  readonly collection: Collection;
  readonly key: readonly Path[];
  /** The visible columns that are stored: what code made or imported is no part of a write. */
  readonly shown: readonly Column[];
  /** What comes back: the shown columns, then what is missing of the key. */
  readonly columns: readonly Path[];
  /** Where the key lies in `columns`. */
  readonly keySlots: readonly number[];
}

/** `more` columns come back too, for what is still to be done with the record. */
export function planTarget(view: View, more: Iterable<Column> = []): Target {
  const { collection } = view;
  const shown = view.columns.filter(isStored);
  const returned = [...new Set([...shown, ...collection.key, ...more])];
  return {
    collection,
    shown,
    key: collection.key.map((column) => pathTo(collection, [], column)),
    columns: returned.map((column) => pathTo(collection, [], column)),
    keySlots: collection.key.map((column) => returned.indexOf(column)),
  };
}

/** Every column that the table has, hidden and removed ones too. */
export function storedColumns({ inside }: Collection): Column[] {
  return [...inside.values()].filter((field): field is Column => field.kind === 'column' && isStored(field));
}

const isStored = ({ made, route }: Column): boolean => made === undefined && route === undefined;

/**
 * Afterwards, the record must be one that the caller may see, and so must every record that the written columns point to:
 * nobody may write, or link to, what he could not read.
 */
export function planGuards(view: View, known: Known, written: ReadonlySet<Column>, mayJoin: boolean): Guard[] {
  const { collection, sight } = view;
  const { scope } = known;
  const guards: Guard[] = [];
  const add = (condition: Meant, fields: readonly string[]) => {
    if (condition.where.op === 'always' && !condition.rest) return;
    guards.push({ condition, fields, isLate: isLate(condition, collection, mayJoin) });
  };
  add(known.within(collection, always), []);
  for (const relation of view.relations) {
    // A record of another source is looked for before.
    if (relation.inverse || relation.reach !== 'join' || !sight.withholds(relation.to)) continue;
    const pointers = [...relation.on.map(({ from }) => from), ...(relation.only ? [relation.only.column] : [])];
    if (!pointers.some((column) => written.has(column))) continue;
    const fields = relation.on.map(({ from }) => from.name);
    if (splitFilter(scope(relation.to)).rest.op !== 'always') {
      const condition = knownCondition(onlyAt(relation, 'from', collection, []), scope);
      guards.push({ condition, fields, isLate: true, pointer: relation });
      continue;
    }
    const missing = relation.on.map(({ from }) => isMissing(pathTo(collection, [], from)));
    const found = not(isMissing(pathTo(collection, [relation], relation.on[0]!.to)));
    add(knownCondition(or(...missing, not(onlyAt(relation, 'from', collection, [])), found), scope), fields);
  }
  return guards;
}

function isLate(condition: Meant, { table }: Collection, mayJoin: boolean): boolean {
  const { joins, where, rest } = condition;
  if (rest || looksAt(joins, table) || follows(where, table)) return true;
  return !mayJoin && (joins.length > 0 || hasSome(where));
}

/** A condition in which nothing is left to look up. */
export function knownCondition(where: Filter, scope: ScopeOf): Condition {
  return { where, joins: planJoins(where, scope) };
}

function hasSome(filter: Filter): boolean {
  if (filter.op === 'not') return hasSome(filter.of);
  return filter.op === 'some' || ((filter.op === 'and' || filter.op === 'or') && filter.of.some(hasSome));
}

const isMissing = (path: Path): Filter => ({ op: 'test', path, is: 'Missing', value: null });

/** The records that have one of these keys. */
export function keysFilter({ key }: Pick<Target, 'key'>, keys: readonly (readonly unknown[])[]): Filter {
  const [only] = key;
  if (key.length === 1 && only)
    return keys.length === 1
      ? { op: 'test', path: only, is: 'Equal', value: keys[0]![0] }
      : { op: 'test', path: only, is: 'In', value: keys.map(([value]) => value) };
  return or(...keys.map((values) => and(...key.map((path, at) => equals(path, values[at])))));
}

/** Of a stored column, which every source compares itself, whatever code says of its operators. */
export function equals(path: Path, value: unknown): Filter {
  return value === null ? isMissing(path) : { op: 'test', path, is: 'Equal', value };
}

/** SQLite takes 32,766 values in a statement, the others more. */
const VALUES_LIMIT = 30_000;

/**
 * One statement for all records that give the same columns, since a column left out takes the default of the database;
 * with the positions of its records.
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
      checks: guards.filter(({ isLate }) => !isLate).map(({ condition }) => condition),
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
    checks: guards.filter(({ isLate }) => !isLate).map((guard) => guard.condition),
  };
}

export function planDelete(target: Target, { joins, where }: Condition): Delete {
  return { table: target.collection.table, key: target.key, joins, where, returning: target.columns };
}
