// The door to workflows: who may see and start which, and who may look at a run. The webhook, the public API, the tools of
// assistants and the console all come in here, each with an Access, so that none can allow what another refuses.
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { CreatedRun, Run, RunOrigin, RunStep, RunWish, Workflow } from '../store/workflow-types.ts';
import { type Answers, createAnswers } from './answers.ts';
import type { WorkflowDefinition } from './definition.ts';
import { createRunFiles } from './run-files.ts';
import { createRunLog } from './run-log.ts';

export interface WorkflowRoomParts {
  readonly engine: Engine;
  readonly store: Pick<Store, 'workflows' | 'runs' | 'activity' | 'files'>;
  readonly clock: Clock;
  /** Of one file that an action is given by a person. */
  readonly fileLimitBytes: number;
  /** Told of a run that was created or can go on, so that an executor of this process need not wait for its next look. */
  readonly nudge?: (runId: string) => void;
}

/** Who asks, and through what, for the activity log. */
export interface Requester {
  readonly access: Access;
  readonly origin: RunOrigin;
  /** OAuth client, or `token <name>`; as the log calls them elsewhere. */
  readonly clientId: string;
  readonly clientName: string;
}

export interface StartWish {
  readonly workflow: Workflow;
  /** Packed; not looked at (spec public-http-api 4.2, 1). */
  readonly recordId: string;
  readonly idempotencyKey?: string;
}

export interface WorkflowRoom extends Answers {
  /** Those of the caller's view whose collection he sees, by name. Not active ones too. */
  list(access: Access, wish?: { readonly collection?: string }): Promise<readonly Workflow[]>;
  /** Of all views, for who asks often what there is to be started. */
  listActive(): Promise<readonly Workflow[]>;
  /** Undefined for one that is not there, or not for the caller: the two are not told apart. */
  find(access: Access, id: string): Promise<Workflow | undefined>;
  /** One that the caller may see and that is active; INVALID_ARGUMENT for a record id that cannot be one. */
  start(by: Requester, wish: StartWish): Promise<CreatedRun>;
  runs(access: Access, wish: Omit<RunWish, 'renderingId'>): Promise<readonly Run[]>;
  run(access: Access, id: string): Promise<Run | undefined>;
  /** A run with what it did, and the definition that it goes by; as `run` otherwise. */
  trace(access: Access, id: string): Promise<RunTrace | undefined>;
}

export interface RunTrace {
  readonly run: Run;
  /** Those that were begun, in their order. */
  readonly steps: readonly RunStep[];
  readonly definition: WorkflowDefinition;
}

/** Of a packed id; as the storage keeps it. */
export const recordIdMost = 400;

/** Of his own view, on a collection that he sees. */
export const maySee = (
  access: Access,
  { renderingId, collection }: Pick<Workflow, 'renderingId' | 'collection'>,
): boolean => renderingId === access.caller.renderingId && access.can('browse', collection);

/** His own; those of others in the same view from editor up. */
export const mayLookAt = (access: Access, run: Pick<Run, 'renderingId' | 'collection' | 'userId'>): boolean =>
  maySee(access, run) && (run.userId === access.caller.id || access.caller.permissionLevel !== 'user');

export function createWorkflowRoom({ store, engine, clock, nudge, fileLimitBytes }: WorkflowRoomParts): WorkflowRoom {
  const { workflows, runs, activity } = store;
  const findRun = async (access: Access, id: string): Promise<Run | undefined> => {
    const found = await runs.find(id);
    return found && mayLookAt(access, found) ? found : undefined;
  };
  return {
    ...createAnswers({
      ...{ store, engine, find: findRun, nudge, fileLimitBytes },
      log: createRunLog(activity, clock),
      files: createRunFiles(store.files, clock),
    }),
    async list(access, wish = {}) {
      const all = await workflows.list({ ...wish, renderingId: access.caller.renderingId });
      return all.filter((workflow) => maySee(access, workflow));
    },
    listActive: async () => (await workflows.list({})).filter(({ isActive }) => isActive),
    async find(access, id) {
      const found = await workflows.find(id);
      return found && maySee(access, found) ? found : undefined;
    },
    async start({ access, origin, clientId, clientName }, { workflow, recordId, idempotencyKey }) {
      const { caller } = access;
      if (!maySee(access, workflow) || !access.startsWorkflows)
        fail('FORBIDDEN', { verb: 'start workflows of', collection: workflow.collection });
      if (recordId === '' || recordId.length > recordIdMost || recordId.includes('\0')) {
        const problem = `expected the id of a record, 1 to ${recordIdMost} characters.`;
        fail('INVALID_ARGUMENT', { argument: 'record_id', problem });
      }
      const intent = await activity.begin({
        userId: caller.id,
        renderingId: caller.renderingId,
        clientId,
        clientName,
        action: 'triggerWorkflow',
        type: 'write',
        collection: workflow.collection,
        recordIds: [recordId],
        startedAt: clock.now(),
      });
      const created = await runs.create({
        workflow,
        recordId,
        userId: caller.id,
        origin,
        originName: clientName,
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      });
      const isRefused = created.state === 'ongoing' || created.state === 'mismatch';
      await intent.complete(
        isRefused
          ? { outcome: 'failed', code: 'RUN_ONGOING' }
          : { outcome: 'completed', workflow: { name: workflow.name, runId: created.runId } },
      );
      if (created.state === 'created') nudge?.(created.runId);
      return created;
    },
    async runs(access, wish) {
      const { id, permissionLevel, renderingId } = access.caller;
      const own = permissionLevel === 'user' ? { userId: id } : {};
      const seen: Run[] = [];
      for (let { after } = wish; ; ) {
        const found = await runs.list({ ...wish, ...own, renderingId, ...(after !== undefined && { after }) });
        seen.push(...found.filter((run) => mayLookAt(access, run)));
        // Those on collections that he does not see leave no gaps in a page.
        if (found.length < wish.limit || seen.length >= wish.limit) return seen.slice(0, wish.limit);
        after = found.at(-1)!.id;
      }
    },
    run: findRun,
    async trace(access, id) {
      const run = await findRun(access, id);
      if (!run) return undefined;
      const [steps, text] = await Promise.all([runs.steps(id), workflows.definition(run.workflowId, run.version)]);
      return text === undefined ? undefined : { run, steps, definition: JSON.parse(text) as WorkflowDefinition };
    },
  };
}
