// The view of one caller for resources, prompts and completion: the visible tools, and how to call a tool on behalf of
// the caller.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { AppError } from '../../core/errors.ts';
import type { Tool } from '../tool.ts';
import type { CallTool, CallTransport, Identity } from '../tool-call.ts';
import type { ToolList } from '../visibility/tool-list.ts';

/** The caller and the engine. */
export interface Viewer {
  readonly access: Access;
  readonly engine: Engine;
}

/**
 * Calls a tool and returns its answer, with every check of a tool call: permissions, narrowing and the activity log.
 * Throws the errors of the call.
 */
export type CallToolByName = (tool: string | Tool, input: Readonly<Record<string, unknown>>) => Promise<string>;

export interface CallerContext {
  readonly viewer: Viewer;
  /** Names of the tools that the caller is shown. */
  readonly tools: ReadonlySet<string>;
  /** Names of the tools that the caller is not shown. */
  readonly hiddenTools: ReadonlySet<string>;
  readonly callTool: CallToolByName;
}

interface CallerContextParts {
  readonly engine: Engine;
  readonly toolList: ToolList;
  readonly callTool: CallTool;
}

export function createCallerContext(
  { engine, toolList, callTool }: CallerContextParts,
  identity: Identity,
  transport: CallTransport,
): CallerContext {
  const visible = toolList.toolsOf(toolList.maskFor(identity.auth));
  return {
    viewer: { access: identity.auth.access, engine },
    tools: new Set(visible.map(({ name }) => name)),
    hiddenTools: toolList.hiddenToolsFor(identity.auth),
    async callTool(name, input) {
      const tool = typeof name === 'string' ? visible.find((one) => one.name === name) : name;
      if (!tool) throw new AppError('UNKNOWN_TOOL', { tool: String(name), near: [] });
      const outcome = await callTool(tool, input, identity, transport);
      if ('failure' in outcome) throw outcome.failure;
      if ('question' in outcome) throw new Error('a call for a prompt or a resource asked for approval');
      return outcome.text;
    },
  };
}

export function collectionNames({ access, engine }: Viewer): readonly string[] {
  return engine.index(access).map(({ name }) => name);
}
