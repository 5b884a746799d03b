// Lists the tools for users, and renders the header of a tool's page.

import { type Html, html } from '../../../http/html.ts';
import type { Tool } from '../../../mcp/tool.ts';
import { empty } from '../../ui/data.ts';
import { shownText } from './exact.ts';

export const root = '/playground';
export const toolPage = (name: string): string => `${root}/${encodeURIComponent(name)}`;
/** The form for measures, optionally for a collection. */
export const analysisPage = (collection?: string): string =>
  `${toolPage('aggregate')}/form${collection === undefined ? '' : `?${new URLSearchParams({ collection })}`}`;

const groups: readonly (readonly [scope: Tool['scope'], title: string, text: string])[] = [
  ['mcp:read', 'Read', 'Read-only tools.'],
  ['mcp:write', 'Change', 'Each supports a dry run.'],
  ['mcp:action', 'Act', 'Run actions and workflows.'],
];

interface ToolList {
  readonly tools: readonly Tool[];
  readonly instructions: string;
  /** Public path of a page. */
  readonly path: (page: string) => string;
}

export function toolList({ tools, instructions, path }: ToolList): Html {
  return html`<h1>Playground</h1>
<p class="lead">Try the MCP tools with your own permissions, exactly as your assistant sees them.</p>
${tools.length === 0 && empty('No tools', 'Your role cannot see any collection. Ask an administrator for access.')}
${groups.map(([scope, title, text]) => {
  const some = tools.filter((tool) => tool.scope === scope);
  return (
    some.length > 0 &&
    html`<h2 class="plainly">${title} <small>${text}</small></h2>
<ul class="rows tool-list">${some.map((tool) => html`<li><a href="${path(toolPage(tool.name))}"><b>${tool.title} <code>${tool.name}</code></b><span>${firstLine(tool.description)}</span></a></li>`)}</ul>`
  );
})}
${tools.length > 0 && html`<details class="more"><summary>Server instructions</summary><pre class="told">${shownText(instructions)}</pre></details>`}`;
}

function firstLine(description: string): string {
  const line = description.split('\n', 1)[0]!;
  const end = line.search(/\.(\s|$)/);
  return end < 0 ? line : line.slice(0, end + 1);
}

/** Tool annotations (MCP) in plain words. */
function hintsOf({ annotations, name }: Tool): readonly (readonly [text: string, tone: 'calm' | 'unsure'])[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return [
    readOnlyHint
      ? ['Read-only', 'calm']
      : destructiveHint
        ? ['Changes existing data', 'unsure']
        : ['Adds data', 'calm'],
    ...(!readOnlyHint && idempotentHint ? [['Idempotent', 'calm'] as const] : []),
    ...(openWorldHint ? [['Can reach other systems', 'unsure'] as const] : []),
    ...(name === 'requestActionFileUpload' ? [['No file upload here', 'unsure'] as const] : []),
  ];
}

export function toolHead(tool: Tool, path: (page: string) => string): Html {
  const form =
    tool.name === 'aggregate' && html`<a class="button plain" href="${path(analysisPage())}">Build a call</a>`;
  return html`<div class="head"><h1>${tool.title}</h1>${form}</div>
<p class="hints"><code>${tool.name}</code>${hintsOf(tool).map(([text, tone]) => html` <span class="badge${tone === 'unsure' && ' unsure'}">${text}</span>`)}</p>`;
}

/** Shown below the header until the page has a result. */
export function toolText(tool: Tool): Html {
  return html`<p class="told">${shownText(tool.description)}</p>
${tool.name === 'requestActionFileUpload' && html`<p class="warning">The answer is an upload URL for one file. This page cannot send the file: use a command such as curl.</p>`}`;
}
