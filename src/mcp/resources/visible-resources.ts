// The view of one caller for resources, prompts and completion: the visible tools, and how to call a tool on behalf of
// the caller.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { AppError } from '../../core/errors.ts';
import type { Tool } from '../tool.ts';
import type { CallTool, CallWire, Identity } from '../tool-call.ts';
import type { Menu } from '../visibility/tool-list.ts';

/** The caller and the engine. */
export interface Viewer {
  readonly access: Access;
  readonly engine: Engine;
}

/**
 * Calls a tool and returns its answer, with every check of a tool call: permissions, narrowing and the activity log.
 * Throws the errors of the call.
 */
export type AskTool = (tool: string | Tool, given: Readonly<Record<string, unknown>>) => Promise<string>;

export interface Viewing {
  readonly viewer: Viewer;
  /** Names of the tools that the caller is shown. */
  readonly tools: ReadonlySet<string>;
  /** Names of the tools that the caller is not shown. */
  readonly absent: ReadonlySet<string>;
  readonly ask: AskTool;
}

export interface ViewingParts {
  readonly engine: Engine;
  readonly menu: Menu;
  readonly callTool: CallTool;
}

export function createViewing({ engine, menu, callTool }: ViewingParts, identity: Identity, wire: CallWire): Viewing {
  const shown = menu.toolsOf(menu.maskFor(identity.auth));
  return {
    viewer: { access: identity.auth.access, engine },
    tools: new Set(shown.map(({ name }) => name)),
    absent: menu.absentFor(identity.auth),
    async ask(name, given) {
      const tool = typeof name === 'string' ? shown.find((one) => one.name === name) : name;
      if (!tool) throw new AppError('UNKNOWN_TOOL', { tool: String(name), near: [] });
      const called = await callTool(tool, given, identity, wire);
      if ('failure' in called) throw called.failure;
      if ('question' in called) throw new Error('what is viewed only reads, and nobody is asked');
      return called.text;
    },
  };
}

export function collectionNames({ access, engine }: Viewer): readonly string[] {
  return engine.index(access).map(({ name }) => name);
}
