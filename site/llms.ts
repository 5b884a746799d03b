// llms.txt (https://llmstxt.org): the documentation for models, as a list of pages and as one text.
import type { Page } from './site.ts';

const summary =
  'Portico is a Node.js package and server through which AI assistants work with an SQL database: an MCP server with its own OAuth authorization server, permissions for each person, and an engine that is customized in TypeScript. It runs on its own (`portico start`) or within a Node application (`createAgent`).';

/** `addressOf`: the path of the Markdown of a page, relative to the file. Pages without one are omitted. */
export function makeLlms(pages: readonly Page[], addressOf: (page: Page) => string | undefined): string {
  const groups = [...new Set(pages.map(({ group }) => group))];
  const parts = groups.flatMap((group) => {
    const rows = pages.flatMap((page) => {
      const address = page.group === group ? addressOf(page) : undefined;
      return address === undefined ? [] : [`- [${page.title}](${address}): ${page.about}`];
    });
    return rows.length === 0 ? [] : [`## ${group}\n\n${rows.join('\n')}`];
  });
  return `# Portico\n\n> ${summary}\n\n${parts.join('\n\n')}\n`;
}

/** Omits the measurements, which say little about usage. */
const left: ReadonlySet<string> = new Set(['results']);

export function makeLlmsFull(pages: readonly Page[]): string {
  const texts = pages.filter(({ name }) => !left.has(name)).map(({ markdown }) => markdown.trim());
  return `${texts.join('\n\n---\n\n')}\n`;
}
