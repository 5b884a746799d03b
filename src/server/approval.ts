// Connects approvals with their storage and with the console page for decisions. Every transport uses it.
import { approvalPage, createConsolePaths } from '../console/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { type ApprovalCheck, createApprovalCheck } from '../mcp/approvals/approval.ts';
import { selectTools } from '../mcp/tools.ts';
import type { Store } from '../store/store.ts';

export function openApprovals(
  { approvals, keys }: Pick<Store, 'approvals' | 'keys'>,
  config: Config & { readonly publicUrl: string },
  clock: Clock,
): ApprovalCheck {
  const paths = createConsolePaths(config.publicUrl, config.consolePath);
  const tools = selectTools(null, () => undefined);
  const approvalAddress = (id: string) => paths.url(approvalPage(id));
  return createApprovalCheck({ tools, approvals, keys, config, clock, approvalAddress });
}
