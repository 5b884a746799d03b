// The entry point to workflows: permissions to view and start them, and to view their runs. The webhook, the public
// API, the MCP tools and the console all use it with an Access, and therefore apply the same rules.
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import type { Store } from '../store/store.ts';
import type { Versions } from '../store/version-types.ts';
import { sameWorkflows } from '../store/versions.ts';
import type { CreatedRun, Run, RunFilter, RunOrigin, RunStep, Workflow } from '../store/workflows/types.ts';
import type { WorkflowDefinition } from './definition/definition.ts';
import { type DryRun, type DryRunRequest, tryWorkflow } from './dry-run/dry-run.ts';
import { createInputRequests, type InputRequests } from './input-requests/answers.ts';
import { createRunFiles } from './runs/files.ts';
import { createRunLog } from './runs/log.ts';

interface WorkflowServiceParts {
  readonly engine: Engine;
  readonly store: Pick<Store, 'workflows' | 'runs' | 'activity' | 'files' | 'versions'>;
  readonly clock: Clock;
  /** Size limit of a single file that a person provides for an action. */
  readonly fileLimitBytes: number;
  /** Called with a run that was created or can continue, to start it before the executor's next poll. */
  readonly nudge?: (runId: string) => void;
}

/** The caller and their client, for the activity log. */
interface Requester {
  readonly access: Access;
  readonly origin: RunOrigin;
  /** The OAuth client, or `token <name>`, as in other log entries. */
  readonly clientId: string;
  readonly clientName: string;
}

interface StartRequest {
  readonly workflow: Workflow;
  /** Packed. Not checked for existence (behaviour api 4.2, 1). */
  readonly recordId: string;
  readonly idempotencyKey?: string;
  /** Ids of the workflows whose changes led to the run. */
  readonly chain?: readonly string[];
}

/** What decides who may see a workflow. */
export type ActiveWorkflows = readonly Pick<Workflow, 'renderingId' | 'collection'>[];

export interface WorkflowService extends InputRequests {
  /**
   * Workflows of the caller's rendering on collections visible to the caller, sorted by name. Includes inactive ones.
   */
  list(access: Access, filter?: { readonly collection?: string }): Promise<readonly Workflow[]>;
  /**
   * Active workflows of all renderings, for callers that show what can be started. Returns the same list until a
   * workflow or the permissions change, and without a promise if it can.
   */
  listActive(): ActiveWorkflows | Promise<ActiveWorkflows>;
  /** Undefined when the workflow does not exist or is not visible to the caller. Callers cannot distinguish the two. */
  find(access: Access, id: string): Promise<Workflow | undefined>;
  /**
   * Starts a run. The workflow must be active, which the caller checks. Throws FORBIDDEN if the user may not see or
   * start it, INVALID_ARGUMENT for a malformed record id.
   */
  start(requester: Requester, request: StartRequest): Promise<CreatedRun>;
  /** Shows what a run would do, without any effect. Throws FORBIDDEN like `start`. */
  dryRun(access: Access, request: DryRunRequest): Promise<DryRun>;
  runs(access: Access, filter: Omit<RunFilter, 'renderingId'>): Promise<readonly Run[]>;
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
export const MAX_RECORD_ID_LENGTH = 400;

/** Whether the workflow belongs to the caller's rendering and its collection is visible to the caller. */
export const canSeeWorkflow = (
  access: Access,
  { renderingId, collection }: Pick<Workflow, 'renderingId' | 'collection'>,
): boolean => renderingId === access.caller.renderingId && access.can('browse', collection);

/** Users may view their own runs. Editors and higher levels may view all runs of their rendering. */
const canSeeRun = (access: Access, run: Pick<Run, 'renderingId' | 'collection' | 'userId'>): boolean =>
  canSeeWorkflow(access, run) && (run.userId === access.caller.id || access.caller.permissionLevel !== 'user');

export function createWorkflowService({
  store,
  engine,
  clock,
  nudge,
  fileLimitBytes,
}: WorkflowServiceParts): WorkflowService {
  const { workflows, runs, activity } = store;
  const findRun = async (access: Access, id: string): Promise<Run | undefined> => {
    const found = await runs.find(id);
    return found && canSeeRun(access, found) ? found : undefined;
  };
  return {
    ...createInputRequests({
      ...{ store, engine, find: findRun, nudge, fileLimitBytes },
      log: createRunLog(activity, clock),
      files: createRunFiles(store.files, clock),
    }),
    async list(access, filter = {}) {
      const all = await workflows.list({ ...filter, renderingId: access.caller.renderingId });
      return all.filter((workflow) => canSeeWorkflow(access, workflow));
    },
    listActive: createActiveReader(store),
    async find(access, id) {
      const found = await workflows.find(id);
      return found && canSeeWorkflow(access, found) ? found : undefined;
    },
    async start({ access, origin, clientId, clientName }, { workflow, recordId, idempotencyKey, chain }) {
      const { caller } = access;
      if (!canSeeWorkflow(access, workflow) || !access.startsWorkflows)
        fail('FORBIDDEN', { verb: 'start workflows of', collection: workflow.collection });
      if (recordId === '' || recordId.length > MAX_RECORD_ID_LENGTH || recordId.includes('\0')) {
        const problem = `expected the id of a record, 1 to ${MAX_RECORD_ID_LENGTH} characters.`;
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
        ...(chain && { chain }),
      });
      const isRejected = created.state === 'ongoing' || created.state === 'mismatch';
      await intent.complete(
        isRejected
          ? { outcome: 'failed', code: 'RUN_ONGOING' }
          : { outcome: 'completed', workflow: { name: workflow.name, runId: created.runId } },
      );
      if (created.state === 'created') nudge?.(created.runId);
      return created;
    },
    async dryRun(access, request) {
      const { collection } = request.workflow;
      if (!canSeeWorkflow(access, request.workflow)) fail('FORBIDDEN', { verb: 'try workflows of', collection });
      return tryWorkflow({ engine, clock, files: createRunFiles(store.files, clock) }, access, request);
    },
    async runs(access, filter) {
      const { id, permissionLevel, renderingId } = access.caller;
      const own = permissionLevel === 'user' ? { userId: id } : {};
      const visible: Run[] = [];
      for (let { after } = filter; ; ) {
        const found = await runs.list({ ...filter, ...own, renderingId, ...(after !== undefined && { after }) });
        visible.push(...found.filter((run) => canSeeRun(access, run)));
        // Continues until the page is full, because runs on invisible collections are filtered out.
        if (found.length < filter.limit || visible.length >= filter.limit) return visible.slice(0, filter.limit);
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

/** Caches the list with the versions that were read before it. */
function createActiveReader({
  workflows,
  versions,
}: Pick<Store, 'workflows' | 'versions'>): WorkflowService['listActive'] {
  let cached: { readonly at: Versions; readonly list: ActiveWorkflows } | undefined;
  const load = async (at: Versions): Promise<ActiveWorkflows> => {
    const active = (await workflows.list({})).filter(({ isActive }) => isActive);
    const list = active.map(({ renderingId, collection }) => ({ renderingId, collection }));
    cached = { at, list };
    return list;
  };

  const listAt = (now: Versions): ActiveWorkflows | Promise<ActiveWorkflows> =>
    cached && sameWorkflows(cached.at, now) ? cached.list : load(now);

  return () => {
    const now = versions();
    return now instanceof Promise ? now.then(listAt) : listAt(now);
  };
}
