// Approvals: the list of those that the user may decide, and the page to decide one. Rights are checked twice: to show
// the page and to accept the decision. If two users decide at once, the storage accepts one decision.
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { listedClient } from '../../../oauth/clients/display-name.ts';
import type { Approval } from '../../../store/approvals/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { approvalPage, countIn } from '../../paths.ts';
import { empty, pager } from '../../ui/data.ts';
import { createFramed } from '../../ui/frame.ts';
import { describeWait } from '../../ui/times.ts';
import { addressOf } from '../logs/filters.ts';
import type { Review } from './review.ts';
import { logFile, savedFile } from './saved-file.ts';
import { type Names, reviewContent, settledContent, summarize } from './view.ts';

const title = 'Approvals';
const under = '/approvals';
/** How long the redirect waits for the approved call. */
const SHOWN_AFTER_MS = 4000;
/** Each entry costs a dry run with the viewer's rights (review.ts). */
const LISTED = 20;
const BATCH = 50;
/** Maximum number of approvals to examine per page: the user may not be allowed to decide most of them. */
const EXAMINED = 200;

export interface Decidable {
  readonly reviews: readonly Review[];
  /** Offset of the next page; undefined at the end. */
  readonly next: number | undefined;
}

/** Returns at most `most` approvals in storage order, skipping the first `from` pending ones. */
export async function findDecidable(visit: MemberVisit, parts: Parts, most: number, from = 0): Promise<Decidable> {
  const { access } = visit;
  const reviews: Review[] = [];
  for (let at = from; at < from + EXAMINED; at += BATCH) {
    const some = await parts.store.approvals.list('pending', BATCH, at);
    for (const [index, approval] of some.entries()) {
      if (reviews.length === most) return { reviews, next: at + index };
      if (approval.userId === access.caller.id && approval.policy.secondPerson) continue;
      const review = await parts.reviewer.review(approval, access);
      if (review?.may === 'decide') reviews.push(review);
    }
    if (some.length < BATCH) return { reviews, next: undefined };
  }
  return { reviews, next: from + EXAMINED };
}

export function approvalRows(reviews: readonly Review[], parts: Parts): Html {
  if (reviews.length === 0) {
    return html`<div class="empty"><b>Nothing waits for you</b>When an assistant may do something only with your consent, it shows up here, and the assistant gives you the address.</div>`;
  }
  return html`<ul class="rows">${reviews.map(
    ({ approval }) =>
      html`<li><a href="${parts.paths.path(approvalPage(approval.id))}"><b>${summarize(approval)}</b><span>${listedClient(approval.clientId, approval.clientName)} asks, ${describeWait(parts.clock.now() - approval.createdAt)} ago</span></a></li>`,
  )}</ul>`;
}

export async function listApprovals(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const from = countIn(visit.query.get('after') ?? undefined) ?? 0;
  const { reviews, next } = await findDecidable(visit, parts, LISTED, from);
  const content = html`<h1>Approvals</h1>
<p class="lead">What assistants may do only when you say so.</p>
${next !== undefined && reviews.length === 0 ? empty('None of these is for you', 'Go on to the older ones.') : approvalRows(reviews, parts)}
${pager({
  ...(from > 0 && { newest: addressOf(visit, parts, under) }),
  ...(next !== undefined && { older: addressOf(visit, parts, under, { after: `${next}` }) }),
})}`;
  return { page: createFramed(visit, parts, { title, under, content }) };
}

export async function showApproval(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const approval = await parts.store.approvals.find(visit.id);
  return (approval && (await answerAbout(approval, visit, parts))) ?? gone(visit, parts);
}

/**
 * Files are numbered as on the page. Only pending approvals have files, and only users who may see the page can
 * download them.
 */
export async function sendApprovalFile(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const approval = await parts.store.approvals.find(visit.id);
  const review = approval?.state === 'pending' ? await parts.reviewer.review(approval, visit.access) : undefined;
  // The page numbers its links in the same order.
  const files = [...(review?.files.values() ?? [])].flat();
  const file = files[(countIn(visit.params.number) ?? 0) - 1];
  if (!approval || !file) return gone(visit, parts);
  const { collection, recordIds } = approval;
  logFile(visit, parts, { collection, ...(recordIds && { recordIds }), approvalId: approval.id });
  return savedFile(file);
}

