// What a write does, as data: the statements, what comes back, and the guards, which are conditions that every record must
// satisfy afterwards. A guard goes into the statement where the database can tell of the new record there; a guard that
// looks at the written table again would see it as it was before, and is asked afterwards.

import { fail } from '../../core/errors.ts';
import type { Collection, Column } from '../model/types.ts';
import { follows, looksAt } from '../sources/looks-at.ts';
import type { Condition, Delete, Insert, Join, Row, Update } from '../sources/source.ts';
import { splitFilter } from './here.ts';
import type { ScopeOf } from './lower.ts';
import { onlyAt, pathTo } from './paths.ts';
import { planJoins } from './plan-read.ts';
import { and, not, or } from './simplify.ts';
import type { Filter, Path } from './types.ts';
import type { View } from './view.ts';
import type { Values } from './write-values.ts';

export interface Guard {
  readonly condition: Condition;
  /** The fields that point to a record which must be visible; empty for the row scope of the record itself. */
  readonly fields: readonly string[];
  /** It cannot be told by the statement that writes. */
  readonly isLate: boolean;
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
export function planGuards(view: View, scope: ScopeOf, written: ReadonlySet<Column>, mayJoin: boolean): Guard[] {
  const { collection, sight } = view;
  const guards: Guard[] = [];
  const add = (where: Filter, fields: readonly string[]) => {
    if (where.op === 'always') return;
    const condition = knownCondition(where, scope);
    const { table } = collection;
    const isLate =
      looksAt(condition.joins, table) || follows(condition.where, table) || (!mayJoin && looksFurther(condition));
    guards.push({ condition, fields, isLate });
  };
  add(scope(collection), []);
  for (const relation of view.relations) {
    // A record of another source is looked for before.
    if (relation.inverse || relation.reach !== 'join' || !sight.withholds(relation.to)) continue;
    const pointers = [...relation.on.map(({ from }) => from), ...(relation.only ? [relation.only.column] : [])];
    if (!pointers.some((column) => written.has(column))) continue;
    const missing = relation.on.map(({ from }) => isMissing(pathTo(collection, [], from)));
    const found = not(isMissing(pathTo(collection, [relation], relation.on[0]!.to)));
    add(
      or(...missing, not(onlyAt(relation, 'from', collection, [])), found),
      relation.on.map(({ from }) => from.name),
    );
  }
  return guards;
}

/** CONFIGURATION when the condition, which then is of a row scope, can only be decided after reading. */
export function conditionOf(where: Filter, joinsOf: (where: Filter) => readonly Join[]): Condition {
  if (splitFilter(where).rest.op !== 'always')
    fail('CONFIGURATION', {
      problem:
        'A row scope here is decided after reading, so that nothing can be written under it; an administrator has to say it with stored fields.',
    });
  return { where, joins: joinsOf(where) };
}

/** The same of a condition and scopes in which nothing is left to look up. */
export function knownCondition(where: Filter, scope: ScopeOf): Condition {
  return conditionOf(where, (planned) => planJoins(planned, scope));
}

function looksFurther({ joins, where }: Condition): boolean {
  return joins.length > 0 || hasSome(where);
}

function hasSome(filter: Filter): boolean {
  if (filter.op === 'not') return hasSome(filter.of);
  return filter.op === 'some' || ((filter.op === 'and' || filter.op === 'or') && filter.of.some(hasSome));
}

const isMissing = (path: Path): Filter => ({ op: 'test', path, is: 'Missing', value: null });

/** The records that have one of these keys. */
export function keysFilter({ key }: Target, keys: readonly (readonly unknown[])[]): Filter {
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
    ...condition,
    returning: columns,
    checks: guards.filter(({ isLate }) => !isLate).map((guard) => guard.condition),
  };
}

export function planDelete(target: Target, condition: Condition): Delete {
  return { table: target.collection.table, key: target.key, ...condition, returning: target.columns };
}
