// The documentation site, built like `npm run docs`: no page is missing, no
// link is dead, no resource is external, and the reference matches the code.
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { nameOf } from '../../site/contents.ts';
import { readEntryPoints } from '../../site/exports.ts';
import { highlight } from '../../site/highlight.ts';
import { renderMarkdown, slugOf } from '../../site/markdown.ts';
import { buildSite, findDeadLinks, type Site } from '../../site/site.ts';
import { settings } from '../../src/core/config.ts';
import { errorCodes } from '../../src/core/errors.ts';
import { toolNames } from '../../src/mcp/tools.ts';

let site: Site;
const textOf = (name: string): string => String(site.files.get(name));
const htmlNames = () => [...site.files.keys()].filter((name) => name.endsWith('.html'));
beforeAll(() => {
  site = buildSite({ root: process.cwd(), base: '/docs/' });
});

test('every page of docs/ is in the site, and no link or image is broken', () => {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const there = pages.filter((name) => site.files.has(`${nameOf(`docs/${name}`)}.html`));
  expect(there).toEqual(pages);
  expect(site.problems).toEqual([]);
});

test('a broken link and a broken anchor are reported', () => {
  const files = new Map([
    ['a.html', '<h2 id="one">1</h2><a href="b.html"></a><a href="#one"></a><a href="c.html"></a><a href="#two"></a>'],
    ['b.html', '<a href="a.html#one"></a><a href="a.html#gone"></a><img src="none.png">'],
  ]);
  expect(findDeadLinks(files, '/')).toEqual([
    'a.html: c.html is not there',
    'a.html: #two has no such heading',
    'b.html: a.html#gone has no such heading',
    'b.html: none.png is not there',
  ]);
});

test('the policy of each page allows only this site, and no page has inline code', () => {
  const policy =
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'";
  for (const name of htmlNames()) {
    const text = textOf(name);
    expect(text, name).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy}">`);
    expect(
      text.match(/<style|<[^>]+\s(?:style|on\w+)="|javascript:|<script(?! src="[\w./]*site\.js" defer>)/g),
      name,
    ).toBeNull();
    expect(text.match(/<(?:img|script|link|source)[^>]*(?:src|href|srcset)="(?:https?:)?\/\/[^"]*"/g), name).toBeNull();
  }
});

test('each page has one unique title, and each id once', () => {
  const titles = htmlNames().map((name) => /<title>(.*?)<\/title>/.exec(textOf(name))?.[1]);
  expect(titles.length).toBeGreaterThan(30);
  expect(new Set(titles).size).toBe(titles.length);
  for (const name of htmlNames()) {
    const ids = [...textOf(name).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size, name).toBe(ids.length);
    expect(textOf(name).match(/<h1\b/g), name).toHaveLength(1);
  }
});

test('pages follow each other in the order of the sidebar, to the last', () => {
  const order = [...textOf('index.html').matchAll(/<li><a href="([^"]+\.html)"/g)].map(([, to]) => to!);
  const walked = ['index.html'];
  for (;;) {
    const next = /<a class="next" rel="next" href="([^"]+)"/.exec(textOf(walked.at(-1)!))?.[1];
    if (next === undefined || walked.includes(next)) break;
    walked.push(next);
  }
  expect(walked).toEqual(order);
});

