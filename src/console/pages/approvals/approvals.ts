// Approvals: the list of those that the user may decide, and the page to decide one. Rights are checked twice: to show
// the page and to accept the decision. If two users decide at once, the storage accepts one decision.
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { clientLabel } from '../../../oauth/clients/display-name.ts';
import type { Approval } from '../../../store/approvals/types.ts';
import type { Run } from '../../../store/workflows/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { approvalPage, parseCount } from '../../paths.ts';
import { type RecordNames, readNames } from '../../records/names.ts';
import { empty, pager, table } from '../../ui/data.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { addressOf } from '../logs/filters.ts';
import { decide, verdicts } from './decide.ts';
import { type Review, reviewDecidable } from './review.ts';
import { logFile, savedFile } from './saved-file.ts';
import { approvalBadge, decidedContent, type Names, reviewContent, summarize } from './view.ts';

const title = 'Approvals';
const under = '/approvals';
/** How long the redirect waits for the approved call. */
export const SHOWN_AFTER_MS = 4000;
/** Each entry costs a dry run with the viewer's rights (review.ts). */
const LISTED = 20;
const BATCH = 50;
const RECORDS_NAMED = 30;
/** Settled requests of all users that are read to find those of one user. */
const SETTLED = 100;
/** Maximum number of approvals to examine per page: the user may not be allowed to decide most of them. */
const EXAMINED = 200;

interface Decidable {
  readonly reviews: readonly Review[];
  /** Offset of the next page; undefined at the end. */
  readonly next: number | undefined;
}

/** Returns at most `most` approvals in storage order, skipping the first `from` pending ones. */
export async function findDecidable(
  request: SignedInRequest,
  parts: Parts,
  limit: number,
  from = 0,
): Promise<Decidable> {
  const { access } = request;
  const reviews: Review[] = [];
  for (let at = from; at < from + EXAMINED; at += BATCH) {
    const some = await parts.store.approvals.list('pending', BATCH, at);
    for (let index = 0; index < some.length; ) {
      if (reviews.length === limit) return { reviews, next: at + index };
      // No more than fit: the next page begins after the last of these.
      const next = some.slice(index, index + limit - reviews.length);
      const reviewed = await reviewDecidable(parts.reviewer, next, access);
      reviews.push(...reviewed.filter((review) => review !== undefined));
      index += next.length;
    }
    if (some.length < BATCH) return { reviews, next: undefined };
  }
  return { reviews, next: from + EXAMINED };
}

/** The names of the records in the titles of approvals, and of runs. */
export const readTitleNames = (
  approvals: readonly Approval[],
  request: SignedInRequest,
  parts: Parts,
  runs: readonly Pick<Run, 'collection' | 'recordId'>[] = [],
): Promise<RecordNames> =>
  readNames(request, parts, [
    ...approvals.flatMap((approval) => refsOf(approval).slice(0, 1)),
    ...runs.map(({ collection, recordId }) => ({ collection, id: recordId })),
  ]);

/** `more`: further lines of the list. */
export function approvalRows(
  reviews: readonly Review[],
  parts: Parts,
  records: RecordNames,
  more: readonly Html[] = [],
): Html {
  if (reviews.length + more.length === 0) {
    return html`<div class="empty"><b>Nothing is waiting for you</b>Requests that need your approval appear here. Your assistant also gives you a link.</div>`;
  }
  return html`<ul class="rows">${reviews.map(
    ({ approval }) =>
      html`<li><a href="${parts.paths.path(approvalPage(approval.id))}"><b>${summarize(approval, records)}</b><span>${clientLabel(approval.clientId, approval.clientName)} asks, ${describeWait(parts.clock.now() - approval.createdAt)} ago</span></a></li>`,
  )}${more}</ul>`;
}

export async function listApprovals(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const from = parseCount(request.query.get('after') ?? undefined) ?? 0;
  const { reviews, next } = await findDecidable(request, parts, LISTED, from);
  const records = await readTitleNames(
    reviews.map(({ approval }) => approval),
    request,
    parts,
  );
  const content = html`<h1>Approvals</h1>
<p class="lead">Requests from assistants that need your approval.</p>
${next !== undefined && reviews.length === 0 ? empty('No request here needs your approval', 'Continue with the older requests.') : approvalRows(reviews, parts, records)}
${pager({
  ...(from > 0 && { newest: addressOf(request, parts, under) }),
  ...(next !== undefined && { older: addressOf(request, parts, under, { after: `${next}` }) }),
})}
${from === 0 && (await history(request, parts))}`;
  return { page: createFramedPage(request, parts, { title, under, content }) };
}

