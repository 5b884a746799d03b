// A template tag that escapes. Interpolated values are escaped unless they are `Html`.

export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Html | false | null | undefined | readonly Part[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(
    strings.map((literal, index) => literal + (index < parts.length ? render(parts[index]) : '')).join(''),
  );
}

/** Trusted markup that is not a template, such as a style sheet. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}

function render(part: Part): string {
  if (part === undefined || part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(render).join('');
  return escapeText(String(part));
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

function escapeText(text: string): string {
  return visibleText(text).replace(/[&<>"'`]/g, (found) => escapes[found] ?? '');
}

/**
 * The text as a page shows it: without control, bidirectional and invisible characters, because they can disguise text.
 * Line breaks stay; other whitespace controls become a space. Variation selectors stay, because they are part of normal
 * writing.
 */
export const visibleText = (text: string): string =>
  text.replace(/(?!\p{Variation_Selector})[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu, (found) =>
    found === '\n' ? found : /\s/.test(found) ? ' ' : '',
  );

/** The exact text, with characters that can disguise it. Only for text shown to the user who typed it. */
export function exactText(text: string): Html {
  return new Html(text.replace(/[&<>"'`]/g, (found) => escapes[found] ?? ''));
}
