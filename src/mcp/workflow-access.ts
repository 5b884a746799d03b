// Shared by the workflow tools. Without workflows the tools are registered but not shown to any caller.
import { fail } from '../core/errors.ts';
import type { ToolCall, WorkflowCall } from './tool.ts';

/** Returns the workflows. Throws UNKNOWN_WORKFLOW if the server has no workflows. */
export const requireWorkflows = ({ workflows }: ToolCall): WorkflowCall =>
  workflows ?? fail('UNKNOWN_WORKFLOW', { workflow: '' });
