// A connection to a remote server with the official client over streamable HTTP, opened per task and closed after it.
// Failures become REMOTE_UNAVAILABLE, if the call may have been executed, or REMOTE_REFUSED, if it was not. Error texts
// of the server are neither shown nor logged, since they may contain record values.

import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import type { StopSignal } from '../../core/clock/stop.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import { importOptional } from '../../core/config/optional-package.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import { resolveEntry } from '../../core/limit/entry.ts';
import { createWorkers } from '../../core/limit/workers.ts';
import type { Observe } from '../../core/observe.ts';
import type { RemoteServer } from '../../store/remotes/types.ts';
import { type FetchForServer, limitResponses, MAX_RESPONSE_BYTES } from './address.ts';
import { CALL_MS, CHECK_MS, CONNECT_MS, RemoteTimeout, withTimeout } from './limits.ts';

export type { CallToolResult, Tool };

/** The bearer token for a server. */
export interface Bearer {
  token(): Promise<string>;
  /** Called when the server rejects the token. Gets another token or throws. Absent if there is only one token. */
  renew?(): Promise<void>;
  /** Called when the server also rejects the second token. */
  giveUp?(): Promise<void>;
}

interface RemoteClient {
  tools(): Promise<readonly Tool[]>;
  call(tool: Tool, values: Readonly<Record<string, unknown>>): Promise<CallToolResult>;
}

interface RemoteClientParts {
  readonly fetch: FetchForServer;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Version of this package, reported to servers. */
  readonly version: string;
}

/** These errors mean that the method was not executed (JSON-RPC 2.0 section 5.1). */
const refusedCodes: ReadonlySet<number> = new Set([-32600, -32601, -32602]);

/** Connects, calls `run`, and closes the connection. */
export async function withRemote<T>(
  { fetch, clock, observe, version }: RemoteClientParts,
  { server, bearer, signal }: { readonly server: RemoteServer; readonly bearer?: Bearer; readonly signal?: StopSignal },
  run: (client: RemoteClient) => Promise<T>,
): Promise<T> {
  const sdk = await loadSdk();
  const observed: ObservedFailure = {};
  const fetchLimited = limitResponses(fetch(server), () => {
    observed.failure = unavailableError(server, `its response is larger than ${MAX_RESPONSE_BYTES / 1024 / 1024} MB.`);
    void client.close();
  });
  const client = new sdk.Client(
    { name: 'portico', version },
    { capabilities: {}, versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false } },
  );
  const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
    fetch: async (url, init) => {
      // Blocks the GET stream. Without one, a server cannot send requests to this client.
      if ((init?.method ?? 'GET') === 'GET') return new Response(null, { status: 405 });
      const response = await fetchLimited(url, { ...init, redirect: 'manual' });
      observed.status = response.status;
      return response;
    },
    requestInit: { redirect: 'manual' },
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
    ...(bearer && { authProvider: guardedBearer(bearer, observed) }),
  });
  const runWithin = <R>(ms: number, work: (options: { signal: AbortSignal; timeout: number }) => Promise<R>) =>
    withTimeout(clock, ms, signal, async (stop) => {
      try {
        return await work({ signal: stop.real, timeout: ms * 2 });
      } catch (thrown) {
        throw stop.aborted ? stop.reason : thrown;
      }
    }).catch(async (thrown: unknown) => {
      if (signal?.aborted) throw new AppError('CANCELLED', {}, thrown);
      if (observed.status === 401 && !observed.failure) await bearer?.giveUp?.();
      const failure = toRemoteError(sdk, server, observed, thrown);
      if (failure.code === 'REMOTE_UNAVAILABLE') {
        observe({
          type: 'warning',
          message: failure.message,
          ...(failure.cause !== undefined && { cause: failure.cause }),
        });
      }
      throw failure;
    });
  try {
    await runWithin(CONNECT_MS, (options) => client.connect(transport, options));
    return await run({
      tools: () => runWithin(CONNECT_MS, async (options) => (await client.listTools(undefined, options)).tools),
      call: (tool, values) => runWithin(CALL_MS, (options) => callTool(client, tool, values, options)),
    });
  } finally {
    await client.close().catch(() => undefined);
  }
}

