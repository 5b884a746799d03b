// MCP over a pipe, for clients that start a process. There is one connection and one person: who holds the application
// token that the process was given. The token is checked anew with every request, from memory as long as the storage's
// versions stand still, so that a revocation is felt by the next call as it is over HTTP. The rest is the same service.
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, ServerNotifier, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Narrowing } from '../core/caller/narrowing.ts';
import { toAppError } from '../core/errors.ts';
import { randomId } from '../core/secret.ts';
import type { Identity } from './call.ts';
import { createServerBuilder } from './server.ts';
import { cancelledBy } from './transport/conversations.ts';
import { createLines, type Lines } from './transport/lines.ts';
import type { NarrowingGate } from './transport/narrowing.ts';
import { createServing, type ServingParts } from './transport/serving.ts';
import { repairCall } from './transport/wire.ts';

export interface StdioParts extends ServingParts {
  /** The application token. */
  readonly token: string;
  readonly narrowing: Narrowing | undefined;
  readonly input: Readable;
  /** Nothing else may be written there. */
  readonly output: Writable;
}

export interface StdioServer {
  /** Resolves when the client has ended its side, or is gone. */
  readonly ended: Promise<void>;
  /** Takes no more; what is under way has `graceMs` to be answered, and is cancelled then, down to the database. */
  close(graceMs: number): Promise<void>;
}

/** How long what was cancelled may take to leave its entry in the log. */
const SETTLE_MS = 2000;
const REFUSED = -32000;
const INTERNAL_ERROR = -32603;

/** UNAUTHENTICATED, before a byte is read, when the token opens nothing. */
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
  /** Resolves when no request is owed an answer. */
  answered(): Promise<void>;
}

/** Lets requests pass with the identity that they were checked for, in the order in which they came. */
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
    const requestId = randomId();
    const { code, message } = toAppError(error, requestId);
    if (code === 'INTERNAL') observe({ type: 'failure', where: 'mcp', requestId, cause: error });
    const number = code === 'INTERNAL' ? INTERNAL_ERROR : REFUSED;
    await transport.send({ jsonrpc: '2.0', id, error: { code: number, message, data: { code } } });
  };

  const admit = async (message: JSONRPCMessage): Promise<void> => {
    if (!('method' in message) || !('id' in message)) {
      // A request that is cancelled is not answered (MCP, cancellation, behavior requirements).
      const cancelled = cancelledBy(message);
      if (cancelled !== undefined) forget(cancelled);
      transport.onmessage?.(message);
      return;
    }
    try {
      // MCP, authorization: credentials of a process come from its environment; here they are checked with every request.
      identities.set(message.id, await identify());
    } catch (error) {
      await refuse(message.id, error);
      return;
    }
    // It stands open for as long as the client listens.
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

/** What is said of changes goes out through the instance of the connection itself. */
const quiet: ServerNotifier = {
  toolsChanged: () => undefined,
  promptsChanged: () => undefined,
  resourcesChanged: () => undefined,
  resourceUpdated: () => undefined,
};
