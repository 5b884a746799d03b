// The front in a real HTTP server, for the tests of this folder: an engine over arrays, and a gate that knows the tokens
// `user-<n>` (all OAuth scopes), `writer-<n>` (no read) and nothing else.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine, FieldDescription, ListAnswer } from '../../src/agent/engine.ts';
import { type Access, type Caller, fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Config, type ConfigInput, loadConfig } from '../../src/core/config.ts';
import { fail } from '../../src/core/errors.ts';
import { nearNames } from '../../src/core/near.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createMcpFront, type McpFrontParts } from '../../src/mcp/front.ts';
import type { Authenticated, Gate } from '../../src/oauth/bearer.ts';
import type { ActivityEntry } from '../../src/store/store.ts';

export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** The column that holds the user whose row it is. */
  readonly owner?: string;
}

export interface Steering {
  /** Called before a list answers. */
  beforeList?: (access: Access, signal: AbortSignal | undefined) => Promise<void>;
}

const caller = (id: number): Caller => ({
  id,
  email: `user${id}@example.test`,
  firstName: 'User',
  lastName: String(id),
  team: 'Operations',
  role: 'Member',
  tags: {},
  timezone: 'UTC',
  permissionLevel: 'user',
  renderingId: 1,
});

export function arrayEngine(tables: Readonly<Record<string, Table>>, steering: Steering = {}): Engine {
  const table = (name: string): Table =>
    tables[name] ?? fail('UNKNOWN_COLLECTION', { collection: name, near: nearNames(name, Object.keys(tables)) });
  const visible = (access: Access, name: string) => {
    const { columns, rows, owner } = table(name);
    return owner === undefined ? rows : rows.filter((row) => row[columns.indexOf(owner)] === access.caller.id);
  };
  return {
    async list(access, request, options) {
      const { columns } = table(request.collection);
      await steering.beforeList?.(access, options?.signal);
      const names = request.fields ?? columns;
      const unknown = names.find((name) => !columns.includes(name));
      if (unknown !== undefined) {
        fail('UNKNOWN_FIELD', { collection: request.collection, field: unknown, near: nearNames(unknown, columns) });
      }
      const from = request.cursor ? Number(request.cursor) : (request.skip ?? 0);
      const all = visible(access, request.collection);
      const rows = all.slice(from, from + request.limit).map((row) => names.map((name) => row[columns.indexOf(name)]));
      const answer: ListAnswer = {
        columns: names,
        rows,
        hasMore: from + request.limit < all.length,
        cursorAfter: (index) => String(from + index + 1),
        records: () => rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]]))),
      };
      return answer;
    },
    count: async (access, request) => visible(access, request.collection).length,
    index: () =>
      Object.entries(tables).map(([name, { columns }]) => ({
        name,
        kind: 'table' as const,
        fields: columns.length,
        relations: [],
        writable: true,
      })),
    describe: (_access, name) => ({
      name,
      kind: 'table',
      key: ['id'],
      fields: table(name).columns.map(
        (column): FieldDescription => ({
          name: column,
          type: 'String',
          nullable: false,
          readOnly: false,
          required: false,
          isKey: column === 'id',
          sortable: true,
          operators: ['Equal'],
        }),
      ),
      relations: [],
      permissions: { add: false, edit: false, delete: false },
    }),
    explain: () => '',
    close: async () => {},
  };
}

export interface House {
  readonly url: string;
  readonly port: number;
  readonly config: Config;
  readonly activity: ActivityEntry[];
  readonly observations: Observation[];
  /** What the next `holds` answers, once each; true when empty. */
  readonly holds: (boolean | Promise<boolean>)[];
  /** Tokens that are not taken any more. */
  readonly revoked: Set<string>;
  /** Authorization headers that the gate was asked about. */
  readonly asked: (string | undefined)[];
  close(): Promise<void>;
}

