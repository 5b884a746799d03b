// A transport that lets one long-lived SDK instance serve many HTTP requests. It replaces every JSON-RPC id with its
// own number, and a map stores under that number how to answer. The identity of the caller uses the same map: the SDK
// passes all messages through one queue, so an AsyncLocalStorage would return the wrong caller. Calls without the
// instance (serving.ts) are answered, streamed and cancelled through the same map.
import type { ServerResponse } from 'node:http';
import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/server';
import { Stop, type StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import type { AppError } from '../../core/errors.ts';
import type { Identity } from '../tool-call.ts';

const KEEP_ALIVE_MS = 15_000;
/** MissingRequiredClientCapability is the only handler error with its own HTTP status (2026-07-28). */
const MISSING_CAPABILITY = -32021;
const INTERNAL_ERROR = -32603;

export interface MultiplexedRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export interface RequestMultiplexer extends Transport {
  /**
   * Answers `res` as JSON. If a message precedes the result and the client accepts streams, the response is an event
   * stream.
   */
  serve(request: MultiplexedRequest, from: RequestSender, res: ServerResponse, acceptsStream: boolean): void;
  /** The same for work without the instance; its return value is the result. */
  run(
    request: MultiplexedRequest,
    from: RequestSender,
    res: ServerResponse,
    acceptsStream: boolean,
    work: DirectWork,
  ): void;
  /** Cancels the request of the same caller, id and conversation, and ends its response without a result. */
  cancel(requestId: RequestId, from: RequestSender): void;
  /**
   * Sends a request to the instance, optionally on behalf of `identity`. Returns the result as a client would get it.
   */
  sendRequest(method: string, params: Record<string, unknown>, identity?: Identity): Promise<unknown>;
  identityOf(id: RequestId): Identity | undefined;
  /** The number of requests in progress. */
  readonly pending: number;
}

export type DirectWork = (channel: ResponseChannel) => Promise<unknown>;

export interface ResponseChannel {
  /** Aborted when the client cancels or disconnects. */
  readonly signal: StopSignal;
  /** Sends a notification on the stream of the call. */
  notify(method: string, params: Record<string, unknown>): void;
}

/** The sender of a request. */
export interface RequestSender {
  readonly identity: Identity;
  /** Only for clients of earlier revisions (conversations.ts). */
  readonly conversation?: string | undefined;
}

interface Exchange extends RequestSender {
  readonly clientId: RequestId;
  readonly res: ServerResponse;
  readonly acceptsStream: boolean;
  /** Only for work without the instance. */
  readonly stop?: Stop;
  stopKeepAlive?: () => void;
}

interface PendingRequest {
  readonly identity: Identity | undefined;
  readonly answer: (message: JSONRPCMessage) => void;
}

/** Writes the messages of an exchange to its response. */
function createAnswers(clock: Clock, refuse: (res: ServerResponse, error: AppError) => void) {
  const keepAlive = (exchange: Exchange) => {
    exchange.stopKeepAlive = clock.after(KEEP_ALIVE_MS, () => {
      exchange.res.write(': keep-alive\n\n');
      keepAlive(exchange);
    });
  };

  const openStream = (exchange: Exchange) => {
    if (exchange.stopKeepAlive) return;
    exchange.res.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    });
    keepAlive(exchange);
  };

  const stream = (exchange: Exchange, message: JSONRPCMessage) => {
    if (!exchange.acceptsStream) return;
    openStream(exchange);
    exchange.res.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  };

  const finish = (exchange: Exchange, message: JSONRPCMessage) => {
    const { res, identity } = exchange;
    const text = JSON.stringify(message);
    if (exchange.stopKeepAlive) {
      exchange.stopKeepAlive();
      res.end(`event: message\ndata: ${text}\n\n`);
      return;
    }
    if (identity.refusal) {
      refuse(res, identity.refusal);
      return;
    }
    const lacksCapability = 'error' in message && message.error.code === MISSING_CAPABILITY;
    res.writeHead(lacksCapability ? 400 : 200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    res.end(text);
  };

  return { openStream, stream, finish };
}

