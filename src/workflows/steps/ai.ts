import type { StepOf } from '../definition/definition.ts';
import { askModel } from './model-answer.ts';
import { type DoneResult, fillStepTemplates, type StepHandler } from './step.ts';

/** Asks a question with a typed answer. Later steps use `{{steps.<id>.answer}}`. */
export const ai: StepHandler<StepOf<'ai'>> = async (call) => {
  const { step, answered, engine } = call;
  const { mode = 'automatic', otherwise } = step;
  const done = (answer: unknown, by: 'model' | 'person' | 'definition'): DoneResult => ({
    kind: 'done',
    outcome: { answeredBy: by },
    data: { answer },
  });
  if (answered) return done(answered.answer.values.answer, 'person');
  const prompt = String(await fillStepTemplates(call, step.prompt));
  const modelAnswer = mode === 'manual' ? undefined : await askModel(call, prompt, step.answer);
  if (mode === 'automatic' && modelAnswer !== undefined) return done(modelAnswer, 'model');
  if (mode !== 'manual' && !engine.ai && otherwise !== undefined) return done(otherwise, 'definition');
  const requestData = { ask: 'answer', prompt, ...(modelAnswer !== undefined && { proposed: modelAnswer }) } as const;
  return { kind: 'wait', reason: modelAnswer === undefined ? 'form' : 'confirmation', asked: requestData };
};
