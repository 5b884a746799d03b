// The operator's brand: name, logo and color on pages, in mails and for clients; what is refused, and what is adjusted.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/core/config.ts';
import { accentFor, contrast } from '../../src/http/brand.ts';
import { explainColor, readBrand } from '../../src/server/brand.ts';
import { ask } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { buildOnce, makePlace, portico } from '../cli/command.ts';
import { createBrowser } from '../oauth/flow.ts';
import { startMailServer } from '../smtp.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-brand-'));
const write = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const svg =
  '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" fill="#d33"/></svg>\n';
const logo = write('logo.svg', svg);
const env = { SERVICE_BRAND_NAME: 'Acme <Data>', SERVICE_BRAND_LOGO: logo, SERVICE_BRAND_COLOR: '#7A1FA2' };
const read = (settings: Record<string, string>) => readBrand(loadConfig({ env: settings }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a server with a brand', () => {
  let server: ConsoleTestServer;
  beforeAll(async () => {
    server = await openConsoleServer({ env });
  });
  afterAll(() => server?.stop());

  test('the sign-in, the console, the page of /mcp and error pages show the name, escaped, and not that of Portico', async () => {
    const { browser, page } = await server.browse(server.account);
    const html = { accept: 'text/html' };
    const pages = [
      (await createBrowser().open(server.at('/sign-in'))).html,
      page.html,
      (await browser.open(server.at('/nothing'))).html,
      (await createBrowser().open(server.at('/nothing'))).html,
      await (await fetch(server.mcpUrl, { headers: html })).text(),
      await (await fetch(`${new URL(server.mcpUrl).origin}/oauth/interaction/none`, { headers: html })).text(),
    ];
    for (const one of pages) {
      expect(one).toContain('<strong>Acme &lt;Data&gt;</strong>');
      expect(one).not.toContain('<strong>Portico</strong>');
      expect(one).toContain('--accent:#7a1fa2');
      expect(one).toContain('data:image/svg+xml;base64,');
    }
  });

  test('the policy of a page still has the hash of its style sheet', async () => {
    const { html, headers } = await createBrowser().open(server.at('/sign-in'));
    const sheet = /<style>([\s\S]*?)<\/style>/.exec(html)![1]!;
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(sheet))).toString('base64');
    const policy = headers.get('content-security-policy');
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('script-src');
  });

  test('MCP clients get the title and the icon, which anybody may read and in which nothing can run', async () => {
    const { token } = await signedIn(server);
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { text } = await ask(server.mcpUrl, token, 'initialize', params);
    const { serverInfo } = JSON.parse(text.replace(/^[\s\S]*?data: /, '')).result;
    expect(serverInfo).toMatchObject({
      name: 'portico',
      title: 'Acme <Data>',
      icons: [{ src: server.at('/logo'), mimeType: 'image/svg+xml', sizes: ['any'] }],
    });
    const icon = await fetch(serverInfo.icons[0].src);
    expect(await icon.text()).toBe(svg);
    expect(Object.fromEntries(icon.headers)).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    expect((await fetch(server.at('/logo'), { method: 'POST' })).status).not.toBe(200);
    const metadata = await fetch(`${new URL(server.mcpUrl).origin}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).toMatchObject({ resource_name: 'Acme <Data>' });
  });

  test.skipIf(!hasChromium).each([
    ['light', 1366],
    ['dark', 1366],
    ['light', 390],
    ['dark', 390],
  ] as const)('a browser shows the logo and the color, and axe finds no fault: %s, %i wide', async (scheme, width) => {
    const browser = await openChromium();
    try {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme: scheme,
        bypassCSP: false,
      });
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
      await page.goto(server.at('/sign-in'));
      const { accent } = accentFor('#7a1fa2', scheme);
      const styleOf = (selector: string, pseudo: string, property: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}'), '${pseudo}')['${property}']`);
      const rgb = [1, 3, 5].map((at) => Number.parseInt(accent.slice(at, at + 2), 16)).join(', ');
      expect(await styleOf('button.primary', '', 'backgroundColor')).toBe(`rgb(${rgb})`);
      expect(await styleOf('.brand', '::before', 'backgroundImage')).toContain('data:image/svg+xml');
      expect(await styleOf('.brand svg', '', 'display')).toBe('none');
      const shots = process.env.BRAND_SHOTS;
      if (shots) await page.screenshot({ path: `${shots}-sign-in-${scheme}-${width}.png` });
      await page.getByLabel('E-mail').fill(server.account.email);
      await page.getByLabel('Password').fill(server.account.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (shots) await page.screenshot({ path: `${shots}-console-${scheme}-${width}.png` });
      // The check of the pages injects a script, which the policy would refuse.
      const judged = await browser.newContext({
        colorScheme: scheme,
        bypassCSP: true,
        viewport: { width, height: 900 },
      });
      const other = await judged.newPage();
      await other.goto(server.at('/sign-in'));
      expect(await findFaults(other, 'sign-in')).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});

test('mails name the brand', async () => {
  const mail = await startMailServer();
  const server = await openConsoleServer({
    env: { ...env, SERVICE_MAIL_URL: `smtp://127.0.0.1:${mail.port}`, SERVICE_MAIL_FROM: 'portico@example.com' },
  });
  try {
    const browser = createBrowser();
    await browser.press(await browser.open(server.at('/forgot')), 'forgot', { email: server.account.email });
    await expect.poll(() => mail.mails.length).toBe(1);
    expect(mail.mails[0]?.content).toContain('Choose a new password for Acme <Data> with this link');
  } finally {
    await server.stop();
    await mail.stop();
  }
});

test('without a brand nothing changes', async () => {
  expect(read({})).toBeUndefined();
  const server = await openConsoleServer();
  const { html } = await createBrowser().open(server.at('/sign-in'));
  expect(html).not.toContain('::before{content:"";flex:none');
  expect((await fetch(server.at('/logo'))).status).toBe(404);
  await server.stop();
});

describe('the logo', () => {
  const png = readFileSync('deploy/icons/icon-128.png');
  test('a PNG and an SVG are accepted by what they contain, whatever their name', () => {
    expect(read({ SERVICE_BRAND_LOGO: write('a.txt', png) })?.logo?.type).toBe('image/png');
    expect(read({ SERVICE_BRAND_LOGO: write('b.txt', svg) })?.logo?.type).toBe('image/svg+xml');
    expect(read({ SERVICE_BRAND_LOGO: 'deploy/icons/icon.svg' })?.logo?.type).toBe('image/svg+xml');
  });

  const inside = (content: string) => `<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`;
  test.each<[string, string | Buffer, RegExp]>([
    ['too large', Buffer.concat([png, Buffer.alloc(33 * 1024)]), /has \d+ bytes, at most 32768 are allowed/],
    ['another type', Buffer.from('GIF89a'), /neither a PNG nor an SVG/],
    ['HTML', '<!doctype html><svg></svg>', /neither a PNG nor an SVG/],
    ['a script', inside('<script>alert(1)</script>'), /contains a script/],
    ['a script with a prefix', inside('<svg:script>alert(1)</svg:script>'), /contains a script/],
    ['an event handler', '<svg xmlns="x" onload="alert(1)"></svg>', /contains an event handler/],
    ['an event handler after a slash', inside('<g/onclick=alert(1)>'), /contains an event handler/],
    ['foreign content', inside('<foreignObject><p/></foreignObject>'), /foreign content/],
    ['a link', inside('<a xlink:href="https://evil.example"/>'), /contains a link/],
    ['an encoded link', inside('<a href="&#106;avascript:alert(1)"/>'), /contains a link/],
    ['an image of another site', inside('<image href="//evil.example/a.png"/>'), /contains a link/],
    ['a style that loads', inside('<style>@import "https://evil.example"</style>'), /contains a link/],
    ['an entity', '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]><svg></svg>', /neither a PNG|document type/],
    ['a style sheet as an instruction', inside('<?xml-stylesheet href="a.css"?>'), /instruction/],
  ])('%s: refused at the start', (name, content, message) => {
    const path = write(`refused-${name.replace(/\W+/g, '-')}`, content);
    expect(() => read({ SERVICE_BRAND_LOGO: path })).toThrow(message);
  });

  test('a reference within the file is fine', () => {
    const gradient = inside('<defs><linearGradient id="g"/></defs><use href="#g"/><rect fill="url(#g)"/>');
    expect(read({ SERVICE_BRAND_LOGO: write('gradient.svg', gradient) })?.logo?.type).toBe('image/svg+xml');
  });

  test('a missing file ends the start, and doctor says so', async () => {
    await buildOnce();
    const place = makePlace();
    const env = { SERVICE_BRAND_LOGO: 'none.svg', SERVICE_BRAND_COLOR: '#ffe600' };
    const started = await portico(['start', '--port', '0'], { ...place, env });
    expect([started.code, started.stderr]).toEqual([1, "portico: SERVICE_BRAND_LOGO: 'none.svg' cannot be read.\n"]);
    const doctor = await portico(['doctor', '--port', '0'], { ...place, env });
    expect(doctor.stdout).toContain("SERVICE_BRAND_LOGO: 'none.svg' cannot be read.");
    place.remove();
  });
});

// WCAG 2.2, 1.4.3.
describe('the color', () => {
  const schemes = { light: ['#ffffff', '#f5f4f0'], dark: ['#1e1f1d', '#141513'] } as const;
  const colors = ['#ffe600', '#000000', '#ffffff', '#808080', '#7a1fa2', '#00ff00', '#0000ff', '#ff0000', '#777777'];
  test.each(colors)('%s: text in it and on it can be read, light and dark', (color) => {
    for (const scheme of ['light', 'dark'] as const) {
      const { accent, ink, hover, tint } = accentFor(color, scheme);
      for (const surface of [...schemes[scheme], tint]) expect(contrast(accent, surface)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(accent, ink)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(hover, ink)).toBeGreaterThanOrEqual(4.5);
    }
  });

  test('the surfaces are those of the style sheet', () => {
    const sheet = readFileSync('src/http/style.ts', 'utf8');
    expect(sheet).toContain('--bg:#f5f4f0;--card:#fff;');
    expect(sheet).toContain('--bg:#141513;--card:#1e1f1d;');
  });

  test('says where it is changed', () => {
    const explain = (color: string) => explainColor(loadConfig({ env: { SERVICE_BRAND_COLOR: color } }));
    expect(explain('#ffe600')).toMatch(
      /^SERVICE_BRAND_COLOR: #ffe600 has a contrast of 1\.\d to 1 on white, and text needs 4\.5 to 1 .*; shown as #\w{6} on light pages$/,
    );
    expect(explain('#1f5f4a')).toMatch(/shown as #\w{6} on dark pages$/);
    expect(loadConfig({}).brandColor).toBeNull();
  });

  test.each(['red', '#fff', '1f5f4a', '#1f5f4a;}'])('%s: refused', (color) => {
    expect(() => loadConfig({ env: { SERVICE_BRAND_COLOR: color } })).toThrow(/expected a color such as #1f5f4a/);
  });
});
