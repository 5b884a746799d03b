// Workflows, put together: the door through which all ways in start them, and the executor of this process.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken, randomToken } from '../core/secret.ts';
import type { OpenedStore } from '../store/open.ts';
import { createCodeReader } from '../workflow/code.ts';
import { createExecutor } from '../workflow/executor.ts';
import { createRunQueue } from '../workflow/queue.ts';
import type { RemoteRoom } from '../workflow/remote/room.ts';
import { createWorkflowRoom, type WorkflowRoom } from '../workflow/room.ts';
import { createMcpStep } from '../workflow/steps/mcp.ts';
import { stepHandlers } from '../workflow/steps.ts';

export interface WorkflowsOptions {
  readonly config: Pick<Config, 'workflows' | 'workflowRunsAtOnce' | 'redisUrl' | 'environment' | 'fileLimitBytes'>;
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly sendWebhook: SendWebhook;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Absent: steps that call remote servers are not executed. */
  readonly remotes?: RemoteRoom;
}

export interface WorkflowRooms {
  readonly room: WorkflowRoom;
  /** Publishes what code defines, and begins to execute runs. */
  start(): Promise<void>;
  /** Takes nothing new, lets steps under way end within the time, and puts back what is not over. */
  stop(limitMs: number): Promise<void>;
}

/** Nothing is under way any more when Redis is let go of; it may not answer. */
const LETTING_GO_MS = 1000;
/** What queues are called by is made of a key that all processes of the installation share; it is no secret. */
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
          // The first one, so that a new key does not part the processes.
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
