import type { RecordChange } from '../../agent/engine.ts';
import type { StepOf } from '../definition.ts';
import { consentOf } from './consent.ts';
import { approvalOf, fill, placeOf, type RecordPlace, type StepCall, type StepHandler } from './step.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Changes the record. What a person said yes to is shown as what it would change, and a yes counts for that alone: where the
 * record has changed since, it is asked again.
 */
export const updateRecord: StepHandler<StepOf<'update-record'>> = async (call) => {
  const { step, answered, access, run } = call;
  const { mode = 'confirm' } = step;
  const place = placeOf(call);
  const policy = approvalOf(access.policy('edit', place.collection), 'edit', place.collection);
  const asked = answered?.asked;
  const isFilled = asked?.ask === 'values';
  const values: Values =
    asked?.ask === 'change' ? asked.values : isFilled ? answered!.answer.values : await fill(call, step.values);
  if (mode === 'manual' && !answered)
    return { kind: 'wait', reason: 'form', asked: { ask: 'values', ...place, values } };
  const changes = await previewChange(call, place, values);
  const { reason, notBy } = consentOf(policy, mode, run, answered);
  const isSame = asked?.ask !== 'change' || JSON.stringify(asked.changes) === JSON.stringify(changes);
  if (reason || !isSame) {
    const again = reason ?? (policy ? 'approval' : 'confirmation');
    return { kind: 'wait', reason: again, asked: { ask: 'change', ...place, values, changes, notBy } };
  }
  return {
    kind: 'change',
    action: 'update',
    collection: place.collection,
    recordIds: [place.id],
    async make(signal) {
      const request = { collection: place.collection, ids: [place.id], values };
      const { records } = await call.engine.update(access, request, { signal });
      const now = records[0] ?? {};
      const data = Object.fromEntries(Object.keys(values).map((field) => [field, now[field] ?? null]));
      return { kind: 'done', outcome: { fields: Object.keys(changes) }, data };
    },
  };
};

/** What the values would change now. INVALID_RECORD, RECORD_NOT_FOUND and the rest as of the update itself. */
export async function previewChange(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordPlace,
  values: Values,
): Promise<RecordChange['fields']> {
  const request = { collection, ids: [id], values };
  const { changes } = await engine.update(access, request, { preview: true, ...(signal && { signal }) });
  return changes?.[0]?.fields ?? {};
}
