// The activity log: users see their own entries, administrators see all. The filters are in the query of the URL, so a
// search can be bookmarked and shared.
import { activityColumns, showActivity } from '../../../api/logs/activity-schemas.ts';
import { type ExportFormat, exportLog } from '../../../api/logs/export.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { listedClient } from '../../../oauth/clients/display-name.ts';
import type { ActivityFilter, LoggedActivity, LoggedEffect } from '../../../store/audit/activity-types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { approvalPage } from '../../paths.ts';
import { empty, facts, pager, table } from '../../ui/data.ts';
import { field, filterForm, selectField } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { showTime } from '../../ui/times.ts';
import { addressOf, chosen, findPerson, readAfter, readTimes, said } from './filters.ts';

const under = '/activity';
const LISTED = 50;
const types = ['read', 'write'] as const;
const outcomes = ['completed', 'failed', 'denied', 'unknown'] as const;

const isAdmin = ({ access }: MemberVisit): boolean => access.caller.permissionLevel === 'admin';

/**
 * CWE-639: users other than administrators get only their own entries, whatever the query requests. Returns undefined
 * when the requested person does not exist.
 */
async function readFilter(visit: MemberVisit, parts: Parts): Promise<ActivityFilter | undefined> {
  const person = isAdmin(visit) ? await findPerson(said(visit, 'person', 254), parts) : visit.access.caller.id;
  if (person === 'nobody') return undefined;
  const text = (name: string, most?: number) => said(visit, name, most) || undefined;
  return {
    ...{ userId: person, clientName: text('app', 400), collection: text('collection'), recordId: text('record', 400) },
    ...{ action: text('action'), type: chosen(visit, 'type', types), outcome: chosen(visit, 'outcome', outcomes) },
    times: readTimes(visit),
  };
}

const any = (values: readonly string[]) => [['', 'Any'] as const, ...values.map((value) => [value, value] as const)];

function filters(visit: MemberVisit, parts: Parts): Html {
  const search = (id: string, label: string, most = 191) =>
    field({ id, label, type: 'search', value: said(visit, id, most), most });
  const day = (id: string, label: string) => field({ id, label, type: 'date', value: said(visit, id), most: 10 });
  const choice = (id: string, label: string, values: readonly string[]) =>
    selectField({ id, label, value: said(visit, id), options: any(values) });
  return filterForm(parts, under, [
    isAdmin(visit) && search('person', 'Person (e-mail)', 254),
    search('app', 'App', 400),
    search('collection', 'Collection'),
    search('record', 'Record', 400),
    search('action', 'Action'),
    choice('type', 'Type', types),
    choice('outcome', 'Outcome', outcomes),
    day('from', 'From'),
    day('to', 'To'),
  ]);
}

export async function listActivity(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const filter = await readFilter(visit, parts);
  const after = readAfter(visit);
  const found = filter ? await parts.store.activity.search({ ...filter, limit: LISTED + 1, after }) : [];
  const shown = found.slice(0, LISTED);
  const last = found.length > LISTED ? shown.at(-1) : undefined;
  const lead = isAdmin(visit) ? 'What everybody did with the data.' : 'What was done with the data in your name.';
  const content = html`<h1>Activity</h1>
<p class="lead">${lead} Values are never kept here.</p>
${filters(visit, parts)}
${shown.length > 0 ? rows(shown, visit, parts) : nothing(visit, parts)}
<div class="spaced">${pager({
    ...(after && { newest: addressOf(visit, parts, under) }),
    ...(last && { older: addressOf(visit, parts, under, { after: `${last.startedAt}-${last.id}` }) }),
  })}</div>
<p class="quietly">All that fits, oldest first: <a href="${addressOf(visit, parts, `${under}/export`, { format: 'csv' })}">CSV</a>, <a href="${addressOf(visit, parts, `${under}/export`, { format: 'ndjson' })}">NDJSON</a></p>`;
  return { page: createFramed(visit, parts, { title: 'Activity', under, content, wide: true }) };
}

function nothing({ query }: MemberVisit, { mcpUrl }: Parts): Html {
  if ([...query.values()].some((value) => value !== '')) {
    return empty('No entry fits', 'Look for less. Names of apps are looked for as a whole, e-mail addresses too.');
  }
  const next =
    mcpUrl === null ? 'It fills with the first call.' : html`Connect an assistant to <code>${mcpUrl}</code>.`;
  return empty('Nothing was done yet', next);
}

