// The one script of the console. Every page works without it: it shows the buttons that copy, and keeps regions fresh that
// say where from. It is part of the page and known to the policy by its hash (frame.ts), so that no other one runs. What it
// puts into a page is a fragment that this server made, and a fragment has no scripts: the policy would not run them.
//
//   <button type="button" hidden data-copy="text">Copy</button>     puts the text, or that of the element with the id
//   <button type="button" hidden data-copy-of="id">Copy</button>    into the clipboard, and says so
//   <div data-live="/console/start/first-call">...</div>            is replaced by what that page answers, every 3 s
//                                                                   (data-live-every: ms), until it holds [data-live-end], 600 times
//                                                                   at most: to ask keeps the session from ending
import { hashToken } from '../core/secret.ts';
import { type Html, markup } from '../oauth/html.ts';

const text = `
(() => {
  'use strict';
  const said = document.createElement('p');
  said.className = 'unseen';
  said.setAttribute('role', 'status');
  document.body.append(said);

  const reveal = (root) => {
    for (const button of root.querySelectorAll('[data-copy][hidden],[data-copy-of][hidden]')) button.hidden = false;
  };

  const copyByHand = (value) => {
    const field = document.createElement('textarea');
    field.value = value;
    field.className = 'unseen';
    document.body.append(field);
    field.select();
    const isDone = document.execCommand('copy');
    field.remove();
    return isDone;
  };
  const copy = async (value) => {
    try {
      await navigator.clipboard.writeText(value);
      return true;
    } catch {
      return copyByHand(value);
    }
  };
  document.addEventListener('click', async ({ target }) => {
    const button = target.closest('[data-copy],[data-copy-of]');
    if (!button) return;
    const { copy: given, copyOf } = button.dataset;
    const label = button.dataset.label ??= button.textContent;
    const isDone = await copy(given ?? document.getElementById(copyOf).textContent);
    button.focus();
    button.textContent = isDone ? 'Copied' : 'Select it to copy';
    said.textContent = isDone ? 'Copied' : 'It could not be copied. Select the text.';
    clearTimeout(button.timer);
    button.timer = setTimeout(() => {
      button.textContent = label;
      said.textContent = '';
    }, 2500);
  });

  const most = 60000;
  const follow = (region) => {
    const every = Number(region.dataset.liveEvery) || 3000;
    let wait = every;
    let left = 600;
    const ask = async () => {
      if (document.hidden) {
        document.addEventListener('visibilitychange', ask, { once: true });
        return;
      }
      try {
        const answer = await fetch(region.dataset.live, { redirect: 'error', headers: { Accept: 'text/html' } });
        if (!answer.ok) throw new Error('refused');
        const text = await answer.text();
        if (text !== region.shown) {
          region.shown = text;
          const { body } = new DOMParser().parseFromString(text, 'text/html');
          region.replaceChildren(...body.childNodes);
          reveal(region);
        }
        wait = every;
      } catch {
        wait = Math.min(wait * 2, most);
      }
      left -= 1;
      if (left > 0 && !region.querySelector('[data-live-end]')) setTimeout(ask, wait);
    };
    if (!region.querySelector('[data-live-end]')) setTimeout(ask, wait);
  };

  reveal(document);
  for (const region of document.querySelectorAll('[data-live]')) follow(region);
})();
`;

export const script: Html = markup(text);

/** As a Content-Security-Policy names it. */
export const scriptSource = `'sha256-${Buffer.from(hashToken(text), 'base64url').toString('base64')}'`;
