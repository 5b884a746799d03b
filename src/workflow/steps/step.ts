// What a step is given and what it answers. A handler of a step reads, and says what comes next: it is done, it waits for a person,
// or it would change something. What would change is handed back as a function and not called here: the execution writes the
// mark of it first, so that no step can change anything without one.
import type { SendWebhook } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Access, Policy } from '../../core/caller.ts';
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, fail } from '../../core/errors.ts';
import type { AwaitReason, Run, RunStep } from '../../store/workflow-types.ts';
import type { StepOf, WorkflowDefinition, WorkflowStep } from '../definition.ts';
import type { RunFiles } from '../run-files.ts';
import type { StepSubject } from '../run-log.ts';
import { fillTemplates, type Reference, referencesOf } from '../template.ts';
import type { Answered, Asked } from './asked.ts';

export interface StepCall<S extends WorkflowStep = WorkflowStep> {
  readonly step: S;
  readonly definition: WorkflowDefinition;
  readonly run: Run;
  /** Of the user of the run, asked anew for this step. */
  readonly access: Access;
  readonly engine: Engine;
  readonly clock: Clock;
  /** Given when the run is no longer held, or is to end. */
  readonly signal: StopSignal;
  /** Those that were begun, oldest first. */
  readonly steps: readonly RunStep[];
  /** What a person said to what was asked, where this step has waited. */
  readonly answered: Answered | undefined;
  /** The server's: an assistant has no browser, and nor has a run. */
  readonly sendWebhook: SendWebhook;
  readonly files: RunFiles;
}

/** `outcome`: names and counts; `data`: values for later steps. `next`: where the step itself does not say it. */
export interface Done {
  readonly kind: 'done';
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly next?: string | null;
  readonly isSkipped?: true;
  /** What was begun says that it could not be done: with a `next` the run goes on there, else it ends with this. */
  readonly fails?: AppError;
  /** For the activity log, of a step that reads records. */
  readonly read?: StepSubject;
}

export interface Waits {
  readonly kind: 'wait';
  readonly reason: AwaitReason;
  readonly asked: Asked;
}

/** `action` and what follows: for the activity log. */
export interface Changes extends StepSubject {
  readonly kind: 'change';
  make(signal: StopSignal): Promise<Done>;
}

export type StepResult = Done | Waits | Changes;
export type StepHandler<S extends WorkflowStep = WorkflowStep> = (call: StepCall<S>) => Promise<StepResult>;

/** One for each type. */
export type StepHandlers = { readonly [T in WorkflowStep['type']]: StepHandler<StepOf<T>> };

export interface RecordPlace {
  readonly collection: string;
  /** Packed. */
  readonly id: string;
}

/** What a load-related-record step leaves for later ones. */
export type Loaded = RecordPlace;

type Known = Pick<StepCall, 'run' | 'steps'>;

/** The record that a step is about: that of the run, or one that an earlier step has taken. STEP_FAILED where it took none. */
export function placeOf({ step, run, steps }: Known & { readonly step: WorkflowStep }): RecordPlace {
  const from = 'record' in step ? step.record : undefined;
  if (from === undefined) return { collection: run.collection, id: run.recordId };
  const loaded = lastOf(steps, from)?.data as Loaded | undefined;
  return loaded ?? fail('STEP_FAILED', { step: step.id, problem: `the step '${from}' has taken no record.` });
}

/** How a step that may be come to again ended the last time. */
export const lastOf = (steps: readonly RunStep[], id: string): RunStep | undefined =>
  steps.findLast((each) => each.stepId === id && each.state === 'done');

/** Reads the fields of one record. RECORD_NOT_FOUND, also where the user may not see it. */
export async function readFields(
  { engine, access, signal }: Pick<StepCall, 'engine' | 'access'> & Partial<Pick<StepCall, 'signal'>>,
  { collection, id }: RecordPlace,
  fields: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const { columns, rows } = await engine.get(access, { collection, id, fields }, { ...(signal && { signal }) });
  return Object.fromEntries(columns.map((column, at) => [column, rows[0]![at]]));
}

/** `value` with its templates filled: what it names of the record of the run is read at once, as the user of the run. */
export async function fill<T>(call: StepCall, value: T): Promise<T> {
  const { run, steps, access, step } = call;
  const references = referencesOf(value, step.id);
  const fields = [...new Set(references.filter(({ root }) => root === 'record').map(({ name }) => name))];
  const record =
    fields.length > 0 ? await readFields(call, { collection: run.collection, id: run.recordId }, fields) : {};
  const look = ({ root, name, member }: Reference): unknown => {
    if (root === 'record') return record[name] ?? null;
    if (root === 'user') return userValues(access)[name] ?? null;
    if (root === 'run') return { id: run.id, record: run.recordId, workflow: run.name }[name] ?? null;
    const values = lastOf(steps, name)?.data as Readonly<Record<string, unknown>> | undefined;
    return (values && Object.hasOwn(values, member!) ? values[member!] : undefined) ?? null;
  };
  return fillTemplates(value, look);
}

function userValues({ caller }: Pick<Access, 'caller'>): Readonly<Record<string, unknown>> {
  const { id, email, firstName, lastName, team, role, timezone } = caller;
  return { id, email, firstName, lastName, team, role, timezone };
}

/** Nobody's yes is enough: FORBIDDEN. Undefined where none is needed. */
export function approvalOf(policy: Policy, verb: string, collection: string): Policy | undefined {
  if (policy.policy === 'deny') fail('FORBIDDEN', { verb, collection });
  return policy.policy === 'allow' ? undefined : policy;
}
