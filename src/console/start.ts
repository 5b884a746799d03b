// The start page: who is signed in, what waits, and the way out.
import { html } from '../oauth/html.ts';
import { approvalRows, findDecidable } from './approvals.ts';
import { createFramed } from './frame.ts';
import type { Answer, MemberVisit, Parts } from './visit.ts';

const SHOWN = 5;

export async function showStart(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { caller } = visit.access;
  const name = `${caller.firstName} ${caller.lastName}`.trim();
  const waiting = await findDecidable(visit, parts, SHOWN);
  const content = html`<h1>Hello${name && html`, ${name}`}</h1>
<dl class="facts">
<div><dt>You are</dt><dd>${caller.email}<small>${caller.team} · ${caller.role}</small></dd></div>
${parts.mcpUrl !== null && html`<div><dt>Assistants</dt><dd><code>${parts.mcpUrl}</code><small>The address to add to an assistant. It then sends you here to sign in.</small></dd></div>`}
</dl>
<h2 class="plainly" id="waits">Waits for you</h2>
${approvalRows(waiting, parts)}
<p class="quietly"><a href="${parts.paths.path('/approvals')}">All approvals</a></p>`;
  return { page: createFramed(visit, parts, { title: 'Start', under: '', content }) };
}