/** `refuse` answers a request if its token became invalid while it was served. */
export function createRequestMultiplexer(
  clock: Clock,
  refuse: (res: ServerResponse, error: AppError) => void,
): RequestMultiplexer {
  const exchanges = new Map<RequestId, Exchange>();
  const pendingRequests = new Map<RequestId, PendingRequest>();
  const { openStream, stream, finish } = createAnswers(clock, refuse);
  let next = 1;

  const abortExchange = (id: RequestId) => {
    const exchange = exchanges.get(id);
    if (!exchange) return;
    exchanges.delete(id);
    if (exchange.stop) exchange.stop.abort();
    else multiplexer.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
  };

  const register = (exchange: Exchange): number => {
    const id = next++;
    exchanges.set(id, exchange);
    exchange.res.on('close', () => {
      exchange.stopKeepAlive?.();
      // A client of 2026-07-28 cancels by closing the response; for earlier clients, a closed response also ends the
      // call.
      abortExchange(id);
    });
    return id;
  };

  const multiplexer: RequestMultiplexer = {
    async start() {},
    async close() {
      for (const exchange of exchanges.values()) {
        exchange.stopKeepAlive?.();
        exchange.stop?.abort();
        exchange.res.destroy();
      }
      exchanges.clear();
      multiplexer.onclose?.();
    },
    async send(message: JSONRPCMessage, options?: TransportSendOptions) {
      const isResponse = 'id' in message && message.id !== undefined && !('method' in message);
      const id = isResponse ? message.id : options?.relatedRequestId;
      if (id === undefined) return;
      const exchange = exchanges.get(id);
      if (!exchange) {
        if (isResponse) pendingRequests.get(id)?.answer(message);
        return;
      }
      if (!isResponse) {
        stream(exchange, message);
        return;
      }
      exchanges.delete(id);
      finish(exchange, { ...message, id: exchange.clientId } as JSONRPCMessage);
    },
    serve(request, from, res, acceptsStream) {
      const id = register({ ...from, clientId: request.id, res, acceptsStream });
      multiplexer.onmessage?.({ jsonrpc: '2.0', ...request, id });
    },
    run(request, from, res, acceptsStream, work) {
      const stop = new Stop();
      const exchange: Exchange = { ...from, clientId: request.id, res, acceptsStream, stop };
      const id = register(exchange);
      const answer = (payload: { readonly result: unknown } | { readonly error: unknown }) => {
        if (exchanges.delete(id)) finish(exchange, { ...payload, jsonrpc: '2.0', id: request.id } as JSONRPCMessage);
      };
      const notify: ResponseChannel['notify'] = (method, params) => {
        if (exchanges.has(id)) stream(exchange, { jsonrpc: '2.0', method, params });
      };
      work({ signal: stop, notify }).then(
        (result) => answer({ result }),
        (error: Error) => {
          multiplexer.onerror?.(error);
          answer({ error: { code: INTERNAL_ERROR, message: 'Internal error' } });
        },
      );
    },
    cancel(requestId, { identity: { auth }, conversation }) {
      for (const [id, exchange] of exchanges) {
        if (exchange.clientId !== requestId || exchange.conversation !== conversation) continue;
        // An invented conversation id must not reach calls of other callers.
        const { userId, clientId } = exchange.identity.auth;
        if (userId !== auth.userId || clientId !== auth.clientId) continue;
        abortExchange(id);
        // A cancelled request gets no response (MCP 2025-11-25, cancellation, behavior requirements).
        openStream(exchange);
        exchange.stopKeepAlive?.();
        exchange.res.end();
        return;
      }
    },
    sendRequest(method, params, identity) {
      const id = next++;
      return new Promise((resolve, reject) => {
        const answer = (message: JSONRPCMessage) => {
          pendingRequests.delete(id);
          if ('result' in message) resolve(message.result);
          else reject(new Error('error' in message ? message.error.message : 'no result'));
        };
        pendingRequests.set(id, { identity, answer });
        multiplexer.onmessage?.({ jsonrpc: '2.0', id, method, params });
      });
    },
    identityOf: (id) => (exchanges.get(id) ?? pendingRequests.get(id))?.identity,
    get pending() {
      return exchanges.size;
    },
  };
  return multiplexer;
}
