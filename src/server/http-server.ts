// Receives requests, either through a server of its own, which it opens and drains, or from a host application. The
// host manages its own server, so this file only counts its pending responses.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { retryAfterOf } from '../core/errors/retry-after.ts';
import { AppError, type ErrorCode, type ErrorDetails } from '../core/errors.ts';
import { sendJson } from '../http/reply.ts';

const DRAIN_STEP_MS = 25;
/**
 * How long a connection may be idle. Longer than the 60 seconds of common load balancers: they must be the ones that
 * close it, or a request on a connection that is being closed fails with 502.
 */
const KEEP_ALIVE_MS = 75_000;
/** How often connections are checked for requests that take too long to arrive. */
const STALL_STEP_MS = 1000;

interface HttpServer {
  /** Throws CONFIGURATION when it cannot listen. */
  open(): Promise<{ readonly address: string; readonly port: number }>;
  /** Refuses new connections. Closes open ones after their responses, or when the time is over. */
  close(limitMs: number): Promise<void>;
}

export function createHttpServer(
  config: Config,
  clock: Clock,
  handle: (req: IncomingMessage, res: ServerResponse) => void,
): HttpServer {
  let isClosing = false;
  const arrival = config.requestSeconds * 1000;
  const server = createServer({
    requestTimeout: arrival,
    headersTimeout: arrival,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: STALL_STEP_MS,
  });
  server.on('request', (req, res) => {
    // A kept-alive connection would outlast the drain.
    if (isClosing) res.setHeader('Connection', 'close');
    // RFC 9112 section 3.2: a proxy may have used the other Host header.
    if (hasDuplicateHost(req))
      return refuse(res, 'INVALID_ARGUMENT', { argument: 'Host', problem: duplicateHostProblem });
    applyAbsoluteTarget(req);
    handle(req, res);
  });
  return {
    async open() {
      await listen(server, { ...config, settings: { port: 'MCP_SERVER_PORT', host: 'SERVICE_HOST' } });
      const { port } = server.address() as AddressInfo;
      const host = isWildcard(config.host) ? '127.0.0.1' : toUrlHost(config.host);
      return { address: `http://${host}:${port}`, port };
    },
    async close(limitMs) {
      isClosing = true;
      if (!server.listening) return;
      let closed = false;
      const closing = new Promise<void>((resolve) => server.close(() => resolve())).then(() => {
        closed = true;
      });
      const until = clock.monotonic() + limitMs;
      while (!closed && clock.monotonic() < until) {
        server.closeIdleConnections();
        await Promise.race([closing, clock.sleep(DRAIN_STEP_MS)]);
      }
      server.closeAllConnections();
      await closing;
    },
  };
}

interface InFlight {
  /**
   * Counts a response as pending until it ends or the client disconnects. Call the returned function if the host
   * answers instead.
   */
  watch(res: ServerResponse): () => void;
  /** Waits for pending responses, then aborts those that take too long. */
  close(limitMs: number): Promise<void>;
}

export function createInFlight(clock: Clock): InFlight {
  const pending = new Set<ServerResponse>();
  return {
    watch(res) {
      const release = () => {
        pending.delete(res);
        res.off('close', release);
      };
      pending.add(res);
      res.once('close', release);
      return release;
    },
    async close(limitMs) {
      const until = clock.monotonic() + limitMs;
      while (pending.size > 0 && clock.monotonic() < until) await clock.sleep(DRAIN_STEP_MS);
      for (const res of pending) res.destroy();
    },
  };
}

const duplicateHostProblem = 'send it once (RFC 9112 section 3.2).';

/** Node keeps only the first Host header and does not report others. */
function hasDuplicateHost({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/** RFC 9112 section 3.2.2: accepts an absolute URL as the request target; its host replaces the Host header. */
function applyAbsoluteTarget(req: IncomingMessage): void {
  const target = req.url ?? '/';
  if (target.startsWith('/') || !/^https?:\/\//i.test(target) || !URL.canParse(target)) return;
  const { host, pathname, search } = new URL(target);
  req.url = pathname + search;
  req.headers.host = host;
}

interface ListenOptions {
  readonly port: number;
  readonly host: string;
  /** The settings that an error message names. */
  readonly settings: { readonly port: string; readonly host: string };
}

/** Throws CONFIGURATION when it cannot listen. */
export function listen(server: Server, { port, host, settings }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem =
        cause.code === 'EADDRINUSE'
          ? `Port ${port} is in use. Stop the program that listens on it, or set ${settings.port} to another port.`
          : `Cannot listen on ${host}, port ${port}: ${cause.code}. Set ${settings.host} and ${settings.port}.`;
      reject(new AppError('CONFIGURATION', { problem }, cause));
    });
    server.listen(port, host, resolve);
  });
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

export function toUrlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

export function refuse<C extends ErrorCode>(res: ServerResponse, code: C, details: ErrorDetails<C>): void {
  sendRefusal(res, new AppError(code, details));
}

/**
 * The kind of client is unknown, so the body has the error fields of OAuth (RFC 6749 section 5.2) and of the public
 * API.
 */
export function sendRefusal(res: ServerResponse, error: AppError): void {
  const { code, message, status } = error;
  const wait = retryAfterOf(error);
  if (wait !== undefined && !res.hasHeader('Retry-After')) res.setHeader('Retry-After', `${wait}`);
  sendJson(res, status, { error: code.toLowerCase(), error_description: message, message, code });
}
