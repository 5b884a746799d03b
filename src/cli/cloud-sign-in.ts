// Signing in from a terminal: an address and a code are always printed, and the browser is opened where there is one.
import { spawn } from 'node:child_process';
import type { Structure } from '../agent/structure.ts';
import { systemClock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import {
  awaitAnswer,
  type CloudServer,
  fetchStructure,
  refreshTokens,
  requestCode,
  revoke,
  type Tokens,
} from './cloud-server.ts';
import { forgetTokens, keepTokens, readTokens } from './cloud-tokens.ts';
import { readEnvironment } from './environment.ts';
import { createPaint } from './terminal.ts';

export interface SignInOptions {
  /** Whether a browser may be opened. */
  readonly browser: boolean;
}

/** A token that ends sooner is renewed first. */
const marginMs = 30_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** A new sign-in; the one of before ends. */
export async function signIn(server: CloudServer, { browser }: SignInOptions): Promise<Tokens> {
  const before = readTokens(server.issuer);
  const asked = await requestCode(server);
  const paint = createPaint(process.stdout);
  say(`To sign in to ${server.issuer}, open this address in a browser:`);
  say(`\n  ${paint('cyan', asked.completeAddress)}\n`);
  say(`and compare the code: ${paint('bold', asked.userCode)}`);
  say(`On another device: ${asked.address}`);
  if (browser) openBrowser(asked.completeAddress);
  const tokens = await awaitAnswer(server, asked);
  keepTokens(server.issuer, tokens);
  if (before) await revoke(server, before.refreshToken);
  say('Signed in.');
  return tokens;
}

/** Renewed where it must be; undefined when there is no sign-in, or it is over. */
export async function findTokens(server: CloudServer, always = false): Promise<Tokens | undefined> {
  const kept = readTokens(server.issuer);
  if (!kept) return undefined;
  if (!always && kept.expiresAt - marginMs > systemClock.now()) return kept;
  const renewed = await refreshTokens(server, kept.refreshToken);
  if (renewed) {
    keepTokens(server.issuer, renewed);
    return renewed;
  }
  // Another command may have renewed it meanwhile.
  const now = readTokens(server.issuer);
  if (now && now.refreshToken !== kept.refreshToken) return now;
  forgetTokens(server.issuer);
  return undefined;
}

/** `again`: signs in anew where the sign-in is over; without it that is an error, which says so. */
export async function askStructure(server: CloudServer, envSecret: string, again?: SignInOptions): Promise<Structure> {
  const attempts: readonly (() => Promise<Tokens | undefined>)[] = [
    () => findTokens(server),
    () => findTokens(server, true),
    async () => (again ? signIn(server, again) : undefined),
  ];
  for (const attempt of attempts) {
    const tokens = await attempt();
    const structure = tokens && (await fetchStructure(server, tokens.accessToken, envSecret));
    if (structure) return structure;
  }
  return fail('CONFIGURATION', {
    problem: `You are not signed in to ${server.issuer}, or the sign-in is over. Run: portico cloud login`,
  });
}

/** Not where nobody looks: without a terminal, unless BROWSER says how. What comes of it is not waited for. */
function openBrowser(address: string): void {
  const env = readEnvironment();
  const onScreen = process.platform !== 'linux' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
  if (!env.BROWSER && !(process.stdout.isTTY && onScreen)) return;
  const [command, ...args] = env.BROWSER
    ? [env.BROWSER]
    : process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open'];
  // CWE-78: no shell reads the address.
  const child = spawn(command!, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
