// Signs in from a terminal. It always prints a URL and a code, and opens a browser if possible.
import { spawn } from 'node:child_process';
import type { Structure } from '../../agent/artifacts/structure.ts';
import { systemClock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { readEnvironment } from '../environment.ts';
import { createPaint } from '../terminal.ts';
import {
  awaitAnswer,
  type CloudServer,
  fetchStructure,
  refreshTokens,
  requestCode,
  revoke,
  type Tokens,
} from './server.ts';
import { deleteTokens, readTokens, writeTokens } from './tokens.ts';

interface SignInOptions {
  /** Whether it may open a browser. */
  readonly browser: boolean;
}

/** Tokens that expire within this time are renewed first. */
const marginMs = 30_000;

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Signs in and revokes the previous sign-in. */
export async function signIn(server: CloudServer, { browser }: SignInOptions): Promise<Tokens> {
  const before = readTokens(server.issuer);
  const deviceRequest = await requestCode(server);
  const paint = createPaint(process.stdout);
  printLine(`To sign in to ${server.issuer}, open this address in a browser:`);
  printLine(`\n  ${paint('cyan', deviceRequest.completeAddress)}\n`);
  printLine(`and compare the code: ${paint('bold', deviceRequest.userCode)}`);
  printLine(`On another device: ${deviceRequest.address}`);
  if (browser) openBrowser(deviceRequest.completeAddress);
  const tokens = await awaitAnswer(server, deviceRequest);
  writeTokens(server.issuer, tokens);
  if (before) await revoke(server, before.refreshToken);
  printLine('Signed in.');
  return tokens;
}

/** Renews the tokens if necessary. Returns undefined if there are none, or if the sign-in has ended. */
export async function findTokens(server: CloudServer, always = false): Promise<Tokens | undefined> {
  const stored = readTokens(server.issuer);
  if (!stored) return undefined;
  if (!always && stored.expiresAt - marginMs > systemClock.now()) return stored;
  const renewed = await refreshTokens(server, stored.refreshToken);
  if (renewed) {
    writeTokens(server.issuer, renewed);
    return renewed;
  }
  // Another command may have renewed the tokens at the same time.
  const now = readTokens(server.issuer);
  if (now && now.refreshToken !== stored.refreshToken) return now;
  deleteTokens(server.issuer);
  return undefined;
}

/** `again`: signs in if the sign-in has ended. Without it, that is an error. */
export async function readStructure(
  server: CloudServer,
  envSecret: string,
  signInOptions?: SignInOptions,
): Promise<Structure> {
  const attempts: readonly (() => Promise<Tokens | undefined>)[] = [
    () => findTokens(server),
    () => findTokens(server, true),
    async () => (signInOptions ? signIn(server, signInOptions) : undefined),
  ];
  for (const attempt of attempts) {
    const tokens = await attempt();
    const structure = tokens && (await fetchStructure(server, tokens.accessToken, envSecret));
    if (structure) return structure;
  }
  return fail('CONFIGURATION', {
    problem: `You are not signed in to ${server.issuer}, or the sign-in has expired. Run: portico cloud login`,
  });
}

/** Opens a browser only for a terminal with a display, or if BROWSER is set. It does not wait for the browser. */
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
  // CWE-78: no shell parses the URL.
  const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
