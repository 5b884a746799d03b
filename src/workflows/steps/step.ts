// Input and result of step handlers. A handler reads, and returns whether the step is done, waits for a person, or
// would change data. A handler returns a change as a function and does not call it. The execution marks the step as
// begun before it calls that function, which guarantees a mark for every change.

import type { SendWebhook } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Written } from '../../agent/write/effects.ts';
import type { Access, Policy } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, fail } from '../../core/errors.ts';
import { losesPrecision } from '../../core/filter/exact-numbers.ts';
import type { AwaitReason, Run, RunStep } from '../../store/workflows/types.ts';
import { type StepOf, stepOf, type WorkflowDefinition, type WorkflowStep } from '../definition/definition.ts';
import { fillTemplates, type Reference, referencesOf } from '../definition/template.ts';
import type { RunFiles } from '../runs/files.ts';
import type { StepSubject } from '../runs/log.ts';
import type { AnsweredRequest, InputRequestData, RecordReference } from './input-request.ts';

export interface StepCall<S extends WorkflowStep = WorkflowStep> {
  readonly step: S;
  readonly definition: WorkflowDefinition;
  readonly run: Run;
  /** The access of the run's user, loaded again for this step. */
  readonly access: Access;
  readonly engine: Engine;
  readonly clock: Clock;
  /** Aborts when the run is no longer held, or must end. */
  readonly signal: StopSignal;
  /** Steps begun so far, oldest first. */
  readonly steps: readonly RunStep[];
  /** The answer to this step's question, if it has waited. */
  readonly answered: AnsweredRequest | undefined;
  /** Sends webhooks from the server, since a run has no browser to do it. */
  readonly sendWebhook: SendWebhook;
  readonly files: RunFiles;
}

/** `outcome`: names and counts. `data`: values for later steps. `next`: overrides the step's own `next`. */
export interface DoneResult {
  readonly kind: 'done';
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly next?: string | null;
  readonly isSkipped?: true;
  /**
   * The operation reported an error. With `next`, the run continues there; without it, the run fails with this error.
   */
  readonly fails?: AppError;
  /** Subject for the activity log, if the step read records. */
  readonly read?: StepSubject;
}

export interface WaitResult {
  readonly kind: 'wait';
  readonly reason: AwaitReason;
  readonly asked: InputRequestData;
}

/** A change to make. `action` and the inherited properties are for the activity log. */
export interface ChangeResult extends StepSubject {
  readonly kind: 'change';
  /** The engine adds every record that it writes to `written`. */
  execute(options: { readonly signal: StopSignal; readonly written: Written[] }): Promise<DoneResult>;
}

export type StepResult = DoneResult | WaitResult | ChangeResult;
export type StepHandler<S extends WorkflowStep = WorkflowStep> = (call: StepCall<S>) => Promise<StepResult>;

/** The handlers by step type. */
export type StepHandlers = { readonly [T in WorkflowStep['type']]: StepHandler<StepOf<T>> };

/** The data that a load-related-record step stores for later steps. */
type LoadedRecord = RecordReference;

type RunProgress = Pick<StepCall, 'run' | 'steps'>;

/**
 * The record that a step uses: the record of the run, or one loaded by an earlier step. Throws STEP_FAILED if that step
 * has loaded no record.
 */
export function recordOf({ step, run, steps }: RunProgress & { readonly step: WorkflowStep }): RecordReference {
  const loadingStep = 'record' in step ? step.record : undefined;
  if (loadingStep === undefined) return { collection: run.collection, id: run.recordId };
  const loaded = findLastCompleted(steps, loadingStep)?.data as LoadedRecord | undefined;
  return (
    loaded ?? fail('STEP_FAILED', { step: step.id, problem: `the step '${loadingStep}' has not loaded a record.` })
  );
}

/** The most recent completed execution of a step, since a workflow may loop. */
const findLastCompleted = (steps: readonly RunStep[], id: string): RunStep | undefined =>
  steps.findLast((each) => each.stepId === id && each.state === 'done');

/** Reads fields of one record. Throws RECORD_NOT_FOUND, also when the record is not visible to the user. */
export async function readFields(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordReference,
  fields: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const { columns, rows } = await engine.get(access, { collection, id, fields }, { ...(signal && { signal }) });
  return Object.fromEntries(columns.map((column, at) => [column, rows[0]![at]]));
}

/**
 * Returns `value` with its templates filled. All referenced fields of the run's record are read in one request, as the
 * user of the run.
 */
export async function fillStepTemplates<T>(call: StepCall, value: T): Promise<T> {
  const { run, steps, access, step } = call;
  const references = referencesOf(value, step.id);
  const fields = [...new Set(references.filter(({ root }) => root === 'record').map(({ name }) => name))];
  const record =
    fields.length > 0 ? await readFields(call, { collection: run.collection, id: run.recordId }, fields) : {};
  const resolve = ({ root, name, member }: Reference): unknown => {
    if (root === 'record') return record[name] ?? null;
    if (root === 'user') return userValues(access)[name] ?? null;
    if (root === 'run') return { id: run.id, record: run.recordId, workflow: run.name }[name] ?? null;
    const values = findLastCompleted(steps, name)?.data as Readonly<Record<string, unknown>> | undefined;
    const found = (values && Object.hasOwn(values, member!) ? values[member!] : undefined) ?? null;
    if (stepOf(call.definition, name)?.type === 'mcp' && hasUnsafeInteger(found)) {
      const problem = `'{{steps.${name}.${member}}}' has a number above 9007199254740991, which JSON rounds. The remote tool must return its digits as a string.`;
      fail('STEP_FAILED', { step: step.id, problem });
    }
    return found;
  };
  return fillTemplates(value, resolve);
}

/** RFC 8259 section 6: the client has rounded such a number, and the result could be the id of another record. */
function hasUnsafeInteger(value: unknown): boolean {
  if (losesPrecision(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafeInteger);
}

function userValues({ caller }: Pick<Access, 'caller'>): Readonly<Record<string, unknown>> {
  const { id, email, firstName, lastName, team, role, timezone } = caller;
  return { id, email, firstName, lastName, team, role, timezone };
}

/** The required approval; undefined if no approval is needed. Throws FORBIDDEN if the policy denies the operation. */
export function requiredApproval(policy: Policy, verb: string, collection: string): Policy | undefined {
  if (policy.policy === 'deny') fail('FORBIDDEN', { verb, collection });
  return policy.policy === 'allow' ? undefined : policy;
}
