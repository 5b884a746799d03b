// Decides who may settle an approval and what they see of it. A user may decide only if they could make the call now.
// The call therefore runs as a dry run with the viewer's own Access. This checks the same permissions, fields and row
// scopes as the call itself, and returns only data that the viewer may see. The requester's preview is never shown
// instead.
import type { FormFile } from '../../../agent/actions/definitions.ts';
import type { Access } from '../../../core/caller.ts';
import { Stop, type StopSignal } from '../../../core/clock/stop.ts';
import { isAppError } from '../../../core/errors.ts';
import type { Tool, ToolCall } from '../../../mcp/tool.ts';
import type { Approval, ApprovalPreview, PreviewedEffect } from '../../../store/approvals/types.ts';

export type Changes = ApprovalPreview['changes'];

export interface Review {
  readonly approval: Approval;
  /**
   * `other`: the viewer could make the call, but a different person must decide. `no`: the viewer is the requester and
   * may no longer make the call.
   */
  readonly may: 'decide' | 'other' | 'no';
  /** Number of affected records; null for calls that do not select records. */
  readonly count: number | null;
  /** Changes to the first records as of now, limited to what the viewer may see. Empty for an action. */
  readonly changes: Changes;
  /** Side effects in every collection, limited to records that the viewer may see. */
  readonly effects: readonly PreviewedEffect[];
  /** Sentences about possible further changes that a dry run cannot determine. */
  readonly unseen: readonly string[];
  /** Input of an action or of custom write code. Its effect cannot be predicted. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The files among the values, by field. */
  readonly files: ReadonlyMap<string, readonly FormFile[]>;
  /** Whether a record has changed since the request. The call will then fail, even if approved. */
  readonly hasChanged: boolean;
}

export interface Reviewer {
  /**
   * Returns undefined for a viewer who neither made the request nor could decide it. Throws SOURCE_UNAVAILABLE and
   * similar errors when the check cannot run.
   */
  review(approval: Approval, access: Access): Promise<Review | undefined>;
}

type CallPreview = Awaited<ReturnType<NonNullable<Tool['approval']>['preview']>>;

export interface ReviewParts {
  /** All tools, including disabled ones. */
  readonly tools: readonly Tool[];
  readonly callAs: (access: Access, signal: StopSignal) => ToolCall;
}

export function createReviewer({ tools, callAs }: ReviewParts): Reviewer {
  const previewCall = async (approval: Approval, access: Access): Promise<CallPreview | undefined> => {
    const tool = tools.find(({ name }) => name === approval.tool);
    // The requester uploaded the files of the call.
    const call = { ...callAs(access, new Stop()), uploaderId: approval.userId };
    return tool?.approval?.preview(tool.parse(approval.content.arguments), call);
  };

  return {
    async review(approval, access) {
      const isOwn = approval.userId === access.caller.id;
      const callPreview = await previewCall(approval, access).catch(undefinedIfRefused);
      if (!callPreview) return isOwn ? { approval, may: 'no', ...emptyReview } : undefined;
      const { preview, files = emptyReview.files } = callPreview;
      return {
        approval,
        may: isOwn && approval.policy.secondPerson ? 'other' : 'decide',
        count: preview.count,
        changes: preview.changes,
        effects: preview.effects ?? [],
        unseen: preview.unseen ?? [],
        values: preview.values ?? {},
        files,
        hasChanged: hasChanged(approval.content.preview, preview),
      };
    },
  };
}

/** A dry run mostly waits for its database. */
const AT_ONCE = 4;

/**
 * Reviews the approvals, a few at a time; undefined as of `review`, and for those that another person must decide. Dry
 * runs at the same time can lock each other out, so such a review is repeated by itself. If the database still refuses
 * the change, the list leaves it out: it must not keep the other approvals from the page.
 */
export async function reviewDecidable(
  reviewer: Reviewer,
  approvals: readonly Approval[],
  access: Access,
): Promise<(Review | undefined)[]> {
  const reviewOne = async (approval: Approval): Promise<Review | undefined> => {
    if (approval.userId === access.caller.id && approval.policy.secondPerson) return undefined;
    const review = await reviewer.review(approval, access);
    return review?.may === 'decide' ? review : undefined;
  };
  const reviews: (Review | undefined)[] = [];
  for (let at = 0; at < approvals.length; at += AT_ONCE) {
    const some = approvals.slice(at, at + AT_ONCE);
    const settled = await Promise.allSettled(some.map(reviewOne));
    for (const [index, one] of settled.entries()) {
      if (one.status === 'fulfilled') reviews.push(one.value);
      else if (isAppError(one.reason, 'WRITE_CONFLICT'))
        reviews.push(await reviewOne(some[index]!).catch(undefinedIfConflict));
      else throw one.reason;
    }
  }
  return reviews;
}

const emptyReview = {
  count: null,
  changes: [],
  effects: [],
  unseen: [],
  values: {},
  files: new Map<string, readonly FormFile[]>(),
  hasChanged: false,
} as const;

function undefinedIfConflict(error: unknown): undefined {
  if (!isAppError(error, 'WRITE_CONFLICT')) throw error;
}

/** An error below 500, except a write conflict, means that the viewer may not decide. Other errors are rethrown. */
function undefinedIfRefused(error: unknown): undefined {
  if (isAppError(error) && error.status < 500 && error.code !== 'WRITE_CONFLICT') return undefined;
  throw error;
}

/** Compares the parts that both previews contain. */
function hasChanged(requested: ApprovalPreview, now: ApprovalPreview): boolean {
  if (differ(requested.changes, now.changes)) return true;
  const kindOf = ({ collection, change, cause }: PreviewedEffect) => JSON.stringify([collection, change, cause]);
  const requestedEffects = new Map(requested.effects?.map((effect) => [kindOf(effect), effect]));
  return (now.effects ?? []).some((effect) => {
    const was = requestedEffects.get(kindOf(effect));
    return was !== undefined && (was.count !== effect.count || differ(was.changes ?? [], effect.changes ?? []));
  });
}

/** Compares the previous values of the fields that both previews contain. */
function differ(requested: Changes, now: Changes): boolean {
  const requestedFields = new Map(requested.map(({ id, fields }) => [id, fields]));
  return now.some(({ id, fields }) =>
    Object.entries(fields).some(([name, { before }]) => {
      const was = requestedFields.get(id)?.[name];
      return was !== undefined && JSON.stringify(was.before) !== JSON.stringify(before);
    }),
  );
}
