// A remote MCP server on this machine, built with the official SDK. It has two
// tools that tests can change and remove. Also has a clock that tests move.
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
  /** The Authorization header of each request, or ''. */
  readonly authorizations: string[];
  /** Sees every request before the server; true if it sent the response. */
  before: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** The schema of the amount. */
  amount: z.ZodType;
  /** The text that `fail` returns. */
  said: string;
  /** The annotations of `charge`. */
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
  /** Moves the clock, and runs due timers. */
  pass(ms: number): void;
}

/** A clock that moves only with `pass`. `sleep` returns at once. */
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

/** Polls until the condition is met. */
export async function until(met: () => boolean): Promise<void> {
  while (!met()) await systemClock.sleep(5);
}
