// The whole server over a small shop where some writes of the clerk need approval. Assistants use either era of the
// protocol, with or without elicitation.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { PolicyInput } from '../../src/core/caller.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { ElicitationAnswer } from '../../src/mcp/approvals/approval.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';

export const all: CollectionPermission = {
  browse: true,
  read: true,
  edit: true,
  add: true,
  delete: true,
  export: true,
};

export interface Desk extends TestServer {
  readonly database: TestDatabase;
  /** The clerk. */
  readonly userId: number;
  readonly token: string;
  /** The rows of the shop, read from the database itself. */
  state(): Promise<{ readonly orders: unknown[]; readonly customers: unknown[]; readonly ran: readonly string[] }>;
  tokenOf(userId: number, name: string): Promise<string>;
  permit(collections: Readonly<Record<string, CollectionPermission>>): Promise<void>;
  run(...sql: string[]): Promise<void>;
}

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL)',
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, label VARCHAR(40) NOT NULL, total INTEGER NOT NULL, customer_id INTEGER REFERENCES customers(id))',
  "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo')",
  "INSERT INTO orders VALUES (1, 'boots', 10, 1), (2, 'hats', 20, 1), (3, 'socks', 30, NULL)",
];

export interface DeskOptions {
  readonly permissions: Readonly<Record<string, CollectionPermission>>;
  readonly clock?: Clock;
  /** The approval policy of the action `Refund` in code. */
  readonly approval?: PolicyInput;
  /** The URL of a storage that several processes share. */
  readonly storage?: string;
  readonly customize?: (agent: HeadlessAgent) => void;
  readonly callSeconds?: number;
  /** A delete of a customer deletes their orders. */
  readonly cascades?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** The same for all processes that share a storage. */
export const secret = 'a secret that two processes share';

export async function openDesk({
  permissions,
  clock,
  approval,
  storage,
  customize: more,
  callSeconds,
  cascades,
  env,
}: DeskOptions): Promise<Desk> {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(
    database,
    tables.map((sql) => sql.replace('customers(id))', `customers(id)${cascades ? ' ON DELETE CASCADE' : ''})`)),
  );
  const ran: string[] = [];
  const customize = (agent: HeadlessAgent) => {
    agent.customizeCollection('orders', (orders) =>
      orders.addAction('Refund', {
        scope: 'Bulk',
        form: [{ label: 'reason', type: 'String' }],
        ...(approval && { approval }),
        execute: async (context, result) => {
          ran.push(`${(await context.getRecordIds()).join()} ${context.formValues.reason}`);
          return result.success('Refunded.');
        },
      }),
    );
    more?.(agent);
  };
  const server = await startServer({
    database: database.url,
    app: { customize, ...(clock && { clock }) },
    env: {
      ...(storage !== undefined && { SERVICE_STORAGE_URL: storage, SERVICE_SECRET: secret }),
      ...(callSeconds !== undefined && { SERVICE_CALL_SECONDS: String(callSeconds) }),
      ...env,
    },
  });
  onTestFinished(() => server.stop());
  const { permissions: rights, identity, tokens } = server.store;
  const permit: Desk['permit'] = (collections) => rights.setRole('Clerk', collections);
  await permit(permissions);
  await server.addUser({ email: 'kim@example.test', role: 'Clerk' });
  const userId = (await identity.findUserByEmail('kim@example.test'))!.id;
  const tokenOf: Desk['tokenOf'] = async (id, name) =>
    (await tokens.create({ userId: id, name, scopes: ['mcp:read', 'mcp:write', 'mcp:action'] })).secret;
  return {
    ...server,
    database,
    userId,
    token: await tokenOf(userId, 'assistant'),
    tokenOf,
    permit,
    run: (...sql) => runSql(database, sql),
    async state() {
      const rowsOf = async (sql: string) => (await askSql(database, sql)).map((row) => Object.values(row).join(' '));
      return {
        orders: await rowsOf('SELECT id, label, total, customer_id FROM orders ORDER BY id'),
        customers: await rowsOf('SELECT id, name FROM customers ORDER BY id'),
        ran: [...ran],
      };
    },
  };
}

export const kinds = ['2026-07-28', 'legacy'] as const;
export type Kind = (typeof kinds)[number];

export interface Assistant {
  /** The single text of the answer. An error is returned as it is and starts with its code. */
  call(name: string, args: Record<string, unknown>): Promise<string>;
  /** The elicitation messages that the user received. */
  readonly questions: string[];
}

/** `answer` is the user's reply to an elicitation. Without it, the client does not support elicitation. */
export async function connect(
  { mcpUrl }: Pick<Desk, 'mcpUrl'>,
  token: string,
  kind: Kind,
  answer?: (question: string) => Promise<ElicitationAnswer> | ElicitationAnswer,
): Promise<Assistant> {
  const questions: string[] = [];
  const client = new Client(
    { name: 'assistant', version: '1.0.0' },
    {
      versionNegotiation: { mode: kind === 'legacy' ? 'legacy' : { pin: '2026-07-28' } },
      ...(answer && { capabilities: { elicitation: {} } }),
    },
  );
  if (answer) {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params.message);
      const action = await answer(params.message);
      return { action, ...(action === 'accept' && { content: {} }) };
    });
  }
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcpUrl), { requestInit }));
  onTestFinished(() => client.close());
  return {
    questions,
    async call(name, args) {
      const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] };
      if (content.length !== 1) throw new Error('not one text');
      return content[0]!.text;
    },
  };
}

/** Sends one round of a 2026-07-28 call by hand, as an attacker would. */
export async function round(
  { mcpUrl }: Pick<Desk, 'mcpUrl'>,
  token: string,
  call: { readonly name: string; readonly arguments: object },
  more: object = {},
): Promise<{ readonly text?: string; readonly requestState?: string }> {
  const meta = 'io.modelcontextprotocol/';
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      ...call,
      ...more,
      _meta: {
        [`${meta}protocolVersion`]: '2026-07-28',
        [`${meta}clientCapabilities`]: { elicitation: {} },
        [`${meta}clientInfo`]: { name: 'by hand', version: '1' },
      },
    },
  };
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': call.name,
    },
    body: JSON.stringify(body),
  });
  const { result } = (await response.json()) as {
    result: { content?: { text: string }[]; requestState?: string };
  };
  return {
    ...(result.content && { text: result.content[0]!.text }),
    ...(result.requestState && { requestState: result.requestState }),
  };
}

export const saying = (state: string, action: 'accept' | 'decline' = 'accept') => ({
  requestState: state,
  inputResponses: { approval: { action, content: {} } },
});
