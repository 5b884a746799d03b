// What is there where MCP is served: its front, the addresses of files below it, and the authorization server (whose heavy
// part is loaded once calls are being answered).
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { StatementWatch } from '../core/observe/statements.ts';
import type { Observe } from '../core/observe.ts';
import { createFileFront, type FileFront } from '../mcp/files/file-front.ts';
import type { Files } from '../mcp/files/files.ts';
import { createMcpFront, type McpFront, type McpFrontParts } from '../mcp/front.ts';
import { createPlayground, type Playground } from '../mcp/playground.ts';
import { selectTools } from '../mcp/tools.ts';
import { createPace } from '../mcp/transport/pace.ts';
import { createGate } from '../oauth/bearer.ts';
import { documentFetch, type FetchDocument } from '../oauth/documents.ts';
import { createPaths } from '../oauth/paths.ts';
import { type AuthorizationServer, createAuthorizationServer } from '../oauth/routes.ts';
import { defaultScopes } from '../oauth/scopes.ts';
import type { SignIn } from '../oauth/sign-in.ts';
import type { SignInWays } from '../oauth/sign-in-ways.ts';
import type { OpenedStore } from '../store/open.ts';
import type { WorkflowRoom } from '../workflow/room.ts';
import { openApprovalDoor } from './approval.ts';
import { openWorkflowDoor } from './workflow-door.ts';

export interface McpOptions {
  readonly config: Config & { readonly publicUrl: string };
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly signIn: SignIn;
  readonly ways: SignInWays;
  readonly files: Files;
  readonly workflows: WorkflowRoom;
  readonly front: Pick<McpFrontParts, 'extension' | 'legacySessions' | 'serving'> | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly statements: StatementWatch;
  readonly version: string;
  readonly fetchDocument: FetchDocument | undefined;
  /** Of the command line; absent where it may not sign in. */
  readonly cloudResource: string | undefined;
}

export interface McpRooms {
  readonly front: McpFront;
  readonly fileFront: FileFront;
  readonly authorization: AuthorizationServer;
  /** Where people try the tools themselves, in the console. */
  readonly playground: Playground;
}

export function openMcp({ front, signIn, ways, fetchDocument, ...parts }: McpOptions): McpRooms {
  const { config, store, engine, files, clock, observe, version } = parts;
  const paths = createPaths(config.publicUrl, config.basePath);
  const scopes = defaultScopes(selectTools(config.enabledTools, () => undefined).map((tool) => tool.scope));
  const gate = createGate({ store, paths, clock, defaultScopes: scopes, sso: config.ssoIssuer !== null });
  const { idempotency } = store;
  const approval = openApprovalDoor(store, config, clock);
  const pace = createPace(config.requestsPerMinute, clock, observe);
  const workflows = openWorkflowDoor(parts.workflows, config);
  const calling = { config, engine, files, idempotency, approval, workflows, observe, clock, pace };
  return {
    fileFront: createFileFront({ config, files, gate, observe, clock }),
    playground: createPlayground({ ...calling, store, statements: parts.statements }),
    front: createMcpFront({
      ...calling,
      gate,
      activity: store.activity,
      version,
      // A storage of its own is one process's; where several share one, no session would be found again.
      legacySessions: store.sqliteKind === undefined ? 'off' : 'approvals',
      readRights: async () => (await store.versions()).permissions,
      ...front,
    }),
    authorization: createAuthorizationServer({
      store,
      config,
      paths,
      clock,
      observe,
      signIn,
      ways,
      defaultScopes: scopes,
      cloud: parts.cloudResource,
      listCollections: (access) =>
        engine
          .index(access)
          .map(({ name }) => name)
          .sort(),
      ...(fetchDocument ? { [documentFetch]: fetchDocument } : {}),
    }),
  };
}
