// The automatic starts of a workflow on its page, for editors.
import { type Html, html } from '../../../../http/html.ts';
import type { StartRule } from '../../../../store/workflows/start-rule-types.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import type { Parts, SignedInRequest } from '../../../page-request.ts';
import { showTime } from '../../../ui/times.ts';
import { mayEdit, workflowPage } from '../access.ts';
import { describeResult, describeStart, resultFor } from './words.ts';

export const startsPage = (workflowId: string): string => `${workflowPage(workflowId)}/starts`;

export const startTexts: Readonly<Record<string, string>> = {
  'start-added': 'Automatic start added.',
  'start-saved': 'Automatic start saved.',
  'start-deleted': 'Automatic start deleted.',
};

/** Their name, or their address. */
export async function ownerOf({ userId }: StartRule, { access }: SignedInRequest, { store }: Parts): Promise<string> {
  if (userId === access.caller.id) return 'you';
  const user = await store.identity.findUser(userId);
  return user ? `${user.firstName} ${user.lastName}`.trim() || user.email : 'a former user';
}

export async function automaticStarts(
  workflow: Workflow,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html | false> {
  const { access } = request;
  if (!mayEdit(access)) return false;
  const rules = await parts.automatic.list(access, workflow);
  const rows: Html[] = [];
  for (const rule of rules) {
    const page = parts.paths.path(`${startsPage(workflow.id)}/${rule.id}`);
    rows.push(
      html`<li><a href="${page}"><b>${describeStart(rule.settings)}</b><span>${await lineOf(rule, request, parts)}</span></a></li>`,
    );
  }
  const add = (kind: string, text: string) =>
    html`<a class="button plain slim" href="${parts.paths.path(`${startsPage(workflow.id)}/new`)}?kind=${kind}">${text}</a>`;
  return html`<h2 class="plainly" id="starts">Automatic starts</h2>
<p class="quietly">A schedule or a data change starts runs with the rights of the person who set it up.</p>
${rows.length > 0 && html`<ul class="rows">${rows}</ul>`}
${access.startsWorkflows && html`<div class="deeds">${add('schedule', 'Add a schedule')}${add('change', 'Add a data change')}</div>`}`;
}

async function lineOf(rule: StartRule, request: SignedInRequest, parts: Parts): Promise<Html> {
  const { timezone } = request.access.caller;
  const { isActive, nextAt } = rule;
  const lastResult = resultFor(rule, request.access);
  const state = isActive ? await parts.automatic.stateOf(rule) : undefined;
  const said = !state
    ? 'Paused.'
    : state.state === 'stopped'
      ? html`<span class="badge bad">Stopped</span> ${state.reason}`
      : nextAt !== null && html`Next: ${showTime(nextAt, timezone)}.`;
  return html`For ${await ownerOf(rule, request, parts)}. ${said} ${lastResult && html`Last: ${showTime(lastResult.at, timezone)}, ${describeResult(lastResult)}`}`;
}
