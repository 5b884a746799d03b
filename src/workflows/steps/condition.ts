import { AppError } from '../../core/errors.ts';
import type { StepOf } from '../definition/definition.ts';
import { askModel } from './model-answer.ts';
import { andFilter, type RecordSelection, selectRecord } from './record-filter.ts';
import { type DoneResult, fillStepTemplates, readFields, recordOf, type StepCall, type StepHandler } from './step.ts';

type Condition = StepOf<'condition'>;

/**
 * Selects one option. In automatic mode, the first option with a matching filter is selected. If no option has a filter
 * and there is a question, the model decides. Without a model, a person does.
 */
export const condition: StepHandler<Condition> = async (call) => {
  const { step, answered } = call;
  const { mode = 'automatic' } = step;
  if (answered) return selectOption(step, String(answered.answer.values.option));
  const proposed = mode === 'manual' ? undefined : await chooseOption(call);
  if (mode === 'automatic' && proposed !== undefined) return selectOption(step, proposed);
  const requestData = { ask: 'option', ...(proposed !== undefined && { proposed }) } as const;
  return { kind: 'wait', reason: 'choice', asked: requestData };
};

function selectOption(step: Condition, id: string): DoneResult {
  const option = step.options.find((each) => each.id === id);
  if (!option) throw new AppError('STEP_FAILED', { step: step.id, problem: `there is no option '${id}'.` });
  const { label = id, next = step.next ?? null } = option;
  return { kind: 'done', outcome: { option: id, label }, data: { option: id }, next };
}

async function chooseOption(call: StepCall<Condition>): Promise<string | undefined> {
  const { step } = call;
  if (step.options.every(({ when }) => when === undefined) && step.question !== undefined) {
    const options = step.options.map(({ id, label = id }) => `${id}: ${label}`).join('\n');
    const question = `${await fillStepTemplates(call, step.question)}\n\nThe possible answers:\n${options}`;
    const ids = step.options.map(({ id }) => id);
    return (await askModel(call, question, { type: 'enum', options: ids })) as string | undefined;
  }
  const record = recordOf(call);
  const selected = selectRecord(call, record);
  for (const { id, when } of step.options) {
    if (when === undefined || (await satisfies(call, selected, await fillStepTemplates(call, when)))) return id;
  }
  // Throws RECORD_NOT_FOUND if the record is missing, which differs from matching no filter.
  await readFields(call, record, selected.fields);
  throw new AppError('STEP_FAILED', {
    step: step.id,
    problem: 'the record does not satisfy the filter of any option.',
  });
}

async function satisfies(
  call: StepCall<Condition>,
  { fields, filter }: RecordSelection,
  when: NonNullable<Condition['options'][number]['when']>,
): Promise<boolean> {
  const { engine, access, signal } = call;
  const { collection } = recordOf(call);
  const condition = engine.storedFilters.disambiguate(access, collection, when);
  const request = { collection, fields, filter: andFilter(filter, condition), limit: 1 };
  const { rows } = await engine.list(access, request, { signal });
  return rows.length > 0;
}
