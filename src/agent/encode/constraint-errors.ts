// Converts a refusal of the database to an error for the caller: with the names of visible fields, and what to do.
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import { NO_SUCH_RECORD } from '../execute/write.ts';
import type { Column } from '../model/types.ts';
import type { CollectionView } from '../resolve/visibility.ts';
import type { Refusal, RefusalKind } from '../sources/refusal.ts';

const problems: Readonly<Record<Exclude<RefusalKind, 'referenced' | keyof typeof readOnly | 'conflict'>, string>> = {
  unique: 'another record has this value already.',
  exclusion: 'conflicts with another record: the database does not allow both.',
  reference: NO_SUCH_RECORD,
  null: 'is required, and may not be null.',
  'too long': 'is too long for this field; send a shorter value.',
  'out of range': 'is too large or too small for this field.',
  check: 'breaks a rule of the database for this field.',
  value: 'is not a valid value for this field.',
  partition:
    'no partition of the table accepts this value. Send another value, or ask the operator to add a partition.',
  trigger:
    'a trigger of the database refuses this write. Send other values, or ask the operator: the log has its message.',
  ignored: 'a trigger of the database skipped this write. Send other values, or ask the operator.',
  expression:
    'the database cannot evaluate an expression over these values, such as a division by zero. Send other values.',
  policy: 'a security policy of the database refuses these values. Send other values, or ask the operator.',
};

/** For errors without a field. */
const recordProblems: Partial<Record<RefusalKind, string>> = {
  check: 'breaks a check constraint of the database. Send other values.',
  partition:
    'no partition of the table accepts these values. Send other values, or ask the operator to add a partition.',
};

/** Only the log names the column. Callers cannot use it. */
const unservedProblem =
  'its table needs a value in a column that is not served: its type is not supported, or the column was added after the server started. Ask the operator to add a default in the database, or to restart the server for a new column.';

const readOnly = {
  'read-only': 'this server can only read it.',
  denied: 'the database user of this server lacks the permission. Ask the operator to grant it.',
  rule: 'a rule of the database replaces this statement, and this server cannot see its effects. Ask the operator to replace the rule with a trigger.',
} as const;

/** About the record as a whole, unless the database names columns. */
const wholeRecordKinds: ReadonlySet<RefusalKind> = new Set([
  'check',
  'partition',
  'trigger',
  'ignored',
  'expression',
  'policy',
]);

/** `fields`: the names to show if the database names no columns. */
export function failRefusal(refusal: Refusal, view: CollectionView, verb: string, fields: readonly string[]): never {
  const collection = view.collection.name;
  const { kind } = refusal;
  if (kind === 'referenced')
    return fail('RECORD_IN_USE', { collection, verb: verb === 'delete from' ? 'delete' : 'give another key' }, refusal);
  if (kind === 'conflict') return fail('WRITE_CONFLICT', { collection }, refusal);
  if (kind === 'read-only' || kind === 'denied' || kind === 'rule')
    return fail('READ_ONLY', { collection, why: readOnly[kind] }, refusal);
  // The database may name an expression instead of a column.
  const columns = [...view.collection.internalFields.values()].filter(
    (field): field is Column => field.kind === 'column' && refusal.columns.includes(field.column),
  );
  if (kind === 'null' && refusal.columns.length > 0 && columns.length === 0)
    fail('INVALID_RECORD', { collection, problems: [{ field: 'the record', problem: unservedProblem }] }, refusal);
  const named = columns.filter((column) => view.columns.includes(column)).map(({ name }) => name);
  if (columns.length > 0 && named.length === 0)
    fail(
      'FORBIDDEN',
      { verb, collection, why: 'the database refuses the value of a field that is hidden from you.' },
      refusal,
    );
  const field = (columns.length ? named : wholeRecordKinds.has(kind) ? [] : fields).join(', ') || 'the record';
  const { cause } = refusal;
  // The expected form is shown only for a written field, not for a field that only a condition reads.
  const isOwn = kind === 'value' && named.length > 0 && isAppError(cause, 'INVALID_VALUE');
  const about = (field === 'the record' && recordProblems[kind]) || problems[kind];
  const problem: FieldProblem = { field, problem: isOwn ? `send ${cause.details.expected}.` : about };
  return fail('INVALID_RECORD', { collection, problems: [problem] }, refusal);
}
