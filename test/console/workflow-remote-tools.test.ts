// The step that calls a tool of a remote server: its form offers the tools of a real server, and their arguments.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Browser, Page } from '../oauth/flow.ts';
import { openRemote, type RemoteFixture } from '../workflow/remote/server.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
let remote: RemoteFixture;
let browser: Browser;
let first: Page;
beforeAll(async () => {
  remote = await openRemote();
  server = await openConsoleServer({ env: { SERVICE_REMOTE_HOSTS: '127.0.0.1' } });
  const about = { signIn: 'none', addedBy: server.ada.id } as const;
  await server.store.remotes.add({ ...about, name: 'till', url: remote.url });
  await server.store.remotes.add({ ...about, name: 'gone', url: 'http://127.0.0.1:9/mcp' });
  const { renderingId } = (await server.store.permissions.accessOf(server.ada.id))!.caller;
  const definition = { name: 'Charge', collection: 'orders', steps: [{ id: 'ask', type: 'guidance', text: 'Ask.' }] };
  const wish = { renderingId, name: 'Charge', collection: 'orders', concurrency: null, by: server.ada.id };
  const { id } = await server.store.workflows.publish({ ...wish, definition: JSON.stringify(definition) });
  ({ browser, page: first } = await server.browse(server.account, `/workflows/${id}/add?type=mcp&place=ask`));
});
afterAll(async () => {
  await server.stop();
  await remote.stop();
});

const load = (page: Page, typed: Record<string, string>) => browser.press(page, 'load-tools', typed);
const optionsOf = ({ html }: Page) => {
  const [, select = ''] = /<select[^>]* name="text-tool"[^>]*>(.*?)<\/select>/s.exec(html) ?? [];
  return [...select.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value);
};

test('the form offers the tools of the server, and a row for each argument that the chosen tool requires', async () => {
  remote.amount = z.number();
  const listed = await load(first, { title: 'Charge', 'choice-server': 'till' });
  expect(optionsOf(listed)).toEqual(['', 'charge', 'fail']);
  const chosen = await load(listed, { 'text-tool': 'charge' });
  expect(chosen.html).toMatch(/name="a\.0\.name"[^>]* value="amount"/);
  expect(chosen.html).toContain('<option value="number" selected>');
  const again = await load(chosen, { 'a.0.text': '12' });
  expect(again.html).not.toContain('name="a.1.name"');
  const saved = await browser.press(again, 'save', { 'text-title': 'Charge' });
  expect(read(saved)).toContain('Published.');
  const [flow] = await server.store.workflows.list({});
  const { steps } = JSON.parse((await server.store.workflows.definition(flow!.id, flow!.version))!);
  expect(steps.find(({ type }: { type: string }) => type === 'mcp')).toMatchObject({
    ...{ server: 'till', tool: 'charge', arguments: { amount: 12 } },
  });
});

test('an optional argument gets no row, and is named', async () => {
  remote.amount = z.string().optional();
  const listed = await load(first, { 'choice-server': 'till' });
  const chosen = await load(listed, { 'text-tool': 'charge' });
  expect(chosen.html).not.toContain('name="a.0.name"');
  expect(read(chosen)).toContain('Optional: amount (Text).');
});

test('tools that workflows may not call are not offered', async () => {
  const till = (await server.store.remotes.findByName('till'))!;
  await server.store.remotes.setTools(till.id, { fail: 'allow' }, server.ada.id);
  expect(optionsOf(await load(first, { 'choice-server': 'till' }))).toEqual(['', 'fail']);
  await server.store.remotes.setTools(till.id, null, server.ada.id);
});

test('without a server, or with one that does not answer, the form says so and the tool can be typed', async () => {
  expect(read(await load(first, { 'choice-server': '' }))).toContain('Choose a server first.');
  const failed = await load(first, { 'choice-server': 'gone', 'text-tool': 'charge' });
  expect(read(failed)).toContain('gone');
  expect(failed.html).toMatch(/<input[^>]* name="text-tool"[^>]* value="charge"/);
});
