// Workflows, the triggers that start them, and their runs. A definition is JSON that the room `workflow` reads; here it is a text.

export interface Workflows {
  /**
   * Publishes a definition: a new workflow, or the next version of one, which becomes the active one at once. INVALID_ARGUMENT
   * when the name is taken in the rendering, when `of` is gone or is defined in code, or when its newest version is no
   * longer `since`.
   */
  publish(wish: PublishWish): Promise<Workflow>;
  /**
   * Makes what is defined in code what is there: each in every rendering it names (all when it names none), with a new version
   * where its definition is another. What code no longer defines stays with its runs, and is not active any more.
   */
  publishCode(definitions: readonly CodeWorkflow[]): Promise<void>;
  /** By name. */
  list(wish: { readonly renderingId?: number; readonly collection?: string }): Promise<readonly Workflow[]>;
  /** Of this environment. */
  find(id: string): Promise<Workflow | undefined>;
  /** Newest first, without the definitions. */
  versions(id: string): Promise<readonly WorkflowVersion[]>;
  definition(id: string, version: number): Promise<string | undefined>;
  /** Whether new runs may be started. INVALID_ARGUMENT for one that code defines. */
  setActive(id: string, isActive: boolean, by: number): Promise<Workflow | undefined>;
  /** Undefined where there is no such workflow; else as it is now. `keyId`: what the address of a first or another version is signed with. */
  changeTrigger(id: string, change: TriggerChange, by: number): Promise<Workflow | undefined>;
  /** The secret of its Standard Webhooks signatures, as that specification writes it: `whsec_` and base64. With `make`, there is one. */
  signingSecret(id: string, make?: boolean): Promise<string | undefined>;
}

export interface PublishWish {
  readonly renderingId: number;
  readonly name: string;
  readonly collection: string;
  /** JSON, canonical. */
  readonly definition: string;
  readonly concurrency: number | null;
  /** User id. */
  readonly by: number;
  /** Absent: a new workflow. */
  readonly of?: { readonly id: string; readonly since: number };
}

