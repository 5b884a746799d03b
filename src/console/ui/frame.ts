// The frame of the console's pages: page title, current user and navigation. Wide screens show the navigation as a
// sidebar. Narrow screens show the same links in a disclosure that works without scripts. The style sheet hides one of
// the two.
import { type Html, html } from '../../http/html.ts';
import {
  createCard,
  createPage,
  createPageTheme,
  type EnvironmentInfo,
  logo,
  type Page,
  type PageTheme,
} from '../../http/page.ts';
import type { Parts, SignedInRequest } from '../page-request.ts';
import { hiddenToken } from './form.ts';
import { script, scriptSource } from './script.ts';
import { consoleStyle } from './style.ts';

/**
 * Forms may post only to the console itself. Same-origin requests keep their referrer; without it browsers send
 * `Origin: null` with our own forms.
 */
const headers = {
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
/** Look of pages without the frame, which need no script. */
export const consoleLook = createPageTheme(consoleStyle, "; form-action 'self'", headers);

// CSP level 3 section 2.4: the policy names the one script by its hash. The browser blocks all other scripts, and the
// script may connect only to this server.
const framedPolicy = `; form-action 'self'; script-src ${scriptSource}; connect-src 'self'`;
const framedLook = createPageTheme(consoleStyle, framedPolicy, headers);

/** Look of a page with a form that redirects to `origin`. Chrome applies form-action to redirects too. */
export const lookWithRedirectTo = (origin: string): PageTheme =>
  createPageTheme(consoleStyle, `; form-action 'self' ${origin}`, headers);

/** Look of the sign-in page. Its form may redirect to an OpenID provider and from there to other sites. */
const externalRedirectLook = createPageTheme(consoleStyle, '', headers);

export function createConsoleCard(
  title: string,
  place: EnvironmentInfo,
  content: Html,
  leads: 'here' | 'away' = 'here',
): Page {
  return createCard(leads === 'away' ? externalRedirectLook : consoleLook, title, place, content);
}

interface NavigationEntry {
  readonly page: string;
  readonly name: string;
  readonly group: 'work' | 'mine' | 'administration';
  /** For permission level `admin` only. */
  readonly admin?: true;
  /** Only when the server serves MCP tools. */
  readonly served?: true;
}

/** In display order. */
const navigationEntries: readonly NavigationEntry[] = [
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

const groups: readonly (readonly [NavigationEntry['group'], title: string])[] = [
  ['work', 'Work'],
  ['mine', 'Mine'],
  ['administration', 'Administration'],
];

interface FramedPage {
  readonly title: string;
  /** Page of the navigation entry to highlight. */
  readonly under: string;
  readonly content: Html;
  /** Uses the full screen width, for tables with many columns. */
  readonly wide?: boolean;
  /** Reloads to `page` after this many seconds when scripts are off, to show progress. */
  readonly renews?: { readonly seconds: number; readonly page: string } | undefined;
}

export function createFramedPage(
  request: SignedInRequest,
  parts: Parts,
  { title, under, content, wide, renews }: FramedPage,
): Page {
  const { place } = request;
  const brand = html`<a class="brand" href="${parts.paths.path('')}">${logo}<div><strong>${place.organization}</strong><span>${place.project} · ${place.environment}</span></div></a>`;
  const currentEntry = navigationEntries.find(({ page }) => page === under);
  return createPage(
    framedLook,
    `${title} · ${place.organization}`,
    html`<a class="skip" href="#main">Skip to the page</a>
<header class="top">${brand}
<details class="menu"><summary><span class="unseen">Menu, you are at </span>${currentEntry?.name ?? 'Menu'}</summary><div>${renderNavigation(request, parts, under, 'menu')}</div></details></header>
<header class="side">${brand}
${renderNavigation(request, parts, under, 'side')}</header>
<main id="main"${wide && html` class="wide"`}>
${content}
</main>
<script>${script}</script>`,
    'console',
    renews &&
      html`<noscript><meta http-equiv="refresh" content="${renews.seconds}; url=${parts.paths.path(renews.page)}"></noscript>`,
  );
}

/** `where` keeps the element ids of the two copies distinct. */
function renderNavigation(request: SignedInRequest, { paths, playground }: Parts, under: string, where: string): Html {
  const { caller } = request.access;
  const isOpen = ({ admin, served }: NavigationEntry) =>
    (!admin || caller.permissionLevel === 'admin') && (!served || playground !== null);
  const open = navigationEntries.filter(isOpen);
  const currentAttribute = (page: string) => page === under && html` aria-current="page"`;
  const shown = groups.flatMap(([group, title]) => {
    const rows = open.filter((entry) => entry.group === group);
    if (rows.length === 0) return [];
    const links = rows.map(
      ({ page, name }) => html`<li><a href="${paths.path(page)}"${currentAttribute(page)}>${name}</a></li>`,
    );
    return html`<div><p id="${where}-${group}">${title}</p><ul aria-labelledby="${where}-${group}">${links}</ul></div>`;
  });
  const name = `${caller.firstName} ${caller.lastName}`.trim() || caller.email;
  return html`<nav aria-label="Console">${shown}</nav>
<form method="post" action="${paths.path('/sign-out')}" class="who">${hiddenToken(request)}<span>${name}</span><button class="quiet" name="action" value="sign-out">Sign out</button></form>`;
}

/** A part of a page that the script fetches repeatedly (script.ts): HTML without the frame. */
export function createFragment(content: Html): Page {
  return { text: content.text, headers: framedLook.headers };
}
