// Assembles workflows: the API that starts them, and the executor of this process.
import type { SendWebhook } from '../../agent/actions/results.ts';
import type { Engine } from '../../agent/engine.ts';
import type { WriteWatch } from '../../agent/write/watch.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken, randomToken } from '../../core/secret.ts';
import type { OpenedStore } from '../../store/open.ts';
import { createChangeWatch } from '../../workflows/automatic/changes.ts';
import { type AutomaticStarts, createAutomaticStarts, createRuleReader } from '../../workflows/automatic/rules.ts';
import { createStarter } from '../../workflows/automatic/starter.ts';
import { createCodeReader } from '../../workflows/definition/code.ts';
import type { RemoteServers } from '../../workflows/remote-mcp/remote-servers.ts';
import { createExecutor } from '../../workflows/runs/executor.ts';
import { createRunQueue } from '../../workflows/runs/queue.ts';
import { createMcpStep } from '../../workflows/steps/mcp.ts';
import { stepHandlers } from '../../workflows/steps/table.ts';
import { createWorkflowService, type WorkflowService } from '../../workflows/workflows.ts';

interface WorkflowsOptions {
  readonly config: Pick<
    Config,
    'workflows' | 'workflowRunsAtOnce' | 'redisUrl' | 'environment' | 'fileLimitBytes' | 'pageSizeLimit'
  >;
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly sendWebhook: SendWebhook;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Without it, steps that call remote servers are not executed. */
  readonly remotes?: RemoteServers;
}

export interface WorkflowModules {
  readonly service: WorkflowService;
  /** Rules that start workflows by themselves. */
  readonly automatic: AutomaticStarts;
  /** Starts workflows on data changes. */
  readonly watch: WriteWatch;
  /** Publishes the workflows defined in code and begins to execute runs. */
  start(): Promise<void>;
  /** Takes no new runs, waits up to the limit for running steps, and releases unfinished runs. */
  stop(limitMs: number): Promise<void>;
}

/** All work has ended when Redis is closed. The limit exists because Redis may not answer. */
const QUEUE_CLOSE_MS = 1000;
/** Names of queues derive from a key that all processes of the installation share. The names are not secret. */
const QUEUE_KEY = 'workflow-queue';

export function openWorkflows({ config, remotes, ...parts }: WorkflowsOptions): WorkflowModules {
  const { store, clock, observe } = parts;
  const maxConcurrentRuns = config.workflowRunsAtOnce;
  const rules = createRuleReader(store);
  const automatic = createAutomaticStarts({ store, engine: parts.engine, clock });
  const watch = createChangeWatch({ store, rules, clock, observe, nudge: () => starter.nudge() });
  const executor = createExecutor({
    ...{ ...parts, watch },
    onDue: (id) => {
      if (queue?.isConnected()) queue.nudge(id);
    },
    handlers: stepHandlers(remotes && createMcpStep(remotes)),
    maxConcurrent: maxConcurrentRuns,
    readCodeWorkflows: createCodeReader(parts.engine),
    shouldPoll: () => config.workflows && !queue?.isConnected(),
  });
  const queue =
    config.redisUrl === null
      ? undefined
      : createRunQueue({
          url: config.redisUrl,
          // The first key: a rotated key would split the processes into different queues.
          name: async () => {
            const first = (await store.keys.of(QUEUE_KEY, () => randomToken())).at(-1)!.value;
            return hashToken(JSON.stringify([first, config.environment])).slice(0, 16);
          },
          runs: store.runs,
          clock,
          observe,
          maxConcurrent: maxConcurrentRuns,
          execute: config.workflows ? (id) => executor.take([id]).then(() => undefined) : null,
        });
  const nudge = (runId: string): void => {
    if (queue?.isConnected()) queue.nudge(runId);
    else executor.nudge();
  };
  const service = createWorkflowService({
    ...{ store, engine: parts.engine, clock, nudge },
    fileLimitBytes: config.fileLimitBytes,
  });
  const { pageSizeLimit } = config;
  const starter = createStarter({ ...parts, rules, automatic, service, pageSizeLimit });
  return {
    service,
    automatic,
    watch,
    async start() {
      await executor.start();
      if (config.workflows) starter.start();
      queue?.start();
    },
    async stop(limitMs) {
      queue?.pause();
      await starter.stop();
      await executor.stop(limitMs);
      await queue?.close(QUEUE_CLOSE_MS);
    },
  };
}