export interface CodeWorkflow extends Pick<PublishWish, 'name' | 'collection' | 'definition' | 'concurrency'> {
  /** Names of teams; absent: all. */
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
  /** The newest, which new runs take. */
  readonly version: number;
  readonly trigger: Trigger;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Trigger {
  readonly isEnabled: boolean;
  /** Raised by every regeneration; 0 until it is first enabled. */
  readonly version: number;
  /** Of the key that its address is signed with; null until it is first enabled. */
  readonly keyId: string | null;
  /** Calls without a right Standard Webhooks signature are refused. */
  readonly needsSignature: boolean;
  /** Told how runs end that the webhook started. */
  readonly callbackUrl: string | null;
}

export interface TriggerChange {
  readonly isEnabled?: boolean;
  /** The address of before is superseded; also of one that is disabled. */
  readonly regenerate?: boolean;
  /** With `isEnabled` or `regenerate`: the newest key. An address that is there keeps the key it has until it is regenerated. */
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

/** Why a run waits for a person. `uncertain`: a step that changes something was begun, and whether it was done nobody knows. */
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

/** Where a run was started. */
export type RunOrigin = 'webhook' | 'mcp' | 'console' | 'api';

export interface NewRun {
  readonly workflow: Pick<Workflow, 'id' | 'version' | 'renderingId'>;
  /** Packed (agent/record-id.ts); not looked at. */
  readonly recordId: string;
  readonly userId: number;
  readonly origin: RunOrigin;
  /** The name of the token or of the client. */
  readonly originName: string;
  /** A repeat with the same key by the same user is told of the same run. */
  readonly idempotencyKey?: string;
  /** What the repeat must be equal in. */
  readonly idempotencyOf?: string;
}

/** `mismatch`: the idempotency key was used for something else. */
export type CreatedRun =
  | { readonly state: 'created'; readonly runId: string }
  | { readonly state: 'repeated'; readonly runId: string }
  | { readonly state: 'ongoing'; readonly runId: string }
  | { readonly state: 'mismatch' };

export interface Run {
  /** UUID. */
  readonly id: string;
  readonly workflowId: string;
  /** Of the workflow, now. */
  readonly name: string;
  readonly collection: string;
  readonly version: number;
  readonly renderingId: number;
  readonly recordId: string;
  readonly userId: number;
  readonly origin: RunOrigin;
  readonly originName: string;
  readonly state: RunState;
  /** With `awaiting-input`. */
  readonly reason: AwaitReason | null;
  /** What is, or will be, worked at; null when it is over. */
  readonly stepId: string | null;
  /** How many steps were begun. */
  readonly position: number;
  /** With `failed`. */
  readonly failure: RunFailure | null;
  /** Until when a person has to answer; milliseconds since the epoch, as the others. */
  readonly answerBy: number | null;
  readonly cancelAsked: boolean;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly updatedAt: number;
  readonly finishedAt: number | null;
}

export interface RunFailure {
  /** Of an error. */
  readonly code: string;
  /** A sentence, without values of records. */
  readonly message: string;
}

/** `begun`: under way, or what a crash left. */
export type RunStepState = 'begun' | 'waiting' | 'done' | 'skipped' | 'failed';

export interface RunStep {
  /** 1 for the first that was begun; a step that is come to again has a place of its own. */
  readonly position: number;
  readonly stepId: string;
  readonly state: RunStepState;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** Who answered; user id. */
  readonly answeredBy: number | null;
  /** What it came to: names and counts, never values of records. */
  readonly outcome: Readonly<Record<string, unknown>>;
  /** Values that later steps use, and what a waiting step asks; sealed at rest. */
  readonly data: unknown;
  /** What a person answered; sealed at rest. */
  readonly answer: unknown;
}

export interface RunWish {
  readonly renderingId?: number;
  readonly workflowId?: string;
  readonly recordId?: string;
  readonly userId?: number;
  readonly state?: RunState;
  /** Id of the last one that was seen; newest first. */
  readonly after?: string;
  readonly limit: number;
}

/** A run that one executor holds until `until`; whoever holds it no more can write nothing of it. */
export interface Claim {
  readonly run: Run;
  readonly steps: readonly RunStep[];
  readonly owner: string;
  /** Raised by every claim of the run. */
  readonly fence: number;
  /** Its workflow says how many of its runs may work at once, so that others may wait for this one. */
  readonly isLimited: boolean;
}

export interface DueWish {
  readonly limit: number;
  /** Only these. */
  readonly ids?: readonly string[];
}

export interface DueRun {
  readonly id: string;
  /** Of its last claim: what is due again later has another. */
  readonly fence: number;
}

/** Whether a run is still held by who writes; `cancel`: it is, and was asked to end. */
export type Hold = 'held' | 'cancel' | 'lost';

/** A step that changed nothing is over; it is written with what follows it. */
export interface PassedStep {
  readonly stepId: string;
  readonly state: 'done' | 'skipped';
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What goes with a write: steps that were passed before it, the first one first. They get the places after the last. */
export interface WithPassed {
  readonly passed?: readonly PassedStep[];
}

/** A step is over, and the run goes on at another, or ends well. */
export interface StepDone extends WithPassed {
  /** Of the mark; absent for a step that left none, since it changes nothing. */
  readonly position?: number;
  readonly stepId: string;
  readonly state: 'done' | 'skipped';
  readonly outcome: Readonly<Record<string, unknown>>;
  readonly data?: unknown;
  readonly next: string | null;
}

export interface StepWaits extends WithPassed {
  /** As of `StepDone`. */
  readonly position?: number;
  readonly stepId: string;
  readonly reason: AwaitReason;
  readonly outcome: Readonly<Record<string, unknown>>;
  /** What the person is asked. */
  readonly data?: unknown;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export interface Runs {
  /** One insert on a unique index: of several calls at once, in all processes, one creates. */
  create(run: NewRun): Promise<CreatedRun>;
  /** Of this environment. */
  find(id: string): Promise<Run | undefined>;
  steps(id: string): Promise<readonly RunStep[]>;
  list(wish: RunWish): Promise<readonly Run[]>;

  /**
   * Takes what is due: queued, left by a crash (lease over), waiting past its time, or asked to be cancelled while it waited;
   * at most `limit`, the oldest first, and of a workflow no more than it allows at once. `ids`: only these.
   */
  claim(wish: {
    readonly owner: string;
    readonly leaseMs: number;
    readonly limit: number;
    readonly ids?: readonly string[];
  }): Promise<readonly Claim[]>;
  /** What could be claimed now, oldest first, of a workflow no more than it allows; for what hands runs out elsewhere. */
  due(wish: DueWish): Promise<readonly DueRun[]>;
  renew(claim: Claim, leaseMs: number): Promise<Hold>;
  /**
   * Writes the mark of a step before it is done, and answers its position: that of the step itself where it has waited at
   * `position`. Nothing is written but for one who holds the run.
   */
  begin(
    claim: Claim,
    stepId: string,
    position?: number,
    passed?: readonly PassedStep[],
  ): Promise<number | Exclude<Hold, 'held'>>;
  /** This and the next change nothing when the run is no longer held; what was done is told also of one that is to end. */
  finish(claim: Claim, done: StepDone): Promise<Hold>;
  /**
   * What was answered at its position before is forgotten: another answer is waited for. Nothing is written of one that is to end,
   * which would wait for nobody.
   */
  wait(claim: Claim, waits: StepWaits): Promise<Hold>;
  /** Ends it badly; the step at `position` is told to have failed, with `data` where it has some. The rest answer false when it is no longer held. */
  fail(
    claim: Claim,
    failure: RunFailure & WithPassed & { readonly position?: number; readonly data?: unknown },
  ): Promise<boolean>;
  /** Ends it as was asked. */
  endCancelled(claim: Claim, passed?: readonly PassedStep[]): Promise<boolean>;
  /** Of the runs of a workflow that nobody works at yet, the one that waits longest is due now; its id, where there is one. */
  wake(workflowId: string): Promise<string | undefined>;
  /** Puts it back for anybody to take, as at a drain; at the step `next`, else where it stands. */
  release(claim: Claim, next?: string, passed?: readonly PassedStep[]): Promise<boolean>;

  /** A person's answer to the step that waits at `position`; true when this call, of all, was the one. The run is due at once. */
  answer(
    id: string,
    answer: { readonly position: number; readonly by: number; readonly value: unknown },
  ): Promise<boolean>;
  /** Ends it before its next step; at once where nobody works at it. False when it is over. */
  cancel(id: string, by: number): Promise<boolean>;

  /** Outcomes that callbacks have yet to tell, due by now; each is taken by one process until `untilMs` from now. */
  takeCallbacks(limit: number, untilMs: number): Promise<readonly Callback[]>;
  /** `again`: milliseconds from now; null: told, or given up. */
  settleCallback(runId: string, again: number | null): Promise<void>;
  /** Forgets idempotency keys that are older than a day. */
  sweep(): Promise<void>;
}

export interface Callback {
  readonly run: Run;
  readonly url: string;
  /** With this one. */
  readonly attempts: number;
}

/** Of which run an entry of the activity log is, and of what in it. */
export interface EntryWorkflow {
  /** Of the workflow at that time. */
  readonly name: string;
  readonly runId: string;
  readonly stepName?: string;
  readonly optionName?: string;
}
