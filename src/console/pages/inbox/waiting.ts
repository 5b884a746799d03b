// What waits for a user: approvals that they may decide, and questions of runs that they may see. The count is in the
// navigation of every page, so it examines a limited number and keeps the result of the check of each approval.
import { LRUCache } from 'lru-cache';
import type { Access } from '../../../core/caller.ts';
import type { Waiting, WaitingEntry } from '../../../notifications/waiting-mail.ts';
import type { Approval } from '../../../store/approvals/types.ts';
import type { Store } from '../../../store/store.ts';
import type { WorkflowService } from '../../../workflows/workflows.ts';
import { type Reviewer, reviewDecidable } from '../approvals/review.ts';
import { summarizeTool } from '../approvals/tool-words.ts';

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
  /** What the count counts. Throws without an answer of the data sources. */
  read(access: Access): Promise<Waiting>;
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

  const readApprovals = async (access: Access): Promise<Waiting> => {
    const pending = await store.approvals.list('pending', EXAMINED);
    if (pending.length === 0) return none;
    const { permissions } = await store.versions();
    const keyOf = ({ id }: Approval) => JSON.stringify([id, access.caller.id, permissions]);
    const unknown = pending.filter((approval) => !checked.has(keyOf(approval)));
    const reviews = await reviewDecidable(reviewer, unknown, access);
    for (const [at, approval] of unknown.entries()) checked.set(keyOf(approval), reviews[at] !== undefined);
    const entries = pending
      .filter((approval) => checked.get(keyOf(approval)))
      .map((approval): WaitingEntry => ({ id: approval.id, kind: 'approval', title: summarizeTool(approval) }));
    return { entries, isMore: pending.length === EXAMINED };
  };

  const readQuestions = async (access: Access): Promise<Waiting> => {
    const runs = await workflows.runs(access, { state: 'awaiting-input', limit: EXAMINED });
    const entries = runs.map(({ id, position, name, collection }): WaitingEntry => {
      return { id: `${id}.${position}`, kind: 'question', title: `${name} on ${collection}` };
    });
    return { entries, isMore: runs.length === EXAMINED };
  };
  const readers = [readApprovals, readQuestions];
  const join = (found: readonly Waiting[]): Waiting => {
    const entries = found.flatMap((each) => each.entries);
    return { entries, isMore: entries.length > 0 && found.some(({ isMore }) => isMore) };
  };

  return {
    read: async (access) => join(await Promise.all(readers.map((read) => read(access)))),
    async count(access) {
      const found = await Promise.all(readers.map((read) => read(access).catch(() => none)));
      const { entries, isMore } = join(found);
      return { count: entries.length, isMore };
    },
  };
}

const none: Waiting = { entries: [], isMore: false };
