// The MCP endpoint in a real HTTP server over a real engine, for the tests of this folder. The gate accepts the tokens
// `user-<n>` (all OAuth scopes), `writer-<n>` (no read) and `reader-<n>` (read only) of client n, and `user-<n>-<m>` of
// client m. Users see their own notes. Reads are logged to an array, writes to a real store.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { type Access, type Caller, fullAccess } from '../../src/core/caller.ts';
import type { StopSignal } from '../../src/core/clock/stop.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { type Config, type ConfigInput, loadConfig } from '../../src/core/config.ts';
import { fail } from '../../src/core/errors.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createMountRouter } from '../../src/http/router.ts';
import { createApprovalCheck } from '../../src/mcp/approvals/approval.ts';
import { createMcpEndpoint, type McpEndpointParts } from '../../src/mcp/endpoint.ts';
import { selectTools } from '../../src/mcp/tools.ts';
import { createFiles } from '../../src/mcp/uploads/files.ts';
import { createFileRouter } from '../../src/mcp/uploads/router.ts';
import type { TokenAuthenticator } from '../../src/oauth/tokens/bearer.ts';
import type { Authenticated } from '../../src/oauth/tokens/verify.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import { createWorkflowService, type WorkflowService } from '../../src/workflows/workflows.ts';

/** Called before each list query. */
export type BeforeList = (access: Access, signal: StopSignal | undefined) => Promise<void>;

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

const accessOf = (id: number): Access => ({
  ...fullAccess(caller(id)),
  scope: (collection) => (collection === 'notes' ? { field: 'owner', operator: 'Equal', value: id } : null),
});

/** 150 notes, of 50 users in turn. */
export const notes: MemoryTable = {
  name: 'notes',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'owner', type: 'Number' },
    { name: 'text', type: 'String' },
  ],
  primaryKey: ['id'],
  rows: Array.from({ length: 150 }, (_, i) => [i + 1, (i % 50) + 1, `note ${i + 1} of user ${(i % 50) + 1}`]),
};

/** An action and charts, which enable the tools for them; `relation` adds a to-many relation over a column. */
export const withExtras =
  (collection: string, relation?: string) =>
  (agent: HeadlessAgent): void => {
    agent.addChart('total', (_context, resultBuilder) => resultBuilder.value(1));
    agent.customizeCollection(collection, (customizer) => {
      customizer
        .addAction('Archive', { scope: 'Single', execute: (_context, resultBuilder) => resultBuilder.success() })
        .addChart('age', (_context, resultBuilder) => resultBuilder.value(2));
      if (relation) customizer.addOneToManyRelation('others', collection, { originKey: relation });
    });
  };

function openEngine(
  source: Source,
  customize: (agent: HeadlessAgent) => void = () => {},
  clock: Clock = systemClock,
): Promise<Engine> {
  const agent = createHeadlessAgent().addDataSource(() => source);
  customize(agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 30_000 };
  return agent.createEngine({ observe: () => undefined, clock, limits });
}

export interface McpTestServer {
  readonly url: string;
  readonly port: number;
  readonly config: Config;
  readonly activity: ActivityEntry[];
  readonly store: OpenedStore;
  readonly observations: Observation[];
  /** Results of the next calls of `holds`, one each; true when empty. */
  readonly holds: (boolean | Promise<boolean>)[];
  /** Tokens that are no longer valid. */
  readonly revoked: Set<string>;
  /** Authorization headers that the gate checked. */
  readonly asked: (string | undefined)[];
  /** Tokens that the gate checked again. */
  readonly renewed: string[];
  /** The workflow service with its test data. */
  readonly workflows: McpTestWorkflows;
  tellOfChange(): void;
  close(): Promise<void>;
}

export interface McpTestWorkflows {
  readonly room: WorkflowService;
  /** Set with `workflowOn`. */
  readonly workflowId: string;
  readonly runId: string;
}

export type McpTestServerOptions = Partial<Pick<McpEndpointParts, 'extension' | 'legacySessions' | 'serving'>> & {
  /** Default: the notes, in memory. */
  readonly source?: Source;
  readonly customize?: (agent: HeadlessAgent) => void;
  readonly beforeList?: BeforeList;
  /** The access of a user; by default everything, but only their own notes. */
  readonly access?: (userId: number) => Access;
  /** Wraps the engine to observe or change its calls. */
  readonly around?: (engine: Engine) => Engine;
  readonly settings?: ConfigInput['file'];
  /** Adds a workflow on this collection and a run of user 2 on its record 2. */
  readonly workflowOn?: string;
  /** For the engine, the storage and files. */
  readonly clock?: Clock;
};

