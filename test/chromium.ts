// The browser for tests of pages: CHROMIUM_PATH, or the usual path on Linux. Without
// one, this prints a warning, and with CI=true it fails, like the databases.
import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

export const hasChromium = existsSync(executablePath);
if (!hasChromium) {
  const message = `NO CHROMIUM at ${executablePath}: the tests of the pages in a browser do not run. Set CHROMIUM_PATH.`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
}

/** Starts a browser that sends no requests of its own. The caller closes it. */
export function openChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** A picture of the whole page for people, if CONSOLE_PICTURES names a folder. */
export async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env.CONSOLE_PICTURES;
  const file = name.replaceAll(/[^\w-]+/g, '_').slice(0, 120);
  if (folder) await page.screenshot({ path: `${folder}/${file}.png`, fullPage: true });
}
