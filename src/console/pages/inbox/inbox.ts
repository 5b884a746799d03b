// The inbox: approvals that the user may decide, questions of runs, and for administrators the invitations that nobody
// has accepted. Several approvals are decided at once. The form carries a fingerprint of what the page showed of each,
// and an approval that looks different by now is not decided.
import { fail } from '../../../core/errors.ts';
import { hashToken } from '../../../core/secret.ts';
import { type Html, html } from '../../../http/html.ts';
import { clientLabel } from '../../../oauth/clients/display-name.ts';
import type { Run } from '../../../store/workflows/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { approvalPage, runPage } from '../../paths.ts';
import type { RecordNames } from '../../records/names.ts';
import { empty } from '../../ui/data.ts';
import { openForm } from '../../ui/form.ts';
import { createFragment, createFramedPage } from '../../ui/frame.ts';
import { countBadge } from '../../ui/navigation.ts';
import { describeWait } from '../../ui/times.ts';
import { findDecidable, readTitleNames, SHOWN_AFTER_MS } from '../approvals/approvals.ts';
import { changeTables, effectTables } from '../approvals/changes-view.ts';
import { decide, verdicts } from '../approvals/decide.ts';
import type { Review } from '../approvals/review.ts';
import { approvalBadge, summarize } from '../approvals/view.ts';
import { nameOf, stateOf } from '../people/list.ts';
import { personPage } from '../rights/places.ts';
import { reasonWords } from '../workflows/words.ts';

const under = '/inbox';
/** Of each kind. Each approval costs a dry run with the viewer's rights. */
const LISTED = 20;

/** Parts of a review that the page shows. Two reviews with the same fingerprint look the same. */
const fingerprint = ({ approval, count, changes, effects, unseen, hasChanged }: Review): string =>
  hashToken(JSON.stringify([approval.id, approval.state, count, changes, effects, unseen, hasChanged])).slice(0, 22);

/** Values of forms and files are only on the page of the approval. */
const isShownWhole = ({ values }: Review): boolean => Object.keys(values).length === 0;

export async function showInbox(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access } = request;
  const isAdmin = access.caller.permissionLevel === 'admin';
  const [{ reviews, next }, questions, invited, results] = await Promise.all([
    findDecidable(request, parts, LISTED),
    parts.workflows.runs(access, { state: 'awaiting-input', limit: LISTED }),
    isAdmin ? findInvited(parts) : [],
    resultsOf(request, parts),
  ]);
  const names = await readTitleNames(
    reviews.map(({ approval }) => approval),
    request,
    parts,
    questions,
  );
  const isEmpty = reviews.length === 0 && questions.length === 0 && invited.length === 0;
  const path = (page: string) => parts.paths.path(page);
  const content = html`<div class="head"><h1>Inbox</h1><button type="button" class="plain slim" hidden data-notify>Notify me in this browser</button></div>
<p class="lead">Requests and questions that need your answer.</p>
${results}
${isEmpty && empty('Nothing is waiting for you', html`Requests of assistants and questions of workflow runs appear here. <a href="${path('/approvals')}">Show settled requests</a>.`)}
${reviews.length > 0 && approvals(reviews, names, request, parts)}
${next !== undefined && html`<p class="quietly"><a href="${path('/approvals')}?after=${next}">More approvals</a></p>`}
${questions.length > 0 && html`<section aria-labelledby="questions"><h2 class="plainly" id="questions">Questions of workflow runs</h2><ul class="rows">${questionRows(questions, names, parts)}</ul></section>`}
${
  invited.length > 0 &&
  html`<section aria-labelledby="invited"><h2 class="plainly" id="invited">Invitations not accepted</h2>
<ul class="rows">${invited.map(
    (user) =>
      html`<li><a href="${path(personPage(user.id))}"><b>${nameOf(user)}</b><span>${user.email}. Open the person to create a new link.</span></a></li>`,
  )}</ul></section>`
}`;
  return { page: createFramedPage(request, parts, { title: 'Inbox', under, content }) };
}

async function findInvited(parts: Parts) {
  const users = await parts.store.identity.listUsers();
  return users.filter((user) => stateOf(user, parts) === 'invited').slice(0, LISTED);
}

/** The questions of runs, as lines of a list. */
export const questionRows = (runs: readonly Run[], names: RecordNames, { paths, clock }: Parts): Html[] =>
  runs.map(
    (run) =>
      html`<li><a href="${paths.path(runPage(run.id))}"><b>${run.name}: ${names.name(run.collection, run.recordId)} of ${run.collection}</b><span>${run.reason && reasonWords[run.reason]} Started ${describeWait(clock.now() - run.createdAt)} ago.</span></a></li>`,
  );

