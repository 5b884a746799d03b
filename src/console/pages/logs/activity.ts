// The activity log: users see their own entries, administrators see all. The filters are in the query of the URL, so a
// search can be bookmarked and shared.
import { toContractName } from '../../../api/logs/activity-actions.ts';
import { activityColumns, showActivity } from '../../../api/logs/activity-schemas.ts';
import { type ExportFormat, exportLog } from '../../../api/logs/export.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { clientLabel } from '../../../oauth/clients/display-name.ts';
import type { ActivityFilter, LoggedActivity, LoggedEffect } from '../../../store/audit/activity-types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { approvalPage } from '../../paths.ts';
import { type RecordNames, readNames } from '../../records/names.ts';
import { empty, facts, pager, table } from '../../ui/data.ts';
import { field, filterForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { actionChoices, describeAction } from '../../ui/log-words.ts';
import { showTime } from '../../ui/times.ts';
import { addressOf, findPerson, readAfter, readChoice, readText, readTimes } from './filters.ts';

const under = '/activity';
const LISTED = 50;
const types = ['read', 'write'] as const;
const outcomes = ['completed', 'failed', 'denied', 'unknown'] as const;

const isAdmin = ({ access }: SignedInRequest): boolean => access.caller.permissionLevel === 'admin';

/**
 * CWE-639: users other than administrators get only their own entries, whatever the query requests. Returns undefined
 * when the requested person does not exist.
 */
async function readFilter(request: SignedInRequest, parts: Parts): Promise<ActivityFilter | undefined> {
  const person = isAdmin(request)
    ? await findPerson(readText(request, 'person', 254), parts)
    : request.access.caller.id;
  if (person === 'nobody') return undefined;
  const text = (name: string, maxLength?: number) => readText(request, name, maxLength) || undefined;
  return {
    ...{ userId: person, clientName: text('app', 400), collection: text('collection'), recordId: text('record', 400) },
    ...{
      action: text('action'),
      type: readChoice(request, 'type', types),
      outcome: readChoice(request, 'outcome', outcomes),
    },
    times: readTimes(request),
  };
}

const any = (values: readonly string[]) => [['', 'Any'] as const, ...values.map((value) => [value, value] as const)];

function filters(request: SignedInRequest, parts: Parts): Html {
  const search = (id: string, label: string, maxLength = 191) =>
    field({ id, label, type: 'search', value: readText(request, id, maxLength), maxLength });
  const day = (id: string, label: string) =>
    field({ id, label, type: 'date', value: readText(request, id), maxLength: 10 });
  const choice = (id: string, label: string, values: readonly string[]) =>
    selectField({ id, label, value: readText(request, id), options: any(values) });
  const action = readText(request, 'action');
  const known = actionChoices.some(([name]) => name === action);
  const actions = [
    ['', 'Any'] as const,
    ...(known || action === '' ? [] : [[action, describeAction(action)] as const]),
  ];
  return filterForm(parts, under, [
    isAdmin(request) && search('person', 'Person (e-mail)', 254),
    search('app', 'App', 400),
    search('collection', 'Collection'),
    search('record', 'Record', 400),
    selectField({ id: 'action', label: 'Action', value: action, options: [...actions, ...actionChoices] }),
    choice('type', 'Type', types),
    choice('outcome', 'Outcome', outcomes),
    day('from', 'From'),
    day('to', 'To'),
  ]);
}

export async function listActivity(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const filter = await readFilter(request, parts);
  const after = readAfter(request);
  const found = filter ? await parts.store.activity.search({ ...filter, limit: LISTED + 1, after }) : [];
  const shown = found.slice(0, LISTED);
  const last = found.length > LISTED ? shown.at(-1) : undefined;
  const lead = isAdmin(request) ? 'Reads and writes by all users.' : 'Reads and writes in your name.';
  const content = html`<h1>Activity</h1>
<p class="lead">${lead} Values are never logged.</p>
${filters(request, parts)}
${shown.length > 0 ? await rows(shown, request, parts) : nothing(request, parts)}
<div class="spaced">${pager({
    ...(after && { newest: addressOf(request, parts, under) }),
    ...(last && { older: addressOf(request, parts, under, { after: `${last.startedAt}-${last.id}` }) }),
  })}</div>
<p class="quietly">Export: <a href="${addressOf(request, parts, `${under}/export`, { format: 'csv' })}">CSV</a>, <a href="${addressOf(request, parts, `${under}/export`, { format: 'ndjson' })}">NDJSON</a> (oldest first)</p>`;
  return { page: createFramedPage(request, parts, { title: 'Activity', under, content, wide: true }) };
}

function nothing({ query }: SignedInRequest, { mcpUrl }: Parts): Html {
  if ([...query.values()].some((value) => value !== '')) {
    return empty('No results', 'Clear the filters. App names and e-mail addresses must match exactly.');
  }
  const next =
    mcpUrl === null ? 'Entries appear with the first call.' : html`Connect an assistant to <code>${mcpUrl}</code>.`;
  return empty('No activity yet', next);
}

async function rows(entries: readonly LoggedActivity[], request: SignedInRequest, parts: Parts): Promise<Html> {
  const names = await readNames(
    request,
    parts,
    entries.flatMap((entry) => refsOf(entry).slice(0, 1)),
  );
  const { timezone } = request.access.caller;
  const withPerson = isAdmin(request);
  return table({
    caption: 'Entries of the activity log',
    heads: ['When', ...(withPerson ? ['Person'] : []), 'App', 'Action', 'About', 'Outcome'],
    rows: entries.map((entry) => [
      html`<a href="${parts.paths.path(`${under}/${entry.id}`)}">${showTime(entry.startedAt, timezone)}</a>`,
      ...(withPerson ? [entry.user?.email ?? `user ${entry.userId}`] : []),
      clientLabel(entry.clientId, entry.clientName),
      describeAction(entry.action),
      aboutOf(entry, names),
      outcomeBadge(entry),
    ]),
  });
}

const tones: Readonly<Record<LoggedActivity['outcome'], string>> = {
  completed: '',
  failed: 'bad',
  denied: 'bad',
  unknown: 'unsure',
};

/** The outcome as a word and a colour. */
export const outcomeBadge = (entry: Pick<LoggedActivity, 'dryRun' | 'outcome'>): Html =>
  html`<span class="badge ${entry.dryRun && entry.outcome === 'completed' ? 'off' : tones[entry.outcome]}">${describeOutcome(entry)}</span>`;

/** A dry run changes no data, whatever its outcome. */
function describeOutcome({ dryRun, outcome }: Pick<LoggedActivity, 'dryRun' | 'outcome'>): string {
  if (!dryRun) return outcome;
  return outcome === 'completed' ? 'dry run' : `dry run, ${outcome}`;
}

const refsOf = ({ collection = '', recordIds = [] }: LoggedActivity) => recordIds.map((id) => ({ collection, id }));

function aboutOf({ collection = '', recordIds = [] }: LoggedActivity, names: RecordNames): Html {
  const [id] = recordIds;
  if (id === undefined) return html`${collection}`;
  return html`${collection} ${recordIds.length === 1 ? names.link(collection, id) : `(${recordIds.length} records)`}`;
}

/** Maximum number of record ids to show. */
const IDS_SHOWN = 100;

export async function showEntry(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { caller } = request.access;
  const id = /^[1-9]\d{0,14}$/.test(request.id) ? Number(request.id) : 0;
  // CWE-639: another user's entry returns 404.
  const entry = await parts.store.activity.find(id, isAdmin(request) ? undefined : caller.id);
  if (!entry) return fail('NOT_FOUND', { path: `${under}/${request.id}` });
  const { user, team, clientName, clientId, collection, recordIds = [], outcome, code, durationMs, workflow } = entry;
  const { approvalId } = entry;
  // Users other than administrators see only collections that they may browse.
  const effects = (entry.effects ?? []).filter(
    ({ collection: of }) => isAdmin(request) || request.access.can('browse', of),
  );
  const names = await readNames(request, parts, refsOf(entry).slice(0, IDS_SHOWN));
  const ids = recordIds
    .slice(0, IDS_SHOWN)
    .map((each, at) => html`${at > 0 && ', '}${nameAndId(names, collection ?? '', each)}`);
  const more = recordIds.length > IDS_SHOWN ? ` and ${recordIds.length - IDS_SHOWN} more` : '';
  const content = html`<h1>${describeAction(entry.action)}</h1>
${facts([
  ['When', showTime(entry.startedAt, caller.timezone)],
  ['Person', user ? `${user.name} (${user.email})` : `user ${entry.userId}`],
  ['Team', team],
  ['App', html`${clientLabel(clientId, clientName)}<small>${clientId}</small>`],
  ['Type', entry.type],
  ['Name in the API', html`<code>${toContractName(entry.action)}</code>`],
  ['Collection', collection],
  ['Records', recordIds.length > 0 && html`${ids}${more}`],
  ['Other changes', effects.length > 0 && html`${effects.map((effect) => html`${describeEffect(effect)}<br>`)}`],
  ['Approval', approvalId && html`<a href="${parts.paths.path(approvalPage(approvalId))}">${approvalId}</a>`],
  ['Workflow', workflow && html`${workflow.name}<small>run ${workflow.runId}</small>`],
  ['Step', workflow?.stepName],
  ['Option', workflow?.optionName],
  ['Outcome', code === undefined ? describeOutcome(entry) : `${describeOutcome(entry)}: ${code}`],
  ['Duration', `${Math.round(durationMs * 10) / 10} ms`],
])}
${entry.dryRun && html`<p class="quietly">Dry run: no data was changed.</p>`}
${outcome === 'unknown' && html`<p class="quietly">The call is running or was interrupted. Its outcome is unknown.</p>`}
<p class="quietly"><a href="${parts.paths.path(under)}">All activity</a></p>`;
  return { page: createFramedPage(request, parts, { title: describeAction(entry.action), under, content }) };
}

function describeEffect({ collection, change, cause, count, ids = [] }: LoggedEffect): string {
  const named = ids.slice(0, IDS_SHOWN).join(', ');
  const more = ids.length > 0 && count > IDS_SHOWN ? ` and ${count - IDS_SHOWN} more` : '';
  return `${collection}: ${count} ${change} (${cause})${named && `: ${named}${more}`}`;
}

export const formatOf = (request: SignedInRequest): ExportFormat =>
  readChoice(request, 'format', ['csv', 'ndjson']) ?? 'csv';

export async function exportActivity(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const filter = await readFilter(request, parts);
  const { activity } = parts.store;
  const { stream } = exportLog({
    ...{ name: 'activity', format: formatOf(request), since: 0, columns: activityColumns },
    until: filter ? await activity.newestId() : 0,
    scan: (since, until) => activity.walk({ ...filter, since, until }),
    toObject: (entry) => showActivity(entry, request.place.environment, true),
  });
  return { stream: stream! };
}

/** The log holds ids, and a name can change later: an entry shows both. */
function nameAndId(names: RecordNames, collection: string, id: string): Html {
  return html`${names.link(collection, id)}${names.name(collection, id) !== id && ` (${id})`}`;
}
