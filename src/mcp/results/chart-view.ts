// The view of getChart and aggregate answers for hosts with MCP Apps (SEP-1865, 2026-01-26): one page that loads no
// other files. Its own CSP allows only its script and style sheet, by hash, whatever the host allows. A label from a
// record therefore cannot run as script, even if it became markup; the page inserts labels as text nodes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { packageFile } from '../../core/config/package-files.ts';
import { isRecord } from '../transport/json-rpc.ts';

export const EXTENSION = 'io.modelcontextprotocol/ui';
export const VIEW_TYPE = 'text/html;profile=mcp-app';
export const CHART_VIEW_URI = 'ui://portico/chart';

/** Tools with a view of their answers. */
export const chartTools: ReadonlySet<string> = new Set(['getChart', 'aggregate']);

/** Metadata in the definition of these tools, for clients that declare the extension. */
export const toolMeta = { ui: { resourceUri: CHART_VIEW_URI } } as const;
/** Metadata of the page: it loads no external resources. */
export const viewMeta = {
  ui: { csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }, prefersBorder: true },
} as const;

let page: string | undefined;

export function chartViewPage(): string {
  page ??= protect(readFileSync(packageFile('src/mcp/results/chart-view.html'), 'utf8'));
  return page;
}

/** CSP Level 3, script-src and style-src by hash. CSP does not restrict single styles that the script sets. */
function protect(html: string): string {
  const hashes = (name: string) =>
    [...html.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))]
      .map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`)
      .join(' ');
  const policy = `default-src 'none'; script-src ${hashes('script')}; style-src ${hashes('style')}; base-uri 'none'; form-action 'none'`;
  return html.replace("default-src 'none'", () => policy);
}

/** Whether capabilities declare the extension for HTML pages. */
export function declaresViews(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined;
  const declared = isRecord(extensions) ? extensions[EXTENSION] : undefined;
  if (!isRecord(declared)) return false;
  return Array.isArray(declared.mimeTypes) && declared.mimeTypes.includes(VIEW_TYPE);
}

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/**
 * Whether the client of a request shows views. A client of 2026-07-28 declares it in each request. A client of an
 * earlier revision declares it in `initialize`, and its conversation id encodes it (mcp/transport/conversations.ts).
 */
export function supportsViews(body: unknown, conversation: string | undefined): boolean {
  if (conversation?.startsWith(VIEWS_PREFIX) === true) return true;
  const meta = isRecord(body) && isRecord(body.params) ? body.params._meta : undefined;
  return isRecord(meta) && declaresViews(meta[CAPABILITIES]);
}

/** The prefix of conversation ids of clients that show views. */
export const VIEWS_PREFIX = 'conversation-views-';
