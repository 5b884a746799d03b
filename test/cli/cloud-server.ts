// A server with the demo shop in its own process, for the tests of `portico cloud`, and the sign-in of a user.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, createBrowser } from '../oauth/flow.ts';
import { adminPassword, beginPortico, buildOnce, makePlace, type Outcome, portico, startServer } from './command.ts';

export interface CloudPlace {
  readonly origin: string;
  readonly account: Account;
  readonly secret: string;
  /** In the format of `--database`. */
  readonly database: string;
  /** The working folder of the server. */
  readonly folder: string;
  /** Another working folder with its own environment variables, like another machine. */
  work(): { readonly folder: string; readonly env: Readonly<Record<string, string>> };
  stop(): Promise<void>;
}

export async function openCloud(env: Readonly<Record<string, string>> = {}): Promise<CloudPlace> {
  await buildOnce();
  const place = makePlace();
  const server = await startServer([], { folder: place.folder, env });
  const [, email = ''] = /E-mail\s+(\S+)/.exec(server.stdout) ?? [];
  const told = await portico(['cloud', 'secret'], { folder: place.folder, env });
  let machines = 0;
  return {
    origin: server.origin,
    account: { email, password: adminPassword },
    secret: told.stdout.trim(),
    database: `sqlite:${join(place.folder, '.portico', 'demo.sqlite')}`,
    folder: place.folder,
    work() {
      machines += 1;
      const folder = join(place.folder, `machine-${machines}`);
      mkdirSync(folder);
      return { folder, env: { TOKEN_PATH: join(folder, 'tokens') } };
    },
    async stop() {
      server.signal('SIGTERM');
      await server.ended;
      place.remove();
    },
  };
}

export interface Signing {
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly account: Account;
  /** The button that the user presses at the end. */
  readonly button?: string;
}

/** Runs a command that asks for a sign-in, and signs in. */
export async function runSigningIn({ args, folder, env, account, button = 'allow' }: Signing): Promise<Outcome> {
  const running = beginPortico(args, { folder, env });
  const address = await running.printed(/(http:\/\/\S+user_code=\S+)/);
  const browser = createBrowser();
  const page = await browser.press(await browser.open(address), 'continue');
  await browser.press(await browser.press(page, 'sign-in', { ...account }), button);
  return running.ended;
}
