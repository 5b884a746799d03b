// Building blocks for lists: `table`, which scrolls horizontally on narrow screens, `pager`, `facts` for one object,
// and `empty` with a hint for the next step.
import { type Html, html } from '../../http/html.ts';

interface Table {
  /** For screen readers only; the page has its own heading. */
  readonly caption: string;
  readonly heads: readonly (Html | string)[];
  /** The first cell is the header of the row. */
  readonly rows: readonly (readonly (Html | string | number | null | undefined)[])[];
}

/** The scrollable region is focusable by keyboard (WCAG 2.2, 2.1.1). */
export function table({ caption, heads, rows }: Table): Html {
  const lines = rows.map(
    ([first, ...cells]) => html`<tr><th scope="row">${first}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  );
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="table"><caption class="unseen">${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${lines}</tbody></table></div>`;
}

interface Pager {
  /** URLs; undefined when there is no such page. */
  readonly newest?: string | undefined;
  readonly older?: string | undefined;
}

export function pager({ newest, older }: Pager): Html | false {
  if (newest === undefined && older === undefined) return false;
  return html`<nav class="pager" aria-label="Pages">${newest !== undefined && html`<a href="${newest}">Newest</a>`}${older !== undefined && html`<a href="${older}" rel="next">Older</a>`}</nav>`;
}

type Fact = readonly [name: string, text: Html | string | number | null | undefined | false];

/** Empty facts are omitted. */
export function facts(rows: readonly Fact[]): Html {
  const shown = rows.filter(([, text]) => text !== undefined && text !== null && text !== false && text !== '');
  return html`<dl class="facts">${shown.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`;
}

export function empty(title: string, next: Html | string): Html {
  return html`<div class="empty"><b>${title}</b>${next}</div>`;
}
