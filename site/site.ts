// Builds the whole site as a map of file names to contents, and
// finds dead links, dead anchors and missing pages. Writes no files.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Group, groups as listed, nameOf } from './contents.ts';
import { type Framed, framePage, icon, type NamedGroup, withBase } from './frame.ts';
import { makeLlms, makeLlmsFull } from './llms.ts';
import { type Heading, renderMarkdown } from './markdown.ts';
import { makeReference, openApiOf } from './reference.ts';

export interface SiteOptions {
  /** The root of the repository. */
  readonly root: string;
  /** The path of the site on its server, with slashes at both ends; used only by the 404 page. */
  readonly base: string;
}

export interface Site {
  readonly files: ReadonlyMap<string, string | Buffer>;
  readonly problems: readonly string[];
}

export interface Page extends Framed {
  readonly group: string;
  /** The path in the repository; undefined for pages generated from code. */
  readonly file: string | undefined;
  readonly markdown: string;
}

export function buildSite({ root, base }: SiteOptions): Site {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const pages = readPages(root, version);
  const groups = groupsOf(pages);
  const files = new Map<string, string | Buffer>();
  for (const page of pages) {
    files.set(`${page.name}.html`, framePage(page, groups));
    files.set(`${page.name}.md`, page.markdown);
  }
  const pictures = new Set(pages.flatMap(({ pictures: shown }) => shown));
  const problems: string[] = [];
  for (const path of pictures) {
    if (existsSync(join(root, path))) files.set(path.replace(/^docs\//, ''), readFileSync(join(root, path)));
    else problems.push(`there is no picture ${path}`);
  }
  const gone = renderMarkdown(notFound, 'docs/404.md', new Set());
  const about = 'This page does not exist';
  const framed = {
    name: '404',
    title: 'Not found',
    html: gone.html,
    headings: gone.headings,
    about,
    isMissing: true,
  } as const;
  files.set('404.html', withBase(framePage(framed, groups), base));
  for (const name of ['site.css', 'site.js']) files.set(name, read(`site/${name}`));
  files.set('icon.svg', icon);
  files.set('openapi.json', `${JSON.stringify(openApiOf(version), null, 2)}\n`);
  files.set('search.js', makeSearch(pages));
  files.set(
    'llms.txt',
    makeLlms(pages, ({ name }) => `${name}.md`),
  );
  files.set('llms-full.txt', makeLlmsFull(pages));
  return { files, problems: [...problems, ...findDeadLinks(files, base)] };
}

const notFound = `# This page is not there

The address may be old, or mistyped. The pages are at the left (on a phone, under Menu), and the search knows their headings.
`;

type Source = Pick<Page, 'group' | 'file' | 'name' | 'markdown'>;
type Pictured = Page & { readonly pictures: readonly string[] };

/** The pages of the repository in the order of the contents, then those generated from code. */
function readPages(root: string, version: string): Pictured[] {
  const made = makeReference(root, version).map((page) => ({ ...page, group: 'Reference', file: undefined }));
  return renderPages(root, [...readWritten(root), ...made]);
}

/** llms.txt for the root of the repository: the written pages, with their paths there. */
export function makeRootLlms(root: string): string {
  return makeLlms(renderPages(root, readWritten(root)), ({ file }) => file);
}

function readWritten(root: string): Source[] {
  return completeContents(root).flatMap(({ title: group, files }) =>
    files.map((file) => ({ group, file, name: nameOf(file), markdown: readFileSync(join(root, file), 'utf8') })),
  );
}

function renderPages(root: string, pages: readonly Source[]): Pictured[] {
  const known = new Set(completeContents(root).flatMap(({ files }) => files));
  return pages.map((page) => {
    const { html, headings, files } = renderMarkdown(page.markdown, page.file ?? 'reference.md', known);
    const title = titleOf(page.file, headings);
    return { ...page, title, html, headings, pictures: files, about: leadOf(page.markdown) };
  });
}

/** The contents, with unlisted pages of docs/ under 'More'. */
export function completeContents(root: string): readonly Group[] {
  const rows = new Set(listed.flatMap(({ files }) => files));
  const more = readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .filter((path) => !rows.has(path))
    .sort();
  return more.length === 0 ? listed : [...listed, { title: 'More', files: more }];
}

const shortTitles: Readonly<Record<string, string>> = {
  'docs/index.md': 'Start here',
  'README.md': 'Overview',
  'docs/library.md': 'The library',
  'docs/embedding.md': 'In your application',
  'docs/customizing.md': 'Customizing',
  'docs/actions.md': 'Actions, charts, files',
  'docs/apis.md': 'HTTP APIs',
  'bench/RESULTS.md': 'Measurements',
};

function titleOf(file: string | undefined, headings: readonly Heading[]): string {
  const title = (file && shortTitles[file]) ?? headings[0]?.text ?? 'Untitled';
  return title.replace(/:.*$/, '');
}

/** The first paragraph as plain text. */
export function leadOf(markdown: string): string {
  const paragraph = markdown
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .find((part) => /^[\p{L}\p{N}*[`"']/u.test(part));
  const words = (paragraph ?? '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`|(?<!\w)_|_(?!\w)/g, '')
    .replace(/\s+/g, ' ');
  const sentence = /^.*?[.:](?=\s|$)/.exec(words)?.[0] ?? words;
  return sentence.replace(/:$/, '.');
}

function groupsOf(pages: readonly Page[]): NamedGroup[] {
  return [...new Set(pages.map(({ group }) => group))].map((title) => ({
    title,
    entries: pages.filter(({ group }) => group === title),
  }));
}

/** A script that defines the headings with page and URL, because the CSP allows only scripts for data. */
function makeSearch(pages: readonly Page[]): string {
  const rows = pages.flatMap(({ name, title, headings }) =>
    headings.map(({ level, id, text }) => [text, title, level === 1 ? `${name}.html` : `${name}.html#${id}`]),
  );
  return `globalThis.porticoHeadings = ${JSON.stringify(rows)};\n`;
}

/** Links and pictures that point to no file or anchor of the site. */
export function findDeadLinks(files: ReadonlyMap<string, string | Buffer>, base: string): string[] {
  const anchors = new Map<string, ReadonlySet<string>>();
  for (const [name, text] of files)
    if (name.endsWith('.html'))
      anchors.set(name, new Set([...String(text).matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id!)));
  const dead: string[] = [];
  for (const [name, text] of files) {
    if (!name.endsWith('.html')) continue;
    for (const [, , link] of String(text).matchAll(/\b(href|src|srcset)="([^"]*)"/g)) {
      if (/^(https?|mailto):/.test(link!)) continue;
      const [path = '', anchor] = link!.split('#');
      const to = path === '' ? name : name === '404.html' && path.startsWith(base) ? path.slice(base.length) : path;
      if (!files.has(to)) dead.push(`${name}: ${link} is not there`);
      else if (anchor && !anchors.get(to)?.has(anchor)) dead.push(`${name}: ${link} has no such heading`);
    }
  }
  return [...new Set(dead)];
}
