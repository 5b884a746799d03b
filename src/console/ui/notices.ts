// Messages on pages: `flash` confirms the form that redirected to this page (`?done=<key>`, which selects one of our
// own texts). `copyable` shows a command or value with a copy button.
import { type Html, html } from '../../http/html.ts';

export function flash(texts: Readonly<Record<string, string>>, query: URLSearchParams, name = 'done'): Html | false {
  const key = query.get(name) ?? '';
  return Object.hasOwn(texts, key) && html`<p class="done" role="status">${texts[key]}</p>`;
}

/**
 * `what` completes the button's accessible label: 'Copy the command'. Without scripts the button stays hidden and the
 * text can be selected.
 */
export function copyable(text: string, what: string): Html {
  return html`<div class="copyable"><pre tabindex="0" role="region" aria-label="${what}"><code>${text}</code></pre><button type="button" class="plain" hidden data-copy aria-label="Copy ${what}">Copy</button></div>`;
}
