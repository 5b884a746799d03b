// Remote MCP servers, as used by steps and pages. The tool is looked up and its arguments are checked before a call is
// sent. The list of tools is cached for five minutes, and reloaded before a call is rejected because of it.
import type { StopSignal } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { nearNames } from '../../core/suggestions.ts';
import type { RemoteServer, RemoteSignIn } from '../../store/remotes/types.ts';
import type { Store } from '../../store/store.ts';
import { createRemoteAccounts, type RemoteAccounts } from './accounts.ts';
import { type FetchForServer, readServerAddress } from './address.ts';
import { type Bearer, type CallToolResult, checkValues, type Tool, withRemote } from './client.ts';
import { checkEntered, clientDocument, type EnteredClient, type RemoteAddresses } from './registration.ts';
import { mayHarm, ruleOf } from './tools.ts';

export const TOOLS_MS = 5 * 60_000;
/** Size of the tool list cache. The oldest entry is evicted. */
const KEPT_MOST = 200;
/** Pauses between attempts to connect, in milliseconds. Connecting changes no data. */
const PAUSES_MS = [500, 2000];

export interface RemoteRoomParts {
  readonly store: Pick<Store, 'remotes'>;
  readonly fetch: FetchForServer;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly version: string;
  readonly addresses: RemoteAddresses;
  /** Hosts that may have private addresses (SERVICE_REMOTE_HOSTS). */
  readonly hosts: readonly string[];
}

export interface RemoteCall {
  /** Name of the server. */
  readonly server: string;
  readonly tool: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** The user of the call. Servers with sign-in use this user's account. */
  readonly userId: number;
}

/** A validated call that has not been sent yet. */
export interface PreparedCall {
  /** An administrator requires a person to confirm every call. */
  readonly asksPerson: boolean;
  /** The server does not declare the tool as read-only or non-destructive. */
  readonly mayHarm: boolean;
  /** REMOTE_UNAVAILABLE: the call may have been executed. REMOTE_REFUSED, REMOTE_RECONNECT: it was not. */
  make(signal: StopSignal): Promise<RemoteAnswer>;
}

export interface RemoteAnswer {
  /** The text blocks of the result, joined by newlines. */
  readonly text: string;
  /** The structured content of the result. */
  readonly result: Readonly<Record<string, unknown>>;
  /** The tool reports an error. */
  readonly isError: boolean;
}

export interface NewRemote {
  readonly name: string;
  readonly url: string;
  readonly signIn: RemoteSignIn;
  readonly secret?: string;
  readonly by: number;
}

export interface RemoteRoom extends Pick<RemoteAccounts, 'begin' | 'finish'> {
  /** Throws INVALID_ARGUMENT for `name`, `url` or `secret`. */
  add(server: NewRemote): Promise<RemoteServer>;
  /**
   * Replaces the OAuth client of an `oauth` server with one registered manually at its authorization server. Throws
   * INVALID_ARGUMENT for `clientId`, `clientSecret` or `issuer`. Returns false when the server does not exist.
   */
  enterClient(server: RemoteServer, client: EnteredClient, by: number): Promise<boolean>;
  /** The redirect URL for a manual registration. */
  callback(serverId: string): string;
  /** Our client metadata document for the authorization server; undefined without one. */
  document(serverId: string): object | undefined;
  /**
   * Throws UNKNOWN_REMOTE_SERVER, REMOTE_TOOL_NOT_ALLOWED, UNKNOWN_REMOTE_TOOL, INVALID_ARGUMENT, REMOTE_RECONNECT, or
   * the error of the connection.
   */
  prepare(call: RemoteCall, signal?: StopSignal): Promise<PreparedCall>;
}

interface Listed {
  readonly tools: readonly Tool[];
  readonly until: number;
}