async function callTool(
  client: Client,
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<CallToolResult> {
  // Omits the output schema: a response that violates it still means that the tool has run.
  const { outputSchema: _, ...toolDefinition } = tool;
  return client.callTool({ name: tool.name, arguments: values }, { ...options, toolDefinition });
}

interface ObservedFailure {
  /** A local error that the client may have reported as a connection error. */
  failure?: AppError;
  status?: number;
}

function guardedBearer(bearer: Bearer, observed: ObservedFailure) {
  const capturing = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (thrown) {
      if (thrown instanceof AppError) observed.failure = thrown;
      throw thrown;
    }
  };
  const { renew } = bearer;
  return {
    token: () => capturing(() => bearer.token()),
    ...(renew && { onUnauthorized: () => capturing(() => renew()) }),
  };
}

export const unavailableError = ({ name }: RemoteServer, problem: string, cause?: unknown): AppError =>
  new AppError('REMOTE_UNAVAILABLE', { server: name, problem }, cause);
export const refusedError = ({ name }: RemoteServer, problem: string, cause?: unknown): AppError =>
  new AppError('REMOTE_REFUSED', { server: name, problem }, cause);

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** The official client. CONFIGURATION if it is not installed. */
export const loadSdk = () =>
  importOptional('@modelcontextprotocol/client', () => import('@modelcontextprotocol/client'));

function toRemoteError(
  sdk: Sdk,
  server: RemoteServer,
  { failure, status = 0 }: ObservedFailure,
  thrown: unknown,
): AppError {
  if (failure) return failure;
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof RemoteTimeout)
    return unavailableError(server, `it did not answer within ${thrown.ms / 1000} seconds.`);
  if (status === 401 && server.signIn === 'oauth') return new AppError('REMOTE_RECONNECT', { server: server.name });
  if (status === 401)
    return refusedError(server, server.signIn === 'none' ? unauthorizedProblems.none : unauthorizedProblems.bearer);
  if (status === 403) return refusedError(server, 'it does not allow this.');
  if (thrown instanceof sdk.ProtocolError) {
    const problem = `it returned the error ${thrown.code}.`;
    return refusedCodes.has(thrown.code) ? refusedError(server, problem) : unavailableError(server, problem);
  }
  if (status >= 300) {
    const problem = `it returned the status ${status}.`;
    return status < 500 ? refusedError(server, problem) : unavailableError(server, problem);
  }
  const isOwn = thrown instanceof sdk.SdkError || thrown instanceof SyntaxError;
  return unavailableError(server, 'it could not be reached, or its response was invalid.', isOwn ? undefined : thrown);
}

const unauthorizedProblems = {
  none: 'it requires authentication. An administrator can remove it and add it again with authentication.',
  bearer: 'it no longer accepts the secret. An administrator can remove it and add it again with a new one.',
};

export interface SchemaCheck {
  readonly schema: unknown;
  readonly values: Readonly<Record<string, unknown>>;
}

const workers = createWorkers(resolveEntry('src/workflows/remote-mcp/schema-worker.ts'), 2);

/**
 * Throws INVALID_ARGUMENT if the values do not match the tool's schema. The message contains names and rules, never
 * values. Throws REMOTE_REFUSED for a schema that is invalid or takes too long.
 */
export async function checkValues(
  server: RemoteServer,
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const check: SchemaCheck = { schema: tool.inputSchema, values };
  const problem = await workers
    .use((ask) => ask<string | null>(check), systemClock, { timeoutMs: CHECK_MS })
    .catch((cause: unknown) => {
      const isSlow = isAppError(cause, 'TIMED_OUT');
      const explanation = isSlow ? `takes longer than ${CHECK_MS / 1000} seconds to check` : 'is invalid';
      throw refusedError(server, `the schema of '${tool.name}' ${explanation}.`, cause);
    });
  if (problem === null) return;
  fail('INVALID_ARGUMENT', { argument: 'arguments', problem: `'${tool.name}' does not accept them: ${problem}.` });
}
