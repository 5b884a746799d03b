// Plans an aggregate as one statement: resolves names, checks types, applies row scope to joins and adds a total order.
// The total order makes results the same on every database.
import { fail } from '../../core/errors.ts';
import { MAX_GROUPS } from '../../core/filter.ts';
import type { Column, Moment } from '../model/types.ts';
import { resolveName } from '../resolve/names.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import type { PrimitiveType } from '../sources/column-types.ts';
import type { Source } from '../sources/source.ts';
import type { BucketUnit, GroupOrder, Operation } from '../sources/statement.ts';
import { bucketUnits, operations } from '../sources/statement.ts';
import { zoneOffsets } from '../sources/zones.ts';
import type { Planner } from './cross-source.ts';
import { planJoins } from './read.ts';
import type { Filter, GroupKey, GroupSelect, RequestedField } from './types.ts';

/** The arguments of the caller. */
interface AggregateArguments {
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
  view: CollectionView,
  args: AggregateArguments,
  where: Filter,
  planner: Planner,
  moment: Moment,
): AggregatePlan {
  const { collection } = view;
  const value = resolveValue(view, args);
  const requestedGroups = args.groups ?? [];
  if (requestedGroups.length > MAX_GROUPS)
    fail('INVALID_ARGUMENT', { argument: 'groups', problem: `at most ${MAX_GROUPS} groups.` });
  const groups = requestedGroups.map(({ field, bucket }) => resolveGroup(view, field, bucket, moment));
  const operation = args.operation.toLowerCase();
  const columns = [
    ...requestedGroups.map(({ bucket }, at) =>
      bucket ? `${bucket.toLowerCase()}(${groups[at]!.name})` : groups[at]!.name,
    ),
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
      operation: args.operation,
      ...(value && { value: value.path }),
      groups: keys,
      order: totalOrder(keys, args.order ?? 'value'),
      limit: args.limit + 1,
      ...(args.skip && { skip: args.skip }),
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

const summableTypes: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['Number']);
const comparableTypes: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>([
  ...(['Number', 'Date', 'Dateonly', 'Time', 'String', 'Enum', 'Boolean'] as const),
]);

/** For these types, `Min` and `Max` need a sortable or computed column: not every source orders them reliably. */
const textTypes: ReadonlySet<PrimitiveType> = new Set<PrimitiveType>(['String', 'Enum', 'Boolean']);

function resolveValue(view: CollectionView, { operation, field }: AggregateArguments): RequestedField | undefined {
  if (!operations.includes(operation))
    fail('INVALID_ARGUMENT', { argument: 'operation', problem: `expected one of ${operations.join(', ')}.` });
  if (operation === 'Count') return field === undefined ? undefined : resolveName(view, field);
  const allowed = operation === 'Sum' || operation === 'Avg' ? summableTypes : comparableTypes;
  const isUsable = (column: Column) =>
    typeof column.type === 'string' &&
    allowed.has(column.type) &&
    (!textTypes.has(column.type) || column.sortable || column.computedFrom !== undefined);
  const listUsable = () =>
    view.columns
      .filter(isUsable)
      .map((column) => column.name)
      .slice(0, 10)
      .join(', ') || 'none';
  if (field === undefined)
    return fail('INVALID_ARGUMENT', {
      argument: 'field',
      problem: `${operation} needs a field. Usable: ${listUsable()}.`,
    });
  const named = resolveName(view, field);
  if (isUsable(named.path.field)) return named;
  return fail('INVALID_ARGUMENT', {
    argument: 'field',
    problem: `${operation} takes ${[...allowed].join(', ')}, but '${field}' is ${formatTypeName(named.path.field)}${named.path.field.sortable ? '' : ' that cannot be sorted'}. Usable: ${listUsable()}.`,
  });
}

function resolveGroup(
  view: CollectionView,
  field: string,
  bucket: BucketUnit | undefined,
  moment: Moment,
): { readonly name: string; readonly key: GroupKey } {
  const { name, path } = resolveName(view, field);
  const column = path.field;
  if (!isGroupable(column))
    fail('INVALID_ARGUMENT', {
      argument: 'groups',
      problem: `'${field}' is ${formatTypeName(column)}, which cannot be grouped. Usable: ${listGroupable(view)}.`,
    });
  if (bucket === undefined) return { name, key: { path } };
  if (!bucketUnits.includes(bucket))
    fail('INVALID_ARGUMENT', {
      argument: 'groups',
      problem: `no bucket '${bucket}'. Send one of ${bucketUnits.join(', ')}.`,
    });
  if (column.type === 'Date')
    return { name, key: { path, bucket: { unit: bucket, offsets: zoneOffsets(moment.zone) } } };
  if (column.type === 'Dateonly') return { name, key: { path, bucket: { unit: bucket } } };
  return fail('INVALID_ARGUMENT', {
    argument: 'groups',
    problem: `a bucket needs a Date or Dateonly, but '${field}' is ${formatTypeName(column)}. Leave the bucket out.`,
  });
}

/** Groups are sorted, so their fields must be sortable. */
function isGroupable({ type, sortable }: Column): boolean {
  return typeof type === 'string' && type !== 'Binary' && sortable;
}

function listGroupable(view: CollectionView): string {
  const names = view.columns.filter(isGroupable).map((column) => column.name);
  return names.slice(0, 10).join(', ') || 'none';
}

function formatTypeName({ type }: Column): string {
  return typeof type === 'string' ? type : `[${type[0]}]`;
}
