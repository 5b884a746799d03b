// Where what waits for a yes is kept, and the address at which a person decides: the same for every way in.
import { approvalPage, createConsolePaths } from '../console/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { type ApprovalDoor, createApprovalDoor } from '../mcp/approvals/approval.ts';
import type { Store } from '../store/store.ts';

export function openApprovalDoor(
  { approvals, keys }: Pick<Store, 'approvals' | 'keys'>,
  config: Config & { readonly publicUrl: string },
  clock: Clock,
): ApprovalDoor {
  const paths = createConsolePaths(config.publicUrl, config.consolePath);
  return createApprovalDoor({ approvals, keys, config, clock, approvalAddress: (id) => paths.url(approvalPage(id)) });
}
