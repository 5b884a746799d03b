// The start page. Until the activity log has a first call from one of the user's assistants, it explains how to connect
// one and updates when the call arrives. After that it shows the user's pending approvals, apps and latest calls.

import { type Html, html } from '../../http/html.ts';
import { clientLabel } from '../../oauth/clients/display-name.ts';
import { findConnections } from '../../oauth/consent/connection.ts';
import type { ActivityEntry, LoggedActivity } from '../../store/audit/activity-types.ts';
import { type ClientInstructions, clientInstructions, isPublic } from '../clients.ts';
import type { Answer, Parts, SignedInRequest } from '../page-request.ts';
import { empty, table } from '../ui/data.ts';
import { createFragment, createFramedPage } from '../ui/frame.ts';
import { copyable } from '../ui/notices.ts';
import { describeWait } from '../ui/times.ts';
import { approvalRows, findDecidable } from './approvals/approvals.ts';

const SHOWN = 5;
const firstCallPage = '/start/first-call';

/** Latest calls with their log ids, which have pages. */
const lastCalls = ({ access }: SignedInRequest, { store }: Parts, limit: number): Promise<readonly LoggedActivity[]> =>
  store.activity.search({ userId: access.caller.id, limit });

export async function showStart(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { caller } = request.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const [calls, { reviews: waiting }] = await Promise.all([
    lastCalls(request, parts, SHOWN),
    findDecidable(request, parts, SHOWN),
  ]);
  const isNew = calls.length === 0;
  const content = html`<h1>Hello${name && html`, ${name}`}</h1>
<p class="lead">${caller.email} · ${caller.team} · ${caller.role}</p>
${isNew && connectSection(parts)}
${(!isNew || waiting.length > 0) && waitingSection(waiting, parts)}
${!isNew && (await appsSection(request, parts))}
${!isNew && callsSection(calls, parts)}
${!isNew && parts.mcpUrl !== null && html`<section aria-labelledby="more"><h2 class="plainly" id="more">Connect another assistant</h2>${panels(parts.mcpUrl, false)}</section>`}`;
  return { page: createFramedPage(request, parts, { title: 'Start', under: '', content }) };
}

function waitingSection(waiting: Parameters<typeof approvalRows>[0], parts: Parts): Html {
  return html`<section aria-labelledby="waits"><h2 class="plainly" id="waits">Waiting for you</h2>
${approvalRows(waiting, parts)}
<p class="quietly"><a href="${parts.paths.path('/approvals')}">All approvals</a></p></section>`;
}

function connectSection(parts: Parts): Html {
  if (parts.mcpUrl === null) return empty('No call yet', 'Calls in your name appear here.');
  return html`<section aria-labelledby="connect"><h2 class="plainly" id="connect">Connect an assistant</h2>
<p>Pick your assistant and paste this address into it. You approve access here; it can do only what you can.</p>
${panels(parts.mcpUrl, true)}
<div class="first-call" aria-live="polite" data-live="${parts.paths.path(firstCallPage)}">${firstCall(undefined, parts)}</div>
<noscript><p class="quietly">Reload this page after the first call of your assistant.</p></noscript></section>`;
}

function panels(url: string, opens: boolean): Html {
  const rows = clientInstructions.map((client, at) => {
    const open = opens && at === 0;
    return html`<details name="client" id="connect-${client.id}"${open && html` open`}><summary>${client.name}</summary><div>${panel(client, url)}</div></details>`;
  });
  return html`<div class="clients">${rows}</div>`;
}

function panel({ name, how, pasted, afterwards, requiresPublicUrl }: ClientInstructions, url: string): Html {
  const far = requiresPublicUrl && !isPublic(url);
  const blocks = pasted.map(({ what, text }) => copyable(text(url), `${what} for ${name}`));
  return html`${far && html`<p class="warning" role="note">This assistant calls from its own servers, and this address works only on this machine. Set <code>SERVICE_PUBLIC_URL</code> to a public https address first.</p>`}
<p>${how}</p>${blocks}<p class="quietly">${afterwards}</p>`;
}

/** Content of the page's live region. */
export async function showFirstCall(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const [call] = await lastCalls(request, parts, 1);
  return { page: createFragment(firstCall(call, parts)) };
}

function firstCall(call: ActivityEntry | undefined, parts: Parts): Html {
  if (!call) {
    return html`<p class="state wait-call"><span class="pulse" aria-hidden="true"></span><span><b>Waiting for the first call</b>This updates when your assistant makes its first call.</span></p>`;
  }
  return html`<p class="state arrived" data-live-end><span class="tick" aria-hidden="true"></span><span><b>The first call has arrived</b>${clientLabel(call.clientId, call.clientName)} called ${describeCall(call)}, ${describeAgo(call, parts)}. <a href="${parts.paths.path('')}">Continue</a></span></p>`;
}

const describeCall = ({ action, collection }: ActivityEntry): Html =>
  html`<code>${action}</code>${collection !== undefined && html` on ${collection}`}`;

const describeAgo = ({ startedAt }: ActivityEntry, { clock }: Parts): string =>
  `${describeWait(clock.now() - startedAt)} ago`;

async function appsSection({ access }: SignedInRequest, parts: Parts): Promise<Html> {
  const connections = await findConnections(parts.store, { userId: access.caller.id, limit: SHOWN });
  const now = parts.clock.now();
  const rows = connections.map(({ clientId, clientName, lastUsedAt }) => {
    const used = lastUsedAt === null ? 'Not used yet' : `Last used ${describeWait(now - lastUsedAt)} ago`;
    return html`<li><a href="${parts.paths.path('/apps')}"><b>${clientLabel(clientId, clientName)}</b><span>${used}</span></a></li>`;
  });
  const none = empty('No app is connected', 'Connect one below. It will ask for access here.');
  return html`<section aria-labelledby="apps"><h2 class="plainly" id="apps">Connected apps</h2>${rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : none}</section>`;
}

const outcomes: Readonly<Record<ActivityEntry['outcome'], string>> = {
  completed: 'done',
  failed: 'failed',
  denied: 'denied',
  unknown: 'unknown',
};

function callsSection(calls: readonly LoggedActivity[], parts: Parts): Html {
  const { paths, playground } = parts;
  const rows = calls.map((call) => [
    html`<a href="${paths.path(`/activity/${call.id}`)}">${describeCall(call)}</a>`,
    clientLabel(call.clientId, call.clientName),
    html`<span class="badge${call.outcome !== 'completed' && ' unsure'}">${outcomes[call.outcome]}</span>`,
    describeAgo(call, parts),
  ]);
  return html`<section aria-labelledby="calls"><h2 class="plainly" id="calls">Last calls</h2>
${table({ caption: 'Last calls', heads: ['Call', 'App', 'Outcome', 'When'], rows })}
<p class="quietly"><a href="${paths.path('/activity')}">All activity</a>${playground !== null && html` · <a href="${paths.path('/playground')}">Try a tool yourself</a>`}</p></section>`;
}
