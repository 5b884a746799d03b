// Everything that needs the SDK: its own handler for requests off the fast path, the long-lived instances behind the
// shared connections (request-multiplexer.ts), and sessions. The SDK takes about as long to load as the rest of
// src/mcp. The first request that needs it loads it, or a timer shortly after the start. Tool calls do not wait for
// it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NodeIncomingMessageLike, type NodeServerResponseLike, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Clock } from '../../core/clock.ts';
import { type BuildServer, createServerBuilder, type ServerParts } from '../server.ts';
import { identityOfHttp } from './identity.ts';
import type { RequestMultiplexer } from './request-multiplexer.ts';
import { createSessions, type Sessions } from './sessions.ts';

interface SdkParts {
  readonly server: Omit<ServerParts, 'notify'>;
  /** Undefined if the SDK's own handler serves every request. */
  readonly multiplexers: Multiplexers | undefined;
  readonly hasSessions: boolean;
  readonly limitBytes: number;
  readonly clock: Clock;
  readonly onerror: (cause: Error) => void;
}

interface Multiplexers {
  readonly modern: RequestMultiplexer;
  readonly legacy: RequestMultiplexer;
}

export interface Sdk {
  /** Serves a request with the SDK's own handler. */
  handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void>;
  readonly sessions: Sessions | undefined;
  notifyChange(): void;
  notifyToolChange(): void;
  close(): Promise<void>;
}

export async function openSdk({
  server,
  multiplexers,
  hasSessions,
  limitBytes,
  clock,
  onerror,
}: SdkParts): Promise<Sdk> {
  const build = createServerBuilder({ ...server, notify: () => handler.notify });
  const handler = createMcpHandler(({ era }) => build(identityOfHttp, era === 'modern'), {
    onerror,
    maxRequestBodySize: limitBytes,
  });
  const answer: typeof handler.fetch = async (...args) => {
    const response = await handler.fetch(...args);
    // Its weaker `no-cache` would replace the `no-store` of the endpoint (mcp/endpoint.ts).
    response.headers.delete('cache-control');
    return response;
  };
  const viaSdk = toNodeHandler({ fetch: answer }, { onerror, maxRequestBodySize: limitBytes });
  const sessions = hasSessions ? createSessions(build, clock) : undefined;
  const closeShared = multiplexers && (await connect(build, multiplexers, onerror));
  return {
    handle: (req, res, body) => viaSdk(req as NodeIncomingMessageLike, res as unknown as NodeServerResponseLike, body),
    sessions,
    notifyChange() {
      const { notify } = handler;
      notify.toolsChanged();
      notify.resourcesChanged();
      notify.promptsChanged();
      sessions?.notifyChange();
    },
    notifyToolChange() {
      handler.notify.toolsChanged();
      sessions?.notifyToolChange();
    },
    async close() {
      await Promise.allSettled([handler.close(), sessions?.close(), closeShared?.()]);
    },
  };
}

/** One instance serves 2026-07-28, the other all earlier revisions. */
async function connect(
  build: BuildServer,
  { modern, legacy }: Multiplexers,
  onerror: (cause: Error) => void,
): Promise<() => Promise<unknown>> {
  const stdio = serveStdio(() => build((ctx) => modern.identityOf(ctx.mcpReq.id)), { transport: modern, onerror });
  const server = build((ctx) => legacy.identityOf(ctx.mcpReq.id));
  server.onerror = onerror;
  try {
    await server.connect(legacy);
    const clientInfo = { name: 'portico', version: '0' };
    await legacy.sendRequest('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  } catch (cause) {
    onerror(cause as Error);
  }
  return () => Promise.allSettled([stdio.close(), server.close()]);
}
