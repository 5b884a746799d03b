// The view for charts and aggregates (MCP Apps, SEP-1865): which clients are offered it, and what a real browser
// renders in a small host that speaks the extension's protocol.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chartText } from '../../src/mcp/results/chart-result.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { legacy, type McpTestServer, modern, openMcpServer, post, withExtras } from './mcp-server.ts';

let server: McpTestServer;
beforeAll(async () => {
  server = await openMcpServer({ customize: withExtras('notes') });
});
afterAll(() => server.close());

const EXTENSION = 'io.modelcontextprotocol/ui';
const TYPE = 'text/html;profile=mcp-app';
const URI = 'ui://portico/chart';
const declared = { extensions: { [EXTENSION]: { mimeTypes: [TYPE] } } };

interface Body {
  result: {
    tools: { name: string; _meta?: unknown }[];
    contents: { uri: string; mimeType: string; text: string; _meta: { ui: { csp: object } } }[];
    resources: { uri: string }[];
    capabilities: { extensions?: object };
  };
}
/** The SDK answers requests off the fast path with an event stream. */
const read = (body: unknown): Body['result'] =>
  (typeof body === 'string' ? JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? '{}') : (body as Body)).result;
const ask = async (method: string, params: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
  read((await post(server, legacy(method, params), headers)).body);
const askModern = async (method: string, capabilities: object) => {
  const { body, headers } = modern(method, {
    _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities },
  });
  return read((await post(server, body, headers)).body);
};
const withViews = ({ tools }: Body['result']) =>
  tools.filter(({ _meta }) => _meta !== undefined).map(({ name }) => name);

const open = async (capabilities: object): Promise<string> => {
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
  return (await post(server, legacy('initialize', params))).headers.get('mcp-session-id') ?? '';
};

