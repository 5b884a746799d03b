// The start page. Until the activity log has a first call from one of the user's assistants, it explains how to connect
// one and updates when the call arrives. After that it shows the user's pending approvals, apps and latest calls.

import { type Html, html } from '../../http/html.ts';
import { listedClient } from '../../oauth/clients/display-name.ts';
import { findConnections } from '../../oauth/consent/connection.ts';
import type { ActivityEntry, LoggedActivity } from '../../store/audit/activity-types.ts';
import { type ClientWay, clientWays, isPublic } from '../clients.ts';
import type { Answer, MemberVisit, Parts } from '../page-request.ts';
import { empty, table } from '../ui/data.ts';
import { createFragment, createFramed } from '../ui/frame.ts';
import { copyable } from '../ui/notices.ts';
import { describeWait } from '../ui/times.ts';
import { approvalRows, findDecidable } from './approvals/approvals.ts';

const SHOWN = 5;
const firstCallPage = '/start/first-call';

/** Latest calls with their log ids, which have pages. */
const lastCalls = ({ access }: MemberVisit, { store }: Parts, limit: number): Promise<readonly LoggedActivity[]> =>
  store.activity.search({ userId: access.caller.id, limit });

export async function showStart(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const [calls, { reviews: waiting }] = await Promise.all([
    lastCalls(visit, parts, SHOWN),
    findDecidable(visit, parts, SHOWN),
  ]);
  const isNew = calls.length === 0;
  const content = html`<h1>Hello${name && html`, ${name}`}</h1>
<p class="lead">${caller.email} · ${caller.team} · ${caller.role}</p>
${isNew && connectSection(parts)}
${(!isNew || waiting.length > 0) && waitingSection(waiting, parts)}
${!isNew && (await appsSection(visit, parts))}
${!isNew && callsSection(calls, parts)}
${!isNew && parts.mcpUrl !== null && html`<section aria-labelledby="more"><h2 class="plainly" id="more">Connect another assistant</h2>${panels(parts.mcpUrl, false)}</section>`}`;
  return { page: createFramed(visit, parts, { title: 'Start', under: '', content }) };
}

function waitingSection(waiting: Parameters<typeof approvalRows>[0], parts: Parts): Html {
  return html`<section aria-labelledby="waits"><h2 class="plainly" id="waits">Waits for you</h2>
${approvalRows(waiting, parts)}
<p class="quietly"><a href="${parts.paths.path('/approvals')}">All approvals</a></p></section>`;
}

function connectSection(parts: Parts): Html {
  if (parts.mcpUrl === null) return empty('No call yet', 'What programs do in your name shows up here.');
  return html`<section aria-labelledby="connect"><h2 class="plainly" id="connect">Connect an assistant</h2>
<p>Choose yours, and give it the address. It then sends you here to allow it, and works with your rights and no more.</p>
${panels(parts.mcpUrl, true)}
<div class="first-call" aria-live="polite" data-live="${parts.paths.path(firstCallPage)}">${firstCall(undefined, parts)}</div>
<noscript><p class="quietly">Open this page again when your assistant has called.</p></noscript></section>`;
}

function panels(url: string, opens: boolean): Html {
  const rows = clientWays.map((way, at) => {
    const open = opens && at === 0;
    return html`<details name="client" id="connect-${way.id}"${open && html` open`}><summary>${way.name}</summary><div>${panel(way, url)}</div></details>`;
  });
  return html`<div class="clients">${rows}</div>`;
}

function panel({ name, how, pasted, afterwards, needsPublic }: ClientWay, url: string): Html {
  const far = needsPublic && !isPublic(url);
  const blocks = pasted.map(({ what, text }) => copyable(text(url), `${what} for ${name}`));
  return html`${far && html`<p class="warning" role="note">It calls from servers of its own, and this address is for this machine alone. Set <code>SERVICE_PUBLIC_URL</code> to a public https address first.</p>`}
<p>${how}</p>${blocks}<p class="quietly">${afterwards}</p>`;
}

/** Content of the page's live region. */
export async function showFirstCall(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const [call] = await lastCalls(visit, parts, 1);
  return { page: createFragment(firstCall(call, parts)) };
}

function firstCall(call: ActivityEntry | undefined, parts: Parts): Html {
  if (!call) {
    return html`<p class="state wait-call"><span class="pulse" aria-hidden="true"></span><span><b>Waiting for the first call</b>It shows up here by itself when an assistant of yours has asked for something.</span></p>`;
  }
  return html`<p class="state arrived" data-live-end><span class="tick" aria-hidden="true"></span><span><b>The first call has arrived</b>${listedClient(call.clientId, call.clientName)} called ${describeCall(call)}, ${describeAgo(call, parts)}. <a href="${parts.paths.path('')}">Go on</a></span></p>`;
}

const describeCall = ({ action, collection }: ActivityEntry): Html =>
  html`<code>${action}</code>${collection !== undefined && html` on ${collection}`}`;

const describeAgo = ({ startedAt }: ActivityEntry, { clock }: Parts): string =>
  `${describeWait(clock.now() - startedAt)} ago`;

async function appsSection({ access }: MemberVisit, parts: Parts): Promise<Html> {
  const connections = await findConnections(parts.store, { userId: access.caller.id, limit: SHOWN });
  const now = parts.clock.now();
  const rows = connections.map(({ clientId, clientName, lastUsedAt }) => {
    const used = lastUsedAt === null ? 'Not used yet' : `Last used ${describeWait(now - lastUsedAt)} ago`;
    return html`<li><a href="${parts.paths.path('/apps')}"><b>${listedClient(clientId, clientName)}</b><span>${used}</span></a></li>`;
  });
  const none = empty('No app is connected', 'Connect one below: it then asks you here.');
  return html`<section aria-labelledby="apps"><h2 class="plainly" id="apps">Connected apps</h2>${rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : none}</section>`;
}

const outcomes: Readonly<Record<ActivityEntry['outcome'], string>> = {
  completed: 'done',
  failed: 'failed',
  denied: 'not allowed',
  unknown: 'not known',
};

function callsSection(calls: readonly LoggedActivity[], parts: Parts): Html {
  const { paths, playground } = parts;
  const rows = calls.map((call) => [
    html`<a href="${paths.path(`/activity/${call.id}`)}">${describeCall(call)}</a>`,
    listedClient(call.clientId, call.clientName),
    html`<span class="badge${call.outcome !== 'completed' && ' unsure'}">${outcomes[call.outcome]}</span>`,
    describeAgo(call, parts),
  ]);
  return html`<section aria-labelledby="calls"><h2 class="plainly" id="calls">Last calls</h2>
${table({ caption: 'Last calls', heads: ['Call', 'App', 'Outcome', 'When'], rows })}
<p class="quietly"><a href="${paths.path('/activity')}">All activity</a>${playground !== null && html` · <a href="${paths.path('/playground')}">Call a tool yourself</a>`}</p></section>`;
}
