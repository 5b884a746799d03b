// The parts that exist only with MCP: its endpoint, the file URLs below it, and the authorization server. Most of the
// authorization server is loaded after the start.
import type { Engine } from '../agent/engine.ts';
import type { WriteWatch } from '../agent/write/watch.ts';
import { createConsolePaths, logoPage } from '../console/paths.ts';
import type { Clock } from '../core/clock.ts';
import { hasSso } from '../core/config/sso.ts';
import type { Config } from '../core/config.ts';
import type { StatementWatch } from '../core/observe/statements.ts';
import type { Observe } from '../core/observe.ts';
import type { Brand } from '../http/brand.ts';
import { type ApprovalExecution, createApprovalExecution } from '../mcp/approvals/execution.ts';
import { createMcpEndpoint, type McpEndpoint, type McpEndpointParts } from '../mcp/endpoint.ts';
import { createPlayground, type Playground } from '../mcp/playground.ts';
import { selectTools } from '../mcp/tools.ts';
import { createRateLimit } from '../mcp/transport/rate-limit.ts';
import type { Files } from '../mcp/uploads/files.ts';
import type { FileRouterParts } from '../mcp/uploads/router.ts';
import { documentFetch, type FetchDocument } from '../oauth/clients/documents.ts';
import type { LoginMethods } from '../oauth/login/login-methods.ts';
import type { SignIn } from '../oauth/login/sign-in.ts';
import { type AuthorizationServer, createAuthorizationServer } from '../oauth/server/authorization-server.ts';
import { createPaths } from '../oauth/server/paths.ts';
import { defaultScopes } from '../oauth/server/scopes.ts';
import { createTokenAuthenticator } from '../oauth/tokens/bearer.ts';
import type { OpenedStore } from '../store/open.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import { openApprovals } from './approval.ts';
import { openWorkflowAccess } from './workflows/access.ts';

interface McpOptions {
  readonly config: Config & { readonly publicUrl: string };
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly signIn: SignIn;
  readonly loginMethods: LoginMethods;
  readonly files: Files;
  readonly workflows: WorkflowService;
  readonly watch: WriteWatch;
  readonly endpoint: Pick<McpEndpointParts, 'extension' | 'legacySessions' | 'serving'> | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly statements: StatementWatch;
  readonly version: string;
  readonly brand: Brand | undefined;
  readonly fetchDocument: FetchDocument | undefined;
  /** The OAuth resource of the command line; absent if it may not sign in. */
  readonly cloudResource: string | undefined;
}

export interface McpModules {
  readonly endpoint: McpEndpoint;
  /** For the file URLs below the endpoint. */
  readonly fileParts: FileRouterParts;
  readonly authorization: AuthorizationServer;
  /** Lets people try the tools in the console. */
  readonly playground: Playground;
  /** Null if assistants execute approved calls themselves. */
  readonly execution: ApprovalExecution | null;
}

function logoOf(config: McpOptions['config'], { logo }: Brand) {
  const { url } = createConsolePaths(config.publicUrl, config.consolePath);
  return logo && { src: url(logoPage), type: logo.type };
}

export function openMcp({ endpoint, signIn, loginMethods, fetchDocument, ...parts }: McpOptions): McpModules {
  const { config, store, engine, files, clock, observe, version } = parts;
  const paths = createPaths(config.publicUrl, config.basePath);
  const tools = selectTools(config.enabledTools, () => undefined);
  const scopes = defaultScopes(tools.map((tool) => tool.scope));
  const sso = hasSso(config);
  const gate = createTokenAuthenticator({ store, paths, clock, defaultScopes: scopes, sso });
  const { idempotency } = store;
  const approvals = openApprovals(store, config, clock);
  const rateLimit = createRateLimit(config.requestsPerMinute, clock, observe);
  const workflowAccess = openWorkflowAccess(parts.workflows, config);
  const callParts = {
    config,
    engine,
    files,
    idempotency,
    approval: approvals,
    workflows: workflowAccess,
    watch: parts.watch,
    observe,
    clock,
    rateLimit,
  };
  return {
    fileParts: {
      ...{ config, files, authenticator: gate, observe, clock, activity: store.activity },
      renderingOf: async (userId) => (await store.permissions.accessOf(userId))?.caller.renderingId ?? 0,
    },
    execution:
      config.approvalExecution === 'server' ? createApprovalExecution({ ...callParts, store, paths, sso }) : null,
    playground: createPlayground({ ...callParts, store, statements: parts.statements }),
    endpoint: createMcpEndpoint({
      ...callParts,
      authenticator: gate,
      activity: store.activity,
      version,
      brand: parts.brand && { name: parts.brand.name, icon: logoOf(config, parts.brand) },
      // A SQLite storage has one process. With a shared storage, a session would be unknown to the other processes.
      legacySessions: store.sqliteKind === undefined ? 'off' : 'approvals',
      readRights: async () => (await store.versions()).permissions,
      ...endpoint,
    }),
    authorization: createAuthorizationServer({
      store,
      config,
      paths,
      clock,
      observe,
      signIn,
      loginMethods,
      ...(parts.brand?.name !== undefined && { resourceName: parts.brand.name }),
      defaultScopes: scopes,
      cloud: parts.cloudResource,
      async offeredScopes(access) {
        const active = await workflowAccess.service.listActive();
        const open = tools.filter((tool) => tool.isVisible(access, engine, active));
        return new Set(['mcp:read', ...open.map(({ scope }) => scope)]);
      },
      listCollections: (access) =>
        engine
          .index(access)
          .map(({ name }) => name)
          .sort(),
      ...(fetchDocument ? { [documentFetch]: fetchDocument } : {}),
    }),
  };
}
