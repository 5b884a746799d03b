// Non-interference: an attempt learns nothing if its complete answers are equal in both worlds for a clerk who may not
// see what differs. For an insider, who may, they must differ; otherwise the attempt proves nothing. The insider has one
// right more than the clerk: to see all fields and collections within the row scope, or all rows without hidden fields.
import type { CollectionPermission } from '../../../src/store/permissions/types.ts';
import type { TestServer as Maker } from '../../databases.ts';
import { frontOrigin, sessionToken } from '../../rest/front-end.ts';
import { startServer } from '../../server.ts';
import { runSql } from '../../sql/schemas.ts';
import { all } from '../target.ts';
import type { Caller, Leak } from './leak.ts';
import { clerkScopes, create, empty, fill, hiddenCollections, hiddenFields, type World } from './shop.ts';
import { customize } from './shop-code.ts';

export interface OpenedWorld {
  readonly clerk: Caller;
  readonly insiders: Readonly<Record<Leak['about'], Caller>>;
  /** Replaces all rows by those of the world. Rows of the source in memory stay. */
  become(other: World): Promise<void>;
}

export type Worlds = readonly [a: OpenedWorld, b: OpenedWorld];

interface Rights {
  readonly role: Readonly<Record<string, CollectionPermission>>;
  readonly isScoped: boolean;
}

type AtEnd = (end: () => Promise<void>) => void;

export async function openWorlds(maker: Maker, atEnd: AtEnd): Promise<Worlds> {
  return [await openWorld(maker, 'A', atEnd), await openWorld(maker, 'B', atEnd)];
}

async function openWorld(maker: Maker, world: World, atEnd: AtEnd): Promise<OpenedWorld> {
  const database = await maker.create();
  atEnd(() => database.drop());
  await runSql(database, [...create(maker.dialect), ...fill(world)]);
  const server = await startServer({
    database: database.url,
    env: {
      SERVICE_AGENT_ORIGINS: frontOrigin,
      SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
      SERVICE_SECRET: 'the same secret in both worlds',
    },
    app: {
      customize(agent) {
        customize(agent, world);
        for (const name of ['customers', 'orders', 'items', 'tags', 'agents', 'staff'])
          agent.customizeCollection(name, (one) =>
            one.addChart('age', async ({ recordId }, result) => result.value(Number(recordId))),
          );
      },
    },
  });
  atEnd(() => server.stop());
  const { store } = server;
  async function person(name: string, { role, isScoped }: Rights): Promise<Caller> {
    const account = await server.addUser({ email: `${name}@example.test`, role: name, team: name, level: 'editor' });
    await store.permissions.setRole(name, role);
    for (const [collection, filter] of isScoped ? Object.entries(clerkScopes) : [])
      await store.permissions.setScope(name, collection, filter);
    const { id } = (await store.identity.findUserByEmail(account.email))!;
    const scopes = ['mcp:read', 'mcp:write', 'mcp:action'];
    const { secret } = await store.tokens.create({ userId: id, name: 'assistant', scopes });
    return callerOf(server.mcpUrl, secret, server.apiUrl, await sessionToken(server.apiUrl, account));
  }
  return {
    become: (other) => runSql(database, [...empty, ...fill(other)]),
    clerk: await person('clerk', { role: { '*': all, ...hiddenCollections, ...hiddenFields }, isScoped: true }),
    insiders: {
      field: await person('fields', { role: { '*': all }, isScoped: true }),
      row: await person('rows', { role: { '*': all, ...hiddenFields }, isScoped: false }),
    },
  };
}

/** Times and ids of requests may differ. */
const ownOfRequest = new Set(['date', 'x-service-correlation-id']);

const idOfChart = /^\{"data":\{"id":"[\da-f-]{36}","type":"stats"/;

async function complete(response: Response): Promise<string> {
  const headers = [...response.headers].filter(([name]) => !ownOfRequest.has(name)).map((pair) => pair.join(': '));
  const text = (await response.text()).replace(idOfChart, '{"data":{"id":"","type":"stats"');
  return [response.status, ...headers, text].join('\n');
}

function callerOf(mcpUrl: string, token: string, apiUrl: string, session: string): Caller {
  return {
    async tool(name, args) {
      const response = await fetch(mcpUrl, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
      });
      return complete(response);
    },
    async http({ method, path, body, headers }) {
      const response = await fetch(apiUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${session}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      return complete(response);
    },
  };
}

export interface Judged {
  readonly leak: Leak;
  /** The answers of the clerk, if they differ. */
  readonly learned?: readonly [a: string, b: string];
  /** The answers of the insider differ. */
  readonly isControlled: boolean;
}

export async function judge(leak: Leak, [a, b]: Worlds): Promise<Judged> {
  const insider = a.insiders[leak.about];
  const [inA, inB] = [await leak.run(a.clerk, insider), await leak.run(b.clerk, insider)];
  const [seenInA, seenInB] = [await leak.run(insider, insider), await leak.run(b.insiders[leak.about], insider)];
  return { leak, ...(inA !== inB && { learned: [inA, inB] as const }), isControlled: seenInA !== seenInB };
}
