import type { StepOf } from '../definition.ts';
import { fill, type StepHandler } from './step.ts';

/** Waits until a person says that it is done. `{{steps.<id>.<input>}}` later. */
export const guidance: StepHandler<StepOf<'guidance'>> = async (call) => {
  const { step, answered } = call;
  if (answered) {
    return { kind: 'done', outcome: { inputs: step.inputs?.length ?? 0 }, data: answered.answer.values };
  }
  return { kind: 'wait', reason: 'guidance', asked: { ask: 'inputs', text: String(await fill(call, step.text)) } };
};
