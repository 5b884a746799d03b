import type { StepOf } from '../definition/definition.ts';
import { fillStepTemplates, type StepHandler } from './step.ts';

/** Waits until a person reports completion. Later steps use `{{steps.<id>.<input>}}`. */
export const guidance: StepHandler<StepOf<'guidance'>> = async (call) => {
  const { step, answered } = call;
  if (answered) {
    return { kind: 'done', outcome: { inputs: step.inputs?.length ?? 0 }, data: answered.answer.values };
  }
  return {
    kind: 'wait',
    reason: 'guidance',
    asked: { ask: 'inputs', text: String(await fillStepTemplates(call, step.text)) },
  };
};
