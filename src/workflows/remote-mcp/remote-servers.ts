// Remote MCP servers, as used by steps and pages. The tool is looked up and its arguments are checked before a call is
// sent. The list of tools is cached for five minutes, and reloaded before a call is rejected because of it.
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { RemoteServer, RemoteSignIn } from '../../store/remotes/types.ts';
import type { Store } from '../../store/store.ts';
import { createRemoteAccounts, type RemoteAccounts } from './accounts.ts';
import { type FetchForServer, parseServerUrl } from './address.ts';
import { type Bearer, type CallToolResult, checkValues, type Tool, withRemote } from './client.ts';
import { checkManualClient, clientDocument, type ManualClient, type RemoteAddresses } from './registration.ts';
import { canHarm, isAllowed, ruleOf } from './tools.ts';

export const TOOL_LIST_TTL_MS = 5 * 60_000;
/** Size of the tool list cache. The oldest entry is evicted. */
const MAX_CACHED_LISTS = 200;
/** Pauses between attempts to connect, in milliseconds. Connecting changes no data. */
const RETRY_PAUSES_MS = [500, 2000];

interface RemoteServersParts {
  readonly store: Pick<Store, 'remotes'>;
  readonly fetch: FetchForServer;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly version: string;
  readonly addresses: RemoteAddresses;
  /** Hosts that may have private addresses (SERVICE_REMOTE_HOSTS). */
  readonly hosts: readonly string[];
}

interface RemoteCall {
  /** Name of the server. */
  readonly server: string;
  readonly tool: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** The user of the call. Servers with sign-in use this user's account. */
  readonly userId: number;
}

/** A validated call that has not been sent yet. */
interface PreparedCall {
  /** An administrator requires a person to confirm every call. */
  readonly needsConfirmation: boolean;
  /** The server does not declare the tool as read-only or non-destructive. */
  readonly canHarm: boolean;
  /** REMOTE_UNAVAILABLE: the call may have been executed. REMOTE_REFUSED, REMOTE_RECONNECT: it was not. */
  execute(signal: StopSignal): Promise<RemoteResult>;
}

interface RemoteResult {
  /** The text blocks of the result, joined by newlines. */
  readonly text: string;
  /** The structured content of the result. */
  readonly result: Readonly<Record<string, unknown>>;
  /** The tool reports an error. */
  readonly isError: boolean;
}

interface NewRemoteServer {
  readonly name: string;
  readonly url: string;
  readonly signIn: RemoteSignIn;
  readonly secret?: string;
  readonly addedBy: number;
}

export interface RemoteServers extends Pick<RemoteAccounts, 'begin' | 'finish'> {
  /** Throws INVALID_ARGUMENT for `name`, `url` or `secret`. */
  add(server: NewRemoteServer): Promise<RemoteServer>;
  /**
   * Replaces the OAuth client of an `oauth` server with one registered manually at its authorization server. Throws
   * INVALID_ARGUMENT for `clientId`, `clientSecret` or `issuer`. Returns false when the server does not exist.
   */
  saveClient(server: RemoteServer, client: ManualClient, by: number): Promise<boolean>;
  /** The redirect URL for a manual registration. */
  callback(serverId: string): string;
  /** Our client metadata document for the authorization server; undefined without one. */
  document(serverId: string): object | undefined;
  /**
   * Throws UNKNOWN_REMOTE_SERVER, REMOTE_TOOL_NOT_ALLOWED, UNKNOWN_REMOTE_TOOL, INVALID_ARGUMENT, REMOTE_RECONNECT, or
   * the error of the connection.
   */
  prepare(call: RemoteCall, signal?: StopSignal): Promise<PreparedCall>;
  /** The tools that workflows may call, as the user's account sees them. Throws like `prepare`. */
  tools(server: string, userId: number, signal?: StopSignal): Promise<readonly Tool[]>;
}

interface CachedTools {
  readonly tools: readonly Tool[];
  readonly until: number;
}

