// Connects the parts of a server: each is opened with the others that it needs. create-server.ts starts and stops them.
import type { Engine } from '../agent/engine.ts';
import { cloudResourceOf, createApiPaths } from '../api/paths.ts';
import type { ReviewParts } from '../console/pages/approvals/review.ts';
import { createConsolePaths, forgotPage } from '../console/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { StatementWatch } from '../core/observe/statements.ts';
import type { Observe } from '../core/observe.ts';
import type { Brand } from '../http/brand.ts';
import { dropUploads } from '../mcp/approvals/uploads.ts';
import { selectTools } from '../mcp/tools.ts';
import { createFiles } from '../mcp/uploads/files.ts';
import { createWebhookSender } from '../mcp/webhook.ts';
import { createMailer, type Mailer } from '../notifications/mail.ts';
import { createWaitingHook } from '../notifications/waiting.ts';
import type { WaitingMail } from '../notifications/waiting-mail.ts';
import { createNotifyWebhook } from '../notifications/webhook.ts';
import { documentFetch } from '../oauth/clients/documents.ts';
import { createLoginMethods } from '../oauth/login/login-methods.ts';
import { createSignIn } from '../oauth/login/sign-in.ts';
import { createAddressCheck } from '../oauth/server/allow-list.ts';
import type { OpenedStore } from '../store/open.ts';
import { notifyOnEnd } from '../workflows/runs/completion.ts';
import { warnAboutReadOnlyScopes } from './agent/read-only-scopes.ts';
import { withBrandName } from './brand.ts';
import { openEnvironment } from './environment.ts';
import { openWaitingMail } from './inbox.ts';
import { createLazyRouter } from './lazy-router.ts';
import { type McpModules, openMcp } from './mcp.ts';
import type { AppOptions } from './options.ts';
import { openReloading } from './reload.ts';
import { readRpcParts } from './remote-store.ts';
import type { RoutedModules } from './route.ts';
import { openRemotes } from './workflows/remotes.ts';
import { openTriggers, type TriggerModules } from './workflows/triggers.ts';
import { openWorkflows, type WorkflowModules } from './workflows/workflows.ts';

export interface Modules extends RoutedModules {
  readonly mcp: McpModules | undefined;
  readonly engine: Engine;
  readonly workflows: WorkflowModules;
  readonly triggers: TriggerModules;
  readonly reloading: ReturnType<typeof openReloading>;
  readonly mailer: Mailer | null;
  readonly waitingMail: WaitingMail | undefined;
}

interface ModuleParts {
  readonly config: Config & { readonly publicUrl: string };
  readonly opened: OpenedStore;
  readonly engine: Engine;
  readonly options: AppOptions;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly statements: StatementWatch;
  readonly brand: Brand | undefined;
}

