// A template tag that escapes. What is not Html is text, whoever wrote it; the only way to markup is the tag itself.

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

/** Markup of our own that is no template, such as a style sheet. */
export function markup(text: string): Html {
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

/**
 * Also drops control characters and those that turn the direction of writing: names must not be able to disguise. A line break
 * stays one, for what people typed in lines; elsewhere it is shown as a space.
 */
export function escapeText(text: string): string {
  return text
    .replace(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu, (found) =>
      found === '\n' ? found : /\s/.test(found) ? ' ' : '',
    )
    .replace(/[&<>"'`]/g, (found) => escapes[found] ?? '');
}

/** The text to the letter, so that it may disguise: for what goes back to the one who typed it. */
export function exactText(text: string): Html {
  return new Html(text.replace(/[&<>"'`]/g, (found) => escapes[found] ?? ''));
}
