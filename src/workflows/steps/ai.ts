import type { StepOf } from '../definition/definition.ts';
import { askModel } from './model-answer.ts';
import { type Done, fill, type StepHandler } from './step.ts';

/** Asks a question with a typed answer. Later steps use `{{steps.<id>.answer}}`. */
export const ai: StepHandler<StepOf<'ai'>> = async (call) => {
  const { step, answered, engine } = call;
  const { mode = 'automatic', otherwise } = step;
  const done = (answer: unknown, by: 'model' | 'person' | 'definition'): Done => ({
    kind: 'done',
    outcome: { answeredBy: by },
    data: { answer },
  });
  if (answered) return done(answered.answer.values.answer, 'person');
  const prompt = String(await fill(call, step.prompt));
  const found = mode === 'manual' ? undefined : await askModel(call, prompt, step.answer);
  if (mode === 'automatic' && found !== undefined) return done(found, 'model');
  if (mode !== 'manual' && !engine.ai && otherwise !== undefined) return done(otherwise, 'definition');
  const asked = { ask: 'answer', prompt, ...(found !== undefined && { proposed: found }) } as const;
  return { kind: 'wait', reason: found === undefined ? 'form' : 'confirmation', asked };
};
