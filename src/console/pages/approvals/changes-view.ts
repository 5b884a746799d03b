// Each field of each record before and after a change, for the person who decides.
import { type Html, html } from '../../../http/html.ts';
import type { PreviewedEffect } from '../../../store/approvals/types.ts';
import type { Changes } from './review.ts';

/** One table per record. `tool` is the tool that would make the change. */
export function changeTables(tool: string, changes: Changes, isNamed = false): Html {
  const captioned = isNamed || changes.length > 1 || tool === 'associate' || tool === 'dissociate';
  return html`${changes.map(({ id, fields }) => {
    const rows = Object.entries(fields);
    const caption = captioned && html`<caption>${id === null ? 'A new record' : `Record ${id}`}</caption>`;
    // Side effects follow below (effectTables).
    if (rows.length === 0)
      return html`<p class="quietly">${id === null ? 'The new record has no fields that you can see.' : `Record ${id}: no field that you can see changes.`}</p>`;
    if (rows.every(([, { before }]) => before === null || before === undefined) && id === null)
      return valueTable(
        caption,
        'Value',
        rows.map(([name, { after }]) => [name, html`<ins>${shownValue(after)}</ins>`]),
      );
    if (tool === 'delete')
      return valueTable(
        caption,
        'Deleted value',
        rows.map(([name, { before }]) => [name, html`<del class="gone">${shownValue(before)}</del>`]),
      );
    return html`<table class="changes">${caption}<thead><tr><th scope="col">Field</th><th scope="col">Now</th><th scope="col">After</th></tr></thead><tbody>${rows.map(
      ([name, { before, after }]) =>
        html`<tr><th scope="row">${name}</th><td>${replacedValue(before)}</td><td><ins>${shownValue(after)}</ins></td></tr>`,
    )}</tbody></table>`;
  })}`;
}

const changeWords = { created: 'created', updated: 'changed', deleted: 'deleted' } as const;
const causeWords = {
  call: '',
  relation: 'through a relation',
  cascade: 'by the database',
  code: 'by customization code',
} as const;

/** Side effects: records that the call would write in addition to those it names, in any collection. */
export function effectTables(effects: readonly PreviewedEffect[], unseen: readonly string[]): Html | undefined {
  if (effects.length + unseen.length === 0) return undefined;
  return html`<h2>Other changes</h2>
${effects.map(({ collection, change, cause, count, ids = [], changes = [] }) => {
  const where = collection === null ? 'a collection that you may not see' : collection;
  const some = count === 1 ? '1 record' : `${count} records`;
  const verb = change === 'deleted' ? 'delete' : 'update';
  return html`<p><b>${some} of ${where}</b> ${count === 1 ? 'is' : 'are'} ${changeWords[change]} ${causeWords[cause]}${changes.length === 0 && ids.length > 0 && html`: ${ids.join(', ')}`}</p>
${changeTables(verb, changes, true)}
${changes.length > 0 && changes.length < count && html`<p class="quietly">Shown: ${changes.length} of ${some}.</p>`}`;
})}
${unseen.map((sentence) => html`<p class="quietly">${sentence}</p>`)}`;
}

/** Table with one value per field. */
export function valueTable(
  caption: Html | false,
  heading: string,
  rows: readonly (readonly [name: string, value: Html])[],
): Html {
  return html`<table class="changes">${caption}<thead><tr><th scope="col">Field</th><th scope="col">${heading}</th></tr></thead><tbody>${rows.map(
    ([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`,
  )}</tbody></table>`;
}

/** Ending of a long value that was clipped for a model (mcp/results/cells.ts). */
const clipped = /…\[(\d+ of \d+ characters)(?:;[^\]]*)?\]$/;

/** The value before a change. A line through the label of an empty value would read as if the label was removed. */
export const replacedValue = (value: unknown): Html =>
  value === null || value === undefined || value === '' ? shownValue(value) : html`<del>${shownValue(value)}</del>`;

/** Shows a value as it is. Empty values get a label that cannot be mistaken for text. */
export function shownValue(value: unknown): Html {
  if (value === null || value === undefined) return html`<i>nothing</i>`;
  if (value === '') return html`<i>empty text</i>`;
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const part = clipped.exec(text);
  return part ? html`${text.slice(0, part.index)}… <i>(${part[1]})</i>` : html`${text}`;
}
