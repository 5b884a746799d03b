// MCP over a pipe, for clients that start a process. There is one connection and one user: the owner of the
// application token in the process's configuration. Every request checks the token again, from memory as long as the
// storage's versions are unchanged. A revocation therefore takes effect with the next call, as over HTTP. All else is
// shared with the HTTP transport (serving.ts).

import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, ServerNotifier, Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Restrictions } from '../../core/caller/restrictions.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import { createServerBuilder } from '../server.ts';
import type { Identity } from '../tool-call.ts';
import { cancelledRequestId } from './conversations.ts';
import { repairCall } from './json-rpc.ts';
import type { RestrictingAuthenticator } from './narrowing.ts';
import { createServing, type ServingParts } from './serving.ts';
import { createLineTransport, type LineTransport } from './stdio-framing.ts';

interface StdioParts extends ServingParts {
  /** The application token. */
  readonly token: string;
  readonly restrictions: Restrictions | undefined;
  readonly input: Readable;
  /** Only the protocol may write to this stream. */
  readonly output: Writable;
}

interface StdioServer {
  /** Resolves when the client closes its side or disconnects. */
  readonly ended: Promise<void>;
  /**
   * Stops reading. Requests in progress have `graceMs` milliseconds to finish, then they and their statements are
   * cancelled.
   */
  close(graceMs: number): Promise<void>;
}

/** How long cancelled calls have to write their log entries, in milliseconds. */
const SHUTDOWN_MS = 2000;
const REFUSED_ERROR = -32000;
const INTERNAL_ERROR = -32603;

/** Starts serving. Throws UNAUTHENTICATED, before it reads any input, if the token is invalid. */
export async function openStdioServer(parts: StdioParts): Promise<StdioServer> {
  const { clock, config, input, output } = parts;
  const serving = createServing(parts);
  const build = createServerBuilder({ ...serving.server, notify: () => silentNotifier });
  const identify = createIdentify(serving.authenticator, parts);
  await identify();

  const lines = createLineTransport(input, output, { bytes: config.bodyLimitBytes, depth: config.jsonDepthLimit });
  const ended = new Promise<void>((resolve) => {
    lines.onend = resolve;
  });
  const authenticated = authenticateMessages(lines, identify, parts);
  const served = serveStdio(() => build((ctx) => authenticated.identityOf(ctx.mcpReq.id)), {
    transport: authenticated.transport,
    onerror: serving.onerror,
  });
  const waitUpTo = (limitMs: number, done: Promise<void>) => Promise.race([done, clock.sleep(limitMs)]);
  return {
    ended,
    async close(graceMs) {
      input.pause();
      await waitUpTo(graceMs, authenticated.answered());
      await served.close();
      await waitUpTo(SHUTDOWN_MS, serving.whenIdle());
    },
  };
}

type Identify = () => Promise<Identity>;

function createIdentify(authenticator: RestrictingAuthenticator, { token, restrictions }: StdioParts): Identify {
  const request = { headers: { authorization: `Bearer ${token}` } };
  return async () => ({ auth: authenticator.restrict(await authenticator.check(request), restrictions) });
}

interface AuthenticatedTransport {
  readonly transport: Transport;
  identityOf(id: RequestId): Identity | undefined;
  /** Resolves when every request has its response. */
  answered(): Promise<void>;
}

/** Checks the token for each request and passes the request on with that identity, in the order of arrival. */
function authenticateMessages(
  lines: LineTransport,
  identify: Identify,
  { observe }: StdioParts,
): AuthenticatedTransport {
  const identities = new Map<RequestId, Identity>();
  const unanswered = new Set<RequestId>();
  let onAllAnswered: (() => void) | undefined;
  let queue: Promise<void> = Promise.resolve();

  const forget = (id: RequestId) => {
    identities.delete(id);
    unanswered.delete(id);
    if (unanswered.size === 0) onAllAnswered?.();
  };

  const refuse = async (id: RequestId, error: unknown) => {
    const { code, message } = reportFailure(observe, 'mcp', error);
    const number = code === 'INTERNAL' ? INTERNAL_ERROR : REFUSED_ERROR;
    await transport.send({ jsonrpc: '2.0', id, error: { code: number, message, data: { code } } });
  };

  const forward = async (message: JSONRPCMessage): Promise<void> => {
    if (!('method' in message) || !('id' in message)) {
      // A cancelled request gets no response (MCP, cancellation, behavior requirements).
      const cancelled = cancelledRequestId(message);
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
    if (message.method !== 'subscriptions/listen') unanswered.add(message.id);
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
    queue = queue.then(() => forward(message)).catch((error: Error) => transport.onerror?.(error));
  };
  lines.onclose = () => transport.onclose?.();

  return {
    transport,
    identityOf: (id) => identities.get(id),
    async answered() {
      await queue;
      if (unanswered.size > 0) {
        await new Promise<void>((resolve) => {
          onAllAnswered = resolve;
        });
      }
    },
  };
}

/** The connection's own instance sends all notifications of changes, so this notifier is empty. */
const silentNotifier: ServerNotifier = {
  toolsChanged: () => undefined,
  promptsChanged: () => undefined,
  resourcesChanged: () => undefined,
  resourceUpdated: () => undefined,
};
