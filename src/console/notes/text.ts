// What people type is plain text: paragraphs with a blank line between them, lines, lists of lines that begin with '- ', and
// addresses, which become links. It is kept as HTML, and comes back as that text to be edited. What a program wrote with more
// markup than that is edited as the HTML that it is, so that nothing of it is lost.
import { cleanHtml } from '../../api/note-content.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeMarkup = (text: string): string => text.replace(/[&<>"]/g, (found) => escapes[found]!);

/** The punctuation at its end belongs to the sentence. */
const address = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]}']/g;

function inline(line: string): string {
  let at = 0;
  let made = '';
  for (const found of line.matchAll(address)) {
    const link = escapeMarkup(found[0]);
    made += `${escapeMarkup(line.slice(at, found.index))}<a href="${link}">${link}</a>`;
    at = found.index + found[0].length;
  }
  return made + escapeMarkup(line.slice(at));
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

/** Undefined for HTML that is not of such a text. */
export function toText(content: string): string | undefined {
  const text = written.reduce((left, [found, put]) => left.replace(found, put), content).trim();
  return toHtml(text) === content ? text : undefined;
}
