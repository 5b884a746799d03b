// Automatic starts in tests: rules, the watch of data changes, and starters of several processes on one storage.
import type { WriteList } from '../../src/agent/write/effects.ts';
import type { EndWatch, WritingRun } from '../../src/agent/write/watch.ts';
import type { Access } from '../../src/core/caller.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import type { StartRule, StartSettings } from '../../src/store/workflows/start-rule-types.ts';
import type { Run, Workflow } from '../../src/store/workflows/types.ts';
import { createChangeWatch } from '../../src/workflows/automatic/changes.ts';
import { type AutomaticStarts, createAutomaticStarts, createRuleReader } from '../../src/workflows/automatic/rules.ts';
import { createStarter } from '../../src/workflows/automatic/starter.ts';
import { createWorkflowService } from '../../src/workflows/workflows.ts';
import type { WorkflowTestServer } from './workflow-server.ts';

export interface AutomaticTestServer {
  readonly automatic: AutomaticStarts;
  accessOf(userId?: number): Promise<Access>;
  add(workflow: Workflow, settings: StartSettings, userId?: number): Promise<StartRule>;
  /** The rule as it is stored now. */
  rule(id: string): Promise<StartRule>;
  /** Another process on the storage; default: the storage of the test. */
  process(store?: OpenedStore): { poll(): Promise<void> };
  /** Starts what is due. */
  poll(): Promise<void>;
  /** Runs a write as an entry point does. `end: false`: the process dies after the write. */
  write(
    run: (written: WriteList) => Promise<unknown>,
    options?: { readonly by?: WritingRun; readonly end?: boolean },
  ): Promise<void>;
  runsOf(workflow: Workflow): Promise<readonly Run[]>;
}

export function openAutomatic(at: WorkflowTestServer): AutomaticTestServer {
  const { engine, clock } = at;
  const parts = { engine, clock, observe: () => undefined };
  const automatic = createAutomaticStarts({ ...parts, store: at.store });
  const openProcess: AutomaticTestServer['process'] = (store = at.store) => {
    const own = { ...parts, store };
    return createStarter({
      ...own,
      pageSizeLimit: 2,
      rules: createRuleReader(store),
      automatic: createAutomaticStarts(own),
      service: createWorkflowService({ ...own, fileLimitBytes: 1 }),
    });
  };
  const main = openProcess();
  const watch = createChangeWatch({
    ...parts,
    store: at.store,
    rules: createRuleReader(at.store),
    nudge: () => undefined,
  });
  const accessOf = async (userId = at.userId) => (await at.store.permissions.accessOf(userId))!;
  return {
    automatic,
    accessOf,
    add: async (workflow, settings, userId) => automatic.add(await accessOf(userId), workflow, settings),
    rule: async (id) => (await at.store.startRules.find(id))!,
    process: openProcess,
    poll: main.poll,
    async write(run, { by, end: ends = true } = {}) {
      const written: WriteList = [];
      const end: EndWatch | undefined = await watch.begin(written, undefined, by);
      try {
        await run(written);
        if (ends) await end?.();
      } catch (error) {
        if (ends) await end?.(error);
        throw error;
      }
    },
    runsOf: ({ id }) => at.store.runs.list({ workflowId: id, limit: 100 }),
  };
}