test('the page for unknown addresses works at any depth', () => {
  const links = [...textOf('404.html').matchAll(/\b(?:href|src)="([^"#]+)"/g)].map(([, to]) => to!);
  expect(links.filter((to) => !to.startsWith('/docs/'))).toEqual([]);
});

test('the search contains every heading of every page, with a valid URL', () => {
  const rows = JSON.parse(/= (.*);/.exec(textOf('search.js'))![1]!) as [string, string, string][];
  expect(rows.length).toBeGreaterThan(500);
  expect(rows).toContainEqual(['Schema file', 'The library', 'library.html#schema-file']);
  expect(rows).toContainEqual(['SERVICE_PUBLIC_URL', 'Settings', 'reference-settings.html#service_public_url']);
  const gone = rows.filter(([, , to]) => {
    const [page = '', id] = to.split('#');
    return id !== undefined && !textOf(page).includes(`id="${id}"`);
  });
  expect(gone).toEqual([]);
});

describe('the reference', () => {
  test('has every export of every entry point, with its docstring', () => {
    for (const { name: entry, exports } of readEntryPoints(process.cwd())) {
      const text = textOf(`reference-${entry.replaceAll('/', '-')}.md`);
      expect(
        exports
          .map(({ name, deprecated }) => (deprecated === '' ? `\n### ${name}\n` : `\n- \`${name}\`: `))
          .filter((line) => !text.includes(line)),
        entry,
      ).toEqual([]);
    }
    const text = textOf('reference-portico.md');
    expect(text).toContain('#### Agent.generateSchemaOnly');
    expect(text).toContain('Writes the schema to `schemaPath`, and typings to `typingsPath` if it is set');
    expect(text).toContain('function createAgent<S extends object = AnySchema>(options: AgentOptions): Agent<S>;');
    // Bodies and private members must not appear.
    expect(text).not.toMatch(/#state|callSite\(/);
  });

  test('has every setting, error code and tool', () => {
    const missing = (page: string, names: readonly string[], as: (name: string) => string) =>
      names.filter((name) => !textOf(page).includes(as(name)));
    const variables = Object.values(settings).map(({ env }) => env);
    expect(missing('reference-settings.md', variables, (name) => `\n### ${name}\n`)).toEqual([]);
    expect(missing('reference-errors.md', errorCodes, (name) => `\n- \`${name}\``)).toEqual([]);
    expect(missing('reference-tools.md', toolNames, (name) => `\n## ${name}\n`)).toEqual([]);
    expect(JSON.parse(textOf('openapi.json'))).toMatchObject({ openapi: '3.1.0' });
    expect(textOf('reference-public-api.md')).toContain('## GET /v1/token');
  });
});

test('llms.txt lists the Markdown file of each page; llms-full.txt contains the texts', () => {
  const links = [...textOf('llms.txt').matchAll(/^- \[.+?\]\((.+?)\): ./gm)].map(([, to]) => to!);
  expect(links).toContain('library.md');
  expect(links).toContain('reference-portico.md');
  expect(links.filter((to) => !site.files.has(to))).toEqual([]);
  expect(textOf('llms-full.txt')).toContain(readFileSync('docs/library.md', 'utf8').trim());
});

describe('Markdown', () => {
  const render = (text: string) => renderMarkdown(text, 'docs/a.md', new Set(['docs/b.md', 'README.md']));

  test('headings have the same anchors as on GitHub', () => {
    expect(['Hosts that start a process', '`fail(code)`, and more', 'Über_uns & Co.', 'C++'].map(slugOf)).toEqual([
      'hosts-that-start-a-process',
      'failcode-and-more',
      'über_uns--co',
      'c',
    ]);
    const { headings } = render('# One\n\n## Two `x`\n\n## Two `x`\n');
    expect(headings).toEqual([
      { level: 1, text: 'One', id: 'one' },
      { level: 2, text: 'Two x', id: 'two-x' },
      { level: 2, text: 'Two x', id: 'two-x-1' },
    ]);
  });

  test('links to pages work in the site; other links become text', () => {
    const { html } = render('[b](b.md#c) [r](../README.md) [t](../test/x.ts) [w](https://example.com) [h](#here)');
    expect(html.trim()).toBe(
      '<p><a href="b.html#c">b</a> <a href="readme.html">r</a> <span class="file">t</span> <a href="https://example.com">w</a> <a href="#here">h</a></p>',
    );
  });

  test('code is shown as it is written, in every language', () => {
    const code = `const a = '<b>' && "\\"" // </code><script>\nif (a > 1) return \`\${x}\`;`;
    const signs: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
    for (const language of ['ts', 'sh', 'json', 'yaml', 'sql', '']) {
      const shown = highlight(code, language).replace(/<span class="\w+">|<\/span>/g, '');
      expect(shown, language).not.toMatch(/[<>"]/);
      expect(
        shown.replace(/&(amp|lt|gt|quot);/g, (_, name: string) => signs[name]!),
        language,
      ).toBe(code);
    }
    expect(highlight('const a = 1', 'ts')).toBe('<span class="word">const</span> a = <span class="number">1</span>');
  });
});
