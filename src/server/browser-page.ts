// The page for people who open the address of the MCP endpoint, or the root of a standalone server, in a browser.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { clientInstructions } from '../console/clients.ts';
import { html } from '../http/html.ts';
import { createCard, sendPage, signInTheme } from '../http/page.ts';

/**
 * Whether a browser navigates here. API clients get their usual answer: they post, or accept event streams or JSON
 * (RFC 9110 section 12.5.1), and a bare wildcard is no preference for HTML.
 */
export function isBrowserVisit({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const accepted = headers.accept ?? '';
  const isNavigation = method === 'GET' && headers.authorization === undefined;
  return isNavigation && /\btext\/html\b/i.test(accepted) && !/\btext\/event-stream\b/i.test(accepted);
}

interface Addresses {
  /** Undefined if the server serves no MCP. */
  readonly mcpUrl: string | undefined;
  readonly consoleUrl: string;
}

/** Says what the address is for. It shows nothing that a visitor does not already know. */
export function sendBrowserPage(res: ServerResponse, { mcpUrl, consoleUrl }: Addresses): void {
  const title = mcpUrl === undefined ? 'A server for programs' : 'An address for assistants';
  const content =
    mcpUrl === undefined
      ? html`<h1>${title}</h1><p class="lead">Programs call this server. People use the console.</p>`
      : html`<h1>${title}</h1>
<p class="lead">Add this address to an assistant. It then opens the sign-in in your browser.</p>
<p><code>${mcpUrl}</code></p>
<dl class="facts">${clientInstructions.map(
          ({ name, how, pasted }) =>
            html`<div><dt>${name}</dt><dd>${how}${pasted.map(({ text }) => html`<small><code>${text(mcpUrl)}</code></small>`)}</dd></div>`,
        )}</dl>`;
  const console = html`<a href="${consoleUrl}">Open the console</a> to manage connections and approvals.`;
  res.setHeader('Vary', 'Accept');
  sendPage(res, 200, createCard(signInTheme, title, undefined, content, console));
}
