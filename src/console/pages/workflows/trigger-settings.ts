// The webhook of a workflow: its switch, its URL with an example call, required signatures, and the callback URL that
// receives run results. A secret is shown once, in the response to the button that requests it.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Workflow } from '../../../store/workflows/types.ts';
import type { MemberVisit, Parts } from '../../page-request.ts';
import { buttonTo, checkField, field, formOf } from '../../ui/form.ts';
import { copyable } from '../../ui/notices.ts';
import { mayEdit, workflowPage } from './access.ts';

export const triggerTexts: Readonly<Record<string, string>> = {
  enabled: 'The webhook is on: its address starts runs.',
  disabled: 'The webhook is off: its address starts nothing until it is on again.',
  regenerated: 'There is a new address. The one of before is refused from now on.',
  settings: 'The settings of the webhook are saved.',
};

export interface TriggerTold {
  /** Signing secret, when requested. */
  readonly secret?: string;
  readonly callbackProblem?: string;
}

/** For editors: users do not see integration details. */
export async function triggerSettings(
  workflow: Workflow,
  visit: MemberVisit,
  parts: Parts,
  { secret, callbackProblem }: TriggerTold,
): Promise<Html | false> {
  if (!mayEdit(visit.access)) return false;
  const { isEnabled, version } = workflow.trigger;
  const page = workflowPage(workflow.id);
  const press = (action: string, text: string, kind?: 'danger') =>
    buttonTo(visit, parts, { page, action, text, ...(kind && { kind }) });
  const address = isEnabled ? await parts.triggers.addressOf(workflow) : undefined;
  return html`<h2 class="plainly" id="webhook">Webhook</h2>
<p class="quietly">${isEnabled ? html`A program that holds a <a href="${parts.paths.path('/tokens/new?for=api')}">token</a> starts a run by one call. The run has the rights of the token’s user.` : 'A program can start runs by a call. It is off.'}</p>
${address !== undefined && callable(address)}
${isEnabled && address === undefined && html`<p class="warning" role="note">The key that its address was signed with is gone: make a new address.</p>`}
<div class="deeds">${isEnabled ? press('disable', 'Switch it off') : press('enable', version === 0 ? 'Switch it on' : 'Switch it on again')}</div>
${version > 0 && html`<details class="more"><summary>Make a new address</summary><p class="warning" role="note">Every program that calls the address of now is refused at once, and must be given the new one.</p><div class="deeds">${press('regenerate', 'Make a new address', 'danger')}</div></details>`}
${settings(workflow, visit, parts, callbackProblem)}
${signing(secret, press)}`;
}

function callable(address: string): Html {
  const call = `curl -X POST '${address}' -H "Authorization: Bearer $PORTICO_TOKEN" -H 'Content-Type: application/json' -d '{"record_id":"1"}'`;
  return html`${copyable(address, 'the address of the webhook')}${copyable(call, 'a call of the webhook')}`;
}

function settings({ id, trigger }: Workflow, visit: MemberVisit, parts: Parts, problem: string | undefined): Html {
  const value = problem === undefined ? (trigger.callbackUrl ?? '') : (visit.form.get('callback') ?? '');
  const callback = field({
    id: 'callback',
    label: 'Tell how runs end (URL)',
    value,
    hint: 'Is called when a run that the webhook started is over; signed. Nobody when empty.',
    problem,
    most: 1000,
  });
  const signed = checkField({
    id: 'signed',
    name: 'signed',
    label: 'Calls must be signed',
    hint: 'Standard Webhooks, beside the token. Calls without a right signature are refused.',
    checked: problem === undefined ? trigger.needsSignature : visit.form.get('signed') === 'yes',
  });
  return html`<details class="more"${problem !== undefined && html` open`}><summary>Signatures and callback</summary>${formOf(visit, parts, workflowPage(id))}${callback}${signed}<button class="plain slim" name="action" value="trigger-settings">Save the settings</button></form></details>`;
}

const signing = (secret: string | undefined, press: (action: string, text: string) => Html): Html =>
  secret === undefined
    ? html`<details class="more"><summary>Secret of signatures</summary><p class="quietly">What calls are signed with, and callbacks too. Show it to nobody but the program.</p><div class="deeds">${press('secret', 'Show the secret')}</div></details>`
    : html`<h3 class="plainly">Secret of signatures</h3>${copyable(secret, 'the secret of signatures')}`;

/** Handles the form. Returns the key of the confirmation message, or content to show at once. */
export async function changeTrigger(
  workflow: Workflow,
  visit: MemberVisit,
  { triggers }: Parts,
): Promise<{ readonly done: string } | { readonly told: TriggerTold }> {
  const { access, form } = visit;
  switch (form.get('action')) {
    case 'enable':
      await triggers.change(access, workflow, { isEnabled: true });
      return { done: 'enabled' };
    case 'disable':
      await triggers.change(access, workflow, { isEnabled: false });
      return { done: 'disabled' };
    case 'regenerate':
      await triggers.change(access, workflow, { regenerate: true });
      return { done: 'regenerated' };
    case 'secret':
      return { told: { secret: await triggers.secretOf(access, workflow) } };
    default: {
      const callbackUrl = (form.get('callback') ?? '').trim() || null;
      try {
        await triggers.change(access, workflow, { callbackUrl, needsSignature: form.get('signed') === 'yes' });
        return { done: 'settings' };
      } catch (error) {
        if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
        return { told: { callbackProblem: error.details.problem } };
      }
    }
  }
}
