// Where the browser of the page tests is: CHROMIUM_PATH, or the usual place on Linux.
import { existsSync } from 'node:fs';

export const chromiumPath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

export const chromiumArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Said loudly when there is none; a failure with CI=true. */
export function findChromium(): string | undefined {
  if (existsSync(chromiumPath)) return chromiumPath;
  const message = `NO CHROMIUM at ${chromiumPath}: the tests of the pages in a browser do not run. Set CHROMIUM_PATH.`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
  return undefined;
}
