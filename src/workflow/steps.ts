// The table of step types: what each does is in a file of its own.
import { AppError } from '../core/errors.ts';
import type { StepOf, WorkflowStep } from './definition.ts';
import { ai } from './steps/ai.ts';
import { condition } from './steps/condition.ts';
import { guidance } from './steps/guidance.ts';
import { loadRelatedRecord } from './steps/load-related-record.ts';
import { readRecord } from './steps/read-record.ts';
import type { StepHandler, StepHandlers } from './steps/step.ts';
import { triggerAction } from './steps/trigger-action.ts';
import { updateRecord } from './steps/update-record.ts';

/** `mcp`: of the steps that call tools of remote servers; absent where none can be connected. */
export function stepHandlers(mcp?: StepHandler<StepOf<'mcp'>>): StepHandlers {
  return {
    condition,
    'read-record': readRecord,
    'update-record': updateRecord,
    'trigger-action': triggerAction,
    'load-related-record': loadRelatedRecord,
    mcp: mcp ?? notHere,
    guidance,
    ai,
  };
}

async function notHere<S extends WorkflowStep>({ step }: { readonly step: S }): Promise<never> {
  throw new AppError('STEP_FAILED', {
    step: step.id,
    problem: `steps of the type ${step.type} are not executed here.`,
  });
}
