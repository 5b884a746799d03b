// Every tool is a row of this table and a file of its own in tools/. What a client sees of them is built once, at start.
import type { ReportProgress } from '../agent/actions/definitions.ts';
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { Observe } from '../core/observe.ts';
import type { WorkflowRoom } from '../workflow/room.ts';
import type { Foresight } from './approvals/foresee.ts';
import type { Files } from './files/files.ts';
import type { Offer } from './offers/offers.ts';
import { aggregate } from './tools/aggregate.ts';
import { associate } from './tools/associate.ts';
import { create } from './tools/create.ts';
import { deleteRecords } from './tools/delete.ts';
import { describeCollection } from './tools/describe-collection.ts';
import { dissociate } from './tools/dissociate.ts';
import { executeAction } from './tools/execute-action.ts';
import { getActionForm } from './tools/get-action-form.ts';
import { getChart } from './tools/get-chart.ts';
import { getWorkflowRun } from './tools/get-workflow-run.ts';
import { list } from './tools/list.ts';
import { listRelated } from './tools/list-related.ts';
import { listWorkflows } from './tools/list-workflows.ts';
import { requestActionFileUpload } from './tools/request-action-file-upload.ts';
import { triggerWorkflow } from './tools/trigger-workflow.ts';
import { update } from './tools/update.ts';

export interface ToolCall {
  readonly access: Access;
  readonly engine: Engine;
  readonly config: Config;
  readonly signal: StopSignal;
  /** Where the client asked for it. */
  readonly progress?: ReportProgress;
  readonly sendWebhook: SendWebhook;
  readonly files: Files;
  /** Whose uploads the values may name; the caller's own when absent. */
  readonly uploaderId?: number;
  /** Absent where there are no workflows. */
  readonly workflows?: WorkflowCall;
}

/** The door to workflows, and who comes in by it. */
export interface WorkflowCall extends WorkflowDoor {
  readonly clientId: string;
  readonly clientName: string;
}

export interface WorkflowDoor {
  readonly room: WorkflowRoom;
  /** Address of the page where people look at a run and answer what it asks. */
  readonly pageOf: (runId: string) => string;
}

/** The answer as compact JSON text: the one text block of the result. */
export interface ToolAnswer {
  readonly text: string;
  /** For the activity log: what was touched, where the arguments did not say it. */
  readonly recordIds?: readonly string[];
}

export interface Tool<Arguments = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: 'mcp:read' | 'mcp:write' | 'mcp:action';
  /** Whether the caller's permissions let the tool do something; a caller for whom they do not is not shown it. */
  readonly isOffered: Offer;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** JSON Schema 2020-12, written by hand so that it stays small: no enums of collections, no repeated operator lists. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Checks and repairs what a model sent; INVALID_ARGUMENT or INVALID_VALUE that says what to send instead. */
  readonly parse: (given: Readonly<Record<string, unknown>>) => Arguments;
  /** What the activity log says of the call: names and ids, never values. */
  readonly subject: (args: Arguments) => { readonly collection?: string; readonly recordIds?: readonly string[] };
  /**
   * Whether this call may change something; absent: none ever does. Such a call has its permissions compared before it
   * runs, leaves its mark in the activity log before that, and is never tried twice. A dry run changes nothing.
   */
  readonly writes?: (args: Arguments) => boolean;
  /** For a tool whose calls may be repeated without being done twice. */
  readonly idempotency?: {
    readonly key: (args: Arguments) => string | undefined;
    /** Of the caller, all that the answer depends on, ready for JSON: a repeat is told it only where this is the same. */
    readonly rights: (args: Arguments, call: ToolCall) => unknown;
  };
  /** For a tool that writes: whose yes a call needs, and what it would do. */
  readonly approval?: Foresight<Arguments>;
  /** The text alone where there is nothing more to say. */
  readonly run: (args: Arguments, call: ToolCall) => Promise<string | ToolAnswer>;
}

// A row is called with what its own `parse` gave, which the type of a mixed table cannot say.
const table = [
  describeCollection,
  list,
  listRelated,
  create,
  update,
  deleteRecords,
  associate,
  dissociate,
  getActionForm,
  executeAction,
  requestActionFileUpload,
  aggregate,
  getChart,
  listWorkflows,
  triggerWorkflow,
  getWorkflowRun,
] as unknown as readonly Tool[];

export const toolNames: readonly string[] = table.map((tool) => tool.name);

/**
 * The tools to serve, in the order of the table: all, or exactly the named ones. CONFIGURATION for a name that does not
 * exist or when none is left.
 */
export function selectTools(enabled: readonly string[] | null, observe: Observe): readonly Tool[] {
  if (enabled === null) return table;
  for (const name of enabled) {
    if (toolNames.includes(name)) continue;
    const near = nearNames(name, toolNames);
    const hint = near.length > 0 ? `Near: ${near.join(', ')}.` : `There are ${toolNames.join(', ')}.`;
    fail('CONFIGURATION', { problem: `enabledTools (SERVICE_MCP_ENABLED_TOOLS): no tool '${name}'. ${hint}` });
  }
  const selected = table.filter((tool) => enabled.includes(tool.name));
  if (selected.length === 0) fail('CONFIGURATION', { problem: 'enabledTools (SERVICE_MCP_ENABLED_TOOLS) is empty.' });
  if (!enabled.includes(describeCollection.name)) {
    observe({
      type: 'warning',
      message: 'describeCollection is not among the enabled tools: assistants cannot find collections and fields.',
    });
  }
  return selected;
}
