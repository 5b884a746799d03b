// Each field of each record before and after, as a person reads it who is to decide.
import { type Html, html } from '../oauth/html.ts';
import type { Changes } from './review.ts';

/** By record; `tool` is the one that would do it. */
export function changeTables(tool: string, changes: Changes): Html {
  const captioned = changes.length > 1 || tool === 'associate' || tool === 'dissociate';
  return html`${changes.map(({ id, fields }) => {
    const rows = Object.entries(fields);
    const caption = captioned && html`<caption>${id === null ? 'A new record' : `Record ${id}`}</caption>`;
    if (rows.length === 0)
      return html`<p class="quietly">${id !== null && `Record ${id}: `}nothing that you see would change.</p>`;
    if (rows.every(([, { before }]) => before === null || before === undefined) && id === null)
      return oneSided(
        caption,
        'Value',
        rows.map(([name, { after }]) => [name, html`<ins>${shownValue(after)}</ins>`]),
      );
    if (tool === 'delete')
      return oneSided(
        caption,
        'Is lost',
        rows.map(([name, { before }]) => [name, html`<del class="gone">${shownValue(before)}</del>`]),
      );
    return html`<table class="changes">${caption}<thead><tr><th scope="col">Field</th><th scope="col">Now</th><th scope="col">After</th></tr></thead><tbody>${rows.map(
      ([name, { before, after }]) =>
        html`<tr><th scope="row">${name}</th><td><del>${shownValue(before)}</del></td><td><ins>${shownValue(after)}</ins></td></tr>`,
    )}</tbody></table>`;
  })}`;
}

/** One value to a field. */
export function oneSided(
  caption: Html | false,
  heading: string,
  rows: readonly (readonly [name: string, value: Html])[],
): Html {
  return html`<table class="changes">${caption}<thead><tr><th scope="col">Field</th><th scope="col">${heading}</th></tr></thead><tbody>${rows.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`,
  )}</tbody></table>`;
}

/** How a long value ends that was clipped for a model (mcp/answers/result.ts). */
const clipped = /…\[(\d+ of \d+ characters);[^\]]*\]$/;

/** Values as they are; what is nothing is named, so that it cannot be mistaken for a text. */
export function shownValue(value: unknown): Html {
  if (value === null || value === undefined) return html`<i>nothing</i>`;
  if (value === '') return html`<i>an empty text</i>`;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const part = clipped.exec(text);
  return part ? html`${text.slice(0, part.index)}… <i>(${part[1]})</i>` : html`${text}`;
}
