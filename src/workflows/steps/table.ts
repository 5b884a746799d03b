// The handlers of all step types. Each type has its own file.
import { AppError } from '../../core/errors.ts';
import type { StepOf, WorkflowStep } from '../definition/definition.ts';
import { ai } from './ai.ts';
import { condition } from './condition.ts';
import { guidance } from './guidance.ts';
import { loadRelatedRecord } from './load-related-record.ts';
import { readRecord } from './read-record.ts';
import type { StepHandler, StepHandlers } from './step.ts';
import { triggerAction } from './trigger-action.ts';
import { updateRecord } from './update-record.ts';

/** `mcp`: the handler of `mcp` steps; absent when remote servers are not supported. */
export function stepHandlers(mcp?: StepHandler<StepOf<'mcp'>>): StepHandlers {
  return {
    condition,
    'read-record': readRecord,
    'update-record': updateRecord,
    'trigger-action': triggerAction,
    'load-related-record': loadRelatedRecord,
    mcp: mcp ?? failUnsupported,
    guidance,
    ai,
  };
}

async function failUnsupported<S extends WorkflowStep>({ step }: { readonly step: S }): Promise<never> {
  throw new AppError('STEP_FAILED', {
    step: step.id,
    problem: `steps of the type ${step.type} are not supported here.`,
  });
}
