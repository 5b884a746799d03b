// Workflows, put together: the door through which all ways in start them, and the executor of this process.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import type { OpenedStore } from '../store/open.ts';
import type { CodeWorkflow } from '../store/workflow-types.ts';
import { createExecutor, type Executor } from '../workflow/executor.ts';
import { createWorkflowRoom, type WorkflowRoom } from '../workflow/room.ts';
import { stepHandlers } from '../workflow/steps.ts';

export interface WorkflowsOptions {
  readonly config: Pick<Config, 'workflows' | 'workflowRunsAtOnce'>;
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly sendWebhook: SendWebhook;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly code: readonly CodeWorkflow[];
}

export interface WorkflowRooms {
  readonly room: WorkflowRoom;
  readonly executor: Executor;
}

export function openWorkflows({ config, code, ...parts }: WorkflowsOptions): WorkflowRooms {
  const { store, clock } = parts;
  const atOnce = config.workflowRunsAtOnce;
  const executor = createExecutor({ ...parts, handlers: stepHandlers(), atOnce, code, looks: config.workflows });
  return { executor, room: createWorkflowRoom({ store, clock, nudge: () => executor.nudge() }) };
}
