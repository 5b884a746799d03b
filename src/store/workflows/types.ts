// Workflows, their triggers, and their runs. A definition is JSON that only the workflow folder parses; the storage
// treats it as text.

export interface Workflows {
  /**
   * Publishes a definition: a new workflow, or the next version of one, which is active at once. INVALID_ARGUMENT when
   * the name is in use in the rendering, when `of` is deleted or defined in code, or when its newest version is not
   * `since`.
   */
  publish(request: PublishRequest): Promise<Workflow>;
  /**
   * Stores the workflows that are defined in code. Each is stored in the renderings of its teams, or in all renderings
   * without teams. A new version is added only when the definition has changed. Workflows that code no longer defines
   * become inactive, but their runs remain.
   */
  publishCode(definitions: readonly CodeWorkflow[]): Promise<void>;
  /** Sorted by name. */
  list(filter: { readonly renderingId?: number; readonly collection?: string }): Promise<readonly Workflow[]>;
  /** Searches this environment only. */
  find(id: string): Promise<Workflow | undefined>;
  /** Newest first, without the definitions. */
  versions(id: string): Promise<readonly WorkflowVersion[]>;
  definition(id: string, version: number): Promise<string | undefined>;
  /** Whether new runs may start. INVALID_ARGUMENT for a workflow that is defined in code. */
  setActive(id: string, isActive: boolean, by: number): Promise<Workflow | undefined>;
  /**
   * Deletes a workflow from the console with its versions and runs; entries of the activity log stay. False when there
   * is no such workflow. INVALID_ARGUMENT for one that is defined in code, or while a run executes a step. `by`: absent
   * for the command line.
   */
  delete(id: string, by?: number): Promise<boolean>;
  /**
   * Returns the changed workflow, or undefined when there is no such workflow. `keyId`: the key that signs a new or
   * regenerated webhook URL.
   */
  changeTrigger(id: string, change: TriggerChange, by: number): Promise<Workflow | undefined>;
  /**
   * The secret of its Standard Webhooks signatures, in the form of that specification: `whsec_` and base64. `make`
   * creates it when it is missing.
   */
  signingSecret(id: string, make?: boolean): Promise<string | undefined>;
}

export interface PublishRequest {
  readonly renderingId: number;
  readonly name: string;
  readonly collection: string;
  /** Canonical JSON. */
  readonly definition: string;
  readonly concurrency: number | null;
  /** User id. */
  readonly by: number;
  /** Absent for a new workflow. */
  readonly of?: { readonly id: string; readonly since: number };
}

export interface CodeWorkflow extends Pick<PublishRequest, 'name' | 'collection' | 'definition' | 'concurrency'> {
  /** Names of teams; absent for all teams. */
  readonly teams?: readonly string[];
}

