// The navigation: at most eight sections, so that it fits a small laptop. A section with several pages shows them as
// tabs. Pages below a tab show the way back as a breadcrumb. The addresses of pages do not depend on their section.
import { type Html, html } from '../../http/html.ts';
import { pathOf } from '../../http/request-target.ts';
import type { Parts, SignedInRequest } from '../page-request.ts';
import { hiddenToken } from './form.ts';

interface Tab {
  readonly page: string;
  readonly name: string;
  /** For permission level `admin` only. */
  readonly admin?: true;
  /** Only when the server serves MCP tools. */
  readonly served?: true;
}

interface Section {
  readonly name: string;
  readonly tabs: readonly Tab[];
}

/** In display order. Pages without a route are omitted. */
const sections: readonly Section[] = [
  { name: 'Start', tabs: [{ page: '', name: 'Start' }] },
  {
    name: 'Inbox',
    tabs: [
      { page: '/inbox', name: 'Inbox' },
      { page: '/approvals', name: 'Approvals' },
    ],
  },
  {
    name: 'Data',
    tabs: [
      { page: '/data', name: 'Data' },
      { page: '/notes', name: 'Notes' },
      { page: '/meanings', name: 'Meanings', admin: true },
    ],
  },
  {
    name: 'Workflows',
    tabs: [
      { page: '/workflows', name: 'Workflows' },
      { page: '/runs', name: 'Runs' },
    ],
  },
  { name: 'Activity', tabs: [{ page: '/activity', name: 'Activity' }] },
  {
    name: 'Connections',
    tabs: [
      { page: '/apps', name: 'Apps' },
      { page: '/tokens', name: 'Tokens' },
      { page: '/remotes', name: 'Remote servers' },
      { page: '/api', name: 'Public API' },
      { page: '/playground', name: 'Playground', served: true },
    ],
  },
  {
    name: 'Administration',
    tabs: [
      { page: '/people', name: 'People', admin: true },
      { page: '/teams', name: 'Teams', admin: true },
      { page: '/roles', name: 'Roles', admin: true },
      { page: '/collections', name: 'Collections', admin: true },
      { page: '/environments', name: 'Environments', admin: true },
      { page: '/admin-log', name: 'Admin log', admin: true },
      { page: '/settings', name: 'Settings', admin: true },
    ],
  },
  { name: 'Account', tabs: [{ page: '/account', name: 'Account' }] },
];

interface Place {
  readonly section: Section;
  readonly tab: Tab;
}

/** Sections with the tabs that the user may open. A section with one tab has the name of the tab. */
function openSections({ access }: SignedInRequest, { playground, hasPage }: Parts): readonly Section[] {
  const isOpen = ({ page, admin, served }: Tab): boolean =>
    (!admin || access.caller.permissionLevel === 'admin') && (!served || playground !== null) && hasPage(page);
  return sections.flatMap(({ name, tabs }) => {
    const open = tabs.filter(isOpen);
    if (open.length === 0) return [];
    return { name: open.length === 1 ? open[0]!.name : name, tabs: open };
  });
}

/** The section and the tab of a page, by the page of its tab. */
export function placeOf(request: SignedInRequest, parts: Parts, under: string | null): Place | undefined {
  for (const section of openSections(request, parts)) {
    const tab = section.tabs.find(({ page }) => page === under);
    if (tab) return { section, tab };
  }
  return undefined;
}

/** The sections as links, the number of waiting items, and the button to sign out. */
export function renderNavigation(request: SignedInRequest, parts: Parts, current: Place | undefined): Html {
  const { caller } = request.access;
  const links = openSections(request, parts).map(({ name, tabs }) => {
    const isCurrent = name === current?.section.name;
    const count = tabs[0]!.page === '/inbox' && countBadge(request.waiting);
    return html`<li><a href="${parts.paths.path(tabs[0]!.page)}"${isCurrent && html` aria-current="${tabs.length > 1 ? 'true' : 'page'}"`}>${name}${count}</a></li>`;
  });
  const name = `${caller.firstName} ${caller.lastName}`.trim() || caller.email;
  return html`<nav aria-label="Console"><ul>${links}</ul></nav>
<form method="post" action="${parts.paths.path('/sign-out')}" class="who">${hiddenToken(request)}<span>${name}</span><button class="quiet" name="action" value="sign-out">Sign out</button></form>`;
}

/** The script updates it (script.ts), so it exists without waiting items too. */
export function countBadge({ count, isMore }: SignedInRequest['waiting']): Html {
  return html` <span class="tally" data-tally="${count}"${count === 0 && html` hidden`}>${count}${isMore && '+'}<span class="unseen"> waiting</span></span>`;
}

/** The tabs of the section, and on a page below a tab the way back to it. `below`: the items after the tab. */
export function renderPlace(
  { req }: SignedInRequest,
  { paths }: Parts,
  current: Place | undefined,
  below: readonly (Html | string)[],
): Html | false {
  if (!current) return false;
  const { section, tab } = current;
  const isBelow = pathOf(req.url).replace(/\/$/, '') !== tab.page;
  const tabs = section.tabs.map(({ page, name }) => {
    const isCurrent = page === tab.page;
    return html`<li><a href="${paths.path(page)}"${isCurrent && html` aria-current="${isBelow ? 'true' : 'page'}"`}>${name}</a></li>`;
  });
  return html`${tabs.length > 1 && html`<nav class="tabs" aria-label="${section.name}"><ul>${tabs}</ul></nav>`}
${isBelow && html`<nav class="crumbs" aria-label="Breadcrumb"><ol><li><a href="${paths.path(tab.page)}">${tab.name}</a></li>${below.map((item, at) => html`<li${at === below.length - 1 && html` aria-current="page"`}>${item}</li>`)}</ol></nav>`}`;
}