export function createRemoteServers(parts: RemoteServersParts): RemoteServers {
  const { store, clock, hosts } = parts;
  const { remotes } = store;
  const accounts = createRemoteAccounts(parts);
  const lists = new Map<string, CachedTools>();

  const bearerOf = async (server: RemoteServer, userId: number): Promise<{ readonly bearer?: Bearer }> => {
    if (server.signIn === 'oauth') return { bearer: accounts.bearerOf(server, userId) };
    if (server.signIn === 'none') return {};
    const secret = await remotes.secretOf(server.id);
    return secret === undefined ? {} : { bearer: { token: async () => secret } };
  };

  const keyOf = ({ id, signIn }: RemoteServer, userId: number) => (signIn === 'oauth' ? `${id} ${userId}` : id);

  const toolsOf = async (server: RemoteServer, userId: number, signal: StopSignal | undefined, fresh: boolean) => {
    const key = keyOf(server, userId);
    const cached = lists.get(key);
    if (!fresh && cached && cached.until > clock.now()) return cached.tools;
    const bearer = await bearerOf(server, userId);
    const tools = await withRemote(parts, { server, ...bearer, ...(signal && { signal }) }, (client) => client.tools());
    lists.delete(key);
    lists.set(key, { tools, until: clock.now() + TOOL_LIST_TTL_MS });
    for (const oldest of lists.keys()) if (lists.size > MAX_CACHED_LISTS) lists.delete(oldest);
    return tools;
  };

  const find = async (name: string): Promise<RemoteServer> => {
    const server = await remotes.findByName(name);
    if (server) return server;
    const names = (await remotes.list()).map((remote) => remote.name);
    return fail('UNKNOWN_REMOTE_SERVER', { server: name, near: suggestNames(name, names) });
  };

  /** Retries the connection, but sends the call only once. */
  const sendCall = async (
    server: RemoteServer,
    tool: Tool,
    { values, userId }: RemoteCall,
    signal: StopSignal,
  ): Promise<CallToolResult> => {
    const bearer = await bearerOf(server, userId);
    for (let attempt = 0; ; attempt++) {
      let isSent = false;
      try {
        return await withRemote(parts, { server, ...bearer, signal }, (client) => {
          isSent = true;
          return client.call(tool, values);
        });
      } catch (thrown) {
        if (isSent || !isAppError(thrown, 'REMOTE_UNAVAILABLE')) throw thrown;
        const pauseMs = RETRY_PAUSES_MS[attempt];
        if (pauseMs === undefined) throw new AppError('REMOTE_REFUSED', thrown.details, thrown);
        await clock.sleep(pauseMs, signal);
      }
    }
  };

  return {
    begin: accounts.begin,
    finish: accounts.finish,
    async add({ name, url, signIn, secret, addedBy }) {
      const failArgument = (argument: string, problem: string): never =>
        fail('INVALID_ARGUMENT', { argument, problem });
      if (!/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(name)) {
        failArgument('name', 'expected at most 100 letters, digits, spaces, dots and hyphens.');
      }
      // Characters allowed in the header (RFC 6750 section 2.1).
      if (signIn === 'bearer' && !/^[A-Za-z0-9\-._~+/]{1,4000}=*$/.test(secret ?? '')) {
        failArgument('secret', 'expected the secret that the server issued, without spaces.');
      }
      const address = parseServerUrl(url, hosts);
      const secretPart = signIn === 'bearer' && secret !== undefined ? { secret } : {};
      return remotes.add({ name, url: address, signIn, addedBy, ...secretPart });
    },
    callback: (serverId) => parts.addresses.callback(serverId),
    document: (serverId) => clientDocument(parts.addresses, serverId),
    async saveClient(server, client, by) {
      checkManualClient(client, hosts);
      const { id, secret } = client;
      // A discovered issuer was reached through the guard, so storing it allows no additional host (server/workflows/remotes.ts).
      const issuer = client.issuer || (await accounts.issuerOf(server).catch((thrown) => failIssuerUnknown(thrown)));
      return remotes.setClient(server.id, { id, issuer, ...(secret !== '' && { secret }) }, by);
    },
    async tools(name, userId, signal) {
      const server = await find(name);
      return (await toolsOf(server, userId, signal, true)).filter((tool) => isAllowed(server, tool.name));
    },
    async prepare(request, signal) {
      const { userId } = request;
      const server = await find(request.server);
      const rule = ruleOf(server, request.tool);
      // Checks the account before the call is reported as prepared.
      if (server.signIn === 'oauth') await accounts.bearerOf(server, userId).token();
      let tool: Tool;
      try {
        tool = await pick(server, await toolsOf(server, userId, signal, false), request);
      } catch (thrown) {
        if (!isAppError(thrown, 'UNKNOWN_REMOTE_TOOL') && !isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
        tool = await pick(server, await toolsOf(server, userId, signal, true), request);
      }
      return {
        needsConfirmation: rule === 'ask',
        canHarm: canHarm(tool),
        async execute(stop) {
          const answer = await sendCall(server, tool, request, stop).catch((thrown: unknown) => {
            // The tool may have changed.
            if (isAppError(thrown, 'REMOTE_REFUSED')) lists.delete(keyOf(server, userId));
            throw thrown;
          });
          // The call was made. A storage failure at this point must not make its outcome uncertain.
          if (server.signIn === 'oauth') await remotes.noteUse({ serverId: server.id, userId }).catch(() => undefined);
          const text = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
          return { text, result: toRecord(answer.structuredContent), isError: answer.isError === true };
        },
      };
    },
  };
}

async function pick(
  server: RemoteServer,
  tools: readonly Tool[],
  { tool, values }: Pick<RemoteCall, 'tool' | 'values'>,
): Promise<Tool> {
  const found = tools.find(({ name }) => name === tool);
  if (!found) {
    const near = suggestNames(
      tool,
      tools.map(({ name }) => name),
    );
    return fail('UNKNOWN_REMOTE_TOOL', { server: server.name, tool, near });
  }
  await checkValues(server, found, values);
  return found;
}

const toRecord = (content: unknown): RemoteResult['result'] =>
  typeof content === 'object' && content !== null && !Array.isArray(content) ? (content as RemoteResult['result']) : {};

/** Asks the administrator for the issuer when discovery fails. */
function failIssuerUnknown(thrown: unknown): never {
  if (!isAppError(thrown, 'REMOTE_UNAVAILABLE') && !isAppError(thrown, 'REMOTE_REFUSED')) throw thrown;
  return fail(
    'INVALID_ARGUMENT',
    { argument: 'issuer', problem: 'the server does not name its authorization server: enter the URL.' },
    thrown,
  );
}