function rows(entries: readonly LoggedActivity[], visit: MemberVisit, parts: Parts): Html {
  const { timezone } = visit.access.caller;
  const withPerson = isAdmin(visit);
  return table({
    caption: 'Entries of the activity log',
    heads: ['When', ...(withPerson ? ['Person'] : []), 'App', 'Action', 'About', 'Outcome'],
    rows: entries.map((entry) => [
      html`<a href="${parts.paths.path(`${under}/${entry.id}`)}">${showTime(entry.startedAt, timezone)}</a>`,
      ...(withPerson ? [entry.user?.email ?? `user ${entry.userId}`] : []),
      listedClient(entry.clientId, entry.clientName),
      entry.action,
      aboutOf(entry),
      sayOutcome(entry),
    ]),
  });
}

/** A dry run changes no data, whatever its outcome. */
function sayOutcome({ dryRun, outcome }: LoggedActivity): string {
  if (!dryRun) return outcome;
  return outcome === 'completed' ? 'dry run' : `dry run, ${outcome}`;
}

function aboutOf({ collection = '', recordIds = [] }: LoggedActivity): string {
  if (recordIds.length === 0) return collection;
  return `${collection} ${recordIds.length === 1 ? recordIds[0] : `(${recordIds.length} records)`}`.trim();
}

/** Maximum number of record ids to show. */
const IDS_SHOWN = 100;

export async function showEntry(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const id = /^[1-9]\d{0,14}$/.test(visit.id) ? Number(visit.id) : 0;
  // CWE-639: another user's entry returns 404.
  const entry = await parts.store.activity.find(id, isAdmin(visit) ? undefined : caller.id);
  if (!entry) return fail('NOT_FOUND', { path: `${under}/${visit.id}` });
  const { user, team, clientName, clientId, collection, recordIds = [], outcome, code, durationMs, workflow } = entry;
  const { approvalId } = entry;
  // Users other than administrators see only collections that they may browse.
  const effects = (entry.effects ?? []).filter(
    ({ collection: of }) => isAdmin(visit) || visit.access.can('browse', of),
  );
  const more = recordIds.length > IDS_SHOWN ? ` and ${recordIds.length - IDS_SHOWN} more` : '';
  const content = html`<h1>${entry.action}</h1>
${facts([
  ['When', showTime(entry.startedAt, caller.timezone)],
  ['Person', user ? `${user.name} (${user.email})` : `user ${entry.userId}`],
  ['Team', team],
  ['App', html`${listedClient(clientId, clientName)}<small>${clientId}</small>`],
  ['Type', entry.type],
  ['Collection', collection],
  ['Records', recordIds.length > 0 && `${recordIds.slice(0, IDS_SHOWN).join(', ')}${more}`],
  ['Also written', effects.length > 0 && html`${effects.map((effect) => html`${sayEffect(effect)}<br>`)}`],
  ['Approval', approvalId && html`<a href="${parts.paths.path(approvalPage(approvalId))}">${approvalId}</a>`],
  ['Workflow', workflow && html`${workflow.name}<small>run ${workflow.runId}</small>`],
  ['Step', workflow?.stepName],
  ['Option', workflow?.optionName],
  ['Outcome', code === undefined ? sayOutcome(entry) : `${sayOutcome(entry)}: ${code}`],
  ['Took', `${Math.round(durationMs * 10) / 10} ms`],
])}
${entry.dryRun && html`<p class="quietly">A dry run: nothing was written.</p>`}
${outcome === 'unknown' && html`<p class="quietly">It was cut off, or is under way: whether it was done is not known.</p>`}
<p class="quietly"><a href="${parts.paths.path(under)}">All activity</a></p>`;
  return { page: createFramed(visit, parts, { title: entry.action, under, content }) };
}

function sayEffect({ collection, change, cause, count, ids = [] }: LoggedEffect): string {
  const named = ids.slice(0, IDS_SHOWN).join(', ');
  const more = ids.length > 0 && count > IDS_SHOWN ? ` and ${count - IDS_SHOWN} more` : '';
  return `${collection}: ${count} ${change} (${cause})${named && `: ${named}${more}`}`;
}

export const formatOf = (visit: MemberVisit): ExportFormat => chosen(visit, 'format', ['csv', 'ndjson']) ?? 'csv';

export async function exportActivity(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const filter = await readFilter(visit, parts);
  const { activity } = parts.store;
  const { stream } = exportLog({
    ...{ name: 'activity', format: formatOf(visit), since: 0, columns: activityColumns },
    until: filter ? await activity.newestId() : 0,
    walk: (since, until) => activity.walk({ ...filter, since, until }),
    toObject: (entry) => showActivity(entry, visit.place.environment, true),
  });
  return { stream: stream! };
}
