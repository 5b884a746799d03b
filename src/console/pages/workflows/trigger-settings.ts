// The webhook of a workflow: its switch, its URL with an example call, required signatures, and the callback URL that
// receives run results. A secret is shown once, in the response to the button that requests it.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Run, Workflow } from '../../../store/workflows/types.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { runPage } from '../../paths.ts';
import { readNames } from '../../records/names.ts';
import { buttonTo, checkField, field, openForm } from '../../ui/form.ts';
import { copyable } from '../../ui/notices.ts';
import { mayEdit, workflowPage } from './access.ts';
import { describeCallback } from './words.ts';

export const triggerTexts: Readonly<Record<string, string>> = {
  enabled: 'The webhook is on. Calls to its address start runs.',
  disabled: 'The webhook is off. Calls to its address are rejected until you turn it on again.',
  regenerated: 'New address created. The previous address no longer works.',
  settings: 'Webhook settings saved.',
};

export interface TriggerResult {
  /** Signing secret, when requested. */
  readonly secret?: string;
  readonly callbackProblem?: string;
}

/** For editors: users do not see integration details. */
export async function triggerSettings(
  workflow: Workflow,
  latestRuns: readonly Run[],
  request: SignedInRequest,
  parts: Parts,
  { secret, callbackProblem }: TriggerResult,
): Promise<Html | false> {
  if (!mayEdit(request.access)) return false;
  const { isEnabled, version } = workflow.trigger;
  const page = workflowPage(workflow.id);
  const press = (action: string, text: string, kind?: 'danger') =>
    buttonTo(request, parts, { page, action, text, ...(kind && { kind }) });
  const address = isEnabled ? await parts.triggers.addressOf(workflow) : undefined;
  return html`<h2 class="plainly" id="webhook">Webhook</h2>
<p class="quietly">${isEnabled ? html`A program with a <a href="${parts.paths.path('/tokens/new?for=api')}">token</a> can start a run with one call. The run has the permissions of the token’s user.` : 'With a webhook, a program can start runs. It is off.'}</p>
${address !== undefined && callExamples(address)}
${isEnabled && address === undefined && html`<p class="warning" role="note">The signing key of its address no longer exists. Create a new address.</p>`}
<div class="deeds">${isEnabled ? press('disable', 'Turn off') : press('enable', version === 0 ? 'Turn on' : 'Turn on again')}</div>
${version > 0 && html`<details class="more"><summary>Create a new address</summary><p class="warning" role="note">The current address stops working immediately. Give the new one to every program that calls it.</p><div class="deeds">${press('regenerate', 'Create a new address', 'danger')}</div></details>`}
${await callbackWarning(latestRuns, request, parts)}
${settings(workflow, request, parts, callbackProblem)}
${signing(secret, press)}`;
}

function callExamples(address: string): Html {
  const call = `curl -X POST '${address}' -H "Authorization: Bearer $PORTICO_TOKEN" -H 'Content-Type: application/json' -d '{"record_id":"1"}'`;
  return html`${copyable(address, 'the address of the webhook')}${copyable(call, 'a call of the webhook')}`;
}

async function callbackWarning(runs: readonly Run[], request: SignedInRequest, parts: Parts): Promise<Html | false> {
  const run = runs.find(({ callbackFailure }) => callbackFailure !== null);
  if (!run?.callbackFailure) return false;
  const { timezone } = request.access.caller;
  const names = await readNames(request, parts, [{ collection: run.collection, id: run.recordId }]);
  return html`<p class="warning" role="note">Callback of the <a href="${parts.paths.path(runPage(run.id))}">run on ${names.name(run.collection, run.recordId)}</a>: ${describeCallback(run.callbackFailure, timezone)}</p>`;
}

function settings(
  { id, trigger }: Workflow,
  request: SignedInRequest,
  parts: Parts,
  problem: string | undefined,
): Html {
  const value = problem === undefined ? (trigger.callbackUrl ?? '') : (request.form.get('callback') ?? '');
  const callback = field({
    id: 'callback',
    label: 'Callback URL',
    value,
    hint: 'Receives a signed call when a run of the webhook ends. Empty: no call.',
    problem,
    maxLength: 1000,
  });
  const signed = checkField({
    id: 'signed',
    name: 'signed',
    label: 'Calls must be signed',
    hint: 'Standard Webhooks, in addition to the token. Calls without a valid signature are rejected.',
    checked: problem === undefined ? trigger.needsSignature : request.form.get('signed') === 'yes',
  });
  return html`<details class="more"${problem !== undefined && html` open`}><summary>Signatures and callback</summary>${openForm(request, parts, workflowPage(id))}${callback}${signed}<button class="plain slim" name="action" value="trigger-settings">Save the settings</button></form></details>`;
}

const signing = (secret: string | undefined, press: (action: string, text: string) => Html): Html =>
  secret === undefined
    ? html`<details class="more"><summary>Signing secret</summary><p class="quietly">Signs calls and callbacks. Share it only with the program.</p><div class="deeds">${press('secret', 'Show the secret')}</div></details>`
    : html`<h3 class="plainly">Signing secret</h3>${copyable(secret, 'the signing secret')}`;

/** Handles the form. Returns the key of the confirmation message, or content to show at once. */
export async function changeTrigger(
  workflow: Workflow,
  request: SignedInRequest,
  { triggers }: Parts,
): Promise<{ readonly done: string } | { readonly result: TriggerResult }> {
  const { access, form } = request;
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
      return { result: { secret: await triggers.secretOf(access, workflow) } };
    default: {
      const callbackUrl = (form.get('callback') ?? '').trim() || null;
      try {
        await triggers.change(access, workflow, { callbackUrl, needsSignature: form.get('signed') === 'yes' });
        return { done: 'settings' };
      } catch (error) {
        if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
        return { result: { callbackProblem: error.details.problem } };
      }
    }
  }
}
