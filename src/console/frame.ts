// The frame of the console's pages: where one is, who one is, and the way around. On a wide screen the way stands at the
// side; on a narrow one the same links lie in a menu that opens without a script. Of the two the style sheet shows one.
import { type Html, html } from '../oauth/html.ts';
import { createCard, createLook, createPage, type Look, logo, type Page, type Place } from '../oauth/page.ts';
import { hiddenToken } from './parts/form.ts';
import { script, scriptSource } from './script.ts';
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
/** Of pages without the frame, which need no script. */
export const consoleLook = createLook(consoleStyle, "; form-action 'self'", headers);

// CSP level 3 section 2.4: the one script is known by its hash, so that no other runs, whoever wrote it into a page; and it
// can ask this server alone.
const framedPolicy = `; form-action 'self'; script-src ${scriptSource}; connect-src 'self'`;
const framedLook = createLook(consoleStyle, framedPolicy, headers);

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
  readonly group: 'work' | 'mine' | 'administration';
  /** For permission level `admin` alone. */
  readonly admin?: true;
  /** Where tools are served. */
  readonly served?: true;
}

/** In the order in which they are shown. */
const ways: readonly Way[] = [
  { page: '', name: 'Start', group: 'work' },
  { page: '/approvals', name: 'Approvals', group: 'work' },
  { page: '/workflows', name: 'Workflows', group: 'work' },
  { page: '/playground', name: 'Playground', group: 'work', served: true },
  { page: '/notes', name: 'Notes', group: 'work' },
  { page: '/activity', name: 'Activity', group: 'work' },
  { page: '/api', name: 'Public API', group: 'work' },
  { page: '/apps', name: 'Apps', group: 'mine' },
  { page: '/tokens', name: 'Tokens', group: 'mine' },
  { page: '/remotes', name: 'Remote servers', group: 'mine' },
  { page: '/account', name: 'Account', group: 'mine' },
  { page: '/people', name: 'People', group: 'administration', admin: true },
  { page: '/teams', name: 'Teams', group: 'administration', admin: true },
  { page: '/roles', name: 'Roles', group: 'administration', admin: true },
  { page: '/collections', name: 'Collections', group: 'administration', admin: true },
  { page: '/environments', name: 'Environments', group: 'administration', admin: true },
  { page: '/admin-log', name: 'Admin log', group: 'administration', admin: true },
  { page: '/settings', name: 'Settings', group: 'administration', admin: true },
];

const groups: readonly (readonly [Way['group'], title: string])[] = [
  ['work', 'Work'],
  ['mine', 'Mine'],
  ['administration', 'Administration'],
];

export interface Framed {
  readonly title: string;
  /** Of the page in the way around that this one belongs to. */
  readonly under: string;
  readonly content: Html;
  /** For tables of many columns: as wide as the screen allows. */
  readonly wide?: boolean;
  /** Where no scripts run, it goes to this page after so many seconds: to itself, to show what has happened since. */
  readonly renews?: { readonly seconds: number; readonly page: string } | undefined;
}

export function createFramed(visit: MemberVisit, parts: Parts, { title, under, content, wide, renews }: Framed): Page {
  const { place } = visit;
  const brand = html`<a class="brand" href="${parts.paths.path('')}">${logo}<div><strong>${place.organization}</strong><span>${place.project} · ${place.environment}</span></div></a>`;
  const here = ways.find(({ page }) => page === under);
  return createPage(
    framedLook,
    `${title} · ${place.organization}`,
    html`<a class="skip" href="#main">Skip to the page</a>
<header class="top">${brand}
<details class="menu"><summary><span class="unseen">Menu, you are at </span>${here?.name ?? 'Menu'}</summary><div>${wayAround(visit, parts, under, 'menu')}</div></details></header>
<header class="side">${brand}
${wayAround(visit, parts, under, 'side')}</header>
<main id="main"${wide && html` class="wide"`}>
${content}
</main>
<script>${script}</script>`,
    'console',
    renews &&
      html`<noscript><meta http-equiv="refresh" content="${renews.seconds}; url=${parts.paths.path(renews.page)}"></noscript>`,
  );
}

/** `where` keeps the ids of the two apart. */
function wayAround(visit: MemberVisit, { paths, playground }: Parts, under: string, where: string): Html {
  const { caller } = visit.access;
  const isOpen = ({ admin, served }: Way) =>
    (!admin || caller.permissionLevel === 'admin') && (!served || playground !== null);
  const open = ways.filter(isOpen);
  const isHere = (page: string) => page === under && html` aria-current="page"`;
  const shown = groups.flatMap(([group, title]) => {
    const rows = open.filter((way) => way.group === group);
    if (rows.length === 0) return [];
    const links = rows.map(({ page, name }) => html`<li><a href="${paths.path(page)}"${isHere(page)}>${name}</a></li>`);
    return html`<div><p id="${where}-${group}">${title}</p><ul aria-labelledby="${where}-${group}">${links}</ul></div>`;
  });
  const name = `${caller.firstName} ${caller.lastName}`.trim() || caller.email;
  return html`<nav aria-label="Console">${shown}</nav>
<form method="post" action="${paths.path('/sign-out')}" class="who">${hiddenToken(visit)}<span>${name}</span><button class="quiet" name="action" value="sign-out">Sign out</button></form>`;
}

/** A part of a page that asks for it again and again (script.ts), as it is sent: text without a frame. */
export function createFragment(content: Html): Page {
  return { text: content.text, headers: framedLook.headers };
}