export async function openMcpServer(options: McpTestServerOptions = {}): Promise<McpTestServer> {
  const config = loadConfig({ file: options.settings ?? {} });
  const testServer = {
    activity: [] as ActivityEntry[],
    observations: [] as Observation[],
    holds: [] as (boolean | Promise<boolean>)[],
    revoked: new Set<string>(),
    asked: [] as (string | undefined)[],
    renewed: [] as string[],
  };
  const { extension, legacySessions, serving, beforeList } = options;
  const opened = await openEngine(
    options.source ?? createMemorySource('memory', [notes]),
    options.customize,
    options.clock,
  );
  const real = options.around?.(opened) ?? opened;
  const engine: Engine = {
    ...real,
    async list(access, request, callOptions) {
      await beforeList?.(access, callOptions?.signal);
      return real.list(access, request, callOptions);
    },
  };
  const store = await openStore({
    config: loadConfig({ env: { SERVICE_STORAGE_URL: 'sqlite::memory:' } }),
    observe: () => undefined,
    clock: options.clock ?? systemClock,
  });
  const room = createWorkflowService({ store, engine, clock: options.clock ?? systemClock, fileLimitBytes: 1_000_000 });
  const made =
    options.workflowOn === undefined ? { workflowId: '', runId: '' } : await makeRun(store, options.workflowOn);
  const gate = tokenGate(testServer, options.access ?? accessOf);
  const files = createFiles({
    rows: store.files,
    config,
    clock: options.clock ?? systemClock,
    endpoint: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    isActive: async (id) => !testServer.revoked.has(`user-${id}`),
  });
  const observe = (observation: Observation) => void testServer.observations.push(observation);
  const fileRouter = createFileRouter({
    ...{ config, files, authenticator: gate, observe, clock: systemClock },
    activity: { record: (entry) => void testServer.activity.push(entry) },
    renderingOf: async () => 1,
  });
  const front = createMcpEndpoint({
    config,
    engine,
    authenticator: gate,
    files,
    idempotency: store.idempotency,
    approval: createApprovalCheck({
      tools: selectTools(null, () => undefined),
      approvals: store.approvals,
      keys: store.keys,
      config,
      clock: options.clock ?? systemClock,
      approvalAddress: (id) => `http://console.test/approvals/${id}`,
    }),
    workflows: { service: room, pageOf: (runId) => `http://console.test/runs/${runId}` },
    activity: { ...store.activity, record: (entry) => testServer.activity.push(entry) },
    observe,
    clock: systemClock,
    version: '0.0.0-test',
    ...(extension && { extension }),
    ...(legacySessions && { legacySessions }),
    ...(serving && { serving }),
  });
  const router = createMountRouter([{ prefixes: ['/mcp'], router: fileRouter }]);
  const server = createServer((req, res) => {
    if (/^\/mcp\/(?:uploads|downloads)\//.test(req.url ?? '')) router(req, res, () => undefined);
    else front.handle(req, res);
  });
  // A test that calculates for longer than the default of 5 s would send its next call as the connection ends.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...testServer,
    store,
    workflows: { room, ...made },
    config,
    port,
    url: `http://127.0.0.1:${port}/mcp`,
    tellOfChange: () => front.notifyChange(),
    async close() {
      await front.close();
      await engine.close();
      await store.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function makeRun({ workflows, runs }: OpenedStore, collection: string): Promise<Omit<McpTestWorkflows, 'room'>> {
  const steps = [{ id: 'look', title: 'Look at it', type: 'guidance', text: 'Look at {{record.id}}.' }];
  const definition = JSON.stringify({ name: 'Look', collection, steps });
  const wish = { renderingId: 1, name: 'Look', collection, definition, concurrency: null, by: 2 };
  const workflow = await workflows.publish(wish);
  const run = { workflow, recordId: '2', userId: 2, origin: 'mcp', originName: 'Test client' } as const;
  const created = await runs.create(run);
  if (created.state !== 'created') throw new Error(`the run is ${created.state}`);
  return { workflowId: workflow.id, runId: created.runId };
}

const scopes = {
  user: ['mcp:read', 'mcp:write', 'mcp:action'],
  writer: ['mcp:write'],
  reader: ['mcp:read'],
  actor: ['mcp:action'],
} as const;

function tokenGate(
  testServer: Pick<McpTestServer, 'holds' | 'revoked' | 'asked' | 'renewed'>,
  access: (userId: number) => Access,
): TokenAuthenticator {
  const find = (token: string): Authenticated => {
    const [, kind, id, client = id] = /^(user|writer|reader|actor)-(\d+)(?:-(\d+))?$/.exec(token) ?? [];
    if (!kind || testServer.revoked.has(token)) fail('UNAUTHENTICATED', { problem: 'There is no usable token.' });
    return {
      access: access(Number(id)),
      userId: Number(id),
      clientId: `client-${client}`,
      clientName: 'Test client',
      grantId: `grant-${id}`,
      scopes: new Set(scopes[kind as keyof typeof scopes]),
      tokenHash: token,
      versions: { permissions: 1, grants: 1, keys: 1 },
    };
  };
  return {
    check({ headers: { authorization } }) {
      testServer.asked.push(authorization);
      const auth = find(/^Bearer (\S+)$/.exec(authorization ?? '')?.[1] ?? '');
      // Synchronous for every other user, as from a cache; the rest as from the store.
      return auth.userId % 2 === 0 ? auth : Promise.resolve(auth);
    },
    isCurrent: () => testServer.holds.shift() ?? true,
    async renew({ tokenHash }) {
      testServer.renewed.push(tokenHash);
      return find(tokenHash);
    },
    challenge: ({ headers: { authorization } }) =>
      `Bearer ${authorization !== undefined ? 'error="invalid_token", ' : ''}scope="mcp:read", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"`,
    scopeChallenge: (_request, scopes) => `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"`,
  };
}

/** A POST as an MCP client of an earlier revision sends it. */
export async function post(
  testServer: Pick<McpTestServer, 'url'>,
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
  const response = await fetch(testServer.url, {
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

/** The body and headers of a valid 2026-07-28 request. */
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

/** The parsed JSON in the only text block of a tool result. */
export function answerOf(body: unknown): unknown {
  const content = (body as { result: { content: { type: string; text: string }[] } }).result.content;
  if (content.length !== 1 || content[0]!.type !== 'text')
    throw new Error(`not one text block: ${JSON.stringify(body)}`);
  return parse(content[0]!.text);
}
