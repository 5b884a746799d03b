// A front end of the agent's HTTP API and its user, in a minimal browser.
import { type Account, type Browser, createBrowser, type Page } from '../oauth/flow.ts';

export const frontOrigin = 'https://admin.example.com';

export interface AskedFor {
  readonly body?: object;
  readonly origin?: string;
}

/** The front end's first request. */
export async function beginSignIn(api: string, { body = {}, origin = frontOrigin }: AskedFor = {}) {
  const response = await fetch(`${api}/authentication`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { readonly authorizationUrl: string };
  return { response, url: answer.authorizationUrl, answer };
}

/** Signs in, up to the consent page. */
export async function openAnswer(url: string, account: Account, browser: Browser = createBrowser()): Promise<Page> {
  const page = await browser.open(url);
  return page.html.includes('name="password"') ? browser.press(page, 'sign-in', { ...account }) : page;
}

/** Answers the consent page; returns the URL of the redirect. */
export async function answerSignIn(url: string, account: Account, button = 'allow'): Promise<URL> {
  const browser = createBrowser();
  const page = await openAnswer(url, account, browser);
  const { leftTo, html } = await browser.press(page, button);
  if (!leftTo) throw new Error(`the answer led nowhere:\n${html}`);
  return leftTo;
}

export interface Finished {
  readonly status: number;
  readonly body: { readonly token: string; readonly tokenData: Record<string, unknown> } & Record<string, unknown>;
}

/** The front end sends the answer to the agent. */
export async function finishSignIn(
  api: string,
  callback: URL,
  more: Readonly<Record<string, string>> = {},
  origin = frontOrigin,
): Promise<Finished> {
  const query = new URLSearchParams({ ...Object.fromEntries(callback.searchParams), ...more });
  const response = await fetch(`${api}/authentication/callback?${query}`, { headers: { origin } });
  return { status: response.status, body: (await response.json()) as Finished['body'] };
}

/** The whole flow; returns a session token. */
export async function sessionToken(api: string, account: Account): Promise<string> {
  const { url } = await beginSignIn(api);
  return (await finishSignIn(api, await answerSignIn(url, account))).body.token;
}

export async function whoAmI(api: string, token: string) {
  const response = await fetch(`${api}/authentication/session`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, text: await response.text(), headers: response.headers };
}
