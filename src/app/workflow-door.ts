// The door to workflows for the tools of assistants, which send people to the page of a run.
import { createConsolePaths, runPage } from '../console/paths.ts';
import type { Config } from '../core/config.ts';
import type { WorkflowDoor } from '../mcp/tools.ts';
import type { WorkflowRoom } from '../workflow/room.ts';

export function openWorkflowDoor(
  room: WorkflowRoom,
  { publicUrl, consolePath }: Config & { readonly publicUrl: string },
): WorkflowDoor {
  const paths = createConsolePaths(publicUrl, consolePath);
  return { room, pageOf: (runId) => paths.url(runPage(runId)) };
}
