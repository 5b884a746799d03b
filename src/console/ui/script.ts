// The only script of the console. Every page works without it: it adds copy buttons and reloads live regions. The
// script is inline, and the CSP allows it by its hash (frame.ts), so the browser blocks all others. It inserts only
// HTML from this server, and the CSP blocks any script in it.
//
//   <button type="button" hidden data-copy>Copy</button>            copies the text of the element before the button to
//                                                                   the clipboard and confirms it
//   <div data-live="/console/start/first-call">...</div>            is replaced by the content of that page every 3 s
//                                                                   (data-live-every: ms) until it contains
//                                                                   [data-live-end], at most 600 times: each request
//                                                                   extends the session
//   <input type="checkbox" hidden data-pick="record">               ticks all boxes of its form with that name
//   <button type="button" hidden data-notify>...</button>           switches notifications of this browser on and off.
//                                                                   While they are on, each page asks for the count
//                                                                   of the inbox once a minute, at most 480 times
import { hashToken } from '../../core/secret.ts';
import { type Html, trustedHtml } from '../../http/html.ts';

const text = `
(() => {
  'use strict';
  const said = document.createElement('p');
  said.className = 'unseen';
  said.setAttribute('role', 'status');
  document.body.append(said);

  const reveal = (root) => {
    for (const button of root.querySelectorAll('[data-copy][hidden]')) button.hidden = false;
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
    const button = target.closest('[data-copy]');
    if (!button) return;
    const label = button.dataset.label ??= button.textContent;
    const isDone = await copy(button.previousElementSibling.textContent);
    button.focus();
    button.textContent = isDone ? 'Copied' : 'Select to copy';
    said.textContent = isDone ? 'Copied' : 'Copy failed. Select the text.';
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

  const kept = 'portico-notify';
  const inbox = document.querySelector('[data-inbox]')?.dataset.inbox;
  const isOn = () => 'Notification' in window && Notification.permission === 'granted' && localStorage.getItem(kept) === 'on';
  const tallies = () => document.querySelectorAll('[data-tally]');
  const countInbox = async () => {
    const answer = await fetch(inbox, { redirect: 'error', headers: { Accept: 'text/html' } });
    if (!answer.ok) return;
    const { body } = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const fresh = body.querySelector('[data-tally]');
    if (!fresh) return;
    const before = Number(tallies()[0]?.dataset.tally ?? 0);
    const now = Number(fresh.dataset.tally);
    for (const old of tallies()) old.replaceWith(fresh.cloneNode(true));
    if (now > before) new Notification('Inbox', { body: now + (now === 1 ? ' item is' : ' items are') + ' waiting for you.', tag: kept });
  };
  let watching;
  const watch = () => {
    clearInterval(watching);
    let left = 480;
    if (isOn()) watching = setInterval(() => (left-- > 0 && isOn() ? countInbox().catch(() => {}) : clearInterval(watching)), most);
  };
  for (const button of document.querySelectorAll('[data-notify]')) {
    if (!('Notification' in window)) continue;
    const show = () => {
      button.hidden = false;
      button.textContent = isOn() ? 'Turn off notifications' : 'Notify me in this browser';
    };
    button.addEventListener('click', async () => {
      if (isOn()) localStorage.removeItem(kept);
      else if ((await Notification.requestPermission()) === 'granted') localStorage.setItem(kept, 'on');
      else said.textContent = 'The browser does not allow notifications from this page.';
      show();
      watch();
    });
    show();
  }
  watch();

  for (const all of document.querySelectorAll('[data-pick]')) {
    const boxes = () => all.form.querySelectorAll('input[type=checkbox][name="' + all.dataset.pick + '"]');
    all.hidden = false;
    all.addEventListener('change', () => boxes().forEach((box) => { box.checked = all.checked; }));
    all.form.addEventListener('change', () => { all.checked = [...boxes()].every((box) => box.checked); });
  }

  reveal(document);
  for (const region of document.querySelectorAll('[data-live]')) follow(region);
})();
`;

export const script: Html = trustedHtml(text);

/** Hash source for the Content-Security-Policy header. */
export const scriptSource = `'sha256-${Buffer.from(hashToken(text), 'base64url').toString('base64')}'`;
