// Decides which tools of a remote server workflows may call, and which calls need confirmation. Administrators restrict
// the tools with a list per server. Authors of workflows decide on tools that their server does not declare harmless.
// Tool annotations are trusted as much as the server itself, which an administrator added.
import { fail } from '../../core/errors.ts';
import type { RemoteServer, RemoteToolRule, RemoteTools } from '../../store/remotes/types.ts';
import type { Tool } from './client.ts';

const LINES_MOST = 200;
const rest = '*';

/**
 * One tool per line, followed by `ask` if a person must confirm every call. `*` covers all other tools. Null: no list.
 * Throws INVALID_ARGUMENT.
 */
export function readTools(text: string): RemoteTools | null {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const wrong = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'tools', problem });
  if (lines.length > LINES_MOST) wrong(`expected ${LINES_MOST} lines at most.`);
  const rules = lines.map((line): readonly [string, RemoteToolRule] => {
    const [, name = '', ask] =
      /^(\S{1,200})(?:\s+(ask))?$/.exec(line) ??
      wrong(`'${line.slice(0, 100)}' is none: expected the name of a tool, or the name and ask.`);
    return [name, ask ? 'ask' : 'allow'];
  });
  return rules.length === 0 ? null : Object.fromEntries(rules);
}

/** The format that `readTools` parses. */
export const writeTools = (tools: RemoteTools | null): string =>
  Object.entries(tools ?? {})
    .map(([name, rule]) => (rule === 'ask' ? `${name} ask` : name))
    .join('\n');

/** Throws REMOTE_TOOL_NOT_ALLOWED. */
export function ruleOf({ name, tools }: Pick<RemoteServer, 'name' | 'tools'>, tool: string): RemoteToolRule {
  if (!tools) return 'allow';
  const found = [tool, rest].find((one) => Object.hasOwn(tools, one));
  const why =
    'it is not among the tools that workflows may call. An administrator allows it on the page of the server in the console.';
  return found === undefined ? fail('REMOTE_TOOL_NOT_ALLOWED', { server: name, tool, why }) : tools[found]!;
}

/** A tool may be destructive unless its annotations say otherwise (MCP schema, ToolAnnotations). */
export const mayHarm = ({ annotations }: Pick<Tool, 'annotations'>): boolean =>
  annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false;
