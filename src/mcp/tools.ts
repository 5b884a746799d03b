// The table of tools. Each row is a file in tools/. The descriptions for clients are built once, at start.

import { fail } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { suggestNames } from '../core/suggestions.ts';
import type { Tool } from './tool.ts';
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

// A row's methods take the arguments of its own `parse`, which the type of a mixed table cannot express.
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
 * Returns the tools to serve, in the order of the table: all, or exactly the named ones. Throws CONFIGURATION for an
 * unknown name or an empty list.
 */
export function selectTools(enabled: readonly string[] | null, observe: Observe): readonly Tool[] {
  if (enabled === null) return table;
  for (const name of enabled) {
    if (toolNames.includes(name)) continue;
    const near = suggestNames(name, toolNames);
    const hint = near.length > 0 ? `Near: ${near.join(', ')}.` : `Known: ${toolNames.join(', ')}.`;
    fail('CONFIGURATION', { problem: `enabledTools (SERVICE_MCP_ENABLED_TOOLS): no tool '${name}'. ${hint}` });
  }
  const selected = table.filter((tool) => enabled.includes(tool.name));
  if (selected.length === 0) fail('CONFIGURATION', { problem: 'enabledTools (SERVICE_MCP_ENABLED_TOOLS) is empty.' });
  if (!enabled.includes(describeCollection.name)) {
    observe({
      type: 'warning',
      message: 'describeCollection is not enabled: assistants cannot discover collections and fields.',
    });
  }
  return selected;
}