export function createRemoteRoom(parts: RemoteRoomParts): RemoteRoom {
  const { store, clock, hosts } = parts;
  const { remotes } = store;
  const accounts = createRemoteAccounts(parts);
  const lists = new Map<string, Listed>();

  const bearerOf = async (server: RemoteServer, userId: number): Promise<{ readonly bearer?: Bearer }> => {
    if (server.signIn === 'oauth') return { bearer: accounts.bearerOf(server, userId) };
    if (server.signIn === 'none') return {};
    const secret = await remotes.secretOf(server.id);
    return secret === undefined ? {} : { bearer: { token: async () => secret } };
  };

  const keyOf = ({ id, signIn }: RemoteServer, userId: number) => (signIn === 'oauth' ? `${id} ${userId}` : id);

  const toolsOf = async (server: RemoteServer, userId: number, signal: StopSignal | undefined, fresh: boolean) => {
    const key = keyOf(server, userId);
    const known = lists.get(key);
    if (!fresh && known && known.until > clock.now()) return known.tools;
    const bearer = await bearerOf(server, userId);
    const tools = await withRemote(parts, { server, ...bearer, ...(signal && { signal }) }, (client) => client.tools());
    lists.delete(key);
    lists.set(key, { tools, until: clock.now() + TOOLS_MS });
    for (const oldest of lists.keys()) if (lists.size > KEPT_MOST) lists.delete(oldest);
    return tools;
  };

  const find = async (name: string): Promise<RemoteServer> => {
    const server = await remotes.findByName(name);
    if (server) return server;
    const names = (await remotes.list()).map((one) => one.name);
    return fail('UNKNOWN_REMOTE_SERVER', { server: name, near: nearNames(name, names) });
  };

  const pick = async (
    server: RemoteServer,
    tools: readonly Tool[],
    { tool, values }: Pick<RemoteCall, 'tool' | 'values'>,
  ): Promise<Tool> => {
    const found = tools.find(({ name }) => name === tool);
    if (!found) {
      const near = nearNames(
        tool,
        tools.map(({ name }) => name),
      );
      return fail('UNKNOWN_REMOTE_TOOL', { server: server.name, tool, near });
    }
    await checkValues(server, found, values);
    return found;
  };

  /** Retries the connection, but sends the call only once. */
  const call = async (
    server: RemoteServer,
    tool: Tool,
    { values, userId }: RemoteCall,
    signal: StopSignal,
  ): Promise<CallToolResult> => {
    const bearer = await bearerOf(server, userId);
    for (let attempt = 0; ; attempt++) {
      let sent = false;
      try {
        return await withRemote(parts, { server, ...bearer, signal }, (client) => {
          sent = true;
          return client.call(tool, values);
        });
      } catch (thrown) {
        if (sent || !isAppError(thrown, 'REMOTE_UNAVAILABLE')) throw thrown;
        const pause = PAUSES_MS[attempt];
        if (pause === undefined) throw new AppError('REMOTE_REFUSED', thrown.details, thrown);
        await clock.sleep(pause, signal);
      }
    }
  };

  return {
    begin: accounts.begin,
    finish: accounts.finish,
    async add({ name, url, signIn, secret, by }) {
      const wrong = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });
      if (!/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(name)) {
        wrong('name', 'expected letters, digits, spaces, dots, hyphens; at most 100.');
      }
      // Characters allowed in the header (RFC 6750 section 2.1).
      if (signIn === 'bearer' && !/^[A-Za-z0-9\-._~+/]{1,4000}=*$/.test(secret ?? '')) {
        wrong('secret', 'expected the secret that the server gave, without spaces.');
      }
      const address = readServerAddress(url, hosts);
      const kept = signIn === 'bearer' && secret !== undefined ? { secret } : {};
      return remotes.add({ name, url: address, signIn, addedBy: by, ...kept });
    },
    callback: (serverId) => parts.addresses.callback(serverId),
    document: (serverId) => clientDocument(parts.addresses, serverId),
    async enterClient(server, entered, by) {
      checkEntered(entered, hosts);
      const { id, secret } = entered;
      // A discovered issuer was reached through the guard, so storing it allows no additional host (server/remotes.ts).
      const issuer = entered.issuer || (await accounts.issuerOf(server).catch((thrown) => notFound(thrown)));
      return remotes.setClient(server.id, { id, issuer, ...(secret !== '' && { secret }) }, by);
    },
    async prepare(wanted, signal) {
      const { userId } = wanted;
      const server = await find(wanted.server);
      const rule = ruleOf(server, wanted.tool);
      // Checks the account before the call is reported as prepared.
      if (server.signIn === 'oauth') await accounts.bearerOf(server, userId).token();
      let tool: Tool;
      try {
        tool = await pick(server, await toolsOf(server, userId, signal, false), wanted);
      } catch (thrown) {
        if (!isAppError(thrown, 'UNKNOWN_REMOTE_TOOL') && !isAppError(thrown, 'INVALID_ARGUMENT')) throw thrown;
        tool = await pick(server, await toolsOf(server, userId, signal, true), wanted);
      }
      return {
        asksPerson: rule === 'ask',
        mayHarm: mayHarm(tool),
        async make(stop) {
          const answer = await call(server, tool, wanted, stop).catch((thrown: unknown) => {
            // The tool may have changed.
            if (isAppError(thrown, 'REMOTE_REFUSED')) lists.delete(keyOf(server, userId));
            throw thrown;
          });
          // The call was made. A storage failure at this point must not make its outcome uncertain.
          if (server.signIn === 'oauth') await remotes.noteUse({ serverId: server.id, userId }).catch(() => undefined);
          const text = answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
          return { text, result: recordOf(answer.structuredContent), isError: answer.isError === true };
        },
      };
    },
  };
}

const recordOf = (content: unknown): RemoteAnswer['result'] =>
  typeof content === 'object' && content !== null && !Array.isArray(content) ? (content as RemoteAnswer['result']) : {};

/** Asks the administrator for the issuer when discovery fails. */
function notFound(thrown: unknown): never {
  if (!isAppError(thrown, 'REMOTE_UNAVAILABLE') && !isAppError(thrown, 'REMOTE_REFUSED')) throw thrown;
  return fail(
    'INVALID_ARGUMENT',
    { argument: 'issuer', problem: 'the server does not say which it is: type it.' },
    thrown,
  );
}
