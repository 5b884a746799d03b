import { AppError } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import { askModel } from './model-answer.ts';
import { both, isRecord, keyOf } from './record-filter.ts';
import { type Done, fill, placeOf, readFields, type StepCall, type StepHandler } from './step.ts';

type Condition = StepOf<'condition'>;

/**
 * Selects one option. In automatic mode, the first option with a matching filter is selected. If no option has a filter
 * and there is a question, the model decides. Without a model, a person does.
 */
export const condition: StepHandler<Condition> = async (call) => {
  const { step, answered } = call;
  const { mode = 'automatic' } = step;
  if (answered) return take(step, String(answered.answer.values.option));
  const found = mode === 'manual' ? undefined : await choose(call);
  if (mode === 'automatic' && found !== undefined) return take(step, found);
  const asked = { ask: 'option', ...(found !== undefined && { proposed: found }) } as const;
  return { kind: 'wait', reason: 'choice', asked };
};

function take(step: Condition, id: string): Done {
  const option = step.options.find((each) => each.id === id);
  if (!option) throw new AppError('STEP_FAILED', { step: step.id, problem: `there is no option '${id}'.` });
  const { label = id, next = step.next ?? null } = option;
  return { kind: 'done', outcome: { option: id, label }, data: { option: id }, next };
}

async function choose(call: StepCall<Condition>): Promise<string | undefined> {
  const { step } = call;
  if (step.options.every(({ when }) => when === undefined) && step.question !== undefined) {
    const options = step.options.map(({ id, label = id }) => `${id}: ${label}`).join('\n');
    const question = `${await fill(call, step.question)}\n\nThe possible answers:\n${options}`;
    const ids = step.options.map(({ id }) => id);
    return (await askModel(call, question, { type: 'enum', options: ids })) as string | undefined;
  }
  const place = placeOf(call);
  const key = keyOf(call, place.collection);
  for (const { id, when } of step.options) {
    if (when === undefined || (await satisfies(call, await fill(call, when)))) return id;
  }
  // Throws RECORD_NOT_FOUND if the record is missing, which differs from matching no filter.
  await readFields(call, place, key);
  throw new AppError('STEP_FAILED', { step: step.id, problem: 'the record satisfies the filter of no option.' });
}

async function satisfies(call: StepCall<Condition>, when: NonNullable<Condition['options'][number]['when']>) {
  const { engine, access, signal } = call;
  const place = placeOf(call);
  const { collection } = place;
  const condition = engine.storedFilters.keepMeaning(access, collection, when);
  const filter = both(isRecord(call, place), condition);
  const request = { collection, fields: keyOf(call, collection), filter, limit: 1 };
  const { rows } = await engine.list(access, request, { signal });
  return rows.length > 0;
}
