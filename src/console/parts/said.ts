// What pages say by the way: `flash`, of what a form did before it led here (`?done=<key>`: only texts of ours are said),
// and `copyable`, a command or value with a button that copies it.
import { type Html, html } from '../../oauth/html.ts';

export function flash(texts: Readonly<Record<string, string>>, query: URLSearchParams, name = 'done'): Html | false {
  const key = query.get(name) ?? '';
  return Object.hasOwn(texts, key) && html`<p class="done" role="status">${texts[key]}</p>`;
}

/** `what` is read out with the button: 'Copy the command'. Without scripts there is no button, and the text can be selected. */
export function copyable(text: string, what: string): Html {
  return html`<div class="copyable"><pre tabindex="0" role="region" aria-label="${what}"><code>${text}</code></pre><button type="button" class="plain" hidden data-copy="${text}" aria-label="Copy ${what}">Copy</button></div>`;
}
