// Converts a refusal of the database to an error for the caller: with the names of visible fields, and what to do.
import { type FieldProblem, fail, isAppError } from '../../core/errors.ts';
import { NO_SUCH_RECORD } from '../execute/write.ts';
import type { Column } from '../model/types.ts';
import type { View } from '../resolve/visibility.ts';
import type { Refusal, RefusalKind } from '../sources/refusal.ts';

const problems: Readonly<Record<Exclude<RefusalKind, 'referenced' | keyof typeof readOnly | 'conflict'>, string>> = {
  unique: 'another record has this value already.',
  exclusion: 'conflicts with another record: the database does not allow both.',
  reference: NO_SUCH_RECORD,
  null: 'must be given, and may not be null.',
  'too long': 'is too long for this field; send less.',
  'out of range': 'is too large or too small for this field.',
  check: 'breaks a rule that the database holds for this field.',
  value: 'is no value that this field can hold.',
  partition: 'no partition of the table takes this value. Send another, or have the operator add a partition.',
  trigger:
    'a trigger of the database refuses this write. Send other values, or ask the operator: the log has its message.',
  ignored: 'a trigger of the database left it out. Send other values, or ask the operator.',
  expression:
    'the database cannot work out an expression over these values, such as a division by zero. Send other values.',
  policy: 'a security policy of the database refuses these values. Send others, or ask the operator.',
};

/** For errors without a field. */
const ofRecord: Partial<Record<RefusalKind, string>> = {
  check: 'breaks a check constraint of the database. Send other values.',
  partition: 'no partition of the table takes these values. Send others, or have the operator add a partition.',
};

/** Only the log names the column. Callers cannot use it. */
const unserved =
  'its table needs a value in a column that is not served: one of a type that cannot be, or one that is newer than the start of the server. Ask the operator: a default in the database fills it, and a restart serves new columns.';

const readOnly = {
  'read-only': 'the database lets this server only read it.',
  denied: 'the database user of this server lacks the right. Ask the operator to grant it.',
  rule: 'a rule of the database replaces this statement, so that this server cannot see what it does. Ask the operator: a trigger in place of the rule would work.',
} as const;

/** About the record as a whole, unless the database names columns. */
const whole: ReadonlySet<RefusalKind> = new Set(['check', 'partition', 'trigger', 'ignored', 'expression', 'policy']);

/** `fields`: the names to show if the database names no columns. */
export function failWith(refusal: Refusal, view: View, verb: string, fields: readonly string[]): never {
  const collection = view.collection.name;
  const { kind } = refusal;
  if (kind === 'referenced')
    return fail('RECORD_IN_USE', { collection, verb: verb === 'delete from' ? 'delete' : 'give another key' }, refusal);
  if (kind === 'conflict') return fail('WRITE_CONFLICT', { collection }, refusal);
  if (kind === 'read-only' || kind === 'denied' || kind === 'rule')
    return fail('READ_ONLY', { collection, why: readOnly[kind] }, refusal);
  // The database may name an expression instead of a column.
  const columns = [...view.collection.inside.values()].filter(
    (field): field is Column => field.kind === 'column' && refusal.columns.includes(field.column),
  );
  if (kind === 'null' && refusal.columns.length > 0 && columns.length === 0)
    fail('INVALID_RECORD', { collection, problems: [{ field: 'the record', problem: unserved }] }, refusal);
  const named = columns.filter((column) => view.columns.includes(column)).map(({ name }) => name);
  if (columns.length > 0 && named.length === 0)
    fail(
      'FORBIDDEN',
      { verb, collection, why: 'the database refuses what would stand in a field that is closed to you.' },
      refusal,
    );
  const field = (columns.length ? named : whole.has(kind) ? [] : fields).join(', ') || 'the record';
  const { cause } = refusal;
  // The expected form is shown only for a written field, not for a field that only a condition reads.
  const isOwn = kind === 'value' && named.length > 0 && isAppError(cause, 'INVALID_VALUE');
  const about = (field === 'the record' && ofRecord[kind]) || problems[kind];
  const problem: FieldProblem = { field, problem: isOwn ? `send ${cause.details.expected}.` : about };
  return fail('INVALID_RECORD', { collection, problems: [problem] }, refusal);
}