interface Note {
  readonly status: number;
  readonly text: string;
}

/** Undefined for an approval that the user must not see. */
async function answerAbout(
  approval: Approval,
  visit: MemberVisit,
  parts: Parts,
  note?: Note,
): Promise<Answer | undefined> {
  const shown = (content: Html): Answer => ({
    ...(note && { status: note.status }),
    page: createFramed(visit, parts, { title: summarize(approval), under, content }),
  });
  if (approval.state === 'pending') {
    const review = await parts.reviewer.review(approval, visit.access);
    return review && shown(reviewContent(review, await namesOf(approval, parts), visit, parts));
  }
  // A settled approval is visible to its requester, the person who decided it, and users who could have decided it.
  const { id } = visit.access.caller;
  const concerns = approval.userId === id || approval.decidedBy === id;
  if (!concerns && !(await parts.reviewer.review(approval, visit.access))) return undefined;
  return shown(settledContent(approval, await namesOf(approval, parts), visit, parts, note?.text));
}

async function namesOf(approval: Approval, { store }: Parts): Promise<Names> {
  const nameOf = async (id: number | undefined) => {
    const user = id === undefined ? undefined : await store.identity.findUser(id);
    if (!user) return undefined;
    return { name: `${user.firstName} ${user.lastName}`.trim(), email: user.email, team: user.team, role: user.role };
  };
  return { asker: await nameOf(approval.userId), decider: await nameOf(approval.decidedBy) };
}

/** Unknown ids and approvals that the user must not see return the same page. */
function gone(visit: MemberVisit, parts: Parts): Answer {
  const content = html`<h1>There is nothing to decide here</h1>
<p class="lead">Either this was asked more than a day ago, or it is for somebody else to decide. If you were sent here, the one who sent you may know who can.</p>
<p><a href="${parts.paths.path('/approvals')}">What waits for you</a></p>`;
  return { status: 404, page: createFramed(visit, parts, { title: 'Nothing to decide', under, content }) };
}

/** The decision stays valid if the deletion fails: uploaded files expire anyway. */
async function dropFiles(denied: Approval, { dropUploads, observe }: Parts): Promise<void> {
  await dropUploads(denied).catch((cause: unknown) => {
    observe({ type: 'warning', message: 'Files of a call that was denied stay until they expire.', cause });
  });
}

const verdicts: Readonly<Record<string, 'approved' | 'denied'>> = { approve: 'approved', deny: 'denied' };

export async function decideApproval(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { store } = parts;
  const { caller } = visit.access;
  const verdict = verdicts[visit.form.get('action') ?? ''];
  if (!verdict) fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press Approve or Deny.' });
  const approval = await store.approvals.find(visit.id);
  const review = approval && (await parts.reviewer.review(approval, visit.access));
  if (!review) return gone(visit, parts);
  const tell = (event: string) =>
    parts.observe({ type: 'security', event, userId: caller.id, clientId: approval.clientId, detail: approval.id });
  if (review.may !== 'decide') {
    tell('approval.refused');
    return (await answerAbout(approval, visit, parts, { status: 403, text: '' })) ?? gone(visit, parts);
  }
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
  const isMine = await store.approvals.decide(approval.id, { by: caller.id, verdict });
  await mark.complete({ outcome: isMine ? 'completed' : 'failed' });
  if (isMine) {
    tell(`approval.${verdict}`);
    if (verdict === 'denied') await dropFiles(approval, parts);
    // Most calls finish within this wait. The page reports the others as in progress.
    if (verdict === 'approved' && parts.execution)
      await Promise.race([parts.execution.run(approval), parts.clock.sleep(SHOWN_AFTER_MS)]);
    return { to: approvalPage(approval.id) };
  }
  const now = await store.approvals.find(approval.id);
  const note = { status: 409, text: 'It was over before your answer came, so your answer changed nothing.' };
  return (now && (await answerAbout(now, visit, parts, note))) ?? gone(visit, parts);
}
