// Writing a note in a real browser: by keyboard only, in light and dark mode. axe-core checks each page.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

describe.skipIf(!hasChromium)('writing a note', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer();
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
  });

  /** The label or text of the focused element. */
  const focused = (tab: Page): Promise<string> =>
    tab.evaluate(`(() => {
      const at = document.activeElement;
      return at.labels?.[0]?.textContent ?? at.textContent;
    })()`);

  async function tabTo(tab: Page, name: string): Promise<void> {
    for (let step = 0; step < 80; step++) {
      await tab.keyboard.press('Tab');
      const found = (await focused(tab)).trim();
      // A label may have more text after its name, but 'Collections' in the navigation must not match 'Collection'.
      if (found === name || found.startsWith(`${name} `) || found.startsWith(`${name}\n`)) return;
    }
    throw new Error(`the keyboard does not reach '${name}'`);
  }

  test.each([
    ['light', { width: 1280, height: 800 }],
    ['dark', { width: 375, height: 812 }],
  ] as const)(
    'in %s, %o',
    async (colorScheme, viewport) => {
      const context = await browser.newContext({ colorScheme, viewport, bypassCSP: true });
      const tab = await context.newPage();
      const found: string[] = [];
      const look = async (name: string, text: string) => {
        await tab.getByText(text).first().waitFor();
        found.push(...(await findFaults(tab, name)));
      };
      const type = async (label: string, text: string) => {
        await tabTo(tab, label);
        await tab.keyboard.press('Control+A');
        await tab.keyboard.type(text);
      };
      const press = async (name: string, key = 'Enter') => {
        await tabTo(tab, name);
        await tab.keyboard.press(key);
      };
      await tab.goto(server.at('/notes'));
      await tab.locator('input[name="email"]:focus').waitFor();
      await tab.keyboard.type(server.account.email);
      await type('Password', server.account.password);
      await tab.keyboard.press('Enter');
      await look('list', 'Notes of your team');
      await press('New note');
      await look('new', 'Visible to teammates');
      await tabTo(tab, 'Collection');
      await tab.keyboard.type('orders');
      await type('Record', '999999');
      await type('Title', `Damaged parcel, ${colorScheme}`);
      await type('Message', 'The box was wet.');
      await press('Create note');
      await look('no such record', 'The record does not exist');
      await type('Record', '21');
      await press('Create note');
      await look('thread', 'Note created.');
      await type('Write a message', 'I called <them>.');
      await press('Send');
      await look('two messages', 'Message sent.');
      await press('Edit', 'Space');
      await type('Message', 'The box was wet through.');
      await press('Save message');
      await look('edited', 'Message saved.');
      await press('Rename', 'Space');
      await type('Title', `Wet parcel, ${colorScheme}`);
      await press('Save title');
      await look('renamed', 'Title saved.');
      await press('Archive');
      await look('archived', 'Unarchive');
      await tab.goto(server.at('/notes?state=archived'));
      await look('archived ones', `Wet parcel, ${colorScheme}`);
      await tab.goto(server.at('/notes?text=nothing+of+the+kind'));
      await look('none', 'No results');
      await context.close();
      const [note] = (await server.store.notes.list({ limit: 1, title: colorScheme })).notes;
      expect([
        found,
        note?.title,
        note?.recordId,
        note?.archivedAt !== null,
        note?.messages.map(({ content }) => content),
      ]).toEqual([
        [],
        `Wet parcel, ${colorScheme}`,
        '21',
        true,
        ['<p>The box was wet through.</p>', '<p>I called &lt;them&gt;.</p>'],
      ]);
    },
    60_000,
  );
});
