// The table of step types: what each does is in a file of its own.
import { AppError } from '../core/errors.ts';
import type { StepOf, WorkflowStep } from './definition.ts';
import { guidance } from './steps/guidance.ts';
import { readRecord } from './steps/read-record.ts';
import type { StepHandler, StepHandlers } from './steps/step.ts';

/** `mcp`: of the steps that call tools of remote servers; absent where none can be connected. */
export function stepHandlers(mcp?: StepHandler<StepOf<'mcp'>>): StepHandlers {
  return {
    condition: notHere,
    'read-record': readRecord,
    'update-record': notHere,
    'trigger-action': notHere,
    'load-related-record': notHere,
    mcp: mcp ?? notHere,
    guidance,
    ai: notHere,
  };
}

async function notHere<S extends WorkflowStep>({ step }: { readonly step: S }): Promise<never> {
  throw new AppError('STEP_FAILED', {
    step: step.id,
    problem: `steps of the type ${step.type} are not executed here.`,
  });
}
