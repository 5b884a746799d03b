// `portico start`: the demo shop where no database is named, the first user where there is none, the welcome, and an
// orderly end on SIGTERM and SIGINT.
import { existsSync, mkdirSync } from 'node:fs';
import { type App, createApp } from '../app.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, isAppError } from '../core/errors.ts';
import { createLogListener } from '../core/observe.ts';
import { loadSqliteDriver } from '../core/sqlite.ts';
import type { Identity } from '../store/store.ts';
import { loadCustomization } from './customization.ts';
import { demoPath, writeDemo } from './demo.ts';
import { customizeDemo } from './demo-customization.ts';
import { hint } from './environment.ts';
import { isUnprotected, unprotectedWarning } from './exposure.ts';
import { maskUrl } from './masking.ts';
import { makePassword } from './password.ts';
import { createPaint } from './terminal.ts';
import { composeWelcome } from './welcome.ts';

export interface StartOptions {
  readonly version: string;
  /** Of the first user, where one is made. */
  readonly email?: string;
}

const FIRST_USER = 'you@example.com';

/** Returns when the server listens and the welcome is printed; the process then lives until a signal ends it. */
export async function start(config: Config, options: StartOptions): Promise<void> {
  const clock = systemClock;
  const log = createLogListener(config.logLevel);
  const warnings: string[] = [];
  const warn = (message: string) => {
    warnings.push(message);
    // A person at a terminal reads it in the welcome; whoever collects the log needs it there.
    if (!process.stderr.isTTY) log({ type: 'warning', message });
  };
  if (isUnprotected(config)) warn(unprotectedWarning(config));

  prepareFolder(config.dataDir);
  const database = config.database ?? `sqlite:${prepareDemo(config, clock)}`;
  const customize = (await loadCustomization(process.cwd())) ?? (config.database === null ? customizeDemo : undefined);
  const app = createApp(
    { ...config, database },
    {
      version: options.version,
      ...(customize && { customize }),
      // The application logs what it observes; the warnings of the start are told to the person as well.
      observe: (observation) => {
        if (observation.type === 'warning') warnings.push(observation.message);
      },
    },
  );
  const { mcpUrl, store } = await app.start();
  stopOnSignals(app, clock);
  if (store.sqliteKind === 'wasm') warn(wasmWarning);
  const user = await findFirstUser(store.identity, options.email ?? FIRST_USER);
  if (options.email && !user.password && options.email.toLowerCase() !== user.email) {
    const add = hint(config, `user add ${options.email}`);
    warn(`--email names the first user, and there is one already. To add ${options.email}: ${add}`);
  }
  const welcome = {
    version: options.version,
    mcpUrl,
    serves: config.database === null ? 'the demo shop, about 20,000 rows' : maskUrl(config.database),
    ...user,
    resetCommand: hint(config, `user password ${user.email}`),
    warnings,
  };
  process.stdout.write(composeWelcome(welcome, createPaint(process.stdout)));
}

const wasmWarning =
  'SQLite runs as WebAssembly, not by its native driver: all works, but slower, and one process at a time. ' +
  "Where there is a compiler and Python (and SERVICE_SQLITE is not wasm), 'npm ci' builds the native one.";

function prepareFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const problem = `SERVICE_DATA_DIR: '${dataDir}' cannot be made. Choose another folder, or change who may write there.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

function prepareDemo(config: Config, clock: Clock): string {
  const path = demoPath(config.dataDir);
  if (existsSync(path)) return path;
  try {
    writeDemo(path, { driver: loadSqliteDriver(config.sqlite).driver, clock });
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const problem = `The demo shop cannot be written to '${path}'. Make room there, choose another SERVICE_DATA_DIR, or name a --database.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  return path;
}

interface FirstUser {
  readonly email: string;
  readonly password?: string;
}

/** Made when there is no user yet, with a password that only its answer holds. */
async function findFirstUser(identity: Identity, email: string): Promise<FirstUser> {
  const known = await findKnown(identity);
  if (known) return known;
  const password = makePassword();
  try {
    const user = await identity.addUser({ email, password, level: 'admin' });
    return { email: user.email, password };
  } catch (error) {
    // Another process may have been first.
    const other = await findKnown(identity);
    if (other) return other;
    throw error;
  }
}

async function findKnown(identity: Identity): Promise<FirstUser | undefined> {
  const users = await identity.listUsers();
  const user = users.find(({ level, disabled }) => level === 'admin' && !disabled) ?? users[0];
  return user && { email: user.email };
}

const SAME_SIGNAL_MS = 500;

/** The first signal lets calls under way finish, for as long as the settings say; the second ends the process at once. */
function stopOnSignals(app: App, clock: Clock): void {
  let firstAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    // Ctrl-C reaches everybody at the terminal, and npm passes it on once more: that is one signal, not two.
    if (firstAt !== undefined) {
      if (clock.monotonic() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    firstAt = clock.monotonic();
    app.stop(signal).then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`portico: stopped, but not in order: ${(error as Error).message}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
