// An aggregate that was asked for becomes one statement: names found, types checked, joins with the rows that the caller
// may see, and a total order, so that the same question has the same answer on every database.
import { fail } from '../../core/errors.ts';
import type { Column, Moment } from '../model/types.ts';
import type {
  BucketUnit,
  GroupKey,
  GroupOrder,
  GroupSelect,
  Operation,
  PrimitiveType,
  Source,
} from '../sources/source.ts';
import { bucketUnits, operations } from '../sources/source.ts';
import type { Planner } from './away.ts';
import { zoneOffsets } from './dates.ts';
import { planJoins } from './plan-read.ts';
import { resolveName } from './resolve.ts';
import type { Filter, Named } from './types.ts';
import type { View } from './view.ts';

const GROUPS_LIMIT = 8;

/** As callers write it. */
export interface AggregateWish {
  readonly operation: Operation;
  readonly field?: string;
  readonly groups?: readonly { readonly field: string; readonly bucket?: BucketUnit }[];
  readonly limit: number;
  readonly order?: 'value' | 'groups';
}

/** Plain data. */
export interface AggregatePlan {
  readonly source: Source;
  readonly columns: readonly string[];
  /** Null when no record can match. */
  readonly group: GroupSelect | null;
}

/** INVALID_ARGUMENT for what cannot be grouped or added up, besides the errors of names. */
export function planAggregate(
  view: View,
  wish: AggregateWish,
  where: Filter,
  planner: Planner,
  moment: Moment,
): AggregatePlan {
  const { collection } = view;
  const value = resolveValue(view, wish);
  const asked = wish.groups ?? [];
  if (asked.length > GROUPS_LIMIT)
    fail('INVALID_ARGUMENT', { argument: 'groups', problem: `at most ${GROUPS_LIMIT} groups.` });
  const groups = asked.map(({ field, bucket }) => resolveGroup(view, field, bucket, moment));
  const operation = wish.operation.toLowerCase();
  const columns = [
    ...asked.map(({ bucket }, at) => (bucket ? `${bucket.toLowerCase()}(${groups[at]!.name})` : groups[at]!.name)),
    value ? `${operation}(${value.name})` : operation,
  ];
  if (where.op === 'never') return { source: collection.source, columns, group: null };
  const keys = groups.map((group) => group.key);
  const paths = [...keys.map((key) => key.path), ...(value ? [value.path] : [])];
  return {
    source: collection.source,
    columns,
    group: {
      table: collection.table,
      joins: planJoins(where, planner.scope, paths, planner),
      where,
      operation: wish.operation,
      ...(value && { value: value.path }),
      groups: keys,
      order: totalOrder(keys, wish.order ?? 'value'),
      limit: wish.limit + 1,
    },
  };
}

function totalOrder(keys: readonly GroupKey[], first: 'value' | 'groups'): readonly GroupOrder[] {
  const value: GroupOrder = { by: 'value', ascending: false };
  const groups = keys.map((_, at): GroupOrder => ({ by: at, ascending: true }));
  if (first === 'value') return [value, ...groups];
  if (first === 'groups') return [...groups, value];
  return fail('INVALID_ARGUMENT', { argument: 'order', problem: "expected 'value' or 'groups'." });
}

const added: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['Number']);
const compared: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['Number', 'Date', 'Dateonly', 'Time']);

function resolveValue(view: View, { operation, field }: AggregateWish): Named | undefined {
  if (!operations.includes(operation))
    fail('INVALID_ARGUMENT', { argument: 'operation', problem: `expected one of ${operations.join(', ')}.` });
  if (operation === 'Count') return field === undefined ? undefined : resolveName(view, field);
  const allowed = operation === 'Sum' || operation === 'Avg' ? added : compared;
  const usable = (column: Column) => typeof column.type === 'string' && allowed.has(column.type);
  const some = () =>
    view.columns
      .filter(usable)
      .map((column) => column.name)
      .slice(0, 10)
      .join(', ') || 'none';
  if (field === undefined)
    return fail('INVALID_ARGUMENT', { argument: 'field', problem: `${operation} needs a field. Usable: ${some()}.` });
  const named = resolveName(view, field);
  if (usable(named.path.field)) return named;
  return fail('INVALID_ARGUMENT', {
    argument: 'field',
    problem: `${operation} takes ${[...allowed].join(', ')}, and '${field}' is ${typeName(named.path.field)}. Usable: ${some()}.`,
  });
}

function resolveGroup(
  view: View,
  field: string,
  bucket: BucketUnit | undefined,
  moment: Moment,
): { readonly name: string; readonly key: GroupKey } {
  const { name, path } = resolveName(view, field);
  const column = path.field;
  if (!isGroupable(column))
    fail('INVALID_ARGUMENT', {
      argument: 'groups',
      problem: `'${field}' is ${typeName(column)}, which makes no groups. Usable: ${groupableOf(view)}.`,
    });
  if (bucket === undefined) return { name, key: { path } };
  if (!bucketUnits.includes(bucket))
    fail('INVALID_ARGUMENT', {
      argument: 'groups',
      problem: `no bucket '${bucket}'. It is one of ${bucketUnits.join(', ')}.`,
    });
  if (column.type === 'Date')
    return { name, key: { path, bucket: { unit: bucket, offsets: zoneOffsets(moment.zone) } } };
  if (column.type === 'Dateonly') return { name, key: { path, bucket: { unit: bucket } } };
  return fail('INVALID_ARGUMENT', {
    argument: 'groups',
    problem: `a bucket is of a Date or Dateonly, and '${field}' is ${typeName(column)}. Leave the bucket out.`,
  });
}

/** It needs an order, since the groups of an answer have one. */
function isGroupable({ type, sortable }: Column): boolean {
  return typeof type === 'string' && type !== 'Binary' && sortable;
}

function groupableOf(view: View): string {
  const names = view.columns.filter(isGroupable).map((column) => column.name);
  return names.slice(0, 10).join(', ') || 'none';
}

function typeName({ type }: Column): string {
  return typeof type === 'string' ? type : `[${type[0]}]`;
}