export interface Workflow {
  /** UUID. */
  readonly id: string;
  readonly renderingId: number;
  readonly team: string;
  readonly name: string;
  readonly collection: string;
  readonly source: 'code' | 'console';
  readonly isActive: boolean;
  /** The newest version, which new runs use. */
  readonly version: number;
  readonly trigger: Trigger;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface Trigger {
  readonly isEnabled: boolean;
  /** Raised by every regeneration; 0 until it is first enabled. */
  readonly version: number;
  /** Id of the key that signs the webhook URL; null until the trigger is first enabled. */
  readonly keyId: string | null;
  /** Refuses calls without a valid Standard Webhooks signature. */
  readonly needsSignature: boolean;
  /** Receives the outcome of the runs that the webhook started. */
  readonly callbackUrl: string | null;
}

export interface TriggerChange {
  readonly isEnabled?: boolean;
  /** Replaces the webhook URL, even of a disabled trigger. */
  readonly regenerate?: boolean;
  /** With `isEnabled` or `regenerate`: the newest key. An existing URL uses its old key until it is regenerated. */
  readonly keyId?: string;
  readonly needsSignature?: boolean;
  readonly callbackUrl?: string | null;
}

export interface WorkflowVersion {
  readonly version: number;
  readonly createdAt: number;
  /** User id; null for code. */
  readonly createdBy: number | null;
}

export const runStates = ['queued', 'running', 'awaiting-input', 'succeeded', 'failed', 'cancelled'] as const;
export type RunState = (typeof runStates)[number];
export const isOver = (state: RunState): boolean =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled';

/** Why a run waits for a person. `uncertain`: a step that changes data was started, and its outcome is unknown. */
export type AwaitReason = (typeof awaitReasons)[number];
export const awaitReasons = [
  'guidance',
  'choice',
  'confirmation',
  'form',
  'approval',
  'uncertain',
  'reconnect',
] as const;

/** How a run was started. */
export const runOrigins = ['webhook', 'mcp', 'console', 'api', 'schedule', 'change'] as const;
export type RunOrigin = (typeof runOrigins)[number];

export interface NewRun {
  readonly workflow: Pick<Workflow, 'id' | 'version' | 'renderingId'>;
  /** Packed (agent/encode/record-id.ts); the storage does not parse it. */
  readonly recordId: string;
  readonly userId: number;
  readonly origin: RunOrigin;
  /** The name of the token or the client. */
  readonly originName: string;
  /** The only collections that the run may read and change, from the consent of its caller. Absent means no limit. */
  readonly collections?: readonly string[];
  /** Ids of the workflows whose changes led to the run, the first one first. */
  readonly chain?: readonly string[];
  /** A repeated call of the same user with the same key gets the same run. */
  readonly idempotencyKey?: string;
  /** A repeated call must have the same value. */
  readonly idempotencyOf?: string;
}

/** `mismatch`: the idempotency key was used for a different call. */
export type CreatedRun =
  | { readonly state: 'created'; readonly runId: string }
  | { readonly state: 'repeated'; readonly runId: string }
  | { readonly state: 'ongoing'; readonly runId: string }
  | { readonly state: 'mismatch' };

export interface Run {
  /** UUID. */
  readonly id: string;
  readonly workflowId: string;
  /** Current name of the workflow. */
  readonly name: string;
  readonly collection: string;
  readonly version: number;
  readonly renderingId: number;
  readonly recordId: string;
  readonly userId: number;
  readonly origin: RunOrigin;
  readonly originName: string;
  readonly state: RunState;
  /** Set with `awaiting-input`. */
  readonly reason: AwaitReason | null;
  /** The current or next step; null when the run has ended. */
  readonly stepId: string | null;
  /** Number of started steps. */
  readonly position: number;
  /** How many leases expired without a release since the run last progressed. */
  readonly lostLeases: number;
  /** The only collections that the run may read and change; null for no limit. */
  readonly collections: readonly string[] | null;
  /** As in `NewRun`. */
  readonly chain: readonly string[];
  /** Set with `failed`. */
  readonly failure: RunFailure | null;
  /** Set when the last attempt to deliver the callback failed. */
  readonly callbackFailure: CallbackFailure | null;
  /** Deadline for a person's answer; milliseconds since the epoch, like the other times. */
  readonly answerBy: number | null;
  readonly cancelAsked: boolean;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
}

export interface RunFailure {
  /** An error code. */
  readonly code: string;
  /** A sentence without values of records. */
  readonly message: string;
}

export interface CallbackFailure {
  /** Such as `HTTP 503`. */
  readonly problem: string;
  /** Time of the next attempt; null when there is none. */
  readonly retryAt: number | null;
}

/** `begun`: running, or interrupted by a crash. */
export type RunStepState = 'begun' | 'waiting' | 'done' | 'skipped' | 'failed';

export interface RunStep {
  /** Starts at 1. A repeated step gets a new position. */
  readonly position: number;
  readonly stepId: string;
  readonly state: RunStepState;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** Id of the user who answered. */
  readonly answeredBy: number | null;
  /** The result: names and counts, never values of records. */
  readonly outcome: Readonly<Record<string, unknown>>;
  /** Values for later steps, and the question of a waiting step; encrypted at rest. */
  readonly data: unknown;
  /** A person's answer; encrypted at rest. */
  readonly answer: unknown;
}

export interface RunFilter {
  readonly renderingId?: number;
  readonly workflowId?: string;
  readonly recordId?: string;
  readonly userId?: number;
  readonly state?: RunState;
  /** Id of the last run of the previous page; newest first. */
  readonly after?: string;
  readonly limit: number;
}

/** A run that one executor holds until its lease expires. An executor without the lease cannot write to the run. */
export interface Claim {
  readonly run: Run;
  readonly steps: readonly RunStep[];
  readonly owner: string;
  /** Raised by every claim of the run. */
  readonly fence: number;
  /** The workflow limits its simultaneous runs: other runs may be waiting for this one. */
  readonly isLimited: boolean;
}

export interface DueRequest {
  readonly limit: number;
  /** Considers only these runs. */
  readonly ids?: readonly string[];
}

export interface DueRun {
  readonly id: string;
  /** Fence of its last claim. A run that is due again later has a higher one. */
  readonly fence: number;
}

/** Whether the writer still holds the run. `cancel`: it does, and cancellation was requested. */
export type LeaseState = 'held' | 'cancel' | 'lost';

/** A completed step without changes to data. It is stored with the next write of the run. */
export interface PassedStep {
  readonly stepId: string;
  readonly state: 'done' | 'skipped';
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Steps completed before a write, in order, and stored with it. Their positions follow the last one. */
interface WithPassed {
  readonly passed?: readonly PassedStep[];
}

/** A step is complete, and the run continues with another step or succeeds. */
interface StepDone extends WithPassed {
  /** Position of the mark. Absent for a step without a mark, because it changes no data. */
  readonly position?: number;
  readonly stepId: string;
  readonly state: 'done' | 'skipped';
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly next: string | null;
}

interface StepWaits extends WithPassed {
  /** As in `StepDone`. */
  readonly position?: number;
  readonly stepId: string;
  readonly reason: AwaitReason;
  readonly outcome: Readonly<Record<string, unknown>>;
  /** The question for the person. */
  readonly data?: unknown;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface Runs {
  /** One insert on a unique index: of several simultaneous calls, in all processes, one creates the run. */
  create(run: NewRun): Promise<CreatedRun>;
  /** Searches this environment only. */
  find(id: string): Promise<Run | undefined>;
  steps(id: string): Promise<readonly RunStep[]>;
  list(filter: RunFilter): Promise<readonly Run[]>;
  /** Those of the records that have an active run of the workflow. */
  active(workflowId: string, recordIds: readonly string[]): Promise<readonly string[]>;

  /**
   * Claims runs that are due: queued runs, runs with an expired lease, runs past their deadline, and waiting runs with
   * a cancellation request. At most `limit`, the oldest first, within the limit of each workflow. `ids`: considers only
   * these.
   */
  claim(request: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly limit: number;
    readonly ids?: readonly string[];
  }): Promise<readonly Claim[]>;
  /**
   * Runs that could be claimed now, oldest first, within the limit of each workflow. For the service that distributes
   * runs to other processes.
   */
  due(request: DueRequest): Promise<readonly DueRun[]>;
  renew(claim: Claim, leaseMs: number): Promise<LeaseState>;
  /**
   * Writes the mark of a step before the step runs, and returns its position. For a step that has waited at `position`,
   * that is its own position. Writes only when the claim still holds the run. `last`: the position of the last passed
   * or stored step, if the caller knows it, which saves a read.
   */
  begin(
    claim: Claim,
    stepId: string,
    position?: number,
    passed?: readonly PassedStep[],
    last?: number,
  ): Promise<number | Exclude<LeaseState, 'held'>>;
  /**
   * `finish` and `wait` have no effect when the claim no longer holds the run. `finish` stores the result even when
   * cancellation was requested.
   */
  finish(claim: Claim, done: StepDone): Promise<LeaseState>;
  /**
   * Deletes the previous answer at that position and waits for a new one. Has no effect when cancellation was
   * requested.
   */
  wait(claim: Claim, waits: StepWaits): Promise<LeaseState>;
  /**
   * Ends the run as failed. The step at `position` becomes failed, with `data` when present. This method,
   * `endCancelled` and `release` return false when the claim no longer holds the run.
   */
  fail(
    claim: Claim,
    failure: RunFailure & WithPassed & { readonly position?: number; readonly data?: unknown },
  ): Promise<boolean>;
  /** Ends the run as cancelled, as requested. */
  endCancelled(claim: Claim, passed?: readonly PassedStep[]): Promise<boolean>;
  /**
   * Makes one run due: the longest waiting run of the workflow that no executor holds. Returns its id, or undefined.
   */
  wake(workflowId: string): Promise<string | undefined>;
  /** Releases the run for any executor, as during a shutdown: at the step `next`, else at its current step. */
  release(claim: Claim, next?: string, passed?: readonly PassedStep[]): Promise<boolean>;

  /**
   * Stores a person's answer to the step that waits at `position`, and makes the run due at once. True when this call,
   * of all calls, stored the answer.
   */
  answer(
    id: string,
    answer: { readonly position: number; readonly by: number; readonly value: unknown },
  ): Promise<boolean>;
  /** Ends the run before its next step, or at once when no executor holds it. False when it has already ended. */
  cancel(id: string, by: number): Promise<boolean>;

  /** Outcomes to deliver to callbacks that are due. One process takes each of them until `untilMs` from now. */
  takeCallbacks(limit: number, untilMs: number): Promise<readonly Callback[]>;
  /**
   * `retryDelay`: milliseconds until the next attempt; null when it was delivered or given up. `problem`: null when it
   * was delivered.
   */
  settleCallback(runId: string, retryDelay: number | null, problem: string | null): Promise<void>;
  /** Deletes idempotency keys that are older than a day. */
  sweep(): Promise<void>;
}

export interface Callback {
  readonly run: Run;
  readonly url: string;
  /** Includes the current attempt. */
  readonly attempts: number;
}
