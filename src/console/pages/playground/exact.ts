// Exact text. The template tag removes invisible characters from values, but controls must return the typed text
// unchanged, and model text must be shown exactly.
import { exactText, type Html, html } from '../../../http/html.ts';

/** For the value of a control. */
export const typedText = exactText;

/** For a text area: browsers drop one leading line break. */
export const typedLines = (text: string): Html => html`\n${exactText(text)}`;

/**
 * For reading, with line breaks. Invisible characters appear as JSON escapes such as `\u200b`, which mean the same
 * there.
 */
export function shownText(text: string): Html {
  const visibleText = text.replace(
    /(?!\n)[\p{Cc}\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return exactText(visibleText);
}
