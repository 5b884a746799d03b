import type { StepOf } from '../definition.ts';
import { placeOf, readFields, type StepHandler } from './step.ts';

/** `{{steps.<id>.<field>}}` later. RECORD_NOT_FOUND, also where the user of the run may not see the record. */
export const readRecord: StepHandler<StepOf<'read-record'>> = async (call) => {
  const { fields } = call.step;
  const place = placeOf(call);
  const data = await readFields(call, place, fields);
  const read = { action: 'read', collection: place.collection, recordIds: [place.id] };
  return { kind: 'done', outcome: { fields: fields.length }, data, read };
};
