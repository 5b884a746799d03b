// The two long-lived instances of the SDK's server, and the results of tools/list that they made.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.ts';
import type { AppError } from '../../core/errors.ts';
import type { Identity } from '../tool-call.ts';
import type { ToolList } from '../visibility/tool-list.ts';
import { createRequestMultiplexer, type RequestMultiplexer } from './request-multiplexer.ts';

interface SharedServer {
  readonly multiplexer: RequestMultiplexer;
  /**
   * The results of tools/list as JSON, by mask (mcp/visibility/tool-list.ts) and views, as far as they were requested.
   */
  readonly lists: ReadonlyMap<number, string>;
  /** Asks the SDK instance for the list, on behalf of one caller with this mask. */
  buildList(mask: number, identity: Identity): Promise<string>;
}

/** Clients that show views get metadata about them, which makes a second list of the same tools. */
export const listKeyOf = (mask: number, { showsViews }: Identity): number => (showsViews ? -1 - mask : mask);

/** Far more than the sets of tools that roles produce in practice. */
const MAX_LISTS = 500;

function createSharedServer(
  multiplexer: RequestMultiplexer,
  toolList: ToolList,
  params: Record<string, unknown>,
): SharedServer {
  const lists = new Map<number, string>();
  return {
    multiplexer,
    lists,
    async buildList(mask, identity) {
      const list = JSON.stringify(await multiplexer.sendRequest('tools/list', params, identity));
      // Do not cache a list if an agent restart changed the visible tools meanwhile.
      if (toolList.maskFor(identity.auth) === mask) {
        if (lists.size >= MAX_LISTS) lists.clear();
        lists.set(listKeyOf(mask, identity), list);
      }
      return list;
    },
  };
}

export function createSharedServers(
  toolList: ToolList,
  clock: Clock,
  refuse: (res: ServerResponse, error: AppError) => void,
) {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    modern: createSharedServer(createRequestMultiplexer(clock, refuse), toolList, { _meta: envelope }),
    legacy: createSharedServer(createRequestMultiplexer(clock, refuse), toolList, {}),
  };
}
