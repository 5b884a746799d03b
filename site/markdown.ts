// Renders one page from Markdown to HTML: headings with the same anchors as on
// GitHub, so links work in both places; links to other pages by their names on the
// site; highlighted code; tables and code that can be scrolled with the keyboard.
import { posix } from 'node:path';
import markdownIt from 'markdown-it';
import { nameOf } from './contents.ts';
import { escapeHtml, highlight } from './highlight.ts';

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly id: string;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
  /** The files that the page includes, such as pictures, by their path in the repository. */
  readonly files: readonly string[];
}

/** `file`: the path of the text, to resolve its links. `known`: the files that are pages of the site. */
export function renderMarkdown(text: string, file: string, known: ReadonlySet<string>): Rendered {
  const headings: Heading[] = [];
  const files: string[] = [];
  const taken = new Map<string, number>();
  const engine = markdownIt({ html: true, linkify: false });
  const { rules } = engine.renderer;

  const idOf = (title: string): string => {
    const slug = slugOf(title);
    const times = taken.get(slug) ?? 0;
    taken.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };

  rules.heading_open = (tokens, at) => {
    const level = Number(tokens[at]!.tag.slice(1));
    const title = plain(tokens[at + 1]?.children ?? []);
    const id = idOf(title);
    headings.push({ level, text: title, id });
    return `<h${level} id="${id}">`;
  };
  rules.heading_close = (tokens, at) => {
    const { level, id, text: title } = headings.at(-1)!;
    const anchor = `<a class="anchor" href="#${id}" aria-label="Link to: ${escapeHtml(title)}">#</a>`;
    return `${level === 1 ? '' : anchor}</${tokens[at]!.tag}>\n`;
  };

  rules.fence = (tokens, at) => {
    const { content, info } = tokens[at]!;
    const [language = ''] = info.trim().split(/\s+/);
    const label = language === '' ? 'Code' : `Code, ${language}`;
    return `<div class="code"><pre tabindex="0" aria-label="${escapeHtml(label)}" role="group"><code>${highlight(content, language)}</code></pre></div>\n`;
  };

  let tables = 0;
  rules.table_open = () => {
    const about = headings.at(-1)?.text ?? 'this page';
    tables++;
    return `<div class="table" tabindex="0" role="group" aria-label="Table ${tables}, ${escapeHtml(about)}"><table>\n`;
  };
  rules.table_close = () => '</table></div>\n';

  const target = (href: string): string | undefined => {
    if (/^(https?:|mailto:|#)/.test(href)) return href;
    const [path = '', anchor] = href.split('#');
    const to = posix.normalize(posix.join(posix.dirname(file), path));
    if (known.has(to)) return `${nameOf(to)}.html${anchor === undefined ? '' : `#${anchor}`}`;
    return undefined;
  };
  const shown = (source: string): string => {
    if (/^https?:/.test(source)) return source;
    const path = posix.normalize(posix.join(posix.dirname(file), source));
    files.push(path);
    return path.replace(/^docs\//, '');
  };

  // A link to a repository file that is no page of the site becomes plain text.
  const open: boolean[] = [];
  rules.link_open = (tokens, at) => {
    const href = target(String(tokens[at]!.attrGet('href') ?? ''));
    open.push(href !== undefined);
    return href === undefined ? '<span class="file">' : `<a href="${escapeHtml(href)}">`;
  };
  rules.link_close = () => (open.pop() ? '</a>' : '</span>');
  rules.image = (tokens, at) => {
    const token = tokens[at]!;
    const source = shown(String(token.attrGet('src') ?? ''));
    return `<img src="${escapeHtml(source)}" alt="${escapeHtml(plain(token.children ?? []))}" loading="lazy">`;
  };
  const ofHtml = (html: string): string =>
    html
      .replace(/\b(src|srcset)="([^"]+)"/g, (_, name: string, source: string) => `${name}="${shown(source)}"`)
      .replace(/\bhref="([^"]+)"/g, (_, href: string) => `href="${target(href) ?? '#'}"`);
  rules.html_block = (tokens, at) => ofHtml(tokens[at]!.content);
  rules.html_inline = (tokens, at) => ofHtml(tokens[at]!.content);

  // Rendering is sequential: an anchor is assigned when its heading is rendered.
  const html = engine.render(text);
  return { html, headings, files: [...new Set(files)] };
}

/** Like GitHub: lowercase letters, digits, `-` and `_`; a space becomes `-`. */
export function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

interface Inline {
  readonly type: string;
  readonly content: string;
}

/** The visible words of a heading, without markup. */
function plain(tokens: readonly Inline[]): string {
  return tokens
    .filter(({ type }) => type === 'text' || type === 'code_inline')
    .map(({ content }) => content)
    .join('');
}
