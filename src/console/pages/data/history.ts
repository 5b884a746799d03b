// What happened with a record: notes, runs of workflows, and who changed it. Each follows the rules of its own page.
import { type Html, html } from '../../../http/html.ts';
import { clientLabel } from '../../../oauth/clients/display-name.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { table } from '../../ui/data.ts';
import { describeAction } from '../../ui/log-words.ts';
import { showTime } from '../../ui/times.ts';
import { noteRows } from '../notes/view.ts';
import { runTable } from '../workflows/runs.ts';
import type { FoundRecord } from './read-record.ts';

const SHOWN = 5;

/** The page has read the record with the viewer's Access, so the viewer may see its notes. */
export async function noteSection(
  { described, id }: FoundRecord,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html> {
  const { team, permissionLevel } = request.access.caller;
  const collection = described.name;
  const { notes } = await parts.store.notes.list({
    ...{ collections: [collection], recordId: id, archived: false, withMessages: false, limit: SHOWN },
    ...(permissionLevel !== 'admin' && { teamName: team }),
  });
  const query = new URLSearchParams({ collection, record: id }).toString();
  const links = html`<p class="quietly"><a href="${parts.paths.path('/notes/new')}?${query}">New note</a>${notes.length > 0 && html` · <a href="${parts.paths.path('/notes')}?${query}">All notes</a>`}</p>`;
  return html`<h2 class="plainly">Notes</h2>${notes.length > 0 && (await noteRows(notes, request, parts))}${links}`;
}

export async function runSection(
  { described, id }: FoundRecord,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html | false> {
  const found = await parts.workflows.runs(request.access, { recordId: id, limit: 25 });
  const runs = found.filter(({ collection }) => collection === described.name).slice(0, SHOWN);
  if (runs.length === 0) return false;
  return html`<h2 class="plainly">Runs</h2>${await runTable(runs, request, parts)}`;
}

/** CWE-639: users other than administrators see only their own entries, as in the activity log. */
export async function historySection(
  { described, id }: FoundRecord,
  { access }: SignedInRequest,
  { store, paths }: Parts,
): Promise<Html> {
  const { caller } = access;
  const isAdmin = caller.permissionLevel === 'admin';
  const collection = described.name;
  const entries = await store.activity.search({
    ...{ collection, recordId: id, type: 'write', limit: SHOWN },
    ...(!isAdmin && { userId: caller.id }),
  });
  const query = new URLSearchParams({ collection, record: id }).toString();
  const rows = entries.map(({ id: entry, startedAt, user, userId, clientId, clientName, action, outcome }) => [
    html`<a href="${paths.path(`/activity/${entry}`)}">${showTime(startedAt, caller.timezone)}</a>`,
    user?.name || user?.email || `user ${userId}`,
    clientLabel(clientId, clientName),
    describeAction(action),
    outcome,
  ]);
  return html`<h2 class="plainly">${isAdmin ? 'Who changed this' : 'Your changes'}</h2>
${rows.length > 0 ? table({ caption: 'Changes of this record', heads: ['When', 'Person', 'App', 'Action', 'Outcome'], rows }) : html`<p class="quietly">${isAdmin ? 'No changes through Portico yet.' : 'You have not changed it through Portico.'}</p>`}
<p class="quietly"><a href="${paths.path('/activity')}?${query}">All activity<span class="unseen"> of this record</span></a></p>`;
}
