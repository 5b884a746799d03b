// What every way in shares: the tools that are served, what of them a caller is shown, how one is called, and the SDK
// instances over it. The ways in (front.ts over HTTP, stdio.ts over a pipe) only say who is calling.
import type { ServerNotifier } from '@modelcontextprotocol/server';
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import type { Gate } from '../oauth/bearer.ts';
import type { ActivityLog, IdempotencyKeys } from '../store/store.ts';
import type { ApprovalDoor } from './approval.ts';
import { type CallTool, createCallTool } from './call.ts';
import type { Files } from './files.ts';
import { createMenu, type Menu } from './menu.ts';
import { createNarrowingGate, type NarrowingGate } from './narrowing.ts';
import { type BuildServer, createServerBuilder, type Extension } from './server.ts';
import { selectTools, type Tool } from './tools.ts';

export interface ServingParts {
  readonly config: Config;
  readonly engine: Engine;
  readonly gate: Gate;
  readonly files: Files;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly idempotency: IdempotencyKeys;
  readonly approval: ApprovalDoor;
  readonly observe: Observe;
  readonly clock: Clock;
  /** Of this package; told to clients. */
  readonly version: string;
  readonly extension?: Extension;
}

export interface Serving {
  readonly gate: NarrowingGate;
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly menu: Menu;
  readonly build: BuildServer;
  readonly onerror: (cause: Error) => void;
}

/**
 * CONFIGURATION for enabled tools that do not exist. `notify` tells the clients that listen of changes; `around` wraps what
 * calls a tool, for who has to know what is at work.
 */
export function createServing(
  parts: ServingParts,
  notify: () => ServerNotifier,
  around: (callTool: CallTool) => CallTool = (callTool) => callTool,
): Serving {
  const { config, engine, observe, version, extension } = parts;
  const gate = createNarrowingGate(parts.gate);
  const tools = selectTools(config.enabledTools, observe);
  const menu = createMenu(tools, engine);
  const callTool = around(createCallTool({ ...parts, gate }));
  return {
    gate,
    toolsByName: new Map(tools.map((tool) => [tool.name, tool])),
    menu,
    build: createServerBuilder({
      version,
      tools,
      menu,
      engine,
      callTool,
      extension,
      outputSchemas: config.outputSchemas,
      notify,
    }),
    onerror: (cause) => observe({ type: 'warning', message: `The MCP SDK reported: ${cause.message}` }),
  };
}
