// Approved calls: the request is filed with all rights, the rights change, and another user approves. Either the server
// executes the call immediately, or the assistant with its repeat.
import type { OperationName } from '../operations.ts';
import type { Policy } from '../oracle.ts';
import type { World } from '../world.ts';
import type { Ending, Entry } from './entry.ts';
import type { Assistant } from './mcp.ts';
import type { Person } from './playground.ts';

export interface ApprovalParts {
  readonly world: World;
  readonly assistant: Assistant;
  readonly admin: Person;
  /** The policy when the request is filed. */
  readonly asking: Policy;
  /** The policy when it is decided. */
  readonly policy: Policy;
  readonly operations: readonly OperationName[];
}

export function openApprovals({ world, assistant, admin, asking, policy, operations }: ApprovalParts): Entry {
  return {
    operations,
    isLater: true,
    async act(operation): Promise<Ending> {
      await world.apply(asking);
      const { end, text, approve } = await assistant.act(operation);
      if (approve === undefined) return { end: `not filed: ${end}`, text };
      const before = await world.changes();
      if (before.length > 0) return { end: `done before: ${before}`, text };
      await world.apply(policy);
      await admin.send(`/approvals/${approve.split('/').at(-1)}`, { action: 'approve' });
      return assistant.act(operation);
    },
  };
}
