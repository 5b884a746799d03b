// Renders an approval request: a plain-language summary, the requester, and each field before and after.

import { formatFile } from '../../../agent/actions/form-file.ts';
import { type Html, html } from '../../../http/html.ts';
import { describeClient, displayClient } from '../../../oauth/clients/display-name.ts';
import type { Approval } from '../../../store/approvals/types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { approvalPage } from '../../paths.ts';
import type { RecordNames } from '../../records/names.ts';
import { describeLeft, describeWait, showTime } from '../../ui/times.ts';
import { changeTables, effectTables, shownValue, valueTable } from './changes-view.ts';
import type { Review } from './review.ts';
import { fileLinks } from './saved-file.ts';
import { summaries } from './tool-words.ts';

interface Person {
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

const countText = (count: number): string => (count === 1 ? '1 record' : `${count} records`);

/** Such as `Delete 2 records of customers`, or `Change ORD-10017 of orders` if the record has a name for the viewer. */
export function summarize({ tool, collection, action, recordIds, content }: Approval, records: RecordNames): string {
  const count = recordIds?.length ?? content.preview.count;
  const [id] = recordIds ?? [];
  const name = id === undefined ? undefined : records.name(collection, id);
  const one = name === undefined || name === id ? `record ${id}` : name;
  const some = recordIds?.length === 1 ? one : countText(count ?? 1);
  if (action !== undefined) return `Run ‘${action}’ on ${count === null ? collection : `${some} of ${collection}`}`;
  return summaries[tool]?.(some, collection) ?? `${tool} on ${collection}`;
}

export function reviewContent(
  review: Review,
  names: Names,
  records: RecordNames,
  request: SignedInRequest,
  parts: Parts,
): Html {
  const { approval, may } = review;
  return html`<h1>${summarize(approval, records)}?</h1>
${may !== 'decide' && waiting(may)}
${review.hasChanged && changedSince}
${facts(approval, names, records, request, parts)}
${changeTables(approval.tool, review.changes)}
${review.changes.length > 0 && review.changes.length < (review.count ?? 0) && html`<p class="quietly">Shown: ${review.changes.length} of ${countText(review.count ?? 0)}. The request affects all of them.</p>`}
${effectTables(review.effects, review.unseen)}
${formValues(review, parts)}
${may === 'decide' && decision(review, request, parts)}`;
}

const icons = {
  wait: html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true"><circle cx="10" cy="10" r="7.5"/><path d="M10 5.8V10l2.8 2"/></svg>`,
  done: html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 10.5 4 4 8-9"/></svg>`,
  bad: html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true"><path d="m5 5 10 10M15 5 5 15"/></svg>`,
};

const stateWords: Readonly<Record<Approval['state'], readonly [text: string, tone: string]>> = {
  pending: ['Waiting', 'unsure'],
  approved: ['Approved', ''],
  running: ['Running', 'busy'],
  denied: ['Denied', 'bad'],
  used: ['Done', ''],
  failed: ['Failed', 'bad'],
  overtaken: ['Outdated', 'off'],
  expired: ['Expired', 'off'],
};

/** The state as a word and a colour. */
export function approvalBadge({ state }: Pick<Approval, 'state'>): Html {
  const [text, tone] = stateWords[state];
  return html`<span class="badge ${tone}">${text}</span>`;
}

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
      'Your permissions do not allow this change. Send the link to this page to a person who has permission.',
    );
  return stateBox(
    'wait',
    icons.wait,
    'Another person must decide',
    'You cannot approve your own request. Send the link to this page to another person.',
  );
}

const changedSince = stateBox(
  'wait',
  icons.wait,
  'Changed since the request',
  'A record has changed since the assistant asked. This page shows its current values. The assistant must ask again.',
);

function facts(
  approval: Approval,
  { asker }: Names,
  records: RecordNames,
  { access }: SignedInRequest,
  { clock }: Parts,
): Html {
  const { clientId, clientName, collection, recordIds } = approval;
  const client = displayClient(clientId, clientName);
  const { timezone } = access.caller;
  const now = clock.now();
  return html`<dl class="facts">
<div><dt>Who asks</dt><dd>${asker ? personText(asker) : 'A former user'}</dd></div>
<div><dt>Through</dt><dd>${describeClient(client, client.verifiedHost === undefined ? undefined : { kind: 'web', name: client.verifiedHost })}</dd></div>
${recordIds && recordIds.length > 0 && html`<div><dt>${recordIds.length === 1 ? 'Record' : 'Records'}</dt><dd>${linkAll(recordIds, (id) => records.link(collection, id))}</dd></div>`}
<div><dt>Asked</dt><dd>${showTime(approval.createdAt, timezone)}<small>${describeWait(now - approval.createdAt)} ago${approval.state === 'pending' && html`; expires in ${describeLeft(approval.expiresAt - now)}`}</small></dd></div>
</dl>`;
}

function personText({ name, email, team, role }: Person): Html {
  return html`${name || email}${name && html`<small>${email}</small>`}<small>${team} · ${role}</small>`;
}

const IDS_SHOWN = 30;

function linkAll(ids: readonly string[], link: (id: string) => Html): Html {
  const more = ids.length - IDS_SHOWN;
  return html`${ids.slice(0, IDS_SHOWN).map((id, at) => html`${at > 0 && ', '}${link(id)}`)}${more > 0 && ` and ${more} more`}`;
}

