// Converts between typed text and stored HTML. Typed text is plain: paragraphs separated by blank lines, line breaks,
// lists with lines that begin with '- ', and URLs, which become links. Such HTML converts back to text for editing.
// HTML with other markup is edited as HTML, so no markup is lost.
import { cleanHtml } from '../../../api/notes/content.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeMarkup = (text: string): string => text.replace(/[&<>"]/g, (found) => escapes[found]!);

/** Trailing punctuation belongs to the sentence, not to the URL. */
const address = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/g;

function inline(line: string): string {
  let at = 0;
  let markup = '';
  for (const found of line.matchAll(address)) {
    const link = escapeMarkup(found[0]);
    markup += `${escapeMarkup(line.slice(at, found.index))}<a href="${link}">${link}</a>`;
    at = found.index + found[0].length;
  }
  return markup + escapeMarkup(line.slice(at));
}

const isItem = (line: string): boolean => line.startsWith('- ');

function block(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  if (lines.every(isItem)) return `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join('')}</ul>`;
  return `<p>${lines.map(inline).join('<br>')}</p>`;
}

export function toHtml(typed: string): string {
  const blocks = typed
    .replace(/\r\n?/g, '\n')
    .split(/\n\s*\n/)
    .map((one) => one.replace(/^\n+|\s+$/g, ''))
    .filter((one) => one.trim() !== '');
  return cleanHtml(blocks.map(block).join(''));
}

const written: readonly (readonly [RegExp, string])[] = [
  [/<a [^>]*>|<\/a>|<p>|<ul>/g, ''],
  [/<br \/>/g, '\n'],
  [/<li>/g, '- '],
  [/<\/li>/g, '\n'],
  [/<\/p>/g, '\n\n'],
  [/<\/ul>/g, '\n'],
  [/&lt;/g, '<'],
  [/&gt;/g, '>'],
  [/&quot;/g, '"'],
  [/&amp;/g, '&'],
];

/** Undefined for HTML with other markup. */
export function toText(content: string): string | undefined {
  const text = written.reduce((left, [found, put]) => left.replace(found, put), content).trim();
  return toHtml(text) === content ? text : undefined;
}
