import { type Html, html } from '../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { facts } from '../../ui/data.ts';
import { buttonTo, openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { workflowPage } from '../workflows/access.ts';
import { collectionLink, under } from './access.ts';
import { actionPage, actionsFor } from './actions.ts';
import { fieldValue, instant } from './cells.ts';
import { chartSection } from './charts.ts';
import { historySection, noteSection, runSection } from './history.ts';
import { relationColumn, toOneRelations } from './list/columns.ts';
import { type FoundRecord, requireRecord } from './read-record.ts';
import { relatedSection } from './related.ts';
import { deletePage, editPage, mayDelete, mayEdit } from './rights.ts';

const doneTexts: Readonly<Record<string, string>> = { saved: 'Saved.', created: 'Created.' };

export async function showRecord(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const record = await requireRecord(request, parts);
  const { described, id, name } = record;
  const { paths } = parts;
  const collection = described.name;
  const [related, notes, runs, history, charts, starts] = await Promise.all([
    relatedSection(record, request, parts),
    noteSection(record, request, parts),
    runSection(record, request, parts),
    historySection(record, request, parts),
    chartSection({ collection, id }, request, parts),
    workflowButtons(record, request, parts),
  ]);
  const tools = [
    mayEdit(request, parts, described) &&
      html`<a class="button primary slim" href="${paths.path(editPage(collection, id))}">Edit</a>`,
    mayDelete(request, parts, described) &&
      buttonTo(request, parts, { page: deletePage(collection, id), action: 'review', text: 'Delete' }),
  ];
  const content = html`<div class="head"><h1>${name}</h1><div class="deeds">${tools}</div></div>
${flash(doneTexts, request.query)}
<div class="record">${recordFacts(record, request, parts)}</div>
${actionButtons(record, request, parts)}${starts}
${charts}${related}${notes}${runs}${history}`;
  const page = createFramedPage(request, parts, {
    ...{ title: `${name}, ${collection}`, under, content, wide: true },
    ...{ between: [collectionLink(collection, parts)], here: name },
  });
  return { page };
}

function recordFacts({ described, id, answer }: FoundRecord, { access }: SignedInRequest, parts: Parts): Html {
  const { columns, rows, files } = answer;
  const value = (name: string) => rows[0]![columns.indexOf(name)];
  const context = { access, engine: parts.engine, paths: parts.paths };
  const relations = toOneRelations(described, access).flatMap((relation) => {
    const column = relationColumn(relation, context);
    return column ? [[relation.name, column.show(column.fields.map(value), false)] as const] : [];
  });
  // The related record says more than its key.
  const covered = new Set(
    described.relations.flatMap(({ name, columns: own }) =>
      own.length === 1 && relations.some(([shown]) => shown === name) ? own : [],
    ),
  );
  const { timezone: zone } = access.caller;
  const fields = described.fields
    .filter(({ name, isKey }) => columns.includes(name) && (isKey || !covered.has(name)))
    .map(({ name, unit, type, timezone }) => {
      const time = type === 'Date' && timezone === undefined ? instant(value(name), zone) : undefined;
      const shown = time ?? fieldValue(value(name), files.includes(name));
      return [unit === undefined ? name : `${name} (${unit})`, shown] as const;
    });
  return facts([...(described.key.length > 1 ? [['id', id] as const] : []), ...fields, ...relations]);
}

function actionButtons({ described, id }: FoundRecord, request: SignedInRequest, parts: Parts): Html | false {
  const actions = actionsFor(described.name, request, parts).filter(({ scope }) => scope !== 'Global');
  if (actions.length === 0) return false;
  const query = new URLSearchParams({ record: id }).toString();
  const links = actions.map(
    ({ name }) =>
      html`<a class="button plain slim" href="${parts.paths.path(actionPage(described.name, name))}?${query}">${name}</a>`,
  );
  return html`<h2 class="plainly">Actions</h2><div class="deeds">${links}</div>`;
}

async function workflowButtons(
  { described, id }: FoundRecord,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html | false> {
  if (!request.access.startsWorkflows) return false;
  const all = await parts.workflows.list(request.access, { collection: described.name });
  const active = all.filter(({ isActive }) => isActive);
  if (active.length === 0) return false;
  const forms = active.map(
    (workflow) =>
      html`${openForm(request, parts, workflowPage(workflow.id))}<input type="hidden" name="record" value="${id}"><button class="plain slim" name="action" value="start" aria-label="Start ${workflow.name}">${workflow.name}</button></form>`,
  );
  return html`<h2 class="plainly">Start a workflow</h2><div class="deeds">${forms}</div>`;
}
