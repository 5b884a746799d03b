// MCP over a pipe, for clients that start a process. There is one connection and one user: the owner of the
// application token in the process's configuration. Every request checks the token again, from memory as long as the
// storage's versions are unchanged. A revocation therefore takes effect with the next call, as over HTTP. All else is
// shared with the HTTP transport (serving.ts).

import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, ServerNotifier, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Narrowing } from '../../core/caller/restrictions.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import { createServerBuilder } from '../server.ts';
import type { Identity } from '../tool-call.ts';
import { cancelledBy } from './conversations.ts';
import { repairCall } from './json-rpc.ts';
import type { NarrowingGate } from './narrowing.ts';
import { createServing, type ServingParts } from './serving.ts';
import { createLines, type Lines } from './stdio-framing.ts';

export interface StdioParts extends ServingParts {
  /** The application token. */
  readonly token: string;
  readonly narrowing: Narrowing | undefined;
  readonly input: Readable;
  /** Only the protocol may write to this stream. */
  readonly output: Writable;
}

export interface StdioServer {
  /** Resolves when the client closes its side or disconnects. */
  readonly ended: Promise<void>;
  /**
   * Stops reading. Requests in progress have `graceMs` milliseconds to finish, then they and their statements are
   * cancelled.
   */
  close(graceMs: number): Promise<void>;
}

/** How long cancelled calls have to write their log entries, in milliseconds. */
const SETTLE_MS = 2000;
const REFUSED = -32000;
const INTERNAL_ERROR = -32603;

/** Starts serving. Throws UNAUTHENTICATED, before it reads any input, if the token is invalid. */
export async function openStdioServer(parts: StdioParts): Promise<StdioServer> {
  const { clock, config, input, output } = parts;
  const serving = createServing(parts);
  const build = createServerBuilder({ ...serving.server, notify: () => quiet });
  const identify = createIdentify(serving.gate, parts);
  await identify();

  const lines = createLines(input, output, { bytes: config.bodyLimitBytes, depth: config.jsonDepthLimit });
  const ended = new Promise<void>((resolve) => {
    lines.onend = resolve;
  });
  const guarded = guard(lines, identify, parts);
  const served = serveStdio(() => build((ctx) => guarded.identityOf(ctx.mcpReq.id)), {
    transport: guarded.transport,
    onerror: serving.onerror,
  });
  const within = (limitMs: number, done: Promise<void>) => Promise.race([done, clock.sleep(limitMs)]);
  return {
    ended,
    async close(graceMs) {
      input.pause();
      await within(graceMs, guarded.answered());
      await served.close();
      await within(SETTLE_MS, serving.settled());
    },
  };
}

type Identify = () => Promise<Identity>;

function createIdentify(gate: NarrowingGate, { token, narrowing }: StdioParts): Identify {
  const request = { headers: { authorization: `Bearer ${token}` } };
  return async () => ({ auth: gate.narrow(await gate.check(request), narrowing) });
}

interface Guarded {
  readonly transport: Transport;
  identityOf(id: RequestId): Identity | undefined;
  /** Resolves when every request has its response. */
  answered(): Promise<void>;
}

/** Checks the token for each request and passes the request on with that identity, in the order of arrival. */
function guard(lines: Lines, identify: Identify, { observe }: StdioParts): Guarded {
  const identities = new Map<RequestId, Identity>();
  const owed = new Set<RequestId>();
  let whenNoneIsOwed: (() => void) | undefined;
  let order: Promise<void> = Promise.resolve();

  const forget = (id: RequestId) => {
    identities.delete(id);
    owed.delete(id);
    if (owed.size === 0) whenNoneIsOwed?.();
  };

  const refuse = async (id: RequestId, error: unknown) => {
    const { code, message } = reportFailure(observe, 'mcp', error);
    const number = code === 'INTERNAL' ? INTERNAL_ERROR : REFUSED;
    await transport.send({ jsonrpc: '2.0', id, error: { code: number, message, data: { code } } });
  };

  const admit = async (message: JSONRPCMessage): Promise<void> => {
    if (!('method' in message) || !('id' in message)) {
      // A cancelled request gets no response (MCP, cancellation, behavior requirements).
      const cancelled = cancelledBy(message);
      if (cancelled !== undefined) forget(cancelled);
      transport.onmessage?.(message);
      return;
    }
    try {
      // MCP, authorization: a process gets its credentials from its environment. This checks them for every request.
      identities.set(message.id, await identify());
    } catch (error) {
      await refuse(message.id, error);
      return;
    }
    // A listening request stays open as long as its client listens.
    if (message.method !== 'subscriptions/listen') owed.add(message.id);
    repairCall(message);
    transport.onmessage?.(message);
  };

  const transport: Transport = {
    start: () => lines.start(),
    async send(message) {
      await lines.send(message);
      if (!('method' in message) && message.id !== undefined) forget(message.id);
    },
    close: () => lines.close(),
  };
  lines.onmessage = (message) => {
    order = order.then(() => admit(message)).catch((error: Error) => transport.onerror?.(error));
  };
  lines.onclose = () => transport.onclose?.();

  return {
    transport,
    identityOf: (id) => identities.get(id),
    async answered() {
      await order;
      if (owed.size > 0) {
        await new Promise<void>((resolve) => {
          whenNoneIsOwed = resolve;
        });
      }
    },
  };
}

/** The connection's own instance sends all notifications of changes, so this notifier is empty. */
const quiet: ServerNotifier = {
  toolsChanged: () => undefined,
  promptsChanged: () => undefined,
  resourcesChanged: () => undefined,
  resourceUpdated: () => undefined,
};
