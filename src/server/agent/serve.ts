// The server of an agent in a host application, and its platform if that is another process.

import type { EngineParts } from '../../agent/customize/engine-parts.ts';
import type { Engine } from '../../agent/engine.ts';
import type { Running } from '../../agent/live-engine.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import { type App, createApp, type Started } from '../create-server.ts';
import { openPlatform, sendSchema } from '../remote-store.ts';
import { createAgentLog, warnAboutUnused } from './config.ts';
import type { Mounts } from './mounts.ts';
import type { CheckedOptions } from './options.ts';

interface ServeParts {
  readonly config: Config;
  readonly options: CheckedOptions;
  readonly version: string;
  readonly mounts: Mounts;
  readonly servesMcp: boolean;
  readonly openEngine: (parts: EngineParts) => Promise<Engine>;
}

interface Served extends Pick<Started, 'address' | 'store'> {
  readonly app: App;
  readonly started: Pick<Started, 'address' | 'mcpUrl' | 'apiUrl' | 'consoleUrl' | 'metricsUrl'>;
}

export async function serveAgent(parts: ServeParts): Promise<Served> {
  const { config, options, version, mounts, servesMcp, openEngine } = parts;
  if (config.prefix === '' && mounts.isInHost)
    fail('CONFIGURATION', {
      problem:
        "prefix: at the root, the HTTP API would handle every path of your application. Set a path such as '/service'.",
    });
  const { authSecret, envSecret, useUnsafeActionEndpoint, hostSignIn } = options;
  const log = createAgentLog(config, options);
  const app = createApp(config, {
    version,
    log,
    authSecret,
    envSecret,
    hostSignIn,
    openEngine: (given) => openEngine({ ...given, useUnsafeActionEndpoint }),
    listens: mounts.server !== undefined,
    servesMcp,
  });
  warnAboutUnused(config, log);
  const { address, mcpUrl, apiUrl, consoleUrl, metricsUrl, store } = await app.start();
  const hidden = mounts.findHiddenRoutes(app.claims);
  if (hidden.length > 0)
    log({
      type: 'warning',
      message: `Routes of the host application that the agent now handles: ${hidden.join(', ')}. ${servesMcp ? 'To keep them in the application, set a basePath, or another prefix if they are below the prefix' : 'To keep them in the application, set another prefix'}.`,
    });
  const started = { address, mcpUrl, apiUrl, consoleUrl, ...(metricsUrl !== undefined && { metricsUrl }) };
  return { app, started, address, store };
}

/** Sends the served schema to the platform, if it is another process. Without a store it connects only for this. */
export async function sendAgentSchema(
  schema: Running<EngineParts>['schema'],
  { config, envSecret, store }: { config: Config; envSecret: string; store: Store | undefined },
  { observe, clock }: Pick<EngineParts, 'observe' | 'clock'>,
): Promise<void> {
  if (store) return sendSchema(store, schema);
  if (config.serverUrl === null) return;
  const platform = await openPlatform({ config, envSecret, observe, clock });
  try {
    await sendSchema(platform, schema);
  } finally {
    await platform.close();
  }
}
