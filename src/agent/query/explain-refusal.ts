// What a database refused, said as the caller may hear it: in the names of fields that he sees, and with what to do.
import { type FieldProblem, fail } from '../../core/errors.ts';
import type { Refusal, RefusalKind } from '../sources/refusal.ts';
import { NO_SUCH_RECORD } from './execute-write.ts';
import type { View } from './view.ts';

const problems: Readonly<Record<Exclude<RefusalKind, 'referenced' | 'read-only' | 'conflict'>, string>> = {
  unique: 'another record has this value already.',
  reference: NO_SUCH_RECORD,
  null: 'must be given, and may not be null.',
  'too long': 'is too long for this field; send less.',
  'out of range': 'is too large or too small for this field.',
  check: 'breaks a rule that the database holds for this field.',
  value: 'is no value that this field can hold.',
};

/** `fields` is what to name where the database tells no columns. */
export function failWith(refusal: Refusal, view: View, verb: string, fields: readonly string[]): never {
  const collection = view.collection.name;
  const { kind } = refusal;
  if (kind === 'referenced' || (kind === 'reference' && refusal.columns.length + fields.length === 0))
    return fail('RECORD_IN_USE', { collection, verb: verb === 'delete from' ? 'delete' : 'give another key' }, refusal);
  if (kind === 'conflict') return fail('WRITE_CONFLICT', { collection }, refusal);
  if (kind === 'read-only')
    return fail('READ_ONLY', { collection, why: 'the database lets this server only read it.' }, refusal);
  const columns = refusal.columns.map((name) => view.columns.find(({ column }) => column === name)?.name);
  const named = columns.filter((name) => name !== undefined);
  if (columns.length > 0 && named.length === 0)
    fail(
      'FORBIDDEN',
      { verb, collection, why: 'the database refuses what would stand in a field that is closed to you.' },
      refusal,
    );
  const field = (columns.length ? named : fields).join(', ') || 'the record';
  const problem: FieldProblem = { field, problem: problems[kind] };
  return fail('INVALID_RECORD', { collection, problems: [problem] }, refusal);
}
