// Opens pages in Chromium and stores their screenshots in a folder, under `<page>-<size>-<colour scheme>.png`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openChromium } from '../chromium.ts';

const sizes = { phone: { width: 375, height: 812 }, desktop: { width: 1280, height: 800 } };

export type Appearance = readonly [size: keyof typeof sizes, colorScheme: 'light' | 'dark'];
export type Shoot = (name: string) => Promise<unknown>;

export interface Camera {
  /** Runs `take` with a new page without a session. */
  open(appearance: Appearance, take: (page: Page, shoot: Shoot) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export async function openCamera(folder: string): Promise<Camera> {
  mkdirSync(folder, { recursive: true });
  const browser = await openChromium();
  return {
    async open([size, colorScheme], take) {
      const context = await browser.newContext({ viewport: sizes[size], colorScheme });
      const page = await context.newPage();
      await take(page, (name) =>
        page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`), fullPage: true }),
      );
      await context.close();
    },
    close: () => browser.close(),
  };
}
