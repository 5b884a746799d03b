// The frame of the console's pages: where one is, who one is, and the way around.
import { type Html, html } from '../oauth/html.ts';
import { createCard, createLook, createPage, type Look, logo, type Page, type Place } from '../oauth/page.ts';
import { consoleStyle } from './style.ts';
import type { MemberVisit, Parts } from './visit.ts';

/**
 * Forms lead to the console alone, and so they may be held to it. The referrer is kept on our own pages: without one a
 * browser says `Origin: null` of our own forms.
 */
const headers = {
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
export const consoleLook = createLook(consoleStyle, "; form-action 'self'", headers);

/** Of a page whose form leads to that origin: Chrome holds the redirects after a form to its form-action as well. */
export const lookLeadingTo = (origin: string): Look =>
  createLook(consoleStyle, `; form-action 'self' ${origin}`, headers);

/** Of the sign-in, whose form may lead to an OpenID provider, and from there to others. */
const awayLook = createLook(consoleStyle, '', headers);

export function createConsoleCard(title: string, place: Place, content: Html, leads: 'here' | 'away' = 'here'): Page {
  return createCard(leads === 'away' ? awayLook : consoleLook, title, place, content);
}

interface Way {
  readonly page: string;
  readonly name: string;
  /** For permission level `admin` alone. */
  readonly admin?: true;
}

const ways: readonly Way[] = [
  { page: '', name: 'Start' },
  { page: '/approvals', name: 'Approvals' },
  { page: '/apps', name: 'Apps' },
  { page: '/account', name: 'Account' },
];

export interface Framed {
  readonly title: string;
  /** Of the page in the way around that this one belongs to. */
  readonly under: string;
  readonly content: Html;
}

export function createFramed(
  { place, access }: MemberVisit,
  { paths }: Parts,
  { title, under, content }: Framed,
): Page {
  const isAdmin = access.caller.permissionLevel === 'admin';
  const open = ways.filter(({ admin }) => !admin || isAdmin);
  const isHere = (page: string) => page === under && html` aria-current="page"`;
  return createPage(
    consoleLook,
    `${title} · ${place.organization}`,
    html`<a class="skip" href="#main">Skip to the page</a>
<header class="top"><div>
<a class="brand" href="${paths.path('')}">${logo}<div><strong>${place.organization}</strong><span>${place.project} · ${place.environment}</span></div></a>
<nav aria-label="Console">${open.map(({ page, name }) => html`<a href="${paths.path(page)}"${isHere(page)}>${name}</a>`)}</nav>
</div></header>
<main id="main">
${content}
</main>`,
    'console',
  );
}