function approvals(reviews: readonly Review[], names: RecordNames, request: SignedInRequest, parts: Parts): Html {
  const rows = reviews.map((review) => {
    const { approval } = review;
    const { id } = approval;
    const title = summarize(approval, names);
    const asker = `${clientLabel(approval.clientId, approval.clientName)} asks, ${describeWait(parts.clock.now() - approval.createdAt)} ago`;
    const link = html`<a href="${parts.paths.path(approvalPage(id))}">${isShownWhole(review) ? 'Open' : 'Open to decide: it has form values'}<span class="unseen"> ${title}</span></a>`;
    const choice = isShownWhole(review)
      ? html`<input type="checkbox" id="approval-${id}" name="approval" value="${id}"><label for="approval-${id}">${title}</label><input type="hidden" name="seen.${id}" value="${fingerprint(review)}">`
      : html`<span></span><b>${title}</b>`;
    return html`<li class="choice">${choice}<small>${asker}. ${link}</small>
<div class="shown">${review.hasChanged && html`<p class="warning">A record has changed since the request. The assistant must ask again.</p>`}${changeTables(approval.tool, review.changes)}${effectTables(review.effects, review.unseen)}${review.count !== null && review.changes.length > 0 && review.changes.length < review.count && html`<p class="quietly">Shown: ${review.changes.length} of ${review.count} records.</p>`}</div></li>`;
  });
  return html`<section aria-labelledby="waiting"><h2 class="plainly" id="waiting">Approvals</h2>
${openForm(request, parts, under)}<ul class="inbox">${rows}</ul>
${reviews.some(isShownWhole) && html`<div class="row-of-buttons"><button class="primary slim" name="action" value="approve">Approve selected</button><button class="plain slim" name="action" value="deny">Deny selected</button></div>`}</form></section>`;
}

/** Decides the selected approvals, in the order of the page. */
export async function decideSelected(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form } = request;
  const verdict = verdicts[form.get('action') ?? ''];
  if (!verdict) fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press Approve selected or Deny selected.' });
  const ids = [...new Set(form.getAll('approval'))].filter((id) => /^[\w-]{1,64}$/.test(id)).slice(0, LISTED);
  if (ids.length === 0) return { to: `${under}?result=none` };
  let leftMs = SHOWN_AFTER_MS;
  for (const id of ids) {
    const isSeen = (review: Review) => isShownWhole(review) && form.get(`seen.${id}`) === fingerprint(review);
    const decision = await decide(id, verdict, request, parts, isSeen);
    if (decision.state !== 'decided' || !decision.running) continue;
    // One after the other: the next dry run sees the changes of this call.
    const since = parts.clock.now();
    await Promise.race([decision.running, parts.clock.sleep(Math.max(0, leftMs))]);
    leftMs -= parts.clock.now() - since;
  }
  return { to: `${under}?${new URLSearchParams(ids.map((id): [string, string] => ['result', id]))}` };
}

/** The present state of the approvals of the last form, one line each. */
async function resultsOf(request: SignedInRequest, parts: Parts): Promise<Html | false> {
  const { query, access } = request;
  const { store, paths } = parts;
  const ids = query.getAll('result').slice(0, LISTED);
  if (ids.length === 0) return false;
  if (ids[0] === 'none') return html`<p class="warning above" role="alert">Select at least one request.</p>`;
  const found = await Promise.all(ids.map((id) => store.approvals.find(id)));
  const names = await readTitleNames(
    found.filter((approval) => approval !== undefined),
    request,
    parts,
  );
  const lines = [];
  for (const approval of found) {
    const mine = approval && (approval.decidedBy === access.caller.id || approval.userId === access.caller.id);
    if (mine && approval.state !== 'pending')
      lines.push(
        html`<li>${approvalBadge(approval)} <a href="${paths.path(approvalPage(approval.id))}">${summarize(approval, names)}</a></li>`,
      );
    else
      lines.push(
        html`<li><span class="badge unsure">Not decided</span> ${approval?.state === 'pending' ? 'This request changed after you opened the page, or another person must decide it. Look at it again.' : 'This request was settled before your answer arrived.'}</li>`,
      );
  }
  return html`<ul class="results" role="status" aria-label="Results">${lines}</ul>`;
}

/** The number for the script of the navigation. */
export async function showCount({ access }: SignedInRequest, { inbox }: Parts): Promise<Answer> {
  return { page: createFragment(countBadge(await inbox.count(access))) };
}
