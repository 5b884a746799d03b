// Lists the tools for users, and renders the header of a tool's page.

import { type Html, html } from '../../../http/html.ts';
import type { Tool } from '../../../mcp/tool.ts';
import { empty } from '../../ui/data.ts';
import { shownText } from './exact.ts';

export const root = '/playground';
export const toolPage = (name: string): string => `${root}/${encodeURIComponent(name)}`;

const groups: readonly (readonly [scope: Tool['scope'], title: string, text: string])[] = [
  ['mcp:read', 'Read', 'They change nothing.'],
  ['mcp:write', 'Change', 'Each can be tried without writing first.'],
  ['mcp:action', 'Act', 'They run what the application itself can do.'],
];

export interface ToolList {
  readonly tools: readonly Tool[];
  readonly instructions: string;
  /** Public path of a page. */
  readonly path: (page: string) => string;
}

export function toolList({ tools, instructions, path }: ToolList): Html {
  return html`<h1>Playground</h1>
<p class="lead">Call the tools of assistants yourself, with your own rights. What you see here is what an assistant of yours is offered, and the answers are what it would be given.</p>
${tools.length === 0 && empty('There is nothing that you could call', 'Your role may not see any collection. An administrator can change that.')}
${groups.map(([scope, title, text]) => {
  const some = tools.filter((tool) => tool.scope === scope);
  return (
    some.length > 0 &&
    html`<h2 class="plainly">${title} <small>${text}</small></h2>
<ul class="rows tools">${some.map((tool) => html`<li><a href="${path(toolPage(tool.name))}"><b>${tool.title} <code>${tool.name}</code></b><span>${firstLine(tool.description)}</span></a></li>`)}</ul>`
  );
})}
${tools.length > 0 && html`<details class="more"><summary>What assistants are told before anything else</summary><pre class="told">${shownText(instructions)}</pre></details>`}`;
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
    readOnlyHint ? ['Reads only', 'calm'] : destructiveHint ? ['Changes what is there', 'unsure'] : ['Adds', 'calm'],
    ...(!readOnlyHint && idempotentHint ? [['Twice is the same as once', 'calm'] as const] : []),
    ...(openWorldHint ? [['May reach other systems', 'unsure'] as const] : []),
    ...(name === 'requestActionFileUpload' ? [['No files from here', 'unsure'] as const] : []),
  ];
}

export function toolHead(tool: Tool, path: (page: string) => string): Html {
  return html`<p class="crumb"><a href="${path(root)}">Playground</a></p>
<h1>${tool.title}</h1>
<p class="hints"><code>${tool.name}</code>${hintsOf(tool).map(([text, tone]) => html` <span class="badge${tone === 'unsure' && ' unsure'}">${text}</span>`)}</p>`;
}

/** Shown below the header until the page has a result. */
export function toolText(tool: Tool): Html {
  return html`<p class="told">${shownText(tool.description)}</p>
${tool.name === 'requestActionFileUpload' && html`<p class="warning">The answer is an address that takes one file. This page cannot send the file itself: use a command such as curl.</p>`}`;
}
