// What every way in shares: the tools that are served, what of them a caller is shown, how one is called, and the SDK
// instances over it. The ways in (front.ts over HTTP, stdio.ts over a pipe) only say who is calling.
import type { Engine } from '../../agent/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import type { Observe } from '../../core/observe.ts';
import type { Gate } from '../../oauth/bearer.ts';
import type { ActivityLog } from '../../store/activity-types.ts';
import type { IdempotencyKeys } from '../../store/approval-types.ts';
import type { ApprovalDoor } from '../approvals/approval.ts';
import { type CallTool, createCallTool } from '../call.ts';
import type { Files } from '../files/files.ts';
import { serverName } from '../introduction.ts';
import { createMenu, type Menu } from '../offers/menu.ts';
import type { Extension, ServerParts } from '../server.ts';
import { selectTools, type Tool, type WorkflowDoor } from '../tools.ts';
import { createDirectCalls, type DirectCalls } from './direct.ts';
import { createNarrowingGate, type NarrowingGate } from './narrowing.ts';

export interface ServingParts {
  readonly config: Config;
  readonly engine: Engine;
  readonly gate: Gate;
  readonly files: Files;
  readonly activity: Pick<ActivityLog, 'record' | 'begin'>;
  readonly idempotency: IdempotencyKeys;
  readonly approval: ApprovalDoor;
  readonly workflows?: WorkflowDoor | undefined;
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
  /** What SDK instances are built of. */
  readonly server: Omit<ServerParts, 'notify'>;
  readonly direct: DirectCalls;
  readonly onerror: (cause: Error) => void;
  /** Once no call is at work: whoever stops waits for it, since a call that was cut off has its entry in the log to make. */
  settled(): Promise<void>;
}

/** CONFIGURATION for enabled tools that do not exist. */
export function createServing(parts: ServingParts): Serving {
  const { config, engine, observe, version, extension } = parts;
  const gate = createNarrowingGate(parts.gate);
  const tools = selectTools(config.enabledTools, observe);
  const menu = createMenu(tools, engine, parts.workflows?.room.listActive);
  const { callTool, settled } = counted(createCallTool({ ...parts, gate }));
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
  const serverInfo = { ...serverName, version };
  const { outputSchemas } = config;
  return {
    gate,
    toolsByName,
    menu,
    direct: createDirectCalls({ toolsByName, callTool, serverInfo, outputSchemas }),
    server: { serverInfo, tools, menu, engine, callTool, extension, outputSchemas },
    onerror: (cause) => observe({ type: 'warning', message: `The MCP SDK reported: ${cause.message}` }),
    settled,
  };
}

function counted(callTool: CallTool): { readonly callTool: CallTool; settled(): Promise<void> } {
  let atWork = 0;
  let whenNoneIs: (() => void)[] = [];
  const end = () => {
    if (--atWork > 0) return;
    const waiting = whenNoneIs;
    whenNoneIs = [];
    for (const resolve of waiting) resolve();
  };
  return {
    callTool(...call) {
      atWork++;
      const working = callTool(...call);
      working.then(end, end);
      return working;
    },
    async settled() {
      while (atWork > 0) await new Promise<void>((resolve) => whenNoneIs.push(resolve));
    },
  };
}
