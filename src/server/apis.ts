// The two HTTP APIs: the agent's API for front ends, and the public API for programs.
import type { Engine } from '../agent/engine.ts';
import { type CloudEndpoint, createCloudEndpoint } from '../api/cloud/endpoint.ts';
import { type ApiEndpoint, createApiEndpoint } from '../api/endpoint.ts';
import { createApiPaths } from '../api/paths.ts';
import { createWebhookEndpoint, type WebhookEndpoint } from '../api/workflows/webhook.ts';
import type { ConsolePaths } from '../console/paths.ts';
import { frontEndPage } from '../console/paths.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { randomToken } from '../core/secret.ts';
import { createSessionAuthenticator } from '../oauth/tokens/session-gate.ts';
import { createSessionTokens } from '../oauth/tokens/session-token.ts';
import { createRestEndpoint, type RestEndpoint } from '../rest/endpoint.ts';
import { createRestPaths } from '../rest/paths.ts';
import { createSignIn } from '../rest/sign-in.ts';
import type { OpenedStore } from '../store/open.ts';
import type { WorkflowService } from '../workflows/workflows.ts';
import type { TriggerModules } from './triggers.ts';

export interface ApisOptions {
  readonly config: Config & { readonly publicUrl: string };
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly workflows: WorkflowService;
  readonly triggers: Pick<TriggerModules, 'addresses' | 'triggers'>;
  readonly consolePaths: ConsolePaths;
  /** Signs session tokens. Default: a key of the installation. */
  readonly authSecret: string | undefined;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly version: string;
  /** The OAuth resource of the command line; absent if it may not sign in. */
  readonly cloudResource: string | undefined;
  readonly environmentSecrets: () => Promise<readonly string[]>;
}

export interface Apis {
  readonly rest: RestEndpoint;
  readonly api: ApiEndpoint;
  /** Uses paths below the public API, which does not know about it. */
  readonly webhook: WebhookEndpoint;
  /** Uses paths below the public API, which does not know about it. */
  readonly cloud: CloudEndpoint | undefined;
}

const sessionKeys = 'agent-sessions';

export function openApis(options: ApisOptions): Apis {
  const { config, store, engine, consolePaths, authSecret, clock, observe, version, cloudResource } = options;
  const paths = createRestPaths(config.publicUrl, config.prefix);
  const secrets = async (): Promise<readonly string[]> =>
    authSecret !== undefined
      ? [authSecret]
      : (await store.keys.of(sessionKeys, () => randomToken())).map(({ value }) => value);
  const tokens = createSessionTokens({
    secrets,
    address: paths.address,
    testingSecret: store.isSandbox ? authSecret : undefined,
    clock,
  });
  const pageOf = (state: string) => consolePaths.url(frontEndPage(state));
  return {
    rest: createRestEndpoint({
      config,
      paths,
      authenticator: createSessionAuthenticator({ store, tokens, clock }),
      engine,
      windows: store.windows,
      activity: store.activity,
      signIn: createSignIn({ store, tokens, origins: config.agentOrigins, pageOf, clock, observe }),
      observe,
      clock,
    }),
    api: createApiEndpoint({
      config,
      paths: createApiPaths(config.publicUrl, config.apiPath),
      store,
      engine,
      workflows: options.workflows,
      triggers: options.triggers.triggers,
      observe,
      clock,
      version,
    }),
    webhook: createWebhookEndpoint({
      config,
      paths: createApiPaths(config.publicUrl, config.apiPath),
      store,
      workflows: options.workflows,
      addresses: options.triggers.addresses,
      clock,
      observe,
    }),
    cloud:
      cloudResource === undefined
        ? undefined
        : createCloudEndpoint({
            config,
            paths: createApiPaths(config.publicUrl, config.apiPath),
            resource: cloudResource,
            store,
            engine,
            environmentSecrets: options.environmentSecrets,
            observe,
            clock,
          }),
  };
}
