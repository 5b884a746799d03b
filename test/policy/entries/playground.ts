// The playground of the console: a person calls the tools themselves. What would write is confirmed on a second page.
import { type Browser, createBrowser, type Page } from '../../oauth/flow.ts';
import type { World } from '../world.ts';
import { type Ending, type Entry, endOfCode } from './entry.ts';
import { type Args, callOf, endOfText, toolOperations } from './tools.ts';

export interface Person {
  readonly browser: Browser;
  at(page: string): Promise<Page>;
  /** A form of the console that says which button was pressed, whatever page shows it. */
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

/** A file cannot be sent from there. */
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
  // A tool with which the person can do nothing is not there, and nothing is called.
  if (page.status === 404) return { end: 'gone', text: '' };
  if (page.status === 429) return { end: 'limited', text: '' };
  const given = /<pre[^>]* aria-label="Text of the answer">(.*?)<\/pre>/s.exec(page.html)?.[1];
  if (given === undefined) return { end: `status ${page.status}`, text: page.html.slice(0, 200) };
  const text = given.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');
  return { end: endOfText(text, endOfCode), text };
}
