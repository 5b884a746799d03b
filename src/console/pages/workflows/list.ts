// The list of workflows of the user's team, on collections that the user may see.
import { html } from '../../../http/html.ts';
import type { Workflow } from '../../../store/workflows/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { empty } from '../../ui/data.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { mayEdit, runsPage, under, workflowPage } from './access.ts';

export async function listWorkflows(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access } = request;
  const { paths } = parts;
  const found = await parts.workflows.list(access);
  const edits = mayEdit(access);
  const rows = found.map(
    (one) =>
      html`<li><a href="${paths.path(workflowPage(one.id))}"><b>${one.name}</b><span>${aboutOf(one)}</span></a></li>`,
  );
  const create = html`<a class="button primary slim" href="${paths.path(`${under}/new`)}">New workflow</a>`;
  const none = edits
    ? html`Steps on one record, in order: read, decide, ask a person, change. <a href="${paths.path(`${under}/new`)}">Create the first one</a>, or add one in code with <code>agent.addWorkflow</code>.`
    : 'Editors of your team create them. You can start them here.';
  const content = html`<div class="head"><h1>Workflows</h1>${edits && create}</div>
<p class="lead">Step-by-step processes on a record, for ${access.caller.team}. A run has the permissions of the person who started it.</p>
${flash({ deleted: 'Deleted. What its runs did stays in the activity log.' }, request.query)}
${rows.length > 0 ? html`<ul class="rows">${rows}</ul>` : empty('No workflows yet', none)}
${rows.length > 0 && html`<p class="quietly"><a href="${paths.path(runsPage)}">All runs</a></p>`}`;
  return { page: createFramedPage(request, parts, { title: 'Workflows', under, content }) };
}

function aboutOf({ collection, version, isActive, source, trigger }: Workflow): string {
  return [
    `on ${collection}`,
    `version ${version}`,
    isActive ? undefined : 'paused',
    source === 'code' ? 'defined in code' : undefined,
    trigger.isEnabled ? 'webhook' : undefined,
  ]
    .filter(Boolean)
    .join(', ');
}
