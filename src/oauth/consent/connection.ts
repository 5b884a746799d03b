// The connection data of a grant: the client, the destination of the response, and the limits that the user set. The
// Access enforces the limits (oauth/tokens/access-token.ts). They survive every refresh because they belong to the
// grant, and end with it. Grants from before limits existed have no such data and no limits.
import { createRestrictions, type Restrictions } from '../../core/caller/restrictions.ts';
import { visibleName } from '../../core/suggestions/visible-text.ts';
import type { ConnectionRow } from '../../store/oauth/types.ts';
import type { Store } from '../../store/store.ts';
import { type Destination, isDocumentClient } from '../clients/normalize.ts';

export interface Limits {
  readonly readOnly: boolean;
  /** Null: all collections that the user may see, now and later. */
  readonly collections: readonly string[] | null;
  /** Milliseconds since the epoch; null: until revoked. */
  readonly endsAt: number | null;
}

export interface GrantedConnection {
  readonly clientName: string;
  readonly returnsTo: Destination;
  readonly limits: Limits;
}

/** The property of a grant's payload. */
export const connectionProperty = 'connection';

export const noLimits: Limits = { readOnly: false, collections: null, endsAt: null };

/**
 * Reads the limits of a grant. Returns {@link noLimits} for a grant from before limits existed. An invalid value is
 * read as the strictest limit.
 */
export function readLimits(grant: object): Limits {
  const connection = (grant as { readonly [connectionProperty]?: { readonly limits?: unknown } })[connectionProperty];
  if (connection === undefined) return noLimits;
  const { readOnly, collections, endsAt } = Object(connection.limits) as Partial<Limits>;
  return {
    readOnly: readOnly !== false,
    collections: collections === null ? null : Array.isArray(collections) ? collections.map(String) : [],
    endsAt: endsAt === null ? null : typeof endsAt === 'number' ? endsAt : 0,
  };
}

export function restrictionsOf({ readOnly, collections }: Limits): Restrictions | undefined {
  return createRestrictions(readOnly, collections);
}

/** Seconds until the limits end, at least one; infinite if they have no end. */
export function secondsLeft({ endsAt }: Limits, now: number): number {
  return endsAt === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil((endsAt - now) / 1000));
}

/** A connection as shown to users. */
export interface Connection extends Omit<ConnectionRow, 'payload'> {
  readonly clientName: string;
  /** The host that serves the client's metadata document. */
  readonly verifiedHost?: string;
  /** Absent for connections from before this was stored. */
  readonly returnsTo?: Destination;
  readonly scopes: readonly string[];
  readonly limits: Limits;
}

interface ConnectionFilter {
  readonly id?: string;
  readonly userId?: number;
  /** Filter; default: all connections. */
  readonly matches?: (connection: Connection) => boolean;
  /** Cursor of the last connection of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

const PAGE_SIZE = 500;
/** Maximum number of rows to search for matches. */
const MAX_ROWS = 20_000;

/** Returns connections, newest first. */
export async function findConnections(
  store: Pick<Store, 'oauth' | 'connections'>,
  { id, userId, matches = () => true, after, limit }: ConnectionFilter,
): Promise<readonly Connection[]> {
  if (id !== undefined) {
    const row = await store.connections.find(id);
    return row ? describeConnections([row], store) : [];
  }
  const found: Connection[] = [];
  let last = after;
  for (let scanned = 0; scanned < MAX_ROWS; scanned += PAGE_SIZE) {
    const rows = await store.connections.list({ userId, after: last, limit: Math.min(PAGE_SIZE, limit) });
    found.push(...(await describeConnections(rows, store)).filter(matches));
    last = rows.at(-1)?.cursor;
    if (found.length >= limit || rows.length < Math.min(PAGE_SIZE, limit)) break;
  }
  return found.slice(0, limit);
}

/** Keeps the order of the rows. */
async function describeConnections(
  rows: readonly ConnectionRow[],
  store: Pick<Store, 'oauth'>,
): Promise<readonly Connection[]> {
  const names = new Map<string, string>();
  return Promise.all(
    rows.map(async ({ payload, ...row }) => {
      const { clientName, returnsTo } = Object(payload[connectionProperty]) as Partial<GrantedConnection>;
      const { clientId } = row;
      const host = isDocumentClient(clientId) ? { verifiedHost: new URL(clientId).host } : {};
      return {
        ...row,
        ...host,
        ...(returnsTo && { returnsTo }),
        clientName: clientName ?? names.get(clientId) ?? (await registeredName(clientId)),
        scopes: readScopes(payload),
        limits: readLimits(payload),
      };
    }),
  );

  async function registeredName(clientId: string): Promise<string> {
    const client = await store.oauth.find('Client', clientId);
    const name = client?.payload.client_name;
    const displayName = (typeof name === 'string' && visibleName(name)) || clientId;
    names.set(clientId, displayName);
    return displayName;
  }
}

/** Scopes of the grant, over all its resources (there is only one). */
function readScopes(payload: Readonly<Record<string, unknown>>): readonly string[] {
  const resources = Object.values(Object(payload.resources) as Record<string, unknown>);
  return [...new Set(resources.flatMap((scopes) => `${scopes}`.split(' ')))].filter(Boolean);
}
