// The combinations of color scheme and size that browser.test.ts leaves out.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasChromium, openChromium } from '../chromium.ts';
import { desk, judgeSite, phone, type Served, serveSite } from './judged.ts';

describe.skipIf(!hasChromium)('the site', () => {
  let site: Served;
  let browser: Browser;
  beforeAll(async () => {
    site = await serveSite();
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  judgeSite(
    [
      ['dark', desk],
      ['light', phone],
    ],
    () => ({ browser, origin: site.origin }),
  );
});
