// The view that hosts with MCP Apps (SEP-1865, 2026-01-26) draw answers of getChart and aggregate with: one page without
// anything from outside. Its own policy allows its one script and one style sheet by their hashes, whatever the host's
// allows, so that a label out of a record could not run even if it became markup; the page makes text nodes of labels.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isRecord } from '../transport/wire.ts';

export const EXTENSION = 'io.modelcontextprotocol/ui';
export const VIEW_TYPE = 'text/html;profile=mcp-app';
export const CHART_VIEW_URI = 'ui://portico/chart';

/** Tools whose answers the view draws. */
export const drawn: ReadonlySet<string> = new Set(['getChart', 'aggregate']);

/** With the definition of such a tool, for clients that declare the extension. */
export const toolMeta = { ui: { resourceUri: CHART_VIEW_URI } } as const;
/** With the page: nothing is loaded from anywhere. */
export const viewMeta = {
  ui: { csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }, prefersBorder: true },
} as const;

let page: string | undefined;

export function chartViewPage(): string {
  page ??= protect(readFileSync(new URL('./chart-view.html', import.meta.url), 'utf8'));
  return page;
}

/** CSP Level 3, script-src and style-src by hash; styles that the script sets one by one are not governed by it. */
function protect(html: string): string {
  const hashes = (name: string) =>
    [...html.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))]
      .map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
      .join(' ');
  const policy = `default-src 'none'; script-src ${hashes('script')}; style-src ${hashes('style')}; base-uri 'none'; form-action 'none'`;
  return html.replace("default-src 'none'", () => policy);
}

/** Whether capabilities declare the extension, for pages of this kind. */
export function declaresViews(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined;
  const declared = isRecord(extensions) ? extensions[EXTENSION] : undefined;
  if (!isRecord(declared)) return false;
  return Array.isArray(declared.mimeTypes) && declared.mimeTypes.includes(VIEW_TYPE);
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/**
 * Whether who sent the request shows views: a client of 2026-07-28 says so in each request, one of an earlier revision said
 * so in `initialize`, and its conversation carries it (conversations.ts).
 */
export function showsViews(body: unknown, conversation: string | undefined): boolean {
  if (conversation?.startsWith(VIEWING) === true) return true;
  const meta = isRecord(body) && isRecord(body.params) ? body.params._meta : undefined;
  return isRecord(meta) && declaresViews(meta[CAPABILITIES]);
}

/** How the id of a conversation begins whose client shows views. */
export const VIEWING = 'conversation-views-';