function formValues({ approval, values, files }: Review, { paths }: Parts): Html | undefined {
  const rows = Object.entries(values);
  if (rows.length === 0) return undefined;
  let number = 0;
  const linksOf = (field: string): Html | undefined => {
    const fileLinkList = files.get(field)?.map((file) => {
      const address = paths.path(`${approvalPage(approval.id)}/files/${++number}`);
      return { text: formatFile(file), address };
    });
    return fileLinkList && fileLinks(fileLinkList);
  };
  return valueTable(
    html`<caption>${approval.action === undefined ? 'Values for the customization code' : 'Form values'}</caption>`,
    'Value',
    rows.map(([name, value]) => [name, linksOf(name) ?? shownValue(value)]),
  );
}

function decision(review: Review, request: SignedInRequest, { paths, execution }: Parts): Html {
  const { approval } = review;
  const tone = approval.tool === 'delete' ? 'danger' : 'primary';
  const who = execution ? 'When you approve, the server' : 'The assistant’s next call';
  return html`<form method="post" action="${paths.path(approvalPage(approval.id))}" class="decide">
<input type="hidden" name="csrf" value="${request.csrf}">
<div class="pair"><button class="plain" name="action" value="deny">Deny</button><button class="${tone}" name="action" value="approve">Approve</button></div>
<p class="quietly">${describeOutcome(review, who)} If a record changes first, the approval no longer counts.</p>
</form>`;
}

/** `who`: the person or app that makes the call. */
function describeOutcome({ approval, values, effects, unseen }: Review, who: string): string {
  if (approval.action !== undefined)
    return `${who} runs the action once, with the values on this page. Its code can make changes that are not known in advance.`;
  if (Object.keys(values).length > 0)
    return `${who} runs the customization code once, with the values on this page. Its changes are not known in advance.`;
  const hasMore = unseen.length > 0 || effects.some(({ collection, cause }) => collection === null || cause === 'code');
  return `${who} makes the changes on this page, once.${hasMore ? ' Code or triggers can make more.' : ''}`;
}

/** Settled approvals do not show their values, which may be out of date. */
export function decidedContent(
  approval: Approval,
  names: Names,
  records: RecordNames,
  request: SignedInRequest,
  parts: Parts,
  note: string | undefined,
): Html {
  return html`<h1>${summarize(approval, records)}</h1>
${note && html`<p class="warning" role="alert">${note}</p><br>`}
${decidedBox(approval, names, request, parts)}
${facts(approval, names, records, request, parts)}
<p class="quietly"><a href="${parts.paths.path('/approvals')}">All approvals</a></p>`;
}

function decidedBox(approval: Approval, { decider }: Names, request: SignedInRequest, { clock }: Parts): Html {
  const isOwnDecision = approval.decidedBy === request.access.caller.id;
  const by = isOwnDecision ? 'you' : decider?.name || decider?.email || 'a former user';
  switch (approval.state) {
    case 'running':
      return stateBox(
        'wait',
        icons.wait,
        `Approved by ${by}`,
        html`The server is processing the request. <a href="">Refresh</a>`,
      );
    case 'failed':
      return stateBox('bad', icons.bad, headlineOf(approval), html`Approved by ${by}. ${failureOf(approval, request)}`);
    case 'approved': {
      const left = describeLeft(approval.expiresAt - clock.now());
      return stateBox(
        'good',
        icons.done,
        `Approved by ${by}`,
        `Ask the assistant to try again within ${left}. No change has been made yet.`,
      );
    }
    case 'denied':
      return stateBox(
        'bad',
        icons.bad,
        `Denied by ${by}`,
        'No change was made. The assistant learns of the denial when it tries again.',
      );
    case 'used':
      return stateBox(
        'good',
        icons.done,
        'Done',
        approval.result
          ? `Approved by ${by} and completed by the server. The assistant gets the result when it calls again.`
          : `Approved by ${by} and used by the assistant. The approval cannot be used again.`,
      );
    case 'overtaken':
      return stateBox(
        'over',
        icons.wait,
        'Outdated',
        'A record changed first, so the approval no longer counts. The assistant can ask again.',
      );
    default:
      return stateBox(
        'over',
        icons.wait,
        'Expired',
        approval.decidedBy === undefined
          ? 'The request expired without a decision. The assistant can ask again.'
          : `Approved by ${by}, but the assistant did not try again in time. No change was made.`,
      );
  }
}

const headlineOf = ({ result }: Approval): string =>
  result && 'code' in result && result.wroteNothing ? 'Not done' : 'Failed';

/** Error texts may contain data that only the requester may see. Errors with an open code are safe to show. */
function failureOf({ result, userId }: Approval, { access }: SignedInRequest): string {
  if (!result || !('code' in result)) return '';
  const isOpen = userId === access.caller.id || openCodes.has(result.code);
  const reason = isOpen ? result.message : `The call failed (${result.code}). The assistant gets the reason.`;
  if (result.wroteNothing) return `No change was made. ${reason}`;
  if (result.kept !== undefined && isOpen)
    return `${reason} Written before the error, and not rolled back: ${result.kept}.`;
  return `${reason} The call may have changed data before it failed. Check the records and the activity log.`;
}

const openCodes: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'INSUFFICIENT_SCOPE',
  'APPROVAL_OVERTAKEN',
  'INVALID_APPROVAL',
]);
