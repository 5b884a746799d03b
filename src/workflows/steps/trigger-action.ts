import type { FormAnswer } from '../../agent/actions/answer.ts';
import type { ActionResult } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import { type Access, allowPolicy, type Policy, strictestPolicy } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import { AppError } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import { requiredConfirmation } from './consent.ts';
import type { RecordReference } from './input-request.ts';
import {
  type DoneResult,
  fillStepTemplates,
  recordOf,
  requiredApproval,
  type StepCall,
  type StepHandler,
} from './step.ts';

type TriggerAction = StepOf<'trigger-action'>;
type Values = Readonly<Record<string, unknown>>;

/** Executes an action on the record. Asks a person for missing values of its form. */
export const triggerAction: StepHandler<TriggerAction> = async (call) => {
  const { step, answered, access, run, engine, signal, files } = call;
  const { mode = 'confirm', action } = step;
  const record = recordOf(call);
  const { collection, id } = record;
  const requestData = answered?.asked;
  const initialValues =
    requestData?.ask === 'form' || requestData?.ask === 'action'
      ? requestData.values
      : await fillStepTemplates(call, step.values ?? {});
  const submitted: Values =
    requestData?.ask === 'form' ? { ...initialValues, ...answered!.answer.values } : initialValues;
  const { values: withFiles, expired } = await files.open(run.id, submitted);
  const form = await loadForm({ engine, access, signal }, record, action, withFiles);
  const policy = requiredApproval(policyOf(engine, access, collection, action), `trigger '${action}' of`, collection);
  const values = Object.fromEntries(Object.entries(submitted).filter(([name]) => !expired.includes(name)));
  // If a chosen file has expired, the person must choose it again; the action never runs without it.
  if ((mode === 'manual' && !answered) || !form.canExecute || expired.length > 0) {
    return { kind: 'wait', reason: 'form', asked: { ask: 'form', ...record, action, values } };
  }
  const { reason, notBy } = requiredConfirmation(policy, mode, run, answered);
  if (reason) return { kind: 'wait', reason, asked: { ask: 'action', ...record, action, values, notBy } };
  return {
    kind: 'change',
    action: 'action',
    collection,
    recordIds: [id],
    async execute(options) {
      const request = { collection, action, recordIds: [id], values: withFiles };
      const result = await engine.actions.execute(access, request, options);
      await files.remove(run.id, values);
      return toDone(call, result, options.signal);
    },
  };
};

/** The stricter of the policies of the role and of the action. */
function policyOf(engine: Engine, access: Access, collection: string, action: string): Policy {
  const described = engine.actions.describe(access, collection).find(({ name }) => name === action);
  return strictestPolicy(access.actionPolicy(collection, action), described?.policy ?? allowPolicy);
}

export function loadForm(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordReference,
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
async function toDone(call: StepCall<TriggerAction>, result: ActionResult, signal: StopSignal): Promise<DoneResult> {
  const { type } = result;
  const done = (data: Values, more: Values = {}): DoneResult => ({
    kind: 'done',
    outcome: { result: type, ...more },
    data,
  });
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
