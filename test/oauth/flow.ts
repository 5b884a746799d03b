// A minimal browser: cookies by path, redirects one at a time, and the forms of the real pages. Other tests sign in
// with `signIn(authorizationUrl, account)`, which returns the redirect to the client.

export interface Account {
  readonly email: string;
  readonly password: string;
}

interface Cookie {
  readonly value: string;
  readonly path: string;
  readonly host: string;
}

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** Set when a redirect leaves the server for the client. */
  readonly leftTo?: URL;
}

type Typed = Readonly<Record<string, string | readonly string[]>>;

export interface Browser {
  /** Follows redirects on the server; stops at a page or at a redirect to another origin. */
  open(url: string | URL, init?: RequestInit): Promise<Page>;
  /** Presses the button with this value, after it fills the fields of its form. */
  press(page: Page, button: string, typed?: Typed): Promise<Page>;
  /** Submits the form of the button without its value, as password managers and `form.submit()` do. */
  submit(page: Page, button: string, typed?: Typed): Promise<Page>;
  cookieHeader(url: URL): string;
  readonly cookies: Map<string, Cookie>;
}

export function createBrowser(): Browser {
  const cookies = new Map<string, Cookie>();

  const cookieHeader = (url: URL): string =>
    [...cookies]
      .filter(([, { path, host }]) => {
        return url.hostname === host && (url.pathname === path || url.pathname.startsWith(path.replace(/\/?$/, '/')));
      })
      .map(([key, { value }]) => `${key.split(' ')[0]}=${value}`)
      .join('; ');

  const keep = (url: URL, headers: Headers): void => {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const [name = '', value = ''] = pair.split(/=(.*)/s);
      const find = (wanted: string) =>
        attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
      const path = find('path') ?? '/';
      const key = `${name} ${path}`;
      const expires = find('expires');
      if (value === '' || (expires && new Date(expires) < new Date())) cookies.delete(key);
      else cookies.set(key, { value, path, host: url.hostname });
    }
  };

  const open = async (target: string | URL, init: RequestInit = {}): Promise<Page> => {
    let url = new URL(target);
    const { origin } = url;
    let request: RequestInit = init;
    for (let hops = 0; hops < 10; hops++) {
      const headers = new Headers(request.headers);
      if (!headers.has('accept')) headers.set('accept', 'text/html');
      const cookie = cookieHeader(url);
      if (cookie) headers.set('cookie', cookie);
      const response = await fetch(url, { ...request, headers, redirect: 'manual' });
      keep(url, response.headers);
      const text = await response.text();
      const location = response.headers.get('location');
      const page = { url: url.href, status: response.status, headers: response.headers, html: text };
      if (!location) return page;
      const next = new URL(location, url);
      if (
        next.origin !== origin ||
        next.origin === 'null' ||
        next.searchParams.has('code') ||
        next.searchParams.has('error')
      ) {
        return { ...page, leftTo: next };
      }
      url = next;
      // After a redirect a browser still sends the site of the original navigation.
      const site = new Headers(init.headers).get('sec-fetch-site');
      request = site === null ? {} : { headers: { 'sec-fetch-site': site } };
    }
    throw new Error('too many redirects');
  };

  const send: (page: Page, button: string, typed: Typed | undefined, isPressed: boolean) => Promise<Page> = (
    page,
    button,
    typed = {},
    isPressed,
  ) => {
    const form = findForm(page.html, button);
    const body = new URLSearchParams(form.fields);
    for (const [name, value] of Object.entries(typed)) {
      body.delete(name);
      for (const one of [value].flat()) if (one !== '') body.append(name, one);
    }
    if (isPressed) body.append(form.buttonName, button);
    return open(new URL(form.action, page.url), {
      method: 'POST',
      body,
      headers: { 'sec-fetch-site': 'same-origin', origin: 'null' },
    });
  };

  return {
    open,
    cookies,
    cookieHeader,
    press: (page, button, typed) => send(page, button, typed, true),
    submit: (page, button, typed) => send(page, button, typed, false),
  };
}

interface Form {
  readonly action: string;
  readonly fields: [string, string][];
  readonly buttonName: string;
}

function findForm(page: string, button: string): Form {
  for (const [, attributes = '', content = ''] of page.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)) {
    const pressed = [...content.matchAll(/<button([^>]*)>/g)].find(([, own = '']) => read(own, 'value') === button);
    if (!pressed) continue;
    const fields: [string, string][] = [];
    for (const [, own = ''] of content.matchAll(/<input([^>]*)>/g)) {
      if (/^(checkbox|radio)$/.test(read(own, 'type') ?? '') && !/ checked(?:\s|$)/.test(own)) continue;
      fields.push([read(own, 'name') ?? '', read(own, 'value') ?? '']);
    }
    for (const [, own = '', text = ''] of content.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs)) {
      fields.push([read(own, 'name') ?? '', unescapeText(text.replace(/^\n/, ''))]);
    }
    for (const [, own = '', options = ''] of content.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
      const given = [...options.matchAll(/<option([^>]*)>/g)].map(([, option = '']) => option);
      const chosen = given.find((option) => / selected(?:\s|$)/.test(option)) ?? given[0] ?? '';
      fields.push([read(own, 'name') ?? '', read(chosen, 'value') ?? '']);
    }
    return { action: read(attributes, 'action') ?? '', fields, buttonName: read(pressed[1] ?? '', 'name') ?? '' };
  }
  throw new Error(`no button '${button}' on this page:\n${page.replace(/<style>.*?<\/style>/s, '')}`);
}

function read(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1];
  return found === undefined ? undefined : unescapeText(found);
}

function unescapeText(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Signs in and allows on the real pages; returns the URL of the redirect to the client. */
export async function signIn(url: string | URL, account: Account, browser: Browser = createBrowser()): Promise<URL> {
  let page = await browser.open(url);
  if (page.html.includes('name="password"')) page = await browser.press(page, 'sign-in', { ...account });
  if (!page.leftTo && page.html.includes('value="allow"')) page = await browser.press(page, 'allow');
  if (page.leftTo) return page.leftTo;
  throw new Error(
    `sign-in stopped with status ${page.status} at ${page.url}:\n${page.html.replace(/<style>.*?<\/style>/s, '')}`,
  );
}
