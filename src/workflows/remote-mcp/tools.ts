// Decides which tools of a remote server workflows may call, and which calls need confirmation. Administrators restrict
// the tools with a list per server. Authors of workflows decide on tools that their server does not declare harmless.
// Tool annotations are trusted as much as the server itself, which an administrator added.
import { fail } from '../../core/errors.ts';
import type { RemoteServer, RemoteToolRule, RemoteTools } from '../../store/remotes/types.ts';
import type { Tool } from './client.ts';

const MAX_LINES = 200;
const ANY_OTHER_TOOL = '*';

/**
 * One tool per line, followed by `ask` if a person must confirm every call. `*` covers all other tools. Null: no list.
 * Throws INVALID_ARGUMENT.
 */
export function parseToolRules(text: string): RemoteTools | null {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const failTools = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'tools', problem });
  if (lines.length > MAX_LINES) failTools(`expected at most ${MAX_LINES} lines.`);
  const rules = lines.map((line): readonly [string, RemoteToolRule] => {
    const [, name = '', ask] =
      /^(\S{1,200})(?:\s+(ask))?$/.exec(line) ??
      failTools(`'${line.slice(0, 100)}' is not valid: expected the name of a tool, or the name and ask.`);
    return [name, ask ? 'ask' : 'allow'];
  });
  return rules.length === 0 ? null : Object.fromEntries(rules);
}

/** The format that `parseToolRules` parses. */
export const formatToolRules = (tools: RemoteTools | null): string =>
  Object.entries(tools ?? {})
    .map(([name, rule]) => (rule === 'ask' ? `${name} ask` : name))
    .join('\n');

function findRule(tools: RemoteTools | null, tool: string): RemoteToolRule | undefined {
  if (!tools) return 'allow';
  const matched = [tool, ANY_OTHER_TOOL].find((toolName) => Object.hasOwn(tools, toolName));
  return matched === undefined ? undefined : tools[matched];
}

export const isAllowed = ({ tools }: Pick<RemoteServer, 'tools'>, tool: string): boolean =>
  findRule(tools, tool) !== undefined;

/** Throws REMOTE_TOOL_NOT_ALLOWED. */
export function ruleOf({ name, tools }: Pick<RemoteServer, 'name' | 'tools'>, tool: string): RemoteToolRule {
  const reason = 'workflows may not call it. An administrator can allow it on the page of the server in the console.';
  return findRule(tools, tool) ?? fail('REMOTE_TOOL_NOT_ALLOWED', { server: name, tool, why: reason });
}

/** A tool may be destructive unless its annotations say otherwise (MCP schema, ToolAnnotations). */
export const canHarm = ({ annotations }: Pick<Tool, 'annotations'>): boolean =>
  annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false;
