// Decides one approval. The page of the approval and the inbox use it, so both check the same rights and write the same
// log entries.
import type { Approval } from '../../../store/approvals/types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import type { Review } from './review.ts';

type Verdict = 'approved' | 'denied';

export const verdicts: Readonly<Record<string, Verdict>> = { approve: 'approved', deny: 'denied' };

type Decision =
  /** Unknown, or the user must not see it. */
  | { readonly state: 'missing' }
  /** The user may see it, but another person must decide. */
  | { readonly state: 'refused'; readonly approval: Approval }
  /** `isSeen` returned false. */
  | { readonly state: 'changed'; readonly approval: Approval }
  /** It was settled before. */
  | { readonly state: 'late'; readonly approval: Approval }
  /** `running`: the server's execution of an approved call. It never rejects. */
  | { readonly state: 'decided'; readonly approval: Approval; readonly running?: Promise<unknown> };

/** `isSeen` receives the current review, and returns whether it is the one that the user saw. Default: always. */
export async function decide(
  id: string,
  verdict: Verdict,
  { access }: SignedInRequest,
  parts: Parts,
  isSeen: (review: Review) => boolean = () => true,
): Promise<Decision> {
  const { store } = parts;
  const { caller } = access;
  const approval = await store.approvals.find(id);
  const review = approval && (await parts.reviewer.review(approval, access));
  if (!review) return { state: 'missing' };
  const reportSecurity = (event: string) =>
    parts.observe({ type: 'security', event, userId: caller.id, clientId: approval.clientId, detail: approval.id });
  if (review.may !== 'decide') {
    reportSecurity('approval.refused');
    return { state: 'refused', approval };
  }
  if (!isSeen(review)) return { state: 'changed', approval };
  // As with every write, the log entry comes first. The loser of a race gets the outcome `failed`.
  const mark = await store.activity.begin({
    userId: caller.id,
    renderingId: caller.renderingId,
    clientId: 'console',
    clientName: 'Console',
    action: verdict === 'approved' ? 'approve' : 'deny',
    type: 'write',
    collection: approval.collection,
    ...(approval.recordIds && { recordIds: approval.recordIds }),
    approvalId: approval.id,
    startedAt: parts.clock.now(),
  });
  const isDecided = await store.approvals.decide(approval.id, { by: caller.id, verdict });
  await mark.complete({ outcome: isDecided ? 'completed' : 'failed' });
  if (!isDecided) return { state: 'late', approval };
  reportSecurity(`approval.${verdict}`);
  if (verdict === 'denied') await dropFiles(approval, parts);
  const running = verdict === 'approved' ? parts.execution?.run(approval) : undefined;
  return { state: 'decided', approval, ...(running && { running }) };
}

/** The decision stays valid if the deletion fails: uploaded files expire anyway. */
async function dropFiles(denied: Approval, { dropUploads, observe }: Parts): Promise<void> {
  await dropUploads(denied).catch((cause: unknown) => {
    observe({
      type: 'warning',
      message: 'Failed to delete the uploaded files of a denied call. They remain until they expire.',
      cause,
    });
  });
}
