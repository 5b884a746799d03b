// A desktop for clients that open a browser. Fake Linux browser commands come first on the PATH and pass the URL to
// this process. It opens the URL, signs in and follows the redirect to the client's listener.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, signIn } from '../oauth/flow.ts';

export interface Desktop {
  /** The client's environment: PATH with the fake browser first, and its own home. */
  readonly env: Record<string, string>;
  /** A folder that is removed with the desktop. */
  readonly home: string;
  /** URLs that the client opened. */
  readonly opened: readonly string[];
  close(): Promise<void>;
}

/** Retries, because some clients open the browser before they listen for the redirect. */
async function visit(url: URL): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const answered = await fetch(url).catch(() => undefined);
    if (answered) return;
    await sleep(100);
  }
  throw new Error(`nobody listens at ${url.origin}`);
}

const names = ['xdg-open', 'x-www-browser', 'sensible-browser', 'www-browser'];

export async function openDesktop(account: Account): Promise<Desktop> {
  const home = mkdtempSync(join(tmpdir(), 'portico-desktop-'));
  const opened: string[] = [];
  const server = createServer(async (req, res) => {
    const url = await text(req);
    opened.push(url);
    res.end();
    try {
      await visit(await signIn(url, account));
    } catch (error) {
      opened.push(`failed: ${error}`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const tell = `fetch("http://127.0.0.1:${port}/", { method: "POST", body: process.argv.at(-1) })`;
  for (const name of names) {
    writeFileSync(join(home, name), `#!/bin/sh\nexec '${process.execPath}' -e '${tell}' -- "$@"\n`);
    chmodSync(join(home, name), 0o755);
  }
  const path = [home, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter);
  return {
    env: { PATH: path, HOME: home, BROWSER: join(home, 'x-www-browser') },
    home,
    opened,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(home, { recursive: true, force: true });
    },
  };
}
