import type { RecordChange, WriteEffect } from '../../agent/write/effects.ts';
import { watchPolicies } from '../../core/caller/watch.ts';
import { type Policy, strictestOf } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import { consentOf } from './consent.ts';
import type { RecordPlace } from './input-request.ts';
import { approvalOf, fill, placeOf, type StepCall, type StepHandler } from './step.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Changes the record. A person confirms a preview of the changes in all collections, and the confirmation covers only
 * these changes. If a record has changed since, the step asks again.
 */
export const updateRecord: StepHandler<StepOf<'update-record'>> = async (call) => {
  const { step, answered, access, run } = call;
  const { mode = 'confirm' } = step;
  const place = placeOf(call);
  approvalOf(access.policy('edit', place.collection), 'edit', place.collection);
  const asked = answered?.asked;
  const isFilled = asked?.ask === 'values';
  const values: Values =
    asked?.ask === 'change' ? asked.values : isFilled ? answered!.answer.values : await fill(call, step.values);
  if (mode === 'manual' && !answered)
    return { kind: 'wait', reason: 'form', asked: { ask: 'values', ...place, values } };
  const { changes, effects, unseen, policy: met, bound } = await previewChange(call, place, values);
  const policy = approvalOf(met, 'edit', place.collection);
  const { reason, notBy } = consentOf(policy, mode, run, answered);
  const shown = { changes, ...(effects.length > 0 && { effects }), ...(unseen.length > 0 && { unseen }) };
  const isSame =
    asked?.ask !== 'change' ||
    (JSON.stringify(asked.changes) === JSON.stringify(changes) &&
      JSON.stringify(asked.effects ?? []) === JSON.stringify(effects));
  if (reason || !isSame) {
    const again = reason ?? (policy ? 'approval' : 'confirmation');
    return { kind: 'wait', reason: again, asked: { ask: 'change', ...place, values, ...shown, notBy } };
  }
  return {
    kind: 'change',
    action: 'update',
    collection: place.collection,
    recordIds: [place.id],
    async make(options) {
      const request = { collection: place.collection, ids: [place.id], values };
      const approved = (now: unknown): void => {
        if (answered && JSON.stringify(now) !== JSON.stringify(bound))
          fail('WRITE_CONFLICT', { collection: place.collection });
      };
      const { records } = await call.engine.update(access, request, { ...options, approved });
      const now = records[0] ?? {};
      const data = Object.fromEntries(Object.keys(values).map((field) => [field, now[field] ?? null]));
      return { kind: 'done', outcome: { fields: Object.keys(changes) }, data };
    },
  };
};

export interface PreviewedChange {
  readonly changes: RecordChange['fields'];
  /** Additional records that would be written, in any collection. */
  readonly effects: readonly WriteEffect[];
  readonly unseen: readonly string[];
  /** The strictest policy of all collections that would be written. */
  readonly policy: Policy;
  /** The effects that the update compares with the preview. */
  readonly bound: unknown;
}

/**
 * Previews what the values would change now. Throws INVALID_RECORD, RECORD_NOT_FOUND and the other errors of an update.
 */
export async function previewChange(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordPlace,
  values: Values,
): Promise<PreviewedChange> {
  const request = { collection, ids: [id], values };
  const policies: Policy[] = [];
  const watched = watchPolicies(access, (policy) => policies.push(policy));
  const options = { preview: true, found: true, ...(signal && { signal }) };
  const { changes, effects, unseen, found } = await engine.update(watched, request, options);
  return {
    changes: changes?.[0]?.fields ?? {},
    effects: effects.filter(({ cause }) => cause !== 'call'),
    ...{ unseen, policy: strictestOf(...policies), bound: found?.effects },
  };
}
