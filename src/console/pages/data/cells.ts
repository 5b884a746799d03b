// Values of records for people: long ones are cut, files and JSON are readable.

import { describeFile } from '../../../agent/encode/describe-file.ts';
import { type Html, html } from '../../../http/html.ts';
import { showTime } from '../../ui/times.ts';

/** Longer values are cut in lists. */
const CELL_CHARACTERS = 120;
/** Longer values are cut on the page of a record. */
const FIELD_CHARACTERS = 4000;

const cut = (text: string, limit: number): Html => {
  const characters = text.length <= limit ? undefined : [...text.slice(0, limit + 1)].slice(0, limit);
  return characters ? html`${characters.join('')}… <small>${text.length} characters</small>` : html`${text}`;
};

/** A point in time as people write it; undefined for another value. */
export function instant(value: unknown, timeZone: string): Html | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : showTime(ms, timeZone);
}

/** A value in a list, on one line. `isFile`: it is a `data:` URI. */
export function cell(value: unknown, isFile = false): Html {
  const plain = plainValue(value, isFile);
  return plain ?? cut(textOf(value).replace(/\s+/g, ' ').trim(), CELL_CHARACTERS);
}

/** A value on the page of a record. */
export function fieldValue(value: unknown, isFile = false): Html {
  const plain = plainValue(value, isFile);
  if (plain) return plain;
  if (typeof value === 'object')
    return html`<pre class="json" tabindex="0" aria-label="JSON">${cut(JSON.stringify(value, null, 2), FIELD_CHARACTERS)}</pre>`;
  return html`<span class="lines">${cut(textOf(value), FIELD_CHARACTERS)}</span>`;
}

function plainValue(value: unknown, isFile: boolean): Html | undefined {
  if (value === null || value === undefined) return html`<i class="none">none</i>`;
  if (value === '') return html`<i class="none">empty</i>`;
  if (typeof value === 'boolean') return html`${value ? 'Yes' : 'No'}`;
  if (!isFile) return undefined;
  const files = Array.isArray(value) ? value : [value];
  return html`${files.map((file) => String(describeFile(file))).join('; ')}`;
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));
