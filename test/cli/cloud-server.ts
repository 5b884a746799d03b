// A server in a process of its own, with the demo shop, for the tests of `portico cloud`; and the person who signs in.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Account, createBrowser } from '../oauth/flow.ts';
import { beginPortico, buildOnce, makePlace, type Outcome, portico, startServer } from './command.ts';

export interface CloudPlace {
  readonly origin: string;
  readonly account: Account;
  readonly secret: string;
  /** As `--database` takes it. */
  readonly database: string;
  /** Where the server runs. */
  readonly folder: string;
  /** A working folder of somebody else, and the variables of a machine of its own. */
  work(): { readonly folder: string; readonly env: Readonly<Record<string, string>> };
  stop(): Promise<void>;
}

export async function openCloud(env: Readonly<Record<string, string>> = {}): Promise<CloudPlace> {
  await buildOnce();
  const place = makePlace();
  const server = await startServer([], { folder: place.folder, env });
  const [, email = ''] = /E-mail\s+(\S+)/.exec(server.stdout) ?? [];
  const [, password = ''] = /Password\s+(\S+)/.exec(server.stdout) ?? [];
  const told = await portico(['cloud', 'secret'], { folder: place.folder, env });
  let machines = 0;
  return {
    origin: server.origin,
    account: { email, password },
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
  /** What the person presses in the end. */
  readonly button?: string;
}

/** Runs a command that asks for a sign-in, and answers it. */
export async function runSigningIn({ args, folder, env, account, button = 'allow' }: Signing): Promise<Outcome> {
  const running = beginPortico(args, { folder, env });
  const address = await running.printed(/(http:\/\/\S+user_code=\S+)/);
  const browser = createBrowser();
  const page = await browser.press(await browser.open(address), 'continue');
  await browser.press(await browser.press(page, 'sign-in', { ...account }), button);
  return running.ended;
}
