// What waits for a user: approvals that they may decide, and questions of runs that they may see. The count is in the
// navigation of every page, so it examines a limited number and keeps the result of the check of each approval.
import { LRUCache } from 'lru-cache';
import type { Access } from '../../../core/caller.ts';
import type { Store } from '../../../store/store.ts';
import type { WorkflowService } from '../../../workflows/workflows.ts';
import type { Reviewer } from '../approvals/review.ts';

/** Examined approvals, and examined runs. */
const EXAMINED = 20;
/** An approval is checked again after this time, because the data of the call can change. */
const KEPT_MS = 60_000;
const KEPT = 5000;

export interface WaitingCount {
  readonly count: number;
  /** More may be waiting than were examined. */
  readonly isMore: boolean;
}

export const nothingWaits: WaitingCount = { count: 0, isMore: false };

export interface Inbox {
  /** Never throws: without an answer of the data sources, an approval is not counted. */
  count(access: Access): Promise<WaitingCount>;
}

interface InboxParts {
  readonly store: Pick<Store, 'approvals' | 'versions'>;
  readonly workflows: Pick<WorkflowService, 'runs'>;
  readonly reviewer: Reviewer;
}

export function createInbox({ store, workflows, reviewer }: InboxParts): Inbox {
  const checked = new LRUCache<string, boolean>({ max: KEPT, ttl: KEPT_MS });

  const countApprovals = async (access: Access): Promise<WaitingCount> => {
    const pending = await store.approvals.list('pending', EXAMINED);
    if (pending.length === 0) return nothingWaits;
    const { permissions } = await store.versions();
    let count = 0;
    for (const approval of pending) {
      if (approval.userId === access.caller.id && approval.policy.secondPerson) continue;
      const key = JSON.stringify([approval.id, access.caller.id, permissions]);
      let mayDecide = checked.get(key);
      if (mayDecide === undefined) {
        mayDecide = (await reviewer.review(approval, access))?.may === 'decide';
        checked.set(key, mayDecide);
      }
      if (mayDecide) count += 1;
    }
    return { count, isMore: pending.length === EXAMINED };
  };

  const countQuestions = async (access: Access): Promise<WaitingCount> => {
    const runs = await workflows.runs(access, { state: 'awaiting-input', limit: EXAMINED });
    return { count: runs.length, isMore: runs.length === EXAMINED };
  };

  return {
    async count(access) {
      const found = await Promise.all(
        [countApprovals, countQuestions].map((count) => count(access).catch(() => nothingWaits)),
      );
      const count = found.reduce((sum, each) => sum + each.count, 0);
      return { count, isMore: count > 0 && found.some(({ isMore }) => isMore) };
    },
  };
}
