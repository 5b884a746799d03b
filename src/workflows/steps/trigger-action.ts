import type { FormAnswer } from '../../agent/actions/answer.ts';
import type { ActionResult } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import { type Access, freely, type Policy, strictestOf } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import { AppError } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import { consentOf } from './consent.ts';
import type { RecordPlace } from './input-request.ts';
import { approvalOf, type Done, fill, placeOf, type StepCall, type StepHandler } from './step.ts';

type TriggerAction = StepOf<'trigger-action'>;
type Values = Readonly<Record<string, unknown>>;

/** Executes an action on the record. Asks a person for missing values of its form. */
export const triggerAction: StepHandler<TriggerAction> = async (call) => {
  const { step, answered, access, run, engine, signal, files } = call;
  const { mode = 'confirm', action } = step;
  const place = placeOf(call);
  const { collection, id } = place;
  const asked = answered?.asked;
  const known = asked?.ask === 'form' || asked?.ask === 'action' ? asked.values : await fill(call, step.values ?? {});
  const given: Values = asked?.ask === 'form' ? { ...known, ...answered!.answer.values } : known;
  const { values: filled, gone } = await files.open(run.id, given);
  const form = await loadForm({ engine, access, signal }, place, action, filled);
  const policy = approvalOf(policyOf(engine, access, collection, action), `trigger '${action}' of`, collection);
  const values = Object.fromEntries(Object.entries(given).filter(([name]) => !gone.includes(name)));
  // If a chosen file has expired, the person must choose it again; the action never runs without it.
  if ((mode === 'manual' && !answered) || !form.canExecute || gone.length > 0) {
    return { kind: 'wait', reason: 'form', asked: { ask: 'form', ...place, action, values } };
  }
  const { reason, notBy } = consentOf(policy, mode, run, answered);
  if (reason) return { kind: 'wait', reason, asked: { ask: 'action', ...place, action, values, notBy } };
  return {
    kind: 'change',
    action: 'action',
    collection,
    recordIds: [id],
    async make(options) {
      const request = { collection, action, recordIds: [id], values: filled };
      const result = await engine.actions.execute(access, request, options);
      await files.drop(run.id, values);
      return toDone(call, result, options.signal);
    },
  };
};

/** The stricter of the policies of the role and of the action. */
function policyOf(engine: Engine, access: Access, collection: string, action: string): Policy {
  const known = engine.actions.describe(access, collection).find(({ name }) => name === action);
  return strictestOf(access.actionPolicy(collection, action), known?.policy ?? freely);
}

export function loadForm(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordPlace,
  action: string,
  values: Values,
): Promise<FormAnswer> {
  return engine.actions.loadForm(
    access,
    { collection, action, recordIds: [id], values },
    { ...(signal && { signal }) },
  );
}

/** Only the type of the result is stored unencrypted. Its content is encrypted with the values. */
async function toDone(call: StepCall<TriggerAction>, result: ActionResult, signal: StopSignal): Promise<Done> {
  const { type } = result;
  const done = (data: Values, more: Values = {}): Done => ({ kind: 'done', outcome: { result: type, ...more }, data });
  switch (type) {
    case 'success':
      return done({ message: result.message, html: result.html ?? null });
    case 'error':
      throw new AppError('ACTION_REFUSED', { message: result.message });
    case 'webhook': {
      const status = (await call.sendWebhook(result, signal)) ?? null;
      return done({ status }, { status });
    }
    case 'redirect':
      return done({ path: result.path });
    case 'file':
      // A run has no user to receive the file.
      result.stream.destroy();
      return done({ filename: result.filename });
  }
}
