// `portico start`: starts the server, with the demo shop if no database is configured. It creates the first user,
// prints the welcome text, and shuts down cleanly on SIGTERM and SIGINT.
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../core/clock.ts';
import { isUnprotected, unprotectedWarning } from '../../core/config/exposure.ts';
import { maskUrl } from '../../core/config/masking.ts';
import type { Config } from '../../core/config.ts';
import { createLogListener } from '../../core/observe.ts';
import { type AppOptions, createApp } from '../../server/create-server.ts';
import type { Identity } from '../../store/users/types.ts';
import { hint } from '../environment.ts';
import { prepareServed } from '../served.ts';
import { createPaint } from '../terminal.ts';
import { makePassword } from '../users/password.ts';
import { stopOnSignals } from './signals.ts';
import { composeWelcome } from './welcome.ts';

interface StartOptions {
  readonly version: string;
  /** The e-mail address of the first user. */
  readonly email?: string;
  /** Replaces the configured database and the customization of the working folder. */
  readonly instead?: {
    readonly openEngine: NonNullable<AppOptions['openEngine']>;
    /** A short description for the welcome text. */
    readonly serves: string;
  };
}

const FIRST_USER = 'you@example.com';

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
  if (store.sqliteKind === 'wasm') warn(wasmWarning);
  const user = await findFirstUser(store.identity, options.email ?? FIRST_USER);
  if (options.email && !user.password && options.email.toLowerCase() !== user.email) {
    const add = hint(config, `user add ${options.email}`);
    warn(`--email is for the first user, and there is already one. To add ${options.email}: ${add}`);
  }
  const welcome = {
    version: options.version,
    mcpUrl,
    consoleUrl,
    ...(metricsUrl !== undefined && { metricsUrl }),
    serves: instead
      ? instead.serves
      : config.database === null
        ? 'the demo shop, about 20,000 rows'
        : maskUrl(config.database),
    ...user,
    ...(config.ssoIssuer !== null && !config.ssoPasswords && { through: config.ssoName ?? config.ssoIssuer }),
    resetCommand: hint(config, `user password ${user.email}`),
    warnings,
  };
  process.stdout.write(composeWelcome(welcome, createPaint(process.stdout)));
}

const wasmWarning =
  'SQLite runs as WebAssembly, not with its native driver: everything works, but slower, and with one process at a time. ' +
  "With a compiler and Python (and unless SERVICE_SQLITE is wasm), 'npm ci' builds the native driver.";

interface FirstUser {
  readonly email: string;
  readonly password?: string;
}

/** Creates an administrator if there is no user yet. Only the return value contains the password. */
async function findFirstUser(identity: Identity, email: string): Promise<FirstUser> {
  const firstUser = await findExistingUser(identity);
  if (firstUser) return firstUser;
  const password = makePassword();
  try {
    const user = await identity.addUser({ email, password, level: 'admin' });
    return { email: user.email, password };
  } catch (error) {
    // Another process may have added the first user at the same time.
    const other = await findExistingUser(identity);
    if (other) return other;
    throw error;
  }
}

async function findExistingUser(identity: Identity): Promise<FirstUser | undefined> {
  const users = await identity.listUsers();
  const user = users.find(({ level, disabled }) => level === 'admin' && !disabled) ?? users[0];
  return user && { email: user.email };
}
