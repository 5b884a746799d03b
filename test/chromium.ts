// The browser of the page tests: CHROMIUM_PATH, or the usual place on Linux. A machine without one says so loudly, and fails
// with CI=true, as for the databases.
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

export const hasChromium = existsSync(executablePath);
if (!hasChromium) {
  const message = `NO CHROMIUM at ${executablePath}: the tests of the pages in a browser do not run. Set CHROMIUM_PATH.`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
}

/** Nothing of it asks the machine's network by itself. Whoever opens it closes it. */
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
