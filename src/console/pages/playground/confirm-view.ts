// Confirmation step of a write: shows its effect and asks whether to continue.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { PlaygroundResult } from '../../../mcp/playground.ts';
import { hiddenToken } from '../../ui/form.ts';
import { changeTables } from '../approvals/changes-view.ts';
import type { Changes } from '../approvals/review.ts';
import { parse } from './answer-view.ts';
import { shownText, typedText } from './exact.ts';
import type { Arguments, Typed } from './fields.ts';

interface ConfirmView {
  readonly tool: string;
  readonly args: Arguments;
  /** Affected collection and records, as in the activity log. */
  readonly subject: { readonly collection?: string; readonly recordIds?: readonly string[] };
  /** Result of the dry run just made; undefined for a tool without dry runs. */
  readonly tried: PlaygroundResult | undefined;
  /** Input mode of the form, to return to. */
  readonly shown: Typed['mode'];
  /** Hash of the arguments and the dry-run result. */
  readonly previewHash: string;
  /** Idempotency key of this form, for tools that accept one. */
  readonly key: string;
  /** The dry run now has a different result than the user confirmed. */
  readonly hasChanged: boolean;
  readonly action: string;
  readonly csrf: string;
}

/** Custom write code replaces the database there, so a dry run could not be rolled back. */
export const cannotBeTried = ({ failure }: PlaygroundResult): boolean =>
  isAppError(failure, 'INVALID_ARGUMENT') && failure.details.argument === 'dryRun';

export function confirmContent(view: ConfirmView): Html {
  const { tool, args, hasChanged, action, csrf, shown, previewHash, key } = view;
  const tone = tool === 'delete' ? 'danger' : 'primary';
  return html`<section class="answer" aria-label="Preview">
<div class="state wait" role="status"><div><b>${hasChanged ? 'The preview has changed' : 'Run this call?'}</b><span>${hasChanged && 'The data has changed since your last preview. '}No data has been changed yet.</span></div></div>
${about(view)}
${previewContent(view)}
<details class="more"><summary>The call</summary><pre tabindex="0" aria-label="The call">${shownText(JSON.stringify({ name: tool, arguments: args }, null, 2))}</pre></details>
<form method="post" action="${action}" class="decide">
${hiddenToken({ csrf })}<input type="hidden" name="mode" value="json"><input type="hidden" name="shown" value="${shown}"><input type="hidden" name="seen" value="${previewHash}"><input type="hidden" name="key" value="${key}"><input type="hidden" name="json" value="${typedText(JSON.stringify(args))}">
<div class="pair"><button class="plain" name="action" value="edit">Edit arguments</button><button class="${tone}" name="action" value="confirm">Run</button></div>
<p class="quietly">If your role requires an approval, the call waits for it first.</p>
</form></section>`;
}

const IDS_SHOWN = 30;

function about({ tool, args, subject: { collection, recordIds = [] } }: ConfirmView): Html {
  const { actionName } = args;
  const more = recordIds.length - IDS_SHOWN;
  const ids = recordIds.slice(0, IDS_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return html`<p><b>${tool}</b>${typeof actionName === 'string' && html` of <b>${actionName}</b>`}${collection !== undefined && html` on <b>${collection}</b>`}${ids !== '' && html`, ${recordIds.length === 1 ? 'record' : 'records'} <b>${ids}</b>`}</p>`;
}

function previewContent({ tool, tried }: ConfirmView): Html {
  if (!tried) return html`<p>The effect is not known in advance.</p>`;
  if (tried.failure) return html`<p>The effect is not known in advance: customization code performs the write.</p>`;
  const { changes, count, records, note } = (parse(tried.text) ?? {}) as {
    readonly changes?: Changes;
    readonly count?: number;
    readonly records?: number;
    readonly note?: string;
  };
  if (!changes) {
    return html`<p>${records !== undefined && html`It would run on ${records} ${records === 1 ? 'record' : 'records'}. `}${note}</p>`;
  }
  return html`${changeTables(tool, changes)}${changes.length < (count ?? 0) && html`<p class="quietly">Shown: ${changes.length} of ${count} records. The call affects all of them.</p>`}`;
}
