// The check of the look of pages (test/axe.ts) finds what it is there for.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';

describe.skipIf(!hasChromium)('a page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(() => browser.close());

  const frame = (content: string) =>
    `<!doctype html><html lang="en"><head><title>A page</title><meta name="viewport" content="width=device-width"></head><body><main><h1>A page</h1><nav aria-label="Links"><ul><li><a href="#a">First</a></li></ul></nav><label for="f">Name</label><input id="f" autocomplete="name"><img alt="" src="data:,"><p>Text</p>${content}</main></body></html>`;
  const faultsOf = async (content: string, width: number): Promise<string[]> => {
    const page = await browser.newPage({ viewport: { width, height: 844 } });
    await page.setContent(frame(content));
    const found = await findFaults(page, 'page');
    await page.close();
    return found;
  };

  test.each<[name: string, content: string, fault: RegExp | undefined, width?: number]>([
    ['without a fault', '<button>Save</button>', undefined],
    ['wider than the window', '<div style="width:900px">wide</div>', /wider than the window/],
    [
      'with a button on another one',
      '<div style="position:relative;height:60px"><button style="position:absolute;inset:0 auto auto 0">Save</button><button style="position:absolute;inset:5px auto auto 10px">Drop</button></div>',
      /overlap: button "Save" and button "Drop"/,
    ],
    [
      'with a button that only scrolling shows',
      '<div class="scroll" style="overflow-x:auto;width:300px"><div style="width:500px"><button style="margin-left:400px">Drop</button></div></div>',
      /out of sight: button "Drop"/,
      1366,
    ],
    ['with a cut button', '<button style="position:relative;left:-30px">Save</button>', /cut: button "Save"/],
    [
      'with an oval',
      '<span aria-hidden="true" style="display:block;width:30px;height:12px;border-radius:50%"></span>',
      /oval/,
    ],
    [
      'with a second breadcrumb',
      '<nav class="crumbs" aria-label="Breadcrumb"><a href="#data">Data</a></nav><p><a href="#data">Data</a></p><h1 id="x">B</h1>',
      /the breadcrumb again: Data/,
    ],
    ['with too little contrast', '<p style="color:#bbb;background:#fff">pale</p>', /color-contrast/],
  ])('%s', async (_name, content, fault, width = 390) => {
    const found = (await faultsOf(content, width)).filter((each) => !/region/.test(each));
    expect(found).toEqual(fault ? expect.arrayContaining([expect.stringMatching(fault)]) : []);
  });
});
