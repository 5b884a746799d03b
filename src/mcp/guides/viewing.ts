// What resources, prompts and completion know of the one who asks: what he is shown, and how a tool is asked in his name.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { AppError } from '../../core/errors.ts';
import type { CallTool, CallWire, Identity } from '../call.ts';
import type { Menu } from '../offers/menu.ts';

/** Who asks, and what is there to be asked for. */
export interface Viewer {
  readonly access: Access;
  readonly engine: Engine;
}

/**
 * The answer of a tool, with everything that a call meets: permissions, narrowing and the activity log. Throws what the
 * call fails with.
 */
export type AskTool = (tool: string, given: Readonly<Record<string, unknown>>) => Promise<string>;

export interface Viewing {
  readonly viewer: Viewer;
  /** Names of the tools that he is shown. */
  readonly tools: ReadonlySet<string>;
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
    async ask(name, given) {
      const tool = shown.find((one) => one.name === name);
      if (!tool) throw new AppError('UNKNOWN_TOOL', { tool: name, near: [] });
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
