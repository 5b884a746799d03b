// Gives the tools of assistants access to workflows, with links to the page of a run.
import { createConsolePaths, runPage } from '../console/paths.ts';
import type { Config } from '../core/config.ts';
import type { WorkflowDoor } from '../mcp/tool.ts';
import type { WorkflowRoom } from '../workflows/workflows.ts';

export function openWorkflowDoor(
  room: WorkflowRoom,
  { publicUrl, consolePath }: Config & { readonly publicUrl: string },
): WorkflowDoor {
  const paths = createConsolePaths(publicUrl, consolePath);
  return { room, pageOf: (runId) => paths.url(runPage(runId)) };
}
