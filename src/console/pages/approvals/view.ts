// Renders an approval request: a plain-language summary, the requester, and each field before and after.

import { sayFile } from '../../../agent/actions/form-file.ts';
import { type Html, html } from '../../../http/html.ts';
import { describeClient, shownClient } from '../../../oauth/clients/display-name.ts';
import type { Approval } from '../../../store/approvals/types.ts';
import type { MemberVisit, Parts } from '../../page-request.ts';
import { approvalPage } from '../../paths.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { changeTables, effectTables, oneSided, shownValue } from './changes-view.ts';
import type { Review } from './review.ts';
import { fileLinks } from './saved-file.ts';

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly team: string;
  readonly role: string;
}

/** Undefined for a user who no longer exists. */
export interface Names {
  readonly asker: Person | undefined;
  readonly decider: Person | undefined;
}

const records = (count: number): string => (count === 1 ? '1 record' : `${count} records`);

/** Description of each tool's effect; `some` is a phrase such as `2 records` or `record 17`. */
const sayings: Readonly<Record<string, (some: string, collection: string) => string>> = {
  create: (some, collection) => `Add ${some} to ${collection}`,
  update: (some, collection) => `Change ${some} of ${collection}`,
  delete: (some, collection) => `Delete ${some} of ${collection}`,
  associate: (some, collection) => `Link records to ${some} of ${collection}`,
  dissociate: (some, collection) => `Unlink records from ${some} of ${collection}`,
};

/** Such as `Delete 2 records of customers`. */
export function summarize({ tool, collection, action, recordIds, content }: Approval): string {
  const count = recordIds?.length ?? content.preview.count;
  const some = recordIds?.length === 1 ? `record ${recordIds[0]}` : records(count ?? 1);
  if (action !== undefined) return `Run ‘${action}’ on ${count === null ? collection : `${some} of ${collection}`}`;
  return sayings[tool]?.(some, collection) ?? `${tool} on ${collection}`;
}

export function reviewContent(review: Review, names: Names, visit: MemberVisit, parts: Parts): Html {
  const { approval, may } = review;
  return html`<h1>${summarize(approval)}?</h1>
${may !== 'decide' && waiting(may)}
${review.hasChanged && changedSince}
${facts(approval, names, visit, parts)}
${changeTables(approval.tool, review.changes)}
${review.changes.length > 0 && review.changes.length < (review.count ?? 0) && html`<p class="quietly">Shown: ${review.changes.length} of ${records(review.count ?? 0)}. All would be touched.</p>`}
${effectTables(review.effects, review.unseen)}
${formValues(review, parts)}
${may === 'decide' && decision(review, visit, parts)}`;
}

const icons = {
  wait: html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true"><circle cx="10" cy="10" r="7.5"/><path d="M10 5.8V10l2.8 2"/></svg>`,
  done: html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`,
  bad: html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true"><path d="m5 5 10 10M15 5 5 15"/></svg>`,
};

type Tone = 'good' | 'bad' | 'over' | 'wait';

function stateBox(tone: Tone, icon: Html, headline: string, text: Html | string): Html {
  return html`<div class="state ${tone}" role="status">${icon}<div><b>${headline}</b><span>${text}</span></div></div>`;
}

function waiting(may: 'other' | 'no'): Html {
  if (may === 'no')
    return stateBox(
      'wait',
      icons.wait,
      'You cannot decide this',
      'You may not do this yourself, so that somebody who may has to. Send them the address of this page.',
    );
  return stateBox(
    'wait',
    icons.wait,
    'Another person must decide',
    'You asked for this, so that somebody else has to agree. Send them the address of this page.',
  );
}

const changedSince = stateBox(
  'wait',
  icons.wait,
  'Changed since it was asked',
  'A record is no longer as it was when the assistant asked. You see it as it is now; the assistant will have to ask again.',
);

function facts(approval: Approval, { asker }: Names, { access }: MemberVisit, { clock }: Parts): Html {
  const { clientId, clientName, recordIds } = approval;
  const client = shownClient(clientId, clientName);
  const { timezone } = access.caller;
  const now = clock.now();
  return html`<dl class="facts">
<div><dt>Who asks</dt><dd>${asker ? personText(asker) : 'Somebody who is no longer here'}</dd></div>
<div><dt>Through</dt><dd>${describeClient(client, client.verifiedHost === undefined ? undefined : { kind: 'web', name: client.verifiedHost })}</dd></div>
${recordIds && recordIds.length > 0 && html`<div><dt>${recordIds.length === 1 ? 'Record' : 'Records'}</dt><dd>${shorten(recordIds)}</dd></div>`}
<div><dt>Asked</dt><dd>${showTime(approval.createdAt, timezone)}<small>${describeWait(now - approval.createdAt)} ago${approval.state === 'pending' && html`; open for ${describeWait(approval.expiresAt - now)}`}</small></dd></div>
</dl>`;
}

function personText({ name, email, team, role }: Person): Html {
  return html`${name || email}${name && html`<small>${email}</small>`}<small>${team} · ${role}</small>`;
}

const IDS_SHOWN = 30;