/** The settled requests that the user made or decided. The storage keeps them for a day. */
async function history(request: SignedInRequest, parts: Parts): Promise<Html> {
  const { id, timezone } = request.access.caller;
  const settled = await parts.store.approvals.list('settled', SETTLED);
  const concerned = settled.filter(({ userId, decidedBy }) => userId === id || decidedBy === id).slice(0, LISTED);
  const records = await readTitleNames(concerned, request, parts);
  const rows = concerned.map((approval) => [
    html`<a href="${parts.paths.path(approvalPage(approval.id))}">${summarize(approval, records)}</a>`,
    approvalBadge(approval),
    clientLabel(approval.clientId, approval.clientName),
    showTime(approval.decidedAt ?? approval.createdAt, timezone),
  ]);
  return html`<section aria-labelledby="history"><h2 class="plainly" id="history">Last 24 hours</h2>
${rows.length > 0 ? table({ caption: 'Settled requests', heads: ['Request', 'State', 'App', 'When'], rows }) : empty('No request was settled', 'Requests that you made or decided stay here for a day.')}</section>`;
}

export async function showApproval(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const approval = await parts.store.approvals.find(request.id);
  return (approval && (await approvalAnswer(approval, request, parts))) ?? missingPage(request, parts);
}

/**
 * Files are numbered as on the page. Only pending approvals have files, and only users who may see the page can
 * download them.
 */
export async function sendApprovalFile(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const approval = await parts.store.approvals.find(request.id);
  const review = approval?.state === 'pending' ? await parts.reviewer.review(approval, request.access) : undefined;
  // The page numbers its links in the same order.
  const files = [...(review?.files.values() ?? [])].flat();
  const file = files[(parseCount(request.params.number) ?? 0) - 1];
  if (!approval || !file) return missingPage(request, parts);
  const { collection, recordIds } = approval;
  logFile(request, parts, { collection, ...(recordIds && { recordIds }), approvalId: approval.id });
  return savedFile(file);
}

interface Note {
  readonly status: number;
  readonly text: string;
}

const refsOf = ({ collection, recordIds = [] }: Approval) => recordIds.map((id) => ({ collection, id }));

/** Undefined for an approval that the user must not see. */
async function approvalAnswer(
  approval: Approval,
  request: SignedInRequest,
  parts: Parts,
  note?: Note,
): Promise<Answer | undefined> {
  const shown = (content: Html): Answer => ({
    ...(note && { status: note.status }),
    page: createFramedPage(request, parts, { title: summarize(approval, records), under, content }),
  });
  const records = await readNames(request, parts, refsOf(approval).slice(0, RECORDS_NAMED));
  if (approval.state === 'pending') {
    const review = await parts.reviewer.review(approval, request.access);
    return review && shown(reviewContent(review, await namesOf(approval, parts), records, request, parts));
  }
  // A settled approval is visible to its requester, the person who decided it, and users who could have decided it.
  const { id } = request.access.caller;
  const concerns = approval.userId === id || approval.decidedBy === id;
  if (!concerns && !(await parts.reviewer.review(approval, request.access))) return undefined;
  return shown(decidedContent(approval, await namesOf(approval, parts), records, request, parts, note?.text));
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
function missingPage(request: SignedInRequest, parts: Parts): Answer {
  const content = html`<h1>Request not found</h1>
<p class="lead">The request is more than a day old, or another person must decide it. If you received this link, ask its sender who can.</p>
<p><a href="${parts.paths.path('/approvals')}">All approvals</a></p>`;
  return { status: 404, page: createFramedPage(request, parts, { title: 'Request not found', under, content }) };
}

export async function decideApproval(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const verdict = verdicts[request.form.get('action') ?? ''];
  if (!verdict) fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press Approve or Deny.' });
  const decision = await decide(request.id, verdict, request, parts);
  if (decision.state === 'missing') return missingPage(request, parts);
  const { approval } = decision;
  if (decision.state === 'decided') {
    // Most calls finish within this wait. The page reports the others as in progress.
    if (decision.running) await Promise.race([decision.running, parts.clock.sleep(SHOWN_AFTER_MS)]);
    return { to: approvalPage(approval.id) };
  }
  const note =
    decision.state === 'refused'
      ? { status: 403, text: '' }
      : { status: 409, text: 'The request was settled before your answer arrived. Your answer was not used.' };
  const now = await parts.store.approvals.find(approval.id);
  return (now && (await approvalAnswer(now, request, parts, note))) ?? missingPage(request, parts);
}
