// The frame of every page: the head with its CSP, the top bar with the search, the navigation, and the next page.
import { escapeHtml } from './highlight.ts';
import type { Heading } from './markdown.ts';

export interface Entry {
  readonly title: string;
  /** The file name without `.html`. */
  readonly name: string;
}

export interface NamedGroup {
  readonly title: string;
  readonly entries: readonly Entry[];
}

export interface Framed extends Entry {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly about: string;
  /** Whether this is the 404 page. */
  readonly isMissing?: true;
}

/**
 * CSP Level 3: only resources of this site, and no inline code, form submission or frames. `connect-src` stays closed,
 * because the search index is a script that loads on the first search.
 */
const policy =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'";

const mark =
  '<svg viewBox="0 0 36 36" width="30" height="30" aria-hidden="true"><rect class="tile" width="36" height="36" rx="9"/><path d="M9 27V17a9 9 0 0 1 18 0v10M15 27v-9a3 3 0 0 1 6 0v9M7 27h22" fill="none" stroke-width="2.4" stroke-linecap="round"/></svg>';

export function framePage(page: Framed, groups: readonly NamedGroup[]): string {
  const all = groups.flatMap(({ entries }) => entries);
  const at = all.findIndex(({ name }) => name === page.name);
  const title = page.name === 'index' ? 'Portico documentation' : `${page.title} – Portico`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.about)}">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="site.css">
<link rel="icon" href="icon.svg" type="image/svg+xml">
${page.isMissing ? '' : `<link rel="alternate" type="text/markdown" href="${page.name}.md">\n`}<script src="site.js" defer></script>
</head>
<body id="top">
<a class="skip" href="#content">Skip to the text</a>
<header>
<a class="brand" href="index.html" aria-label="Portico, start">${mark}<span>Portico</span></a>
<form class="search" role="search" hidden><label for="search" class="unseen">Search the headings</label><input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false"><div class="found" hidden></div><p class="unseen" role="status"></p></form>
<a class="open-menu" href="#menu">Menu</a>
</header>
<div class="columns">
<nav class="menu" id="menu" aria-label="All pages"><a class="close-menu" href="#top">Close</a>
${groups.map((group) => frameGroup(group, page)).join('\n')}
</nav>
<main id="content">
<article>
${page.html}
</article>
${frameNeighbours(all[at - 1], all[at + 1])}
</main>
${frameSections(page.headings)}
</div>
</body>
</html>
`;
}

function frameGroup({ title, entries }: NamedGroup, page: Framed): string {
  const rows = entries.map(({ title: label, name }) => {
    const here = name === page.name ? ' aria-current="page"' : '';
    return `<li><a href="${name}.html"${here}>${escapeHtml(label)}</a></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n<ul>${rows.join('')}</ul>`;
}

function frameSections(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level === 2);
  if (shown.length < 2) return '<div class="sections"></div>';
  const rows = shown.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="sections" aria-label="On this page"><h2>On this page</h2><ul>${rows.join('')}</ul></nav>`;
}

function frameNeighbours(before: Entry | undefined, after: Entry | undefined): string {
  const link = (entry: Entry | undefined, kind: string, label: string) =>
    entry
      ? `<a class="${kind}" rel="${kind}" href="${entry.name}.html"><small>${label}</small>${escapeHtml(entry.title)}</a>`
      : '<span></span>';
  return `<nav class="neighbours" aria-label="Previous and next page">${link(before, 'prev', 'Previous')}${link(after, 'next', 'Next')}</nav>`;
}

/** The 404 page is shown at any depth, so its links need `base`, the path of the site. */
export function withBase(html: string, base: string): string {
  return html.replace(
    /\b(href|src)="(?!https?:|#)([^"]+)"/g,
    (_, name: string, to: string) => `${name}="${base}${to}"`,
  );
}

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 36 36"><rect width="36" height="36" rx="9" fill="#1f5f4a"/><path d="M9 27V17a9 9 0 0 1 18 0v10M15 27v-9a3 3 0 0 1 6 0v9M7 27h22" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/></svg>
`;
