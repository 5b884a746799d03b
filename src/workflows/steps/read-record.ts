import type { StepOf } from '../definition/definition.ts';
import { readFields, recordOf, type StepHandler } from './step.ts';

/**
 * Reads fields of a record. Later steps use `{{steps.<id>.<field>}}`. Throws RECORD_NOT_FOUND, also when the record is
 * not visible to the user of the run.
 */
export const readRecord: StepHandler<StepOf<'read-record'>> = async (call) => {
  const { fields } = call.step;
  const record = recordOf(call);
  const data = await readFields(call, record, fields);
  const read = { action: 'read', collection: record.collection, recordIds: [record.id] };
  return { kind: 'done', outcome: { fields: fields.length }, data, read };
};