export type HouseOptions = Partial<Pick<McpFrontParts, 'extension' | 'legacySessions' | 'serving'>> & {
  readonly tables?: Readonly<Record<string, Table>>;
  readonly steering?: Steering;
  readonly engine?: Engine;
  readonly settings?: ConfigInput['file'];
};

export const notes: Table = {
  columns: ['id', 'owner', 'text'],
  owner: 'owner',
  rows: Array.from({ length: 150 }, (_, i) => [i + 1, (i % 50) + 1, `note ${i + 1} of user ${(i % 50) + 1}`]),
};

export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const config = loadConfig({ file: options.settings ?? {} });
  const house = {
    activity: [] as ActivityEntry[],
    observations: [] as Observation[],
    holds: [] as (boolean | Promise<boolean>)[],
    revoked: new Set<string>(),
    asked: [] as (string | undefined)[],
  };
  const { extension, legacySessions, serving } = options;
  const front = createMcpFront({
    config,
    engine: options.engine ?? arrayEngine(options.tables ?? { notes }, options.steering),
    gate: tokenGate(house),
    activity: { record: (entry) => house.activity.push(entry) },
    observe: (observation) => house.observations.push(observation),
    clock: systemClock,
    version: '0.0.0-test',
    ...(extension && { extension }),
    ...(legacySessions && { legacySessions }),
    ...(serving && { serving }),
  });
  const server = createServer((req, res) => front.handle(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...house,
    config,
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await front.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function tokenGate(house: Pick<House, 'holds' | 'revoked' | 'asked'>): Gate {
  return {
    check(authorization) {
      house.asked.push(authorization);
      const [, token, kind, id] = /^Bearer ((user|writer)-(\d+))$/.exec(authorization ?? '') ?? [];
      if (!token || house.revoked.has(token)) fail('UNAUTHENTICATED', { problem: 'There is no usable token.' });
      const auth: Authenticated = {
        access: fullAccess(caller(Number(id))),
        userId: Number(id),
        clientId: `client-${id}`,
        clientName: 'Test client',
        grantId: `grant-${id}`,
        scopes: new Set(kind === 'user' ? ['mcp:read', 'mcp:write'] : ['mcp:write']),
        versions: { permissions: 1, grants: 1 },
      };
      // Every other user is found in memory, the rest needs a look into the store.
      return Number(id) % 2 === 0 ? auth : Promise.resolve(auth);
    },
    holds: () => house.holds.shift() ?? true,
    challenge: (hadToken) =>
      `Bearer ${hadToken ? 'error="invalid_token", ' : ''}scope="mcp:read", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"`,
    scopeChallenge: (scopes) => `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`,
  };
}

/** One POST as an MCP client of an earlier revision makes it. */
export async function post(
  house: Pick<House, 'url'>,
  body: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const merged: Record<string, string> = {};
  const given = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: 'Bearer user-2',
    ...headers,
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) merged[name] = value;
  const response = await fetch(house.url, {
    method: 'POST',
    headers: merged,
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? parse(text) : undefined };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const META = 'io.modelcontextprotocol/';

/** The body and headers of a well-formed 2026-07-28 request. */
export function modern(method: string, params: Record<string, unknown> = {}, id: number | string = 1) {
  return {
    body: {
      jsonrpc: '2.0',
      id,
      method,
      params: {
        ...params,
        _meta: {
          [`${META}protocolVersion`]: '2026-07-28',
          [`${META}clientCapabilities`]: {},
          ...(params._meta as object | undefined),
        },
      },
    },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
    },
  };
}

export function legacy(method: string, params: Record<string, unknown> = {}, id: number | string = 1) {
  return { jsonrpc: '2.0', id, method, params };
}

/** The parsed JSON of the one text block of a tool result. */
export function answerOf(body: unknown): unknown {
  const content = (body as { result: { content: { type: string; text: string }[] } }).result.content;
  if (content.length !== 1 || content[0]!.type !== 'text')
    throw new Error(`not one text block: ${JSON.stringify(body)}`);
  return parse(content[0]!.text);
}
