// Resolves the groups of an aggregate: names to paths, with the timezone of the call for dates.

import { fail } from '../../core/errors.ts';
import { type DatePart, dateParts } from '../../core/filter/expression.ts';
import { type PeriodUnit, type PlainGroup, periodUnits } from '../../core/filter/measures.ts';
import { MAX_GROUPS } from '../../core/filter.ts';
import type { Column, Moment } from '../model/types.ts';
import type { GroupKey, Path } from '../plan/types.ts';
import type { GroupBy } from '../sources/statement.ts';
import { zoneOffsets } from '../sources/zones.ts';
import { formatType } from './expression.ts';
import { findToMany, type ToManySplit } from './filter.ts';
import { resolveName } from './names.ts';
import { readNumber } from './values.ts';
import type { CollectionView } from './visibility.ts';

export interface ResolvedGroup {
  /** The name of its column in the answer. */
  readonly column: string;
  /** The name of the field, as written. */
  readonly field: string;
  readonly key: GroupKey;
  /** The path of the field, if the own foreign key is read in its place. */
  readonly named?: Path;
  /** For a group through a to-many relation, at whose records the path of the key starts. */
  readonly many?: ToManySplit;
}

/** Whether running totals follow this group. */
export function isDateGroup({ key: { path, by } }: ResolvedGroup): boolean {
  if (by) return by.kind !== 'ranges';
  return path.field.type === 'Date' || path.field.type === 'Dateonly';
}

const MAX_BOUNDS = 50;
const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Throws INVALID_ARGUMENT for fields that cannot be grouped, and the errors of `resolveName`. */
export function resolveGroups(
  view: CollectionView,
  groups: readonly (string | PlainGroup)[],
  moment: Moment,
): ResolvedGroup[] {
  if (groups.length > MAX_GROUPS) invalid('groups', `at most ${MAX_GROUPS} groups.`);
  return groups.map((group) => resolveGroup(view, typeof group === 'string' ? { field: group } : group, moment));
}

function resolveGroup(view: CollectionView, group: PlainGroup, moment: Moment): ResolvedGroup {
  const { field, bucket, part, ranges } = group ?? {};
  if (typeof field !== 'string')
    return invalid('groups', 'send ["city"], or [{"field":"placed_at","bucket":"Month"}].');
  const many = view.names.has(field) ? undefined : findToMany(view, field);
  if (many) return resolveRelated(view, group, many, moment);
  const { name, path, named } = resolveName(view, field);
  if (!isGroupable(path.field))
    invalid(
      'groups',
      `'${field}' is ${formatType(path.field.type)}, which cannot be grouped. Usable: ${listGroupable(view)}.`,
    );
  const given = [bucket, part, ranges].filter((each) => each !== undefined);
  if (given.length > 1) invalid('groups', `'${field}': send only one of bucket, part and ranges.`);
  if (bucket !== undefined) {
    const by = resolveBucket(field, path.field, bucket, moment);
    return { column: `${bucket.toLowerCase()}(${name})`, field: name, key: { path, by } };
  }
  if (part !== undefined) {
    const by = resolvePart(field, path.field, part, moment);
    return { column: `${part[0]!.toLowerCase()}${part.slice(1)}(${name})`, field: name, key: { path, by } };
  }
  if (ranges !== undefined) {
    const by = resolveRanges(field, path.field, ranges);
    return { column: `range(${name})`, field: name, key: { path, by } };
  }
  return { column: name, field: name, key: { path }, ...(named && { named }) };
}

