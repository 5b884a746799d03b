// Files that one user attached for another to review: links on a page, and the downloads behind them.
import type { FormFile } from '../../../agent/actions/definitions.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ActivityEntry } from '../../../store/audit/activity-types.ts';
import type { Parts, SignedInRequest, StreamAnswer } from '../../page-request.ts';

/** One link per file. */
export function fileLinks(files: readonly { readonly text: string; readonly address: string }[]): Html {
  return html`<ul class="files">${files.map(({ text, address }) => html`<li><a href="${address}" download>${text}</a></li>`)}</ul>`;
}

/** The uploader chose the media type, so always send a download type that browsers do not render (CWE-79, CWE-434). */
export function savedFile({ name, content }: FormFile): StreamAnswer {
  return { stream: { type: 'application/octet-stream', filename: name, parts: partsOf(content) } };
}

/** Logs to the activity log that a user opened an attached file. */
export function logFile(
  { access }: SignedInRequest,
  { store, clock }: Parts,
  about: Pick<ActivityEntry, 'collection' | 'recordIds' | 'approvalId' | 'workflow'>,
): void {
  store.activity.record({
    ...{ userId: access.caller.id, renderingId: access.caller.renderingId, clientId: 'console', clientName: 'Console' },
    ...{ action: 'openFile', type: 'read', ...about },
    ...{ outcome: 'completed', startedAt: clock.now(), durationMs: 0 },
  });
}

async function* partsOf(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content;
}
