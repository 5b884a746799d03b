// How a request for approval is shown: what would happen in plain words, who asks for it, and each field before and after.

import { sayFile } from '../agent/actions/form-file.ts';
import { isDocumentClient } from '../oauth/clients.ts';
import { describeClient } from '../oauth/consent-view.ts';
import { type Html, html } from '../oauth/html.ts';
import type { Approval } from '../store/approval-types.ts';
import { changeTables, oneSided, shownValue } from './changes-view.ts';
import { approvalPage } from './paths.ts';
import type { Review } from './review.ts';
import { fileLinks } from './saved-file.ts';
import { describeWait, showTime } from './times.ts';
import type { MemberVisit, Parts } from './visit.ts';

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly team: string;
  readonly role: string;
}

/** Undefined for somebody who is no longer there. */
export interface Names {
  readonly asker: Person | undefined;
  readonly decider: Person | undefined;
}

const records = (count: number): string => (count === 1 ? '1 record' : `${count} records`);

/** What each tool does, as one says it; `some` is such as `2 records` or `record 17`. */
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
${formValues(review, parts)}
${may === 'decide' && decision(approval, visit, parts)}`;
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
  const client = {
    name: clientName,
    ...(isDocumentClient(clientId) && { verifiedHost: new URL(clientId).host }),
  };
  const { timezone } = access.caller;
  const now = clock.now();
  return html`<dl class="facts">
<div><dt>Who asks</dt><dd>${asker ? personText(asker) : 'Somebody who is no longer here'}</dd></div>
<div><dt>Through</dt><dd>${describeClient(client, false)}</dd></div>
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

function decision(approval: Approval, visit: MemberVisit, { paths }: Parts): Html {
  const tone = approval.tool === 'delete' ? 'danger' : 'primary';
  return html`<form method="post" action="${paths.path(approvalPage(approval.id))}" class="decide">
<input type="hidden" name="csrf" value="${visit.csrf}">
<div class="pair"><button class="plain" name="action" value="deny">Deny</button><button class="${tone}" name="action" value="approve">Approve</button></div>
<p class="quietly">It is done once, just as it is shown here, by the assistant’s next try. If a record changes before that, nothing is done.</p>
</form>`;
}

/** Once it is decided the values are not shown again: what they were is in the past. */
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
        `Approved by ${by}, and used by the assistant. It cannot be used again.`,
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