/** Connects the parts that answer requests. */
export async function createModules({
  config,
  opened,
  engine,
  options,
  clock,
  observe,
  statements,
  brand,
}: ModuleParts): Promise<Modules> {
  // Any part may end a run, so callbacks hook into the store.
  const waiting = createWaitingHook({ observe });
  const runs = waiting.watchRuns(notifyOnEnd(opened.runs, () => triggers.callbacks.nudge()));
  const identity = withBrandName(opened.identity, brand);
  const store = { ...opened, identity, runs, approvals: waiting.watchApprovals(opened.approvals) };
  const environment = openEnvironment(store, options.envSecret ?? config.envSecret ?? undefined);
  // With another platform, the secret itself authenticates the agent.
  if (config.serverUrl === null) await environment.claim();
  const mailer = await createMailer({ config, observe });
  const consolePaths = createConsolePaths(config.publicUrl, config.consolePath);
  const forgotUrl = mailer ? consolePaths.url(forgotPage) : undefined;
  const loginMethods = createLoginMethods({ store, config, clock, observe, hostSignIn: options.hostSignIn, forgotUrl });
  const signIn = createSignIn({ store, config, clock, allowsPasswords: loginMethods.passwords });
  const endpoint = endpointOf(config);
  const sendWebhook = createWebhookSender({ config, clock, observe });
  const files = createFiles({
    rows: store.files,
    config,
    clock,
    endpoint: () => endpoint,
    isActive: async (userId) => (await store.permissions.accessOf(userId)) !== undefined,
  });
  const tools = selectTools(null, observe);
  const notify = createNotifyWebhook({ config, sendWebhook, urlOf: consolePaths.url, clock, observe });
  if (notify) waiting.listen(notify);
  const remotes = openRemotes({ config, store, consolePaths, clock, observe, version: options.version });
  const workflows = openWorkflows({ remotes, config, store, engine, sendWebhook, clock, observe });
  const apiPaths = createApiPaths(config.publicUrl, config.apiPath);
  const { version } = options;
  const servesMcp = options.servesMcp !== false;
  const triggers = openTriggers({ config, store, paths: apiPaths, sendWebhook, clock, observe });
  // The command line signs in at the authorization server, which exists only with MCP.
  const cloudResource = config.cloud && servesMcp ? cloudResourceOf(apiPaths) : undefined;
  const mcp = servesMcp
    ? openMcp({
        config,
        store,
        engine,
        signIn,
        loginMethods,
        files,
        workflows: workflows.service,
        watch: workflows.watch,
        endpoint: options.mcp,
        clock,
        observe,
        statements,
        brand,
        version,
        fetchDocument: options[documentFetch],
        cloudResource,
      })
    : undefined;
  const reloading = config.serverUrl === null ? openReloading(store, engine, clock) : undefined;
  const rpc = readRpcParts({ config, envSecret: options.envSecret, store, version, clock, observe });
  const callAs: ReviewParts['callAs'] = (access, signal) => ({
    ...{ access, engine, config, signal, sendWebhook, files },
    hiddenTools: () => new Set(),
  });
  const waitingMail = openWaitingMail({
    ...{ mailer, store, workflows: workflows.service, tools, callAs, urlOf: consolePaths.url, clock, observe },
  });
  if (waitingMail) waiting.listen(waitingMail.listener);
  const router = createLazyRouter(async () => {
    const { createRouter } = await import('./mounts.ts');
    return createRouter({
      ...{ config, store, engine, workflows: workflows.service, watch: workflows.watch, triggers, mcp, rpc },
      ...{ apiPaths, consolePaths },
      ...{ authSecret: options.authSecret, clock, observe, version, cloudResource },
      environmentSecrets: environment.secrets,
      console: {
        ...{ store, engine, workflows: workflows.service, triggers: triggers.triggers, config, remotes, signIn },
        automatic: workflows.automatic,
        ...{ paths: consolePaths, loginMethods, mailer, clock, observe, tools },
        mcpUrl: servesMcp ? endpoint : null,
        apiUrl: apiPaths.address,
        dropUploads: (denied) => dropUploads({ tools, approvals: store.approvals, files }, denied),
        callAs,
        playground: mcp?.playground ?? null,
        execution: mcp?.execution ?? null,
        reloadTables: reloading?.reload ?? engine.catalogue?.reload ?? null,
      },
    });
  }, observe);
  const checkAddress = createAddressCheck({ store, config, observe });
  return { store, engine, workflows, triggers, checkAddress, mcp, router, reloading, mailer, waitingMail };
}

/** Loads the parts that no request has needed yet. */
export async function loadModules(
  { mcp, router, store, engine }: Modules,
  observe: Observe,
  isStopping: () => boolean,
): Promise<void> {
  const loads = [
    ['row scopes', () => warnAboutReadOnlyScopes(store, engine, observe)],
    ['authorization server', () => mcp?.authorization.load()],
    ['MCP SDK', () => mcp?.endpoint.load()],
    ['routers', () => router.load()],
  ] as const;
  // Sequential, to keep the delay of concurrent calls short.
  for (const [name, run] of loads) {
    try {
      if (!isStopping()) await run();
    } catch (cause) {
      observe({ type: 'warning', message: `Failed to load: ${name}`, cause });
    }
  }
}

export async function closeModules(modules: Modules | undefined): Promise<void> {
  modules?.reloading?.stop();
  await modules?.workflows.stop(0);
  await modules?.triggers.callbacks.stop();
  modules?.mcp?.authorization.close();
  await modules?.mcp?.endpoint.close();
  await modules?.mcp?.playground.whenIdle();
  await modules?.mcp?.execution?.whenIdle();
  await modules?.waitingMail?.stop();
  modules?.mailer?.close();
  await modules?.engine.close();
  await modules?.store.close();
}

export const endpointOf = ({
  publicUrl,
  basePath,
}: {
  readonly publicUrl: string;
  readonly basePath: string;
}): string => `${publicUrl}${basePath}/mcp`;
