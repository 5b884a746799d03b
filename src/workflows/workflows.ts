// The entry point to workflows: permissions to view and start them, and to view their runs. The webhook, the public
// API, the MCP tools and the console all use it with an Access, and therefore apply the same rules.
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { CreatedRun, Run, RunOrigin, RunStep, RunWish, Workflow } from '../store/workflows/types.ts';
import type { WorkflowDefinition } from './definition/definition.ts';
import { type Answers, createAnswers } from './input-requests/answers.ts';
import { createRunFiles } from './runs/files.ts';
import { createRunLog } from './runs/log.ts';

export interface WorkflowRoomParts {
  readonly engine: Engine;
  readonly store: Pick<Store, 'workflows' | 'runs' | 'activity' | 'files'>;
  readonly clock: Clock;
  /** Size limit of a single file that a person provides for an action. */
  readonly fileLimitBytes: number;
  /** Called with a run that was created or can continue, to start it before the executor's next poll. */
  readonly nudge?: (runId: string) => void;
}

/** The caller and their client, for the activity log. */
export interface Requester {
  readonly access: Access;
  readonly origin: RunOrigin;
  /** The OAuth client, or `token <name>`, as in other log entries. */
  readonly clientId: string;
  readonly clientName: string;
}

export interface StartWish {
  readonly workflow: Workflow;
  /** Packed. Not checked for existence (spec public-http-api 4.2, 1). */
  readonly recordId: string;
  readonly idempotencyKey?: string;
}

export interface WorkflowRoom extends Answers {
  /**
   * Workflows of the caller's rendering on collections visible to the caller, sorted by name. Includes inactive ones.
   */
  list(access: Access, wish?: { readonly collection?: string }): Promise<readonly Workflow[]>;
  /** Active workflows of all renderings, for callers that poll what can be started. */
  listActive(): Promise<readonly Workflow[]>;
  /** Undefined when the workflow does not exist or is not visible to the caller. Callers cannot distinguish the two. */
  find(access: Access, id: string): Promise<Workflow | undefined>;
  /**
   * Starts a run. The workflow must be active, which the caller checks. Throws FORBIDDEN if the user may not see or
   * start it, INVALID_ARGUMENT for a malformed record id.
   */
  start(by: Requester, wish: StartWish): Promise<CreatedRun>;
  runs(access: Access, wish: Omit<RunWish, 'renderingId'>): Promise<readonly Run[]>;
  run(access: Access, id: string): Promise<Run | undefined>;
  /** A run with its steps and its definition. Undefined like `run`. */
  trace(access: Access, id: string): Promise<RunTrace | undefined>;
}

export interface RunTrace {
  readonly run: Run;
  /** Steps begun so far, in order. */
  readonly steps: readonly RunStep[];
  readonly definition: WorkflowDefinition;
}

/** Maximum length of a packed id, as in the storage. */
export const recordIdMost = 400;

/** Whether the workflow belongs to the caller's rendering and its collection is visible to the caller. */
export const maySee = (
  access: Access,
  { renderingId, collection }: Pick<Workflow, 'renderingId' | 'collection'>,
): boolean => renderingId === access.caller.renderingId && access.can('browse', collection);

/** Users may view their own runs. Editors and higher levels may view all runs of their rendering. */
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
        ...(access.collections && { collections: access.collections }),
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
        // Continues until the page is full, because runs on invisible collections are filtered out.
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
