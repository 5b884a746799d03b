// `portico start`: starts the server, with the demo shop if no database is configured. It creates the first user,
// prints the welcome text, and shuts down cleanly on SIGTERM and SIGINT.
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../core/clock.ts';
import { maskDatabases } from '../../core/config/databases.ts';
import { isUnprotected, unprotectedWarning } from '../../core/config/exposure.ts';
import { hasSso, ssoProvidersOf } from '../../core/config/sso.ts';
import type { Config } from '../../core/config.ts';
import { createLogListener } from '../../core/observe.ts';
import { listProviders } from '../../oauth/login/login-methods.ts';
import { createApp } from '../../server/create-server.ts';
import type { AppOptions } from '../../server/options.ts';
import { hint } from '../environment.ts';
import { prepareServed } from '../served.ts';
import { createPaint } from '../terminal.ts';
import { findFirstUser } from './first-user.ts';
import { stopOnSignals } from './signals.ts';
import { logUnhandledRejections } from './unawaited.ts';
import { composeWelcome } from './welcome.ts';

interface StartOptions {
  readonly version: string;
  /** Replaces the configured database and the customization of the working folder. */
  readonly instead?: {
    readonly openEngine: NonNullable<AppOptions['openEngine']>;
    /** A short description for the welcome text. */
    readonly serves: string;
  };
}

/**
 * How much the heap may grow until V8 collects all of it, in percent of what is in use. By default V8 waits for up to
 * three times as much on a machine with much memory, which large answers turn into hundreds of megabytes.
 */
const HEAP_GROWING_PERCENT = 60;

/** Returns when the server listens and the welcome text is printed. The process then runs until a signal. */
export async function start(config: Config, options: StartOptions): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  const clock = systemClock;
  const log = createLogListener(config.logLevel);
  logUnhandledRejections(log);
  const warnings: string[] = [];
  const warn = (message: string) => {
    warnings.push(message);
    // In a terminal, the welcome text shows the warning. Otherwise it goes to the log.
    if (!process.stderr.isTTY) log({ type: 'warning', message });
  };
  if (isUnprotected(config)) warn(unprotectedWarning(config));

  const { instead } = options;
  const served = instead ? undefined : await prepareServed(config, clock);
  const app = createApp(
    { ...config, ...(served && { database: served.database }) },
    {
      version: options.version,
      ...(served?.customize && { customize: served.customize }),
      ...(instead && { openEngine: instead.openEngine }),
      // The application logs its own observations. Warnings during startup also appear in the welcome text.
      observe: (observation) => {
        if (observation.type === 'warning') warnings.push(observation.message);
      },
    },
  );
  const { mcpUrl, consoleUrl, metricsUrl, store } = await app.start();
  stopOnSignals(app, clock);
  const { email, isNew, password } = await findFirstUser(store.identity, config, process.stdout.isTTY);
  const { adminEmail } = config;
  if (adminEmail !== null && config.origins.adminEmail === 'flag' && !isNew && adminEmail.toLowerCase() !== email) {
    const add = hint(config, `user add ${adminEmail}`);
    warn(`--email is for the first user, and there is already one. To add ${adminEmail}: ${add}`);
  }
  const isAddressFlagged = config.origins.publicUrl === 'flag' || config.origins.port === 'flag';
  const atAddress = isAddressFlagged ? ` --public-url ${new URL('.', mcpUrl).href.replace(/\/$/, '')}` : '';
  const welcome = {
    version: options.version,
    mcpUrl,
    consoleUrl,
    ...(metricsUrl !== undefined && { metricsUrl }),
    serves: instead
      ? instead.serves
      : config.database === null
        ? 'the demo shop, about 20,000 rows'
        : maskDatabases(config.database),
    email,
    password,
    ...(hasSso(config) && !config.ssoPasswords && { through: listProviders(ssoProvidersOf(config)) }),
    resetCommand: hint(config, `user password ${email}`),
    linkCommand: hint(config, `user invite ${email}${atAddress}`),
    warnings,
  };
  process.stdout.write(composeWelcome(welcome, createPaint(process.stdout)));
}
