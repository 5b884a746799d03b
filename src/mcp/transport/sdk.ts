// What the SDK serves: its own handler for every request that is not a call of our own tools, the long-lived instances behind the
// shared connections (mux.ts), and sessions. It takes about as long to load as everything else of this room together, so it is
// loaded by the first request that needs it, or a moment after the start; a call of a tool does not wait for it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type NodeIncomingMessageLike, type NodeServerResponseLike, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Clock } from '../../core/clock.ts';
import { type BuildServer, createServerBuilder, type ServerParts } from '../server.ts';
import { identityOfHttp } from './identity.ts';
import type { Mux } from './mux.ts';
import { createSessions, type Sessions } from './sessions.ts';

export interface SdkParts {
  readonly server: Omit<ServerParts, 'notify'>;
  /** Undefined where the SDK's own handler serves everything. */
  readonly muxes: Muxes | undefined;
  readonly hasSessions: boolean;
  readonly limitBytes: number;
  readonly clock: Clock;
  readonly onerror: (cause: Error) => void;
}

export interface Muxes {
  readonly modern: Mux;
  readonly legacy: Mux;
}

export interface Sdk {
  /** By the SDK's own handler. */
  handle(req: IncomingMessage, res: ServerResponse, body: unknown): Promise<void>;
  readonly sessions: Sessions | undefined;
  tellOfChange(): void;
  tellOfTools(): void;
  close(): Promise<void>;
}

export async function openSdk({ server, muxes, hasSessions, limitBytes, clock, onerror }: SdkParts): Promise<Sdk> {
  const build = createServerBuilder({ ...server, notify: () => handler.notify });
  const handler = createMcpHandler(({ era }) => build(identityOfHttp, era === 'modern'), {
    onerror,
    maxRequestBodySize: limitBytes,
  });
  const viaSdk = toNodeHandler(handler, { onerror, maxRequestBodySize: limitBytes });
  const sessions = hasSessions ? createSessions(build, clock) : undefined;
  const closeShared = muxes && (await connect(build, muxes, onerror));
  return {
    handle: (req, res, body) => viaSdk(req as NodeIncomingMessageLike, res as unknown as NodeServerResponseLike, body),
    sessions,
    tellOfChange() {
      const { notify } = handler;
      notify.toolsChanged();
      notify.resourcesChanged();
      notify.promptsChanged();
      sessions?.tellOfChange();
    },
    tellOfTools() {
      handler.notify.toolsChanged();
      sessions?.tellOfTools();
    },
    async close() {
      await Promise.allSettled([handler.close(), sessions?.close(), closeShared?.()]);
    },
  };
}

/** One instance for 2026-07-28 and one for what came before. */
async function connect(
  build: BuildServer,
  { modern, legacy }: Muxes,
  onerror: (cause: Error) => void,
): Promise<() => Promise<unknown>> {
  const stdio = serveStdio(() => build((ctx) => modern.identityOf(ctx.mcpReq.id)), { transport: modern, onerror });
  const server = build((ctx) => legacy.identityOf(ctx.mcpReq.id));
  server.onerror = onerror;
  try {
    await server.connect(legacy);
    const clientInfo = { name: 'portico', version: '0' };
    await legacy.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  } catch (cause) {
    onerror(cause as Error);
  }
  return () => Promise.allSettled([stdio.close(), server.close()]);
}
