// The admin log, for administrators: changes to the project, with their author and the values before and after.
import { adminColumns, changeTypes, initiators, resources, showChange } from '../../../api/logs/admin-log-schemas.ts';
import { exportLog } from '../../../api/logs/export.ts';
import { fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { AdminLogFilter, LoggedChange, LogValue } from '../../../store/audit/log-types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty, facts, pager, table } from '../../ui/data.ts';
import { field, filterForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { describeChange, describeResource } from '../../ui/log-words.ts';
import { showTime } from '../../ui/times.ts';
import { formatOf } from './activity.ts';
import { addressOf, findPerson, readAfter, readChoice, readText, readTimes } from './filters.ts';

const under = '/admin-log';
const LISTED = 50;

async function readFilter(request: SignedInRequest, parts: Parts): Promise<AdminLogFilter | undefined> {
  const person = await findPerson(readText(request, 'person', 254), parts);
  if (person === 'nobody') return undefined;
  return {
    userId: person,
    type: readChoice(request, 'type', changeTypes),
    initiator: readChoice(request, 'initiator', initiators),
    resource: readText(request, 'resource', 100) || undefined,
    times: readTimes(request),
  };
}

const any = (values: readonly string[], describe: (value: string) => string) => [
  ['', 'Any'] as const,
  ...values.map((value) => [value, describe(value)] as const),
];

const typeWords: Readonly<Record<string, string>> = {
  add: 'Added',
  remove: 'Removed',
  update: 'Changed',
  initial: 'At the start of the log',
};
const initiatorWords: Readonly<Record<string, string>> = {
  administrator: 'A user',
  identityProvider: 'The identity provider',
  serviceAdmin: 'The command line',
};

export async function listAdminLog(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const filter = await readFilter(request, parts);
  const after = readAfter(request);
  const found = filter ? await parts.store.adminLog.search({ ...filter, limit: LISTED + 1, after }) : [];
  const shown = found.slice(0, LISTED);
  const last = found.length > LISTED ? shown.at(-1) : undefined;
  const choice = (id: string, label: string, values: readonly string[], describe: (value: string) => string) =>
    selectField({ id, label, value: readText(request, id), options: any(values, describe) });
  const day = (id: string, label: string) =>
    field({ id, label, type: 'date', value: readText(request, id), maxLength: 10 });
  const fields = [
    field({
      id: 'person',
      label: 'By (e-mail)',
      type: 'search',
      value: readText(request, 'person', 254),
      maxLength: 254,
    }),
    choice('type', 'Type', changeTypes, (type) => typeWords[type] ?? type),
    choice('resource', 'About', resources, describeResource),
    choice('initiator', 'Initiator', initiators, (by) => initiatorWords[by] ?? by),
    day('from', 'From'),
    day('to', 'To'),
  ];
  const content = html`<h1>Admin log</h1>
<p class="lead">Changes to people, roles, teams, permissions, meanings, tokens and apps.</p>
${filterForm(parts, under, fields)}
${shown.length > 0 ? rows(shown, request, parts) : empty('No results', 'Clear the filters.')}
<div class="spaced">${pager({
    ...(after && { newest: addressOf(request, parts, under) }),
    ...(last && { older: addressOf(request, parts, under, { after: `${last.at}-${last.id}` }) }),
  })}</div>
<p class="quietly">Export: <a href="${addressOf(request, parts, `${under}/export`, { format: 'csv' })}">CSV</a>, <a href="${addressOf(request, parts, `${under}/export`, { format: 'ndjson' })}">NDJSON</a> (oldest first)</p>`;
  return { page: createFramedPage(request, parts, { title: 'Admin log', under, content, wide: true }) };
}

/** Labels for authors without a signed-in user. */
const others: Readonly<Record<string, string>> = {
  identityProvider: 'the identity provider',
  serviceAdmin: 'the command line',
  administrator: 'a former user',
};
const doer = ({ user, initiator }: LoggedChange): string => user?.email ?? others[initiator] ?? initiator;

function rows(entries: readonly LoggedChange[], request: SignedInRequest, parts: Parts): Html {
  return table({
    caption: 'Entries of the admin log',
    heads: ['When', 'By', 'Change', 'Subject'],
    rows: entries.map((entry) => [
      html`<a href="${parts.paths.path(`${under}/${entry.id}`)}">${showTime(entry.at, request.access.caller.timezone)}</a>`,
      doer(entry),
      describeChange(entry.action),
      entry.subject,
    ]),
  });
}

export async function showAdminEntry(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const id = /^[1-9]\d{0,14}$/.test(request.id) ? Number(request.id) : 0;
  const entry = await parts.store.adminLog.find(id);
  if (!entry) return fail('NOT_FOUND', { path: `${under}/${request.id}` });
  const content = html`<h1>${describeChange(entry.action)}</h1>
${facts([
  ['When', showTime(entry.at, request.access.caller.timezone)],
  ['By', doer(entry)],
  ['About', describeResource(entry.resource)],
  ['Subject', entry.subject],
  ['Name in the API', html`<code>${entry.action}</code>`],
])}
${values('Before', entry.previousValue)}
${values('After', entry.newValue)}
<p class="quietly"><a href="${parts.paths.path(under)}">All entries</a></p>`;
  return { page: createFramedPage(request, parts, { title: describeChange(entry.action), under, content }) };
}

function values(title: string, value: LogValue | undefined): Html | undefined {
  if (!value) return undefined;
  const fields = 'member' in value ? value.member : { name: value.name, ...value.details };
  const formatValue = (one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one));
  return html`<h2 class="plainly">${title}</h2>
${facts(Object.entries(fields).map(([name, one]) => [name, formatValue(one)] as const))}`;
}

export async function exportAdminLog(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const filter = await readFilter(request, parts);
  const { adminLog } = parts.store;
  const { stream } = exportLog({
    ...{ name: 'admin-log', format: formatOf(request), since: 0, columns: adminColumns },
    until: filter ? await adminLog.newestId() : 0,
    scan: (since, until) => adminLog.walk({ ...filter, since, until }),
    toObject: showChange,
  });
  return { stream: stream! };
}
