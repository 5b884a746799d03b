// Gives the tools of assistants access to workflows, with links to the page of a run.
import { createConsolePaths, runPage } from '../../console/paths.ts';
import type { Config } from '../../core/config.ts';
import type { WorkflowAccess } from '../../mcp/tool.ts';
import type { WorkflowService } from '../../workflows/workflows.ts';

export function openWorkflowAccess(
  workflows: WorkflowService,
  { publicUrl, consolePath }: Config & { readonly publicUrl: string },
): WorkflowAccess {
  const paths = createConsolePaths(publicUrl, consolePath);
  return { service: workflows, pageOf: (runId) => paths.url(runPage(runId)) };
}