function resolveRelated(view: CollectionView, group: PlainGroup, many: ToManySplit, moment: Moment): ResolvedGroup {
  const { field } = group;
  const { relation, rest } = many;
  if (relation.reach === 'call' || relation.to.source !== view.collection.source)
    invalid('groups', `'${relation.name}' leads to records of another source, so '${field}' cannot be grouped.`);
  const related = resolveGroup(view.forCollection(relation.to), { ...group, field: rest }, moment);
  if (related.many) invalid('groups', `'${field}' leads through two to-many relations; groups follow one.`);
  const prefix = field.slice(0, field.length - rest.length).replaceAll('@@@', ':');
  const column = related.column.endsWith(')')
    ? related.column.replace('(', `(${prefix}`)
    : `${prefix}${related.column}`;
  return { ...related, column, field: `${prefix}${related.field}`, many };
}

function resolveBucket(field: string, column: Column, bucket: PeriodUnit, moment: Moment): GroupBy {
  if (!periodUnits.includes(bucket)) invalid('groups', `no bucket '${bucket}'. Send one of ${periodUnits.join(', ')}.`);
  const { type } = column;
  if (type !== 'Date' && type !== 'Dateonly')
    invalid(
      'groups',
      `a bucket needs a Date or Dateonly, but '${field}' is ${formatType(type)}. Leave the bucket out.`,
    );
  if (bucket === 'Hour' && type !== 'Date') invalid('groups', `'${field}' has no time, so its shortest bucket is Day.`);
  return { kind: 'bucket', unit: bucket, ...(type === 'Date' && { offsets: zoneOffsets(moment.zone) }) };
}

function resolvePart(field: string, column: Column, part: DatePart, moment: Moment): GroupBy {
  if (!dateParts.includes(part)) invalid('groups', `no part '${part}'. Send one of ${dateParts.join(', ')}.`);
  const { type } = column;
  if (type !== 'Date' && type !== 'Dateonly')
    invalid('groups', `a part needs a Date or Dateonly, but '${field}' is ${formatType(type)}. Leave the part out.`);
  if (part === 'HourOfDay' && type !== 'Date')
    invalid('groups', `'${field}' has no time, so its parts are ${dateParts.slice(1).join(' and ')}.`);
  return { kind: 'part', unit: part, ...(type === 'Date' && { offsets: zoneOffsets(moment.zone) }) };
}

function resolveRanges(field: string, { type }: Column, given: unknown): GroupBy {
  const form = `{"field":"${field}","ranges":[0,10,100]}`;
  if (type !== 'Number') invalid('groups', `ranges need a Number, but '${field}' is ${formatType(type)}.`);
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_BOUNDS)
    return invalid('groups', `ranges are 1 to ${MAX_BOUNDS} numbers in ascending order: ${form}.`);
  const bounds = given.map((each) => readNumber(each) ?? invalid('groups', `ranges are numbers: ${form}.`));
  if (bounds.some((each, at) => at > 0 && Number(each) <= Number(bounds[at - 1])))
    invalid('groups', `ranges are in ascending order: ${form}.`);
  return { kind: 'ranges', bounds };
}

/** Groups are sorted, so their fields must be sortable. */
export function isGroupable({ type, sortable }: Column): boolean {
  return typeof type === 'string' && type !== 'Binary' && sortable;
}

function listGroupable(view: CollectionView): string {
  const names = view.columns.filter(isGroupable).map((column) => column.name);
  return names.slice(0, 10).join(', ') || 'none';
}

/** A group by its index, its field, or its column. `weekday` is the one with the column `weekday(placed_at)`. */
export function indexOfGroup(given: unknown, groups: readonly ResolvedGroup[], at: string): number {
  const index = groups.findIndex(({ column, field }, each) => given === each || given === column || given === field);
  if (index >= 0) return index;
  const prefix = typeof given === 'string' ? `${given.toLowerCase()}(` : '';
  const sameUnit = groups.flatMap(({ column }, each) =>
    prefix !== '' && column.toLowerCase().startsWith(prefix) ? [each] : [],
  );
  if (sameUnit.length === 1) return sameUnit[0]!;
  const known = groups.map(({ column }, each) => `${each} (${column})`).join(', ') || 'none';
  return invalid(at, `no group ${JSON.stringify(given)}. Send its index: ${known}.`);
}
