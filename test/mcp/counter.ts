// The small shop with actions and charts, behind the real endpoint.

import type { ActionDefinition } from '../../src/agent/actions/definitions.ts';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, type Rights, shopTables } from '../agent/shop.ts';
import { ask } from './asking.ts';
import { type McpTestServer, type McpTestServerOptions, openMcpServer } from './mcp-server.ts';

export interface Counter {
  readonly house: McpTestServer;
  /** The result of a tool. */
  ask(tool: string, given: Record<string, unknown>, token?: string): Promise<string>;
}

/** `actions` of orders, by name. */
export async function openCounter(
  actions: Readonly<Record<string, ActionDefinition>>,
  rights: Rights = {},
  options: McpTestServerOptions = {},
): Promise<Counter> {
  const server = await openMcpServer({
    source: createMemorySource('memory', shopTables),
    access(id) {
      const access = accessOf(rights);
      return { ...access, caller: { ...access.caller, id } };
    },
    ...options,
    customize(agent: HeadlessAgent) {
      agent.customizeCollection('orders', (orders) => {
        for (const [name, definition] of Object.entries(actions)) orders.addAction(name, definition);
      });
      options.customize?.(agent);
    },
  });
  return { house: server, ask: (tool, given, token) => ask(server, tool, given, token) };
}
