// Plans an aggregate as one statement: resolves names, checks types, applies row scope to joins and adds a total order.
// The total order makes results the same on every database.
import { fail } from '../../core/errors.ts';
import { GROUPS_MOST } from '../../core/filter.ts';
import type { Column, Moment } from '../model/types.ts';
import { resolveName } from '../resolve/names.ts';
import type { View } from '../resolve/visibility.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import type { Source } from '../sources/source.ts';
import type { BucketUnit, GroupOrder, Operation } from '../sources/statement.ts';
import { bucketUnits, operations } from '../sources/statement.ts';
import { zoneOffsets } from '../sources/zones.ts';
import type { Planner } from './cross-source.ts';
import { planJoins } from './read.ts';
import type { Filter, GroupKey, GroupSelect, Named } from './types.ts';

/** The arguments of the caller. */
export interface AggregateWish {
  readonly operation: Operation;
  readonly field?: string;
  readonly groups?: readonly { readonly field: string; readonly bucket?: BucketUnit }[];
  readonly limit: number;
  /** Number of groups on earlier pages. */
  readonly skip?: number;
  readonly order?: 'value' | 'groups';
}

/** A planned aggregate, as plain data. */
export interface AggregatePlan {
  readonly source: Source;
  readonly columns: readonly string[];
  /** The result has no groups for values without records, such as a month without orders or an unused enum value. */
  readonly lacksEmpty: boolean;
  /** Null if no record can match. */
  readonly group: GroupSelect | null;
}

/** Throws INVALID_ARGUMENT for fields that cannot be grouped or aggregated, and the errors of `resolveName`. */
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
  if (asked.length > GROUPS_MOST)
    fail('INVALID_ARGUMENT', { argument: 'groups', problem: `at most ${GROUPS_MOST} groups.` });
  const groups = asked.map(({ field, bucket }) => resolveGroup(view, field, bucket, moment));
  const operation = wish.operation.toLowerCase();
  const columns = [
    ...asked.map(({ bucket }, at) => (bucket ? `${bucket.toLowerCase()}(${groups[at]!.name})` : groups[at]!.name)),
    value ? `${operation}(${value.name})` : operation,
  ];
  const keys = groups.map((group) => group.key);
  const lacksEmpty = keys.some(({ path, bucket }) => bucket || path.via.length > 0 || path.field.type === 'Enum');
  if (where.op === 'never') return { source: collection.source, columns, lacksEmpty, group: null };
  const paths = [...keys.map((key) => key.path), ...(value ? [value.path] : [])];
  return {
    source: collection.source,
    columns,
    lacksEmpty,
    group: {
      table: collection.table,
      joins: planJoins(where, planner.scope, paths, planner),
      where,
      operation: wish.operation,
      ...(value && { value: value.path }),
      groups: keys,
      order: totalOrder(keys, wish.order ?? 'value'),
      limit: wish.limit + 1,
      ...(wish.skip && { skip: wish.skip }),
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
const compared: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>([
  ...(['Number', 'Date', 'Dateonly', 'Time', 'String', 'Enum', 'Boolean'] as const),
]);

/** For these types, `Min` and `Max` need a sortable or computed column: not every source orders them reliably. */
const textual: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['String', 'Enum', 'Boolean']);

function resolveValue(view: View, { operation, field }: AggregateWish): Named | undefined {
  if (!operations.includes(operation))
    fail('INVALID_ARGUMENT', { argument: 'operation', problem: `expected one of ${operations.join(', ')}.` });
  if (operation === 'Count') return field === undefined ? undefined : resolveName(view, field);
  const allowed = operation === 'Sum' || operation === 'Avg' ? added : compared;
  const usable = (column: Column) =>
    typeof column.type === 'string' &&
    allowed.has(column.type) &&
    (!textual.has(column.type) || column.sortable || column.made !== undefined);
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
    problem: `${operation} takes ${[...allowed].join(', ')}, and '${field}' is ${typeName(named.path.field)}${named.path.field.sortable ? '' : ' that cannot be sorted'}. Usable: ${some()}.`,
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

/** Groups are sorted, so their fields must be sortable. */
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
