// Assembles workflows: the API that starts them, and the executor of this process.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken, randomToken } from '../core/secret.ts';
import type { OpenedStore } from '../store/open.ts';
import { createCodeReader } from '../workflows/definition/code.ts';
import type { RemoteRoom } from '../workflows/remote-mcp/remote-servers.ts';
import { createExecutor } from '../workflows/runs/executor.ts';
import { createRunQueue } from '../workflows/runs/queue.ts';
import { createMcpStep } from '../workflows/steps/mcp.ts';
import { stepHandlers } from '../workflows/steps/table.ts';
import { createWorkflowRoom, type WorkflowRoom } from '../workflows/workflows.ts';

export interface WorkflowsOptions {
  readonly config: Pick<Config, 'workflows' | 'workflowRunsAtOnce' | 'redisUrl' | 'environment' | 'fileLimitBytes'>;
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly sendWebhook: SendWebhook;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Without it, steps that call remote servers are not executed. */
  readonly remotes?: RemoteRoom;
}

export interface WorkflowRooms {
  readonly room: WorkflowRoom;
  /** Publishes the workflows defined in code and begins to execute runs. */
  start(): Promise<void>;
  /** Takes no new runs, waits up to the limit for running steps, and releases unfinished runs. */
  stop(limitMs: number): Promise<void>;
}

/** All work has ended when Redis is closed. The limit exists because Redis may not answer. */
const LETTING_GO_MS = 1000;
/** Names of queues derive from a key that all processes of the installation share. The names are not secret. */
const QUEUE_KEY = 'workflow-queue';

export function openWorkflows({ config, remotes, ...parts }: WorkflowsOptions): WorkflowRooms {
  const { store, clock, observe } = parts;
  const atOnce = config.workflowRunsAtOnce;
  const executor = createExecutor({
    ...parts,
    due: (id) => {
      if (queue?.carries()) queue.nudge(id);
    },
    handlers: stepHandlers(remotes && createMcpStep(remotes)),
    atOnce,
    code: createCodeReader(parts.engine),
    looks: () => config.workflows && !queue?.carries(),
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
          atOnce,
          work: config.workflows ? (id) => executor.take([id]).then(() => undefined) : null,
        });
  const nudge = (runId: string): void => {
    if (queue?.carries()) queue.nudge(runId);
    else executor.nudge();
  };
  return {
    room: createWorkflowRoom({
      ...{ store, engine: parts.engine, clock, nudge },
      fileLimitBytes: config.fileLimitBytes,
    }),
    async start() {
      await executor.start();
      queue?.start();
    },
    async stop(limitMs) {
      queue?.pause();
      await executor.stop(limitMs);
      await queue?.close(LETTING_GO_MS);
    },
  };
}
