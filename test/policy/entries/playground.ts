// The playground of the console: a user calls tools directly. A second page confirms writes.
import { type Browser, createBrowser, type Page } from '../../oauth/flow.ts';
import type { World } from '../world.ts';
import { type Ending, type Entry, endOfCode } from './entry.ts';
import { type Args, callOf, endOfText, toolOperations } from './tools.ts';

export interface Person {
  readonly browser: Browser;
  at(page: string): Promise<Page>;
  /** Sends a form of the console with the pressed button, whichever page shows it. */
  send(page: string, fields: Readonly<Record<string, string>>): Promise<Page>;
}

export async function signIn({ consoleUrl }: World, account: { email: string; password: string }): Promise<Person> {
  const browser = createBrowser();
  const at = (page: string) => browser.open(consoleUrl + page);
  const first = await browser.press(await at('/account'), 'sign-in', { ...account });
  const csrf = /name="csrf" value="([^"]+)"/.exec(first.html)?.[1] ?? '';
  return {
    browser,
    at,
    send: (page, fields) =>
      browser.open(consoleUrl + page, {
        method: 'POST',
        body: new URLSearchParams({ csrf, ...fields }),
        headers: { 'sec-fetch-site': 'same-origin' },
      }),
  };
}

/** The playground cannot upload files. */
export const playgroundOperations = toolOperations.filter((name) => name !== 'attach');

export async function openPlayground(world: World): Promise<Entry> {
  const person = await signIn(world, world.clerk);
  const call = async (tool: string, args: Args): Promise<Ending> => {
    const fields = { action: 'run', mode: 'json', json: JSON.stringify(args) };
    const first = await person.send(`/playground/${tool}`, fields);
    const asks = first.html.includes('value="confirm"');
    return readPage(asks ? await person.browser.press(first, 'confirm') : first);
  };
  return {
    operations: playgroundOperations,
    act: (operation) => call(...callOf(operation, world)),
  };
}

function readPage(page: Page): Ending {
  if (/\/sign-in/.test(page.url)) return { end: 'signed out', text: '' };
  // The playground has no page for tools without a permitted use, so no call is made.
  if (page.status === 404) return { end: 'gone', text: '' };
  if (page.status === 429) return { end: 'limited', text: '' };
  const given = /<pre[^>]* aria-label="Text of the answer">(.*?)<\/pre>/s.exec(page.html)?.[1];
  if (given === undefined) return { end: `status ${page.status}`, text: page.html.slice(0, 200) };
  const text = given.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
  return { end: endOfText(text, endOfCode), text };
}
