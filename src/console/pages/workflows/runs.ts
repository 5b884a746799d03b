// Runs, newest first: users see their own, editors those of their view. The filters are in the query of the URL.
import { type Html, html } from '../../../http/html.ts';
import { type Run, runStates } from '../../../store/workflows/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { runPage } from '../../paths.ts';
import { readNames } from '../../records/names.ts';
import { empty, pager, table } from '../../ui/data.ts';
import { field, filterForm, selectField } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { showTime } from '../../ui/times.ts';
import { addressOf, readChoice, readText } from '../logs/filters.ts';
import { runsPage, under } from './access.ts';
import { originWords, stateBadge, stateWords } from './words.ts';

const LISTED = 25;

export async function listRuns(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access } = request;
  const all = await parts.workflows.list(access);
  const workflow = readChoice(
    request,
    'workflow',
    all.map(({ id }) => id),
  );
  const state = readChoice(request, 'state', runStates);
  const record = readText(request, 'record', 400);
  const after = readText(request, 'after', 40);
  const found = await parts.workflows.runs(access, {
    ...(workflow !== undefined && { workflowId: workflow }),
    ...(state !== undefined && { state }),
    ...(record !== '' && { recordId: record }),
    ...(/^[\w-]{36}$/.test(after) && { after }),
    limit: LISTED,
  });
  const filters = [
    selectField({
      id: 'workflow',
      label: 'Workflow',
      value: workflow ?? '',
      options: [['', 'All'], ...all.map(({ id, name }) => [id, name] as const)],
    }),
    selectField({
      id: 'state',
      label: 'State',
      value: state ?? '',
      options: [['', 'Any'], ...runStates.map((one) => [one, stateWords[one]] as const)],
    }),
    field({ id: 'record', label: 'Record', type: 'search', value: record, maxLength: 400 }),
  ];
  const isNarrowed = workflow !== undefined || state !== undefined || record !== '';
  const last = found.length === LISTED ? found.at(-1) : undefined;
  const content = html`<h1>Runs</h1>
<p class="lead">${access.caller.permissionLevel === 'user' ? 'Runs that you started.' : 'Runs of your team.'}</p>
${filterForm(parts, runsPage, filters)}
${found.length > 0 ? await runTable(found, request, parts) : nothing(isNarrowed, parts)}
${pager({
  ...(after !== '' && { newest: addressOf(request, parts, runsPage) }),
  ...(last && { older: addressOf(request, parts, runsPage, { after: last.id }) }),
})}`;
  return { page: createFramedPage(request, parts, { title: 'Runs', under: runsPage, content, wide: true }) };
}

function nothing(isNarrowed: boolean, { paths }: Parts): Html {
  if (isNarrowed) return empty('No results', 'Clear the filters.');
  return empty('No runs yet', html`Start one of the <a href="${paths.path(under)}">workflows</a> on a record.`);
}

export async function runTable(runs: readonly Run[], request: SignedInRequest, parts: Parts): Promise<Html> {
  const { access } = request;
  const { paths } = parts;
  const refs = runs.map(({ collection, recordId }) => ({ collection, id: recordId }));
  const names = await readNames(request, parts, refs);
  return table({
    caption: 'Runs',
    heads: ['Started', 'Workflow', 'Record', 'State', 'Through'],
    rows: runs.map((run) => [
      html`<a href="${paths.path(runPage(run.id))}">${showTime(run.createdAt, access.caller.timezone)}</a>`,
      run.name,
      names.link(run.collection, run.recordId),
      stateBadge(run),
      html`${originWords[run.origin]}${run.originName !== originWords[run.origin] && html`<small>${run.originName}</small>`}`,
    ]),
  });
}
