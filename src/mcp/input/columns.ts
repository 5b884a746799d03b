// Fields, sorts and groups as models write them. With `home`, unclear names become the only names that they can mean.
import type { CallerNames } from '../../agent/engine.ts';
import { type BucketUnit, bucketUnits } from '../../agent/sources/statement.ts';
import { fail } from '../../core/errors.ts';
import { GROUPS_MOST, type PlainSort, SORTS_MOST } from '../../core/filter.ts';
import { findMeant } from '../../core/suggestions.ts';
import { fromText, type Given, isObject } from './arguments.ts';
import { groupWords, renamed, sortWords } from './synonyms.ts';

/** The collection of the names, and the names that the caller may use there. */
export interface Home {
  readonly names: CallerNames;
  readonly collection: string;
}

const FIELDS_MOST = 1000;
const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

/** Limits the list before its names are resolved, because finding the meaning of a wrong name is slow. */
function needAtMost(most: number, list: readonly unknown[], name: string, what = name): void {
  if (list.length > most) invalid(name, `at most ${most} ${what}, got ${list.length}.`);
}

/** The field that the text means. Otherwise the text itself: the engine then suggests similar names. */
export function toField(text: string, home: Home | undefined): string {
  const field = text.trim();
  return home?.names.field(home.collection, field) ?? field;
}

/** A list of fields. Also accepts JSON text, a comma-separated text, or one field. */
export function readFields(given: Given, name: string, home?: Home): readonly string[] | undefined {
  let value = fromText(given[name]);
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') value = value.split(',');
  if (!Array.isArray(value) || !value.every((path) => typeof path === 'string')) {
    return invalid(name, 'send a list of field names such as ["id","relation:field"].');
  }
  needAtMost(FIELDS_MOST, value, name, 'fields');
  const fields = [...new Set(value.filter((path) => path.trim() !== '').map((path) => toField(path, home)))];
  return fields.length > 0 ? fields : undefined;
}

const sortExample = 'send {"field":"name","ascending":true} or a list of such.';

/** `{field, ascending}`, a list of them, `name`, `-name`, `name desc`, `{name: "desc"}` or `["name", "desc"]`. */
export function readSort(given: Given, name: string, home?: Home): readonly PlainSort[] | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const clauses = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [value];
  needAtMost(SORTS_MOST, clauses, name, 'fields to sort by');
  return clauses.flatMap((clause): readonly PlainSort[] => {
    if (typeof clause === 'string') return [toSort(clause, home)];
    if (Array.isArray(clause) && clause.length === 2 && typeof clause[0] === 'string')
      return [{ field: toField(clause[0], home), ascending: isAscending(clause[1], name) }];
    if (!isObject(clause)) return invalid(name, sortExample);
    const { field, ascending, direction } = renamed(clause, sortWords) ?? {};
    if (typeof field === 'string' && (ascending === undefined || direction === undefined))
      return [{ field: toField(field, home), ascending: isAscending(ascending ?? direction ?? true, name) }];
    const entries = Object.entries(clause);
    needAtMost(SORTS_MOST, entries, name, 'fields to sort by');
    if (entries.length === 0 || 'field' in clause) return invalid(name, sortExample);
    return entries.map(([each, way]) => ({ field: toField(each, home), ascending: isAscending(way, name) }));
  });
}

function toSort(text: string, home: Home | undefined): PlainSort {
  const clause = text.trim();
  const [, sign = '', field, way = ''] = /^([-+]?)(.*?)(?:\s+(asc|desc)(?:ending)?)?$/i.exec(clause) ?? [];
  if (field === undefined || home?.names.field(home.collection, clause) === clause)
    return { field: toField(clause, home), ascending: true };
  return { field: toField(field, home), ascending: sign !== '-' && way.toLowerCase() !== 'desc' };
}

function isAscending(way: unknown, name: string): boolean {
  const word = typeof way === 'string' ? way.trim().toLowerCase() : way;
  if (word === true || word === 1 || word === null || /^(asc|ascending|true|1)$/.test(String(word))) return true;
  if (word === false || word === 0 || /^(desc|descending|false|-1|0)$/.test(String(word))) return false;
  return invalid(name, sortExample);
}

const groupExample = `send a list such as ["status",{"field":"created_at","bucket":"${bucketUnits[2]}"}].`;

/** `"field"`, `{field, bucket}`, `"field:month"`, or a list of these. Buckets ignore case. */
export function readGroups(
  given: Given,
  name: string,
  home?: Home,
): readonly { readonly field: string; readonly bucket?: BucketUnit }[] | undefined {
  const value = fromText(given[name]);
  if (value === undefined || value === null || value === '') return undefined;
  const groups = Array.isArray(value) ? value : [value];
  needAtMost(GROUPS_MOST, groups, name);
  return groups.map((group) => {
    if (typeof group === 'string') return toGroup(group, home);
    const { field, bucket } = (isObject(group) && renamed(group, groupWords)) || {};
    if (typeof field !== 'string') return invalid(name, groupExample);
    if (bucket === undefined || bucket === null) return { field: toField(field, home) };
    const unit = findMeant(String(bucket), bucketUnits) as BucketUnit | undefined;
    if (!unit) return invalid(`${name}.bucket`, `send ${bucketUnits.map((each) => `"${each}"`).join(' or ')}.`);
    return { field: toField(field, home), bucket: unit };
  });
}

function toGroup(text: string, home: Home | undefined): { readonly field: string; readonly bucket?: BucketUnit } {
  const field = home?.names.field(home.collection, text.trim());
  const [, head = '', word = ''] = /^(.+)[:.](\w+)$/.exec(text.trim()) ?? [];
  const bucket = bucketUnits.find((unit) => unit.toLowerCase() === word.toLowerCase());
  const dated = field === undefined && bucket && home?.names.field(home.collection, head);
  return dated ? { field: dated, bucket } : { field: field ?? text.trim() };
}
