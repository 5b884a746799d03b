// Shared by all transports: the enabled tools, their visibility, the execution of calls and the SDK instances. The
// transports (mcp/endpoint.ts for HTTP, stdio.ts for a pipe) only identify the caller.
import type { Engine } from '../../agent/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import type { Observe } from '../../core/observe.ts';
import type { Gate } from '../../oauth/tokens/bearer.ts';
import type { IdempotencyKeys } from '../../store/approvals/types.ts';
import type { ActivityLog } from '../../store/audit/activity-types.ts';
import type { ApprovalDoor } from '../approvals/approval.ts';
import type { Extension, ServerParts } from '../server.ts';
import { serverName } from '../server-info.ts';
import type { Tool, WorkflowDoor } from '../tool.ts';
import { type CallTool, createCallTool } from '../tool-call.ts';
import { selectTools } from '../tools.ts';
import type { Files } from '../uploads/files.ts';
import { createMenu, type Menu } from '../visibility/tool-list.ts';
import { createDirectCalls, type DirectCalls } from './fast-path.ts';
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
  /** The version of this package, which clients see. */
  readonly version: string;
  readonly extension?: Extension;
}

export interface Serving {
  readonly gate: NarrowingGate;
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly menu: Menu;
  /** The parts of every SDK instance. */
  readonly server: Omit<ServerParts, 'notify'>;
  readonly direct: DirectCalls;
  readonly onerror: (cause: Error) => void;
  /**
   * Resolves when no call is in progress. A shutdown waits for it, because an aborted call still writes its log entry.
   */
  settled(): Promise<void>;
}

/** Throws CONFIGURATION for enabled tools that do not exist. */
export function createServing(parts: ServingParts): Serving {
  const { config, engine, observe, version, extension } = parts;
  const gate = createNarrowingGate(parts.gate);
  const tools = selectTools(config.enabledTools, observe);
  const menu = createMenu(tools, engine, parts.workflows?.room.listActive);
  const { callTool, settled } = counted(createCallTool({ ...parts, gate, menu }));
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