describe('which clients get the chart view', () => {
  test.each([
    ['declares it', declared, ['aggregate', 'getChart']],
    ['declares nothing', {}, []],
    ['declares other MIME types', { extensions: { [EXTENSION]: { mimeTypes: ['text/x-other'] } } }, []],
    ['declares an invalid value', { extensions: { [EXTENSION]: 7 } }, []],
  ])('a client of either era that %s', async (_, capabilities, expected) => {
    const session = await open(capabilities);
    for (let round = 0; round < 2; round++) {
      expect(withViews(await askModern('tools/list', capabilities))).toEqual(expected);
      expect(withViews(await ask('tools/list', {}, { 'mcp-session-id': session }))).toEqual(expected);
    }
    expect(withViews(await ask('tools/list'))).toEqual([]);
  });

  test('apart from the URL of the view, the list is the same', async () => {
    const [plain, told] = [await askModern('tools/list', {}), await askModern('tools/list', declared)];
    expect(told.tools.map(({ _meta, ...tool }) => tool)).toEqual(plain.tools);
    expect(told.tools.flatMap(({ _meta }) => _meta ?? [])).toEqual([
      { ui: { resourceUri: URI } },
      { ui: { resourceUri: URI } },
    ]);
  });

  test('the page can be read but is not listed, loads nothing external, and is small', async () => {
    const { contents } = await ask('resources/read', { uri: URI });
    const [{ mimeType, text, _meta }] = contents as [Body['result']['contents'][number]];
    const { resources } = await ask('resources/list');
    const { capabilities } = await askModern('server/discover', {});
    expect([mimeType, _meta.ui.csp, resources.some(({ uri }) => uri === URI)]).toEqual([
      TYPE,
      { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
      false,
    ]);
    expect(capabilities.extensions).toEqual({ [EXTENSION]: { mimeTypes: [TYPE] } });
    expect(text).toMatch(/content="default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+';/);
    expect(text).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
    expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/);
    expect(Buffer.byteLength(text)).toBeLessThan(25_000);
  });
});

const answer = (text: string) => ({ content: [{ type: 'text', text }] });
const chart = (result: unknown) => answer(chartText(result as never, 8000));
const hostile = '<img src=x onerror="parent.pwned=1"><script>parent.pwned=1</script>';

interface Case {
  readonly name: string;
  readonly asked: Record<string, unknown>;
  readonly result: object;
  /** Texts and elements that the page must contain. */
  readonly texts: readonly string[];
  readonly count: readonly [selector: string, times: number];
}
const months = ['2026-01', '2026-02', '2026-03', '2026-04', '2026-05', '2026-06'];
const cases: readonly Case[] = [
  {
    name: 'value',
    asked: { chartName: 'Orders this month' },
    result: chart({ countCurrent: 1284, countPrevious: 1107 }),
    texts: ['Orders this month', '1,284', '▲ +177 (+16 %)', 'before: 1,107'],
    count: ['.big', 1],
  },
  { name: 'percentage', asked: { chartName: 'Returned' }, result: chart(4.25), texts: ['4.25'], count: ['.big', 1] },
  {
    name: 'objective',
    asked: { chartName: 'Revenue of the year' },
    result: chart({ value: 620_000, objective: 800_000 }),
    texts: ['620,000', '78 % of 800,000'],
    count: ['.bar i', 1],
  },
  {
    name: 'distribution',
    asked: { chartName: 'Orders by status' },
    result: chart([
      { key: 'paid', value: 640 },
      { key: 'shipped', value: 410 },
      { key: 'open', value: 150 },
      { key: 'returned', value: 84 },
    ]),
    texts: ['paid', '640', '50 %', 'returned'],
    count: ['svg circle', 4],
  },
  {
    name: 'leaderboard',
    asked: { chartName: 'Best customers' },
    result: chart(Array.from({ length: 15 }, (_, at) => ({ key: `Customer ${at + 1}`, value: 5000 - at * 310 }))),
    texts: ['Customer 1', '5,000', '3 more in the table.'],
    count: ['.bar i', 12],
  },
  {
    name: 'time',
    asked: { chartName: 'Orders a month' },
    result: chart(months.map((label, at) => ({ label, values: { value: at === 3 ? null : 40 + at * at * 6 } }))),
    texts: ['2026-01', 'Figures as a table'],
    count: ['svg circle', 5],
  },
  {
    name: 'several-lines',
    asked: { chartName: 'Orders and returns' },
    result: chart({
      labels: months,
      values: [
        { key: 'orders', values: [120, 138, 131, 160, 177, 171] },
        { key: 'returns', values: [14, 9, 12, 20, 11, 8] },
      ],
    }),
    texts: ['orders', 'returns'],
    count: ['.legend li', 2],
  },
  {
    name: 'aggregate-groups',
    asked: { collectionName: 'orders', operation: 'sum', field: 'total', groups: ['customer:city', 'status'] },
    result: answer(
      '{"columns":["customer:city","status","sum(total)"],"rows":[["Bergen","paid",9321.5],["Oslo","paid",7210],[null,"open",-410.25]],"hasMore":true}',
    ),
    texts: [
      'orders: sum of total, by customer:city, status',
      'Bergen · paid',
      '9,321.5',
      '-410.25',
      'There are more groups',
    ],
    count: ['.bar i', 3],
  },
  {
    name: 'aggregate-of-averages',
    asked: { collectionName: 'orders', operation: 'avg', field: 'total', groups: ['status'] },
    result: answer('{"columns":["status","avg(total)"],"rows":[["paid",90.5],["open",30.25]],"hasMore":false}'),
    // Averages do not add up, so there are no shares.
    texts: ['orders: avg of total, by status', '90.5'],
    count: ['svg, .share', 0],
  },
  {
    name: 'aggregate-by-day',
    asked: { collectionName: 'orders', operation: 'count', groups: [{ field: 'placed_at', bucket: 'Day' }] },
    result: answer(
      '{"columns":["day(placed_at)","count"],"rows":[["2026-03-02",19],["2026-03-01",12],["2026-03-03",7]],"hasMore":false}',
    ),
    texts: ['orders: count, by placed_at (day)', '2026-03-01'],
    count: ['svg circle', 3],
  },
  {
    name: 'measures',
    asked: {
      collectionName: 'orders',
      measures: { orders: { count: true }, mean: { avg: 'total' } },
      groups: ['status', 'year'],
    },
    result: answer(
      '{"columns":["status","year","orders","mean"],"rows":[["paid",2025,30,90.5],["open",2026,10,30.25]],"hasMore":false}',
    ),
    // The shares of the orders, and no shares of the averages.
    texts: ['orders: orders, mean, by status, year', 'paid · 2025', '75 %', '90.5'],
    count: ['.share', 2],
  },
  {
    name: 'measures-without-groups',
    asked: { collectionName: 'orders', measures: { orders: { count: true }, mean: { avg: 'total' } } },
    result: answer('{"columns":["orders","mean"],"rows":[[30,90.5]],"hasMore":false}'),
    texts: ['orders: orders, mean', '90.5'],
    count: ['.bar i', 2],
  },
  {
    name: 'chart-of-measures',
    asked: {
      collectionName: 'orders',
      measures: { orders: { count: true }, mean: { avg: 'total' } },
      groups: ['status'],
    },
    result: chart({
      labels: ['paid', 'open'],
      values: [
        { key: 'orders', values: [30, 10] },
        { key: 'mean', values: [90.5, null] },
      ],
    }),
    texts: ['paid', '75 %', '90.5'],
    count: ['h2', 2],
  },
  {
    name: 'smart',
    asked: { chartName: 'Anything' },
    result: chart({ html: hostile }),
    texts: ['onerror'],
    count: ['pre', 1],
  },
  {
    name: 'nothing',
    asked: { chartName: 'Empty' },
    result: answer('{"columns":["key","value"],"rows":[]}'),
    texts: ['No figures.'],
    count: ['svg', 0],
  },
  {
    name: 'error',
    asked: { chartName: hostile },
    result: { ...answer(`UNKNOWN_CHART: There is no chart '${hostile}'.`), isError: true },
    texts: ['UNKNOWN_CHART', '<img src=x'],
    count: ['img', 0],
  },
  {
    name: 'hostile-labels',
    asked: { collectionName: hostile, operation: hostile, groups: [hostile, { field: hostile, bucket: hostile }] },
    result: answer(
      JSON.stringify({
        columns: [hostile, hostile],
        rows: [
          [hostile, 3],
          ['"><svg/onload=parent.pwned=1>', 2],
          ['__proto__', 1],
        ],
        note: hostile,
      }),
    ),
    texts: ['<img src=x onerror=', '"><svg/onload', '__proto__'],
    count: ['img, main script', 0],
  },
];

/** The host: an iframe that may only run scripts, like the sandbox of the extension. */
const hostPage = `<!doctype html><meta charset="utf-8"><body style="margin:0"><script>
  window.log = []; window.pwned = undefined;
  window.show = (html, theme, asked, result) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts'; frame.srcdoc = html;
    frame.style = 'border:0;width:100%;height:300px';
    const send = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, '*');
    window.send = send;
    window.onmessage = ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      window.log.push(data);
      if (data.method === 'ui/initialize') send({ id: data.id, result: { protocolVersion: '2026-01-26', hostInfo: { name: 'test', version: '1' }, hostCapabilities: {}, hostContext: { theme, locale: 'en-US' } } });
      if (data.method === 'ui/notifications/initialized') {
        send({ method: 'ui/notifications/tool-input', params: { arguments: asked } });
        send({ method: 'ui/notifications/tool-result', params: result });
        // It answers one after the other, so that what came before is drawn when this is answered.
        send({ id: 'drawn', method: 'tools/call', params: {} });
      }
      if (data.id === 'drawn') resolve();
      if (data.method === 'ui/notifications/size-changed') frame.style.height = data.params.height + 'px';
    };
    document.body.replaceChildren(frame);
    document.body.style.background = theme === 'dark' ? '#111' : '#fff';
  });
</script>`;

describe.runIf(hasChromium)('in a browser', () => {
  let browser: Browser;
  let page: Page;
  let html: string;
  const complaints: string[] = [];
  const requests: string[] = [];
  beforeAll(async () => {
    const { contents } = await ask('resources/read', { uri: URI });
    html = contents[0]!.text;
    browser = await openChromium();
    page = await browser.newPage({ viewport: { width: 640, height: 700 }, deviceScaleFactor: 1 });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => void requests.push(request.url()));
    await page.setContent(hostPage);
  });
  afterAll(() => browser?.close());

  const show = async ({ asked, result }: Pick<Case, 'asked' | 'result'>, theme = 'light') => {
    await page.evaluate(
      ([given, name, args, answered]) =>
        (globalThis as unknown as { show: (...all: unknown[]) => Promise<void> }).show(given, name, args, answered),
      [html, theme, asked, result] as const,
    );
    const frame = page.frames().at(-1)!;
    return { frame, text: await frame.locator('main').innerText() };
  };

  test.each(cases)('draws $name', async (one) => {
    complaints.length = 0;
    for (const theme of ['light', 'dark'] as const) {
      const { frame, text } = await show(one, theme);
      expect(one.texts.filter((wanted) => !text.includes(wanted))).toEqual([]);
      expect(await frame.locator(one.count[0]).count()).toBe(one.count[1]);
      const folder = process.env.CHART_SCREENSHOTS;
      if (folder) {
        mkdirSync(folder, { recursive: true });
        await page.screenshot({ path: join(folder, `chart-${one.name}-${theme}.png`) });
      }
    }
    expect(complaints).toEqual([]);
    expect(await page.evaluate(() => (globalThis as unknown as { pwned?: number }).pwned)).toBeUndefined();
  });

  test('a table with the figures serves users who cannot see the chart', async () => {
    const { frame } = await show(cases.find(({ name }) => name === 'distribution')!);
    await frame.locator('summary').click();
    const cells = await frame.locator('td').allInnerTexts();
    expect([cells.slice(0, 4), await frame.locator('svg[role=img]').getAttribute('aria-label')]).toEqual([
      ['paid', '640', 'shipped', '410'],
      'Shares of 1,284',
    ]);
  });

  test('follows theme changes, answers a teardown, and refuses other methods', async () => {
    await show(cases[0]!);
    const frame = page.frames().at(-1)!;
    const paper = () => frame.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const before = await paper();
    const answered = await page.evaluate(async () => {
      const host = globalThis as unknown as { send: (message: object) => void; log: { id?: unknown }[] };
      host.log.length = 0;
      host.send({ method: 'ui/notifications/host-context-changed', params: { theme: 'dark' } });
      host.send({ id: 'a', method: 'ui/resource-teardown', params: {} });
      host.send({ id: 'b', method: 'tools/call', params: {} });
      host.send({ method: 'constructor', params: {} });
      host.send({ id: 'last', method: 'tools/call', params: {} });
      while (!host.log.some(({ id }) => id === 'last')) await new Promise((resolve) => setTimeout(resolve, 5));
      return host.log.filter(({ id }) => id !== undefined && id !== 'last');
    });
    expect([before, await paper(), answered]).toEqual([
      'rgb(255, 255, 255)',
      'rgb(27, 28, 30)',
      [
        { jsonrpc: '2.0', id: 'a', result: {} },
        { jsonrpc: '2.0', id: 'b', error: { code: -32601, message: 'Method not found' } },
      ],
    ]);
  });

  test('its policy blocks an injected script, and it requests nothing external', async () => {
    await show(cases[0]!);
    const frame = page.frames().at(-1)!;
    complaints.length = 0;
    await frame.evaluate(`
      const script = document.createElement('script');
      script.textContent = 'parent.pwned = 1; document.title = "ran"';
      document.body.append(script);
    `);
    expect(await frame.title()).toBe('Chart');
    await expect.poll(() => complaints.join()).toMatch(/Content Security Policy/);
    expect(requests).toEqual([]);
  });
});

test('both images of the documentation exist', () => {
  for (const theme of ['light', 'dark']) expect(existsSync(`docs/screenshots/chart-${theme}.png`)).toBe(true);
});
