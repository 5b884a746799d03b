// Text to the letter. The template tag leaves out what could disguise a name; here it must not be lost: what a person typed
// goes back into the control that it came from, and what a model is given is shown as it is given.
import { exactText, type Html, html } from '../../oauth/html.ts';

/** For the value of a control. */
export const typedText = exactText;

/** For a text area: a browser drops one line break at its start. */
export const typedLines = (text: string): Html => html`\n${exactText(text)}`;

/** To be read, lines and all. What cannot be seen is written as JSON writes it, `\u200b`: there it means the same. */
export function shownText(text: string): Html {
  const seen = text.replace(
    /(?!\n)[\p{Cc}\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return exactText(seen);
}
