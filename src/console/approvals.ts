// Approvals: those that somebody may decide, and the page on which he does. The rights are asked at that moment, twice: to
// show the page and to take the answer. Of two who answer at once the storage lets one in.
import { fail } from '../core/errors.ts';
import { type Html, html } from '../oauth/html.ts';
import type { Approval } from '../store/approval-types.ts';
import { type Names, reviewContent, settledContent, summarize } from './approval-view.ts';
import { createFramed } from './frame.ts';
import { approvalPage, countIn } from './paths.ts';
import type { Review } from './review.ts';
import { savedFile } from './saved-file.ts';
import { describeWait } from './times.ts';
import type { Answer, MemberVisit, Parts } from './visit.ts';

const title = 'Approvals';
const under = '/approvals';
/** Each is tried as the one who looks (review.ts), which costs a dry run. */
const LISTED = 20;

/** Newest first, at most `most`. */
export async function findDecidable(visit: MemberVisit, parts: Parts, most: number): Promise<readonly Review[]> {
  const { access } = visit;
  const found: Review[] = [];
  for (const approval of await parts.store.approvals.list('pending', 100)) {
    if (approval.userId === access.caller.id && approval.policy.secondPerson) continue;
    const review = await parts.reviewer.review(approval, access);
    if (review?.may === 'decide') found.push(review);
    if (found.length === most) break;
  }
  return found;
}

export function approvalRows(reviews: readonly Review[], parts: Parts): Html {
  if (reviews.length === 0) {
    return html`<div class="empty"><b>Nothing waits for you</b>When an assistant may do something only with your consent, it shows up here, and the assistant gives you the address.</div>`;
  }
  return html`<ul class="rows">${reviews.map(
    ({ approval }) =>
      html`<li><a href="${parts.paths.path(approvalPage(approval.id))}"><b>${summarize(approval)}</b><span>${approval.clientName} asks, ${describeWait(parts.clock.now() - approval.createdAt)} ago</span></a></li>`,
  )}</ul>`;
}

export async function listApprovals(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const reviews = await findDecidable(visit, parts, LISTED);
  const content = html`<h1>Approvals</h1>
<p class="lead">What assistants may do only when you say so.</p>
${approvalRows(reviews, parts)}
${reviews.length === LISTED && html`<p class="quietly">The newest ${LISTED}. Decide on some to see the others.</p>`}`;
  return { page: createFramed(visit, parts, { title, under, content }) };
}

export async function showApproval(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const approval = await parts.store.approvals.find(visit.id);
  return (approval && (await answerAbout(approval, visit, parts))) ?? gone(visit, parts);
}

/** As the page counts them. Of what is decided nothing is sent any more, and to nobody who is not shown the page. */
export async function sendApprovalFile(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const approval = await parts.store.approvals.find(visit.id);
  const review = approval?.state === 'pending' ? await parts.reviewer.review(approval, visit.access) : undefined;
  // In the order of the values, which is that of the links.
  const files = [...(review?.files.values() ?? [])].flat();
  const file = files[(countIn(visit.params.number) ?? 0) - 1];
  return file ? savedFile(file) : gone(visit, parts);
}

interface Note {
  readonly status: number;
  readonly text: string;
}

/** Undefined for one that is not his to see. */
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
  // What was decided is told to both whom it concerns, and to those who could have decided it themselves.
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

/** An id that nobody gave out and one that is not his to see look the same. */
function gone(visit: MemberVisit, parts: Parts): Answer {
  const content = html`<h1>There is nothing to decide here</h1>
<p class="lead">Either this was asked more than a day ago, or it is for somebody else to decide. If you were sent here, the one who sent you may know who can.</p>
<p><a href="${parts.paths.path('/approvals')}">What waits for you</a></p>`;
  return { status: 404, page: createFramed(visit, parts, { title: 'Nothing to decide', under, content }) };
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
  // The mark is there before the decision, as with every write; who loses the race leaves `failed`.
  const mark = await store.activity.begin({
    userId: caller.id,
    renderingId: caller.renderingId,
    clientId: 'console',
    clientName: 'Console',
    action: verdict === 'approved' ? 'approve' : 'deny',
    type: 'write',
    collection: approval.collection,
    ...(approval.recordIds && { recordIds: approval.recordIds }),
    startedAt: parts.clock.now(),
  });
  const isMine = await store.approvals.decide(approval.id, { by: caller.id, verdict });
  await mark.complete({ outcome: isMine ? 'completed' : 'failed' });
  if (isMine) {
    tell(`approval.${verdict}`);
    return { to: approvalPage(approval.id) };
  }
  const now = await store.approvals.find(approval.id);
  const note = { status: 409, text: 'It was over before your answer came, so your answer changed nothing.' };
  return (now && (await answerAbout(now, visit, parts, note))) ?? gone(visit, parts);
}