function shorten(ids: readonly string[]): string {
  const more = ids.length - IDS_SHOWN;
  return ids.slice(0, IDS_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function formValues({ approval, values, files }: Review, { paths }: Parts): Html | undefined {
  const rows = Object.entries(values);
  if (rows.length === 0) return undefined;
  let number = 0;
  const linksOf = (field: string): Html | undefined => {
    const given = files.get(field)?.map((file) => {
      const address = paths.path(`${approvalPage(approval.id)}/files/${++number}`);
      return { text: sayFile(file), address };
    });
    return given && fileLinks(given);
  };
  return oneSided(
    html`<caption>${approval.action === undefined ? 'What is sent to the code that writes' : 'What the form is filled with'}</caption>`,
    'Value',
    rows.map(([name, value]) => [name, linksOf(name) ?? shownValue(value)]),
  );
}

function decision(review: Review, visit: MemberVisit, { paths, execution }: Parts): Html {
  const { approval } = review;
  const tone = approval.tool === 'delete' ? 'danger' : 'primary';
  const who = execution ? 'When you approve, the server' : 'The assistant’s next try';
  return html`<form method="post" action="${paths.path(approvalPage(approval.id))}" class="decide">
<input type="hidden" name="csrf" value="${visit.csrf}">
<div class="pair"><button class="plain" name="action" value="deny">Deny</button><button class="${tone}" name="action" value="approve">Approve</button></div>
<p class="quietly">${whatIsDone(review, who)} If a record of the call has changed by then, nothing is done.</p>
</form>`;
}

/** `who`: the person or app that makes the call. */
function whatIsDone({ approval, values, effects, unseen }: Review, who: string): string {
  if (approval.action !== undefined)
    return `${who} runs the action once, with what this page shows. What its code writes is not known before.`;
  if (Object.keys(values).length > 0)
    return `${who} runs the code that writes once, with what this page shows. What it writes is not known before.`;
  const hasMore = unseen.length > 0 || effects.some(({ collection, cause }) => collection === null || cause === 'code');
  return `${who} writes what this page shows, once.${hasMore ? ' Code or triggers can write more.' : ''}`;
}

/** Settled approvals do not show their values, which may be out of date. */
export function settledContent(
  approval: Approval,
  names: Names,
  visit: MemberVisit,
  parts: Parts,
  note: string | undefined,
): Html {
  return html`<h1>${summarize(approval)}</h1>
${note && html`<p class="warning" role="alert">${note}</p><br>`}
${settledBox(approval, names, visit, parts)}
${facts(approval, names, visit, parts)}
<p class="quietly"><a href="${parts.paths.path('/approvals')}">What else waits for you</a></p>`;
}

function settledBox(approval: Approval, { decider }: Names, visit: MemberVisit, { clock }: Parts): Html {
  const isMine = approval.decidedBy === visit.access.caller.id;
  const by = isMine ? 'you' : decider?.name || decider?.email || 'somebody';
  switch (approval.state) {
    case 'running':
      return stateBox('wait', icons.wait, `Approved by ${by}`, html`The server is doing it. <a href="">Look again</a>`);
    case 'failed':
      return stateBox('bad', icons.bad, headlineOf(approval), html`Approved by ${by}. ${failureOf(approval, visit)}`);
    case 'approved': {
      const left = describeWait(approval.expiresAt - clock.now());
      return stateBox(
        'good',
        icons.done,
        `Approved by ${by}`,
        `Go back to your assistant and let it try again, within ${left}. Nothing has been done yet.`,
      );
    }
    case 'denied':
      return stateBox(
        'bad',
        icons.bad,
        `Denied by ${by}`,
        'Nothing was done. The assistant is told so when it tries again.',
      );
    case 'used':
      return stateBox(
        'good',
        icons.done,
        'Done',
        approval.result
          ? `Approved by ${by}, and done by the server. The assistant is given the result when it calls again.`
          : `Approved by ${by}, and used by the assistant. It cannot be used again.`,
      );
    case 'overtaken':
      return stateBox(
        'over',
        icons.wait,
        'Overtaken',
        'A record changed before it was done, so that nothing was done. The assistant can ask again.',
      );
    default:
      return stateBox(
        'over',
        icons.wait,
        'Expired',
        approval.decidedBy === undefined
          ? 'Nobody decided in time. Nothing was done; the assistant can ask again.'
          : `Approved by ${by}, but the assistant did not come back in time. Nothing was done.`,
      );
  }
}

const headlineOf = ({ result }: Approval): string =>
  result && 'code' in result && result.wroteNothing ? 'Not done' : 'Failed';

/** Error texts may contain data that only the requester may see. Errors with an open code are safe to show. */
function failureOf({ result, userId }: Approval, { access }: MemberVisit): string {
  if (!result || !('code' in result)) return '';
  const isOpen = userId === access.caller.id || openCodes.has(result.code);
  const reason = isOpen ? result.message : `The call failed (${result.code}). The assistant is given the reason.`;
  if (result.wroteNothing) return `Nothing was done: ${reason}`;
  if (result.kept !== undefined && isOpen) return `${reason} Written before that, and kept: ${result.kept}.`;
  return `${reason} The call may have written something before it failed. Look at the records and at the activity log.`;
}

const openCodes: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'INSUFFICIENT_SCOPE',
  'APPROVAL_OVERTAKEN',
  'INVALID_APPROVAL',
]);
