// The start page. Until the activity log has a first call from one of the user's assistants, it explains how to connect
// one and updates when the call arrives. After that it shows the user's pending approvals, apps and latest calls.

import { findProblems } from '../../../core/config/findings.ts';
import { type Html, html } from '../../../http/html.ts';
import { clientLabel } from '../../../oauth/clients/display-name.ts';
import { type Connection, findConnections } from '../../../oauth/consent/connection.ts';
import type { ActivityEntry, LoggedActivity } from '../../../store/audit/activity-types.ts';
import type { Run } from '../../../store/workflows/types.ts';
import { type ClientInstructions, clientInstructions, isPublic } from '../../clients.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, table } from '../../ui/data.ts';
import { createFragment, createFramedPage } from '../../ui/frame.ts';
import { describeAction } from '../../ui/log-words.ts';
import { copyable } from '../../ui/notices.ts';
import { describeWait } from '../../ui/times.ts';
import { approvalRows, findDecidable, readTitleNames } from '../approvals/approvals.ts';
import type { Review } from '../approvals/review.ts';
import { questionRows } from '../inbox/inbox.ts';
import { outcomeBadge } from '../logs/activity.ts';
import { todaySection } from './today.ts';

const SHOWN = 5;
/** Latest entries that are examined for calls of assistants. */
const EXAMINED = 20;
const firstCallPage = '/start/first-call';

/** Latest calls with their log ids, which have pages. */
const lastCalls = ({ access }: SignedInRequest, { store }: Parts, limit: number): Promise<readonly LoggedActivity[]> =>
  store.activity.search({ userId: access.caller.id, limit });

export async function showStart(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { caller } = request.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const [recent, connections, { reviews }, questions] = await Promise.all([
    lastCalls(request, parts, EXAMINED),
    findConnections(parts.store, { userId: caller.id, limit: SHOWN }),
    findDecidable(request, parts, SHOWN),
    parts.workflows.runs(request.access, { state: 'awaiting-input', limit: SHOWN }),
  ]);
  // Decisions in the console are no calls of an assistant.
  const calls = recent.filter(({ clientId }) => clientId !== 'console').slice(0, SHOWN);
  const isNew = calls.length === 0 && connections.every(({ lastUsedAt }) => lastUsedAt === null);
  const waits = reviews.length + questions.length > 0;
  const content = html`<h1>Hello${name && html`, ${name}`}</h1>
<p class="lead">${caller.email} · ${caller.team} · ${caller.role}</p>
${isNew && connectSection(parts)}
${problemsSection(request, parts)}
${(!isNew || waits) && (await waitingSection(reviews, questions, request, parts))}
${!isNew && (await todaySection(request, parts))}
${!isNew && appsSection(connections, parts)}
${!isNew && callsSection(calls, parts)}
${!isNew && parts.mcpUrl !== null && html`<section aria-labelledby="more"><h2 class="plainly" id="more">Connect another assistant</h2>${panels(parts.mcpUrl, false)}</section>`}`;
  return { page: createFramedPage(request, parts, { title: 'Start', under: '', content }) };
}

/** The checks of `portico doctor` that need only the settings. */
function problemsSection({ access }: SignedInRequest, { config, paths }: Parts): Html | false {
  if (access.caller.permissionLevel !== 'admin') return false;
  const problems = findProblems(config).filter(({ state }) => state === 'wrong');
  if (problems.length === 0) return false;
  return html`<section aria-labelledby="problems"><h2 class="plainly" id="problems">Settings to fix</h2>
<ul class="findings">${problems.map(({ text }) => html`<li class="state bad"><div><b>Error</b><span>${text}</span></div></li>`)}</ul>
<p class="quietly"><a href="${paths.path('/settings')}">All settings and warnings</a></p></section>`;
}

async function waitingSection(
  reviews: readonly Review[],
  questions: readonly Run[],
  request: SignedInRequest,
  parts: Parts,
): Promise<Html> {
  const approvals = reviews.map(({ approval }) => approval);
  const names = await readTitleNames(approvals, request, parts, questions);
  return html`<section aria-labelledby="waits"><h2 class="plainly" id="waits">Waiting for you</h2>
${approvalRows(reviews, parts, names, questionRows(questions, names, parts))}
<p class="quietly"><a href="${parts.paths.path('/inbox')}">Inbox</a></p></section>`;
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

function panel({ name, how, pasted, link, afterwards, requiresPublicUrl }: ClientInstructions, url: string): Html {
  const far = requiresPublicUrl && !isPublic(url);
  const blocks = pasted.map(({ what, text }) => copyable(text(url), `${what} for ${name}`));
  return html`${far && html`<p class="warning" role="note">This assistant calls from its own servers, and this address works only on this machine. Set <code>SERVICE_PUBLIC_URL</code> to a public https address first.</p>`}
${link && html`<p><a class="button" href="${link(url)}">Add to ${name}</a></p>`}<p>${how}</p>${blocks}<p class="quietly">${afterwards}</p>`;
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
  return html`<p class="state arrived" data-live-end><span class="tick" aria-hidden="true"></span><span><b>The first call has arrived</b>${clientLabel(call.clientId, call.clientName)}: ${describeCall(call)}, ${describeAgo(call, parts)}. <a href="${parts.paths.path('')}">Continue</a></span></p>`;
}

const describeCall = ({ action, collection }: ActivityEntry): Html =>
  html`${describeAction(action)}${collection !== undefined && html` in ${collection}`}`;

const describeAgo = ({ startedAt }: ActivityEntry, { clock }: Parts): string =>
  `${describeWait(clock.now() - startedAt)} ago`;

function appsSection(connections: readonly Connection[], parts: Parts): Html {
  const now = parts.clock.now();
  const rows = connections.map(({ clientId, clientName, lastUsedAt }) => {
    const used = lastUsedAt === null ? 'Not used yet' : `Last used ${describeWait(now - lastUsedAt)} ago`;
    return html`<li><a href="${parts.paths.path('/apps')}"><b>${clientLabel(clientId, clientName)}</b><span>${used}</span></a></li>`;
  });
  const none = empty('No app is connected', 'Connect one below. It will ask for access here.');
  return html`<section aria-labelledby="apps"><h2 class="plainly" id="apps">Connected apps</h2>${rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : none}</section>`;
}

function callsSection(calls: readonly LoggedActivity[], parts: Parts): Html {
  const { paths, playground } = parts;
  const rows = calls.map((call) => [
    html`<a href="${paths.path(`/activity/${call.id}`)}">${describeCall(call)}</a>`,
    clientLabel(call.clientId, call.clientName),
    outcomeBadge(call),
    describeAgo(call, parts),
  ]);
  return html`<section aria-labelledby="calls"><h2 class="plainly" id="calls">Latest calls</h2>
${table({ caption: 'Your latest calls', heads: ['Call', 'App', 'Outcome', 'When'], rows })}
<p class="quietly"><a href="${paths.path('/activity')}">All activity</a>${playground !== null && html` · <a href="${paths.path('/playground')}">Try a tool yourself</a>`}</p></section>`;
}
