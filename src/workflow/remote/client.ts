// A connection to one remote server, by the official client over streamable HTTP: opened for one piece of work and closed
// after it. What goes wrong becomes one of two errors: REMOTE_UNAVAILABLE, after which nobody knows whether a call was made, and
// REMOTE_REFUSED, after which it was not. What the server says of it is neither shown nor logged: it may hold values of records.
import type { CallToolResult, Client, Tool } from '@modelcontextprotocol/client';
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import type { RemoteServer } from '../../store/remote-types.ts';
import { ANSWER_BYTES, type FetchAddress, limitAnswers } from './address.ts';
import { CALL_MS, CONNECT_MS, TooSlow, within } from './limits.ts';

export type { CallToolResult, Tool };

/** What opens the server. */
export interface Bearer {
  token(): Promise<string>;
  /** The server refused it: makes another, or fails. Absent: there is no other. */
  renew?(): Promise<void>;
  /** The server refused the other as well. */
  giveUp?(): Promise<void>;
}

export interface RemoteClient {
  tools(): Promise<readonly Tool[]>;
  call(tool: Tool, values: Readonly<Record<string, unknown>>): Promise<CallToolResult>;
}

export interface RemoteClientParts {
  readonly fetch: FetchAddress;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Of this package; told to servers. */
  readonly version: string;
}

/** JSON-RPC 2.0 section 5.1: nothing was executed. */
const refusedCodes: ReadonlySet<number> = new Set([-32600, -32601, -32602]);

/** Connects, runs, and closes. */
export async function withRemote<T>(
  { fetch, clock, observe, version }: RemoteClientParts,
  { server, bearer, signal }: { readonly server: RemoteServer; readonly bearer?: Bearer; readonly signal?: StopSignal },
  run: (client: RemoteClient) => Promise<T>,
): Promise<T> {
  const sdk = await import('@modelcontextprotocol/client');
  const seen: Seen = {};
  const fetchLimited = limitAnswers(fetch, () => {
    seen.failure = unavailable(server, `its answer is larger than ${ANSWER_BYTES / 1024 / 1024} MB.`);
    void client.close();
  });
  const client = new sdk.Client(
    { name: 'portico', version },
    { capabilities: {}, versionNegotiation: { mode: 'auto' }, inputRequired: { autoFulfill: false } },
  );
  const transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), {
    fetch: async (url, init) => {
      // We listen to nothing but answers: without a stream of its own a server has no way to ask us anything.
      if ((init?.method ?? 'GET') === 'GET') return new Response(null, { status: 405 });
      const response = await fetchLimited(url, { ...init, redirect: 'manual' });
      seen.status = response.status;
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
    ...(bearer && { authProvider: guardedBearer(bearer, seen) }),
  });
  const inTime = <R>(ms: number, work: (options: { signal: AbortSignal; timeout: number }) => Promise<R>) =>
    within(clock, ms, signal, async (stop) => {
      try {
        return await work({ signal: stop.real, timeout: ms * 2 });
      } catch (thrown) {
        throw stop.aborted ? stop.reason : thrown;
      }
    }).catch(async (thrown: unknown) => {
      if (signal?.aborted) throw new AppError('CANCELLED', {}, thrown);
      if (seen.status === 401 && !seen.failure) await bearer?.giveUp?.();
      const failure = describe(sdk, server, seen, thrown);
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
    await inTime(CONNECT_MS, (options) => client.connect(transport, options));
    return await run({
      tools: () => inTime(CONNECT_MS, async (options) => (await client.listTools(undefined, options)).tools),
      call: (tool, values) => inTime(CALL_MS, (options) => callTool(client, tool, values, options)),
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
  // Without its output schema: an answer that does not keep to it comes after the tool has worked all the same.
  const { outputSchema: _, ...toolDefinition } = tool;
  return client.callTool({ name: tool.name, arguments: values }, { ...options, toolDefinition });
}

interface Seen {
  /** Ours, which the client may have taken for one of the connection. */
  failure?: AppError;
  status?: number;
}

function guardedBearer(bearer: Bearer, seen: Seen) {
  const kept = async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (thrown) {
      if (thrown instanceof AppError) seen.failure = thrown;
      throw thrown;
    }
  };
  const { renew } = bearer;
  return {
    token: () => kept(() => bearer.token()),
    ...(renew && { onUnauthorized: () => kept(() => renew()) }),
  };
}

export const unavailable = ({ name }: RemoteServer, problem: string, cause?: unknown): AppError =>
  new AppError('REMOTE_UNAVAILABLE', { server: name, problem }, cause);
export const refused = ({ name }: RemoteServer, problem: string, cause?: unknown): AppError =>
  new AppError('REMOTE_REFUSED', { server: name, problem }, cause);

type Sdk = typeof import('@modelcontextprotocol/client');

function describe(sdk: Sdk, server: RemoteServer, { failure, status = 0 }: Seen, thrown: unknown): AppError {
  if (failure) return failure;
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof TooSlow) return unavailable(server, `it did not answer within ${thrown.ms / 1000} seconds.`);
  if (status === 401 && server.signIn === 'oauth') return new AppError('REMOTE_RECONNECT', { server: server.name });
  if (status === 401) return refused(server, server.signIn === 'none' ? unauthorized.none : unauthorized.bearer);
  if (status === 403) return refused(server, 'it does not allow this.');
  if (thrown instanceof sdk.ProtocolError) {
    const problem = `it answered with the error ${thrown.code}.`;
    return refusedCodes.has(thrown.code) ? refused(server, problem) : unavailable(server, problem);
  }
  if (status >= 300) {
    const problem = `it answered with the status ${status}.`;
    return status < 500 ? refused(server, problem) : unavailable(server, problem);
  }
  const isOwn = thrown instanceof sdk.SdkError || thrown instanceof SyntaxError;
  return unavailable(server, 'it could not be reached, or its answer was not understood.', isOwn ? undefined : thrown);
}

const unauthorized = {
  none: 'it asks for a sign-in. An administrator can remove it and add it with one.',
  bearer: 'it does not take the secret any more. An administrator can remove it and add it with another.',
};

/** INVALID_ARGUMENT where the values are not as the tool wants them; tells names and rules, never the values. */
export async function checkValues(
  server: RemoteServer,
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  const problem = ((): string | undefined => {
    try {
      return new AjvJsonSchemaValidator().getValidator(tool.inputSchema as never)(values).errorMessage;
    } catch (cause) {
      throw refused(server, `the schema of '${tool.name}' is not understood.`, cause);
    }
  })();
  if (problem === undefined) return;
  fail('INVALID_ARGUMENT', { argument: 'arguments', problem: `'${tool.name}' does not take them: ${problem}.` });
}
