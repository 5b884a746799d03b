// Confirmation step of a write: shows its effect and asks whether to continue.
import { isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Played } from '../../../mcp/playground.ts';
import { hiddenToken } from '../../ui/form.ts';
import { changeTables } from '../approvals/changes-view.ts';
import type { Changes } from '../approvals/review.ts';
import { parse } from './answer-view.ts';
import { shownText, typedText } from './exact.ts';
import type { Arguments, Typed } from './fields.ts';

export interface ConfirmView {
  readonly tool: string;
  readonly args: Arguments;
  /** Affected collection and records, as in the activity log. */
  readonly subject: { readonly collection?: string; readonly recordIds?: readonly string[] };
  /** Result of the dry run just made; undefined for a tool without dry runs. */
  readonly tried: Played | undefined;
  /** Input mode of the form, to return to. */
  readonly shown: Typed['mode'];
  /** Hash of the arguments and the dry-run result. */
  readonly seen: string;
  /** Idempotency key of this form, for tools that accept one. */
  readonly key: string;
  /** The dry run now has a different result than the user confirmed. */
  readonly hasChanged: boolean;
  readonly action: string;
  readonly csrf: string;
}

/** Custom write code replaces the database there, so a dry run could not be rolled back. */
export const cannotBeTried = ({ failure }: Played): boolean =>
  isAppError(failure, 'INVALID_ARGUMENT') && failure.details.argument === 'dryRun';

export function confirmContent(view: ConfirmView): Html {
  const { tool, args, hasChanged, action, csrf, shown, seen, key } = view;
  const tone = tool === 'delete' ? 'danger' : 'primary';
  return html`<section class="answer" aria-label="What it would do">
<div class="state wait" role="status"><div><b>${hasChanged ? 'It would do something else by now' : 'Do this for real?'}</b><span>${hasChanged && 'What you were shown has changed since. '}Nothing has been written yet.</span></div></div>
${about(view)}
${foreseen(view)}
<details class="more"><summary>The call</summary><pre tabindex="0" aria-label="The call">${shownText(JSON.stringify({ name: tool, arguments: args }, null, 2))}</pre></details>
<form method="post" action="${action}" class="decide">
${hiddenToken({ csrf })}<input type="hidden" name="mode" value="json"><input type="hidden" name="shown" value="${shown}"><input type="hidden" name="seen" value="${seen}"><input type="hidden" name="key" value="${key}"><input type="hidden" name="json" value="${typedText(JSON.stringify(args))}">
<div class="pair"><button class="plain" name="action" value="edit">Back to the arguments</button><button class="${tone}" name="action" value="confirm">Do it</button></div>
<p class="quietly">Where your role asks for an approval, it waits for that first.</p>
</form></section>`;
}

const IDS_SHOWN = 30;

function about({ tool, args, subject: { collection, recordIds = [] } }: ConfirmView): Html {
  const { actionName } = args;
  const more = recordIds.length - IDS_SHOWN;
  const ids = recordIds.slice(0, IDS_SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return html`<p><b>${tool}</b>${typeof actionName === 'string' && html` of <b>${actionName}</b>`}${collection !== undefined && html` on <b>${collection}</b>`}${ids !== '' && html`, ${recordIds.length === 1 ? 'record' : 'records'} <b>${ids}</b>`}</p>`;
}

function foreseen({ tool, tried }: ConfirmView): Html {
  if (!tried) return html`<p>What it would do cannot be told before.</p>`;
  if (tried.failure)
    return html`<p>What it would do cannot be told before: code writes there in place of the database.</p>`;
  const { changes, count, records, note } = (parse(tried.text) ?? {}) as {
    readonly changes?: Changes;
    readonly count?: number;
    readonly records?: number;
    readonly note?: string;
  };
  if (!changes) {
    return html`<p>${records !== undefined && html`It would run on ${records} ${records === 1 ? 'record' : 'records'}. `}${note}</p>`;
  }
  return html`${changeTables(tool, changes)}${changes.length < (count ?? 0) && html`<p class="quietly">Shown: ${changes.length} of ${count} records. All would be touched.</p>`}`;
}
