// Allows text with limited markup in notes. Other markup is removed when a note is saved, and again when a page shows
// it. The second pass covers content from earlier versions and manual edits of the storage.
import { createRequire } from 'node:module';
import type sanitizeHtml from 'sanitize-html';
import { fail } from '../../core/errors.ts';

/** Loaded with the first note, to keep startup fast. */
let loaded: typeof sanitizeHtml | undefined;
const sanitize = (content: string, rules: sanitizeHtml.IOptions): string => {
  loaded ??= createRequire(import.meta.url)('sanitize-html') as typeof sanitizeHtml;
  return loaded(content, rules);
};

/** The maximum length of a message in characters, as sent and as stored. */
export const MAX_CONTENT_LENGTH = 100_000;
export const MAX_TITLE_LENGTH = 255;

const tags = [
  'p',
  'br',
  'b',
  'strong',
  'i',
  'em',
  'u',
  's',
  'a',
  'ul',
  'ol',
  'li',
  'blockquote',
  'code',
  'pre',
  'h3',
  'h4',
];
const schemes = ['http', 'https', 'mailto'];

const options: sanitizeHtml.IOptions = {
  allowedTags: tags,
  allowedAttributes: { a: ['href', 'rel'] },
  allowedSchemes: schemes,
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nestingLimit: 30,
  transformTags: {
    a: (tagName, { href }) => ({ tagName, attribs: toLink(href) }),
  },
};

/** A link opens another site. It must not control our page (CWE-1022) or send a referrer. */
function toLink(href: string | undefined): Record<string, string> {
  const isAbsolute = href !== undefined && schemes.some((scheme) => href.toLowerCase().startsWith(`${scheme}:`));
  return isAbsolute ? { href, rel: 'noopener noreferrer' } : {};
}

/** OWASP XSS prevention, "HTML Sanitization": uses an allowlist. */
export function cleanHtml(content: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what no text of the storage holds
  return sanitize(content.replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, ''), options).trim();
}

const toPlainText = (content: string): string =>
  sanitize(content, { allowedTags: [], allowedAttributes: {} })
    .replace(/&nbsp;/g, ' ')
    .trim();

/** Returns the content to store. Throws INVALID_ARGUMENT if it is too long or has no text. */
export function parseContent(input: string): string {
  const content = input.length > MAX_CONTENT_LENGTH ? '' : cleanHtml(input);
  if (input.length > MAX_CONTENT_LENGTH || content.length > MAX_CONTENT_LENGTH) {
    fail('INVALID_ARGUMENT', { argument: 'content', problem: `expected at most ${MAX_CONTENT_LENGTH} characters.` });
  }
  if (toPlainText(content) === '') {
    fail('INVALID_ARGUMENT', { argument: 'content', problem: 'expected some text.' });
  }
  return content;
}

/** Returns a title on one line. Throws INVALID_ARGUMENT. */
export function parseTitle(input: string): string {
  const title = input.replace(/[\p{Cc}\s]+/gu, ' ').trim();
  if (title === '' || title.length > MAX_TITLE_LENGTH) {
    fail('INVALID_ARGUMENT', { argument: 'title', problem: `expected 1 to ${MAX_TITLE_LENGTH} characters.` });
  }
  return title;
}
