// What a caller writes as a record becomes the canonical values of columns. Everything that is wrong with a record is told
// at once, and every problem names its field.
import type { Access } from '../../core/caller.ts';
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import { nearNames } from '../../core/near.ts';
import type { Column, Moment } from '../model/types.ts';
import { checkStored } from './values.ts';
import type { View } from './view.ts';

export type Values = ReadonlyMap<Column, unknown>;

/** INVALID_RECORD with the problems of all records, each field preceded by `records[i].` where there are several. */
export function readRecords(
  access: Access,
  view: View,
  given: readonly unknown[],
  isNew: boolean,
  moment: Moment,
): Values[] {
  const problems: FieldProblem[] = [];
  const records = given.map((record, index) => {
    const found = readRecord(access, view, record, isNew, moment);
    const at = given.length > 1 ? `records[${index}].` : '';
    problems.push(...found.problems.map(({ field, problem }) => ({ field: `${at}${field}`, problem })));
    return found.values;
  });
  if (problems.length) fail('INVALID_RECORD', { collection: view.collection.name, problems });
  return records;
}

function readRecord(access: Access, view: View, given: unknown, isNew: boolean, moment: Moment) {
  const { collection } = view;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return fail('INVALID_ARGUMENT', {
      argument: isNew ? 'records' : 'values',
      problem: 'expected an object of fields and their values.',
    });
  const values = new Map<Column, unknown>();
  const problems: FieldProblem[] = [];
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const column = view.columns.find((each) => each.name === name);
    const problem = column
      ? (cannotWrite(access, view, column) ?? readValue(column, value, moment, values))
      : describeUnknown(view, name);
    if (problem) problems.push({ field: name, problem });
  }
  if (isNew)
    for (const column of collection.fields.values()) {
      if (column.kind !== 'column' || !column.required || values.has(column)) continue;
      if (!view.columns.includes(column) || cannotWrite(access, view, column))
        fail('FORBIDDEN', {
          verb: 'add to',
          collection: collection.name,
          why: 'a field that must be given is closed to you. An administrator can open it.',
        });
      if (!problems.some(({ field }) => field === column.name))
        problems.push({ field: column.name, problem: `must be given: ${wanted(column)}.` });
    }
  return { values, problems };
}

function cannotWrite(access: Access, { collection }: View, column: Column): string | undefined {
  if (column.readOnly) return 'is filled by the database; leave it out.';
  if (access.field(collection.name, column.name) !== 'write') return 'is read-only for you; leave it out.';
  return undefined;
}

function readValue(column: Column, value: unknown, moment: Moment, values: Map<Column, unknown>): string | undefined {
  if (value === null && !column.nullable) return `may not be null: ${wanted(column)}.`;
  try {
    values.set(column, checkStored(value, { column, at: column.name, moment, days: true }));
    return undefined;
  } catch (error) {
    if (!isAppError(error, 'INVALID_VALUE')) throw error;
    return error.message.slice(column.name.length + 2);
  }
}

function describeUnknown(view: View, name: string): string {
  const relation = view.relations.find((each) => each.name === name || name.startsWith(`${each.name}:`));
  if (relation) {
    if (relation.inverse) return `is a relation to '${relation.to.name}': write there, or associate.`;
    return `is a relation: give ${relation.on.map(({ from }) => `'${from.name}'`).join(' and ')} instead.`;
  }
  const near = nearNames(
    name,
    view.columns.map((column) => column.name),
  );
  return `no such field.${near.length ? ` Near: ${near.join(', ')}.` : ''}`;
}

function wanted({ type, enumValues }: Column): string {
  if (enumValues) return `send one of ${enumValues.slice(0, 10).join(', ')}${enumValues.length > 10 ? ', ...' : ''}`;
  return typeof type === 'string' ? `send a ${type}` : `send a list of ${type[0]}`;
}
