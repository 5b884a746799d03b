// Files that somebody gave and another is to look at: links on a page, and what such a link answers.
import type { FormFile } from '../agent/actions/definitions.ts';
import { type Html, html } from '../oauth/html.ts';
import type { Streamed } from './visit.ts';

/** By the number of each file. */
export function fileLinks(files: readonly { readonly text: string; readonly address: string }[]): Html {
  return html`<ul class="files">${files.map(({ text, address }) => html`<li><a href="${address}" download>${text}</a></li>`)}</ul>`;
}

/** Whoever gave it said of which kind it is: nothing that a browser would open by itself (CWE-79, CWE-434). */
export function savedFile({ name, content }: FormFile): Streamed {
  return { stream: { type: 'application/octet-stream', filename: name, parts: partsOf(content) } };
}

async function* partsOf(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content;
}
