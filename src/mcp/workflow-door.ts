// What the tools for workflows have in common. They are served without workflows too, and offered to nobody then.
import { fail } from '../core/errors.ts';
import type { ToolCall, WorkflowCall } from './tools.ts';

/** UNKNOWN_WORKFLOW where there are none at all. */
export const doorOf = ({ workflows }: ToolCall): WorkflowCall =>
  workflows ?? fail('UNKNOWN_WORKFLOW', { workflow: '' });
