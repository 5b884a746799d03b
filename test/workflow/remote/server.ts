// A remote MCP server on this machine, made with the official SDK: two tools, which can be changed and taken away; and a clock of
// which the test says how late it is.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Clock, systemClock } from '../../../src/core/clock.ts';

export interface RemoteFixture {
  readonly url: string;
  /** Arguments of the calls of `charge`, oldest first. */
  readonly charged: unknown[];
  /** The Authorization header of each request, '' for none. */
  readonly authorizations: string[];
  /** Sees every request before the server; true: it has answered. */
  before: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** The type of the amount. */
  amount: z.ZodType;
  /** By `fail`. */
  said: string;
  /** Of `charge`. */
  annotations: ToolAnnotations | undefined;
  readonly tools: Set<string>;
  stop(): Promise<void>;
}

export async function openRemote(): Promise<RemoteFixture> {
  const build = () => {
    const server = new McpServer({ name: 'shop', version: '1.0.0' });
    if (fixture.tools.has('charge')) {
      const { amount, annotations } = fixture;
      const about = { inputSchema: z.object({ amount }), ...(annotations && { annotations }) };
      server.registerTool('charge', about, async (given) => {
        fixture.charged.push(given);
        return {
          content: [{ type: 'text', text: `charged ${given.amount}` }],
          structuredContent: { id: 'ch_1', amount: given.amount },
        };
      });
    }
    server.registerTool('fail', { inputSchema: z.object({}) }, async () => ({
      content: [{ type: 'text', text: fixture.said }],
      isError: true,
    }));
    return server;
  };
  const handle = toNodeHandler(createMcpHandler(build));
  const http = createServer((req, res) => {
    fixture.authorizations.push(req.headers.authorization ?? '');
    if (!fixture.before(req, res)) void handle(req as never, res);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const fixture: RemoteFixture = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    charged: [],
    authorizations: [],
    before: () => false,
    amount: z.number(),
    annotations: undefined,
    said: 'no such card 4242',
    tools: new Set(['charge']),
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return fixture;
}

export interface HeldClock extends Clock {
  /** Lets time pass, and what is due happen. */
  pass(ms: number): void;
}

/** Stands still until time is let pass; what sleeps is awake at once. */
export function holdClock(): HeldClock {
  let now = systemClock.now();
  const waiting = new Map<() => void, number>();
  return {
    now: () => now,
    monotonic: () => now,
    after(ms, run) {
      waiting.set(run, now + ms);
      return () => void waiting.delete(run);
    },
    async sleep() {
      await systemClock.sleep(5);
    },
    pass(ms) {
      now += ms;
      for (const [run, at] of [...waiting]) {
        if (at > now || !waiting.delete(run)) continue;
        run();
      }
    },
  };
}

/** Waits for what happens elsewhere. */
export async function until(met: () => boolean): Promise<void> {
  while (!met()) await systemClock.sleep(5);
}
