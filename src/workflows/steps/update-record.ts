import type { RecordChange, WriteEffect } from '../../agent/write/effects.ts';
import { watchPolicies } from '../../core/caller/watch.ts';
import { type Policy, strictestPolicy } from '../../core/caller.ts';
import { fail } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import { requiredConfirmation } from './consent.ts';
import type { RecordReference } from './input-request.ts';
import { fillStepTemplates, recordOf, requiredApproval, type StepCall, type StepHandler } from './step.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Changes the record. A person confirms a preview of the changes in all collections, and the confirmation covers only
 * these changes. If a record has changed since, the step asks again.
 */
export const updateRecord: StepHandler<StepOf<'update-record'>> = async (call) => {
  const { step, answered, access, run } = call;
  const { mode = 'confirm' } = step;
  const record = recordOf(call);
  requiredApproval(access.policy('edit', record.collection), 'edit', record.collection);
  const requestData = answered?.asked;
  const isFilled = requestData?.ask === 'values';
  const values: Values =
    requestData?.ask === 'change'
      ? requestData.values
      : isFilled
        ? answered!.answer.values
        : await fillStepTemplates(call, step.values);
  if (mode === 'manual' && !answered)
    return { kind: 'wait', reason: 'form', asked: { ask: 'values', ...record, values } };
  // Nobody looks at the preview, and no policy of the role depends on what the write reaches.
  const isUnattended = mode === 'automatic' && !answered && !access.hasPolicies;
  const {
    changes,
    effects,
    unseen,
    policy: requiredPolicy,
    approvedEffects,
  } = await previewChange(call, record, values, isUnattended);
  const policy = requiredApproval(requiredPolicy, 'edit', record.collection);
  const { reason, notBy } = requiredConfirmation(policy, mode, run, answered);
  const preview = { changes, ...(effects.length > 0 && { effects }), ...(unseen.length > 0 && { unseen }) };
  const isUnchanged =
    requestData?.ask !== 'change' ||
    (JSON.stringify(requestData.changes) === JSON.stringify(changes) &&
      JSON.stringify(requestData.effects ?? []) === JSON.stringify(effects));
  if (reason || !isUnchanged) {
    const repeatReason = reason ?? (policy ? 'approval' : 'confirmation');
    return { kind: 'wait', reason: repeatReason, asked: { ask: 'change', ...record, values, ...preview, notBy } };
  }
  return {
    kind: 'change',
    action: 'update',
    collection: record.collection,
    recordIds: [record.id],
    async execute(options) {
      const request = { collection: record.collection, ids: [record.id], values };
      const approved = (effects: unknown): void => {
        if (JSON.stringify(effects) !== JSON.stringify(approvedEffects))
          fail('WRITE_CONFLICT', { collection: record.collection });
      };
      const { records } = await call.engine.update(access, request, { ...options, ...(answered && { approved }) });
      const updated = records[0] ?? {};
      const data = Object.fromEntries(Object.keys(values).map((field) => [field, updated[field] ?? null]));
      return { kind: 'done', outcome: { fields: Object.keys(changes) }, data };
    },
  };
};

interface PreviewedChange {
  readonly changes: RecordChange['fields'];
  /** Additional records that would be written, in any collection. */
  readonly effects: readonly WriteEffect[];
  readonly unseen: readonly string[];
  /** The strictest policy of all collections that would be written. */
  readonly policy: Policy;
  /** The effects that the update compares with the preview. */
  readonly approvedEffects: unknown;
}

/**
 * Previews what the values would change now. Throws INVALID_RECORD, RECORD_NOT_FOUND and the other errors of an update.
 * `onlyReads`: executes the update only if code takes part in it.
 */
export async function previewChange(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordReference,
  values: Values,
  onlyReads = false,
): Promise<PreviewedChange> {
  const request = { collection, ids: [id], values };
  const policies: Policy[] = [];
  const watchedAccess = watchPolicies(access, (policy) => policies.push(policy));
  const options = { preview: true, found: true, onlyReads, ...(signal && { signal }) };
  const { changes, effects, unseen, found } = await engine.update(watchedAccess, request, options);
  return {
    changes: changes?.[0]?.fields ?? {},
    effects: effects.filter(({ cause }) => cause !== 'call'),
    ...{ unseen, policy: strictestPolicy(...policies), approvedEffects: found?.effects },
  };
}
