// Every router with its paths, in the order in which they answer. This module loads Express, the HTTP APIs and the
// console; tool calls need none of them.
import type { Engine } from '../agent/engine.ts';
import type { WriteWatch } from '../agent/write/watch.ts';
import { createCloudRouter } from '../api/cloud/router.ts';
import type { ApiPaths } from '../api/paths.ts';
import { createApiRouter } from '../api/router.ts';
import { createWebhookRouter } from '../api/workflows/webhook.ts';
import { type ConsolePaths, frontEndPage } from '../console/paths.ts';
import { type ConsoleOptions, createConsoleRouter } from '../console/router.ts';
import type { Clock } from '../core/clock.ts';
import { hasSso } from '../core/config/sso.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { randomToken } from '../core/secret.ts';
import { prefixesOf } from '../http/prefixes.ts';
import { createMountRouter, type Mount } from '../http/router.ts';
import { createFileRouter } from '../mcp/uploads/router.ts';
import { createOauthMounts } from '../oauth/server/router.ts';
import { createSessionAuthenticator } from '../oauth/tokens/session-gate.ts';
import { createSessionTokens } from '../oauth/tokens/session-token.ts';
import { createRpcRouter, type RpcRouterParts } from '../remote-store/rpc-router.ts';
import { createRestPaths, type RestPaths } from '../rest/paths.ts';
import { createRestRouter } from '../rest/router.ts';
import { createSignIn } from '../rest/sign-in.ts';
import type { OpenedStore } from '../store/open.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import type { McpModules } from './mcp.ts';
import type { TriggerModules } from './workflows/triggers.ts';

interface MountOptions {
  readonly config: Config & { readonly publicUrl: string };
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly workflows: WorkflowService;
  readonly watch: WriteWatch;
  readonly triggers: TriggerModules;
  readonly apiPaths: ApiPaths;
  readonly consolePaths: ConsolePaths;
  readonly console: Omit<ConsoleOptions, 'agentUrl'>;
  readonly mcp: McpModules | undefined;
  /** Undefined if this server accepts no agents of other processes. */
  readonly rpc: RpcRouterParts | undefined;
  /** Signs session tokens. Default: a key of the installation. */
  readonly authSecret: string | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly version: string;
  /** The OAuth resource of the command line; absent if it may not sign in. */
  readonly cloudResource: string | undefined;
  readonly environmentSecrets: () => Promise<readonly string[]>;
}

export const createRouter = (options: MountOptions) => createMountRouter(createMounts(options));

function createMounts(options: MountOptions): readonly Mount[] {
  const { config, apiPaths, consolePaths, mcp, rpc } = options;
  const { publicUrl, basePath, platformPath } = config;
  const at = (path: string) => prefixesOf(publicUrl, path).prefixes;
  const restPaths = createRestPaths(publicUrl, config.prefix);
  return [
    ...(mcp ? [{ prefixes: at(`${basePath}/mcp`), router: createFileRouter(mcp.fileParts) }] : []),
    ...(rpc ? [{ prefixes: at(platformPath), router: createRpcRouter(rpc) }] : []),
    ...createApiMounts(options, apiPaths.prefixes),
    {
      prefixes: consolePaths.prefixes,
      router: createConsoleRouter({ ...options.console, agentUrl: restPaths.address }),
    },
    ...(mcp ? createOauthMounts(mcp.authorization) : []),
    createRestMount(options, restPaths),
  ];
}

/** The webhook and the endpoint of the command line are below the public API, with their own checks. */
function createApiMounts(options: MountOptions, prefixes: readonly string[]): readonly Mount[] {
  const { store, engine, workflows, triggers, config, clock, observe, version, cloudResource } = options;
  const parts = { config, paths: options.apiPaths, store, engine, workflows, clock, observe };
  const below = (path: string) => prefixes.map((prefix) => prefix + path);
  const { environmentSecrets } = options;
  const cloud =
    cloudResource !== undefined && createCloudRouter({ ...parts, resource: cloudResource, environmentSecrets });
  return [
    {
      prefixes: below('/webhooks/workflows'),
      router: createWebhookRouter({ ...parts, addresses: triggers.addresses }),
    },
    ...(cloud ? [{ prefixes: below('/cloud'), router: cloud }] : []),
    { prefixes, router: createApiRouter({ ...parts, triggers: triggers.triggers, version }) },
  ];
}

const sessionKeys = 'agent-sessions';

function createRestMount(options: MountOptions, paths: RestPaths): Mount {
  const { config, store, engine, watch, consolePaths, authSecret, clock, observe } = options;
  const secrets = async (): Promise<readonly string[]> =>
    authSecret !== undefined
      ? [authSecret]
      : (await store.keys.of(sessionKeys, () => randomToken())).map(({ value }) => value);
  const testingSecret = store.isSandbox ? authSecret : undefined;
  const tokens = createSessionTokens({ secrets, address: paths.address, testingSecret, clock });
  const pageOf = (state: string) => consolePaths.url(frontEndPage(state));
  const router = createRestRouter({
    ...{ config, paths, engine, watch, observe, clock },
    authenticator: createSessionAuthenticator({ store, tokens, clock, sso: hasSso(config) }),
    windows: store.windows,
    activity: store.activity,
    signIn: createSignIn({ store, tokens, origins: config.agentOrigins, pageOf, clock, observe }),
  });
  return { prefixes: paths.prefixes, router };
}
