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
import { countBadge, placeOf, renderNavigation, renderPlace } from './navigation.ts';
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

interface FramedPage {
  readonly title: string;
  /** Page of the tab that this page belongs to (navigation.ts); null for none. */
  readonly under: string | null;
  /** Links in the breadcrumb, between that tab and this page. */
  readonly between?: readonly Html[];
  /** The page itself in the breadcrumb. Default: the title. */
  readonly here?: string;
  readonly content: Html;
  /** Uses the full screen width, for tables with many columns. */
  readonly wide?: boolean;
  /** Reloads to `page` after this many seconds when scripts are off, to show progress. */
  readonly renews?: { readonly seconds: number; readonly page: string } | undefined;
}

export function createFramedPage(
  request: SignedInRequest,
  parts: Parts,
  { title, under, between = [], here = title, content, wide, renews }: FramedPage,
): Page {
  const { place } = request;
  const brand = html`<a class="brand" href="${parts.paths.path('')}">${logo}<div><strong>${place.organization}</strong><span>${place.project} · ${place.environment}</span></div></a>`;
  const current = placeOf(request, parts, under);
  const navigation = renderNavigation(request, parts, current);
  return createPage(
    framedLook,
    `${title} · ${place.organization}`,
    html`<a class="skip" href="#main">Skip to the page</a>
<header class="top">${brand}
<details class="menu"><summary><span class="unseen">Menu, you are at </span>${current?.section.name ?? 'Menu'}${countBadge(request.waiting)}</summary><div>${navigation}</div></details></header>
<header class="side">${brand}
${navigation}</header>
<div class="place" data-inbox="${parts.paths.path('/inbox/count')}">${renderPlace(request, parts, current, [...between, here])}
<main id="main"${wide && html` class="wide"`}>
${content}
</main></div>
<script>${script}</script>`,
    'console',
    renews &&
      html`<noscript><meta http-equiv="refresh" content="${renews.seconds}; url=${parts.paths.path(renews.page)}"></noscript>`,
  );
}

/** A part of a page that the script fetches repeatedly (script.ts): HTML without the frame. */
export function createFragment(content: Html): Page {
  return { text: content.text, headers: framedLook.headers };
}
