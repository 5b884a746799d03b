// Reports that something waits for people: a new request for approval, or a question of a workflow run. It wraps the
// storage, so every part of this process that creates one is covered. Listeners send the notifications: webhook.ts, and
// mail. The database is written first, and a listener that fails changes nothing.
import type { Observe } from '../core/observe.ts';
import type { Approvals } from '../store/approvals/types.ts';
import type { Runs } from '../store/workflows/types.ts';

/** Names and ids only, never values of records. */
export interface WaitingItem {
  readonly kind: 'approval' | 'question';
  /** Id of the approval, or of the run and its step: the same for a repeated report of the same item. */
  readonly id: string;
  /** Page of the console below its address, such as `/approvals/q3_X`. */
  readonly page: string;
  readonly collection: string;
  /** The team of the request or run. */
  readonly renderingId: number;
  /** The user who made the request, or to whom the run belongs. */
  readonly userId: number;
  /** Another person than `userId` must answer. */
  readonly isForOthers: boolean;
}

export type WaitingListener = (item: WaitingItem) => void;

interface WaitingHook {
  /** Calls `listener` with each new item of this process. */
  listen(listener: WaitingListener): void;
  watchApprovals(approvals: Approvals): Approvals;
  watchRuns(runs: Runs): Runs;
}

export function createWaitingHook({ observe }: { readonly observe: Observe }): WaitingHook {
  const listeners: WaitingListener[] = [];
  const report = (item: WaitingItem): void => {
    for (const listener of listeners) {
      try {
        listener(item);
      } catch (cause) {
        observe({ type: 'warning', message: 'Failed to notify about a waiting item.', cause });
      }
    }
  };
  return {
    listen: (listener) => void listeners.push(listener),
    watchApprovals: (approvals) => ({
      ...approvals,
      async ask(request) {
        const earlier = await approvals.openOf(request);
        const approval = await approvals.ask(request);
        // A repeated call gets its open request, which was reported before.
        if (approval === 'full' || earlier?.approval.id === approval.id) return approval;
        const { id, collection, renderingId, userId, policy } = approval;
        const about = { collection, renderingId, userId, isForOthers: policy.secondPerson };
        report({ kind: 'approval', id, page: `/approvals/${id}`, ...about });
        return approval;
      },
    }),
    watchRuns: (runs) => ({
      ...runs,
      async wait(claim, question) {
        const leaseState = await runs.wait(claim, question);
        if (leaseState !== 'held') return leaseState;
        const { id, collection, renderingId, userId } = claim.run;
        const about = { collection, renderingId, userId, isForOthers: false };
        report({ kind: 'question', id: `${id}.${question.stepId}`, page: `/runs/${id}`, ...about });
        return leaseState;
      },
    }),
  };
}
