// The navigation: at most eight sections, the way back from every page, and one style for each class name.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeLeft } from '../../src/console/ui/times.ts';
import type { Account, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
let member: Account;
beforeAll(async () => {
  server = await openConsoleServer();
  member = await server.addUser({ email: 'member@example.com', level: 'user' });
});
afterAll(() => server?.stop());

const linksOf = (page: Page, label: string): string[] => {
  const nav = new RegExp(`<nav[^>]*aria-label="${label}">(.*?)</nav>`, 's').exec(page.html)?.[1] ?? '';
  return [...nav.matchAll(/<a href="[^"]*"[^>]*>(.*?)<\/a>/gs)].map(([, text = '']) => read({ ...page, html: text }));
};

test('administrators have at most eight sections, and members no administration', async () => {
  const admin = linksOf((await server.browse(server.account)).page, 'Console');
  const other = linksOf((await server.browse(member)).page, 'Console');
  expect(admin.length).toBeLessThanOrEqual(8);
  expect(admin.map((name) => name.replace(/ \d+ waiting/, ''))).toEqual(
    expect.arrayContaining(['Start', 'Inbox', 'Workflows', 'Activity', 'Connections', 'Administration', 'Account']),
  );
  expect(other).not.toContain('Administration');
});

test('a section shows its pages as tabs, and a page below a tab shows the way back', async () => {
  const { browser, page } = await server.browse(server.account, '/people');
  const person = await browser.open(server.at(`/people/${server.ada.id}`));
  const tabs = ['People', 'Teams', 'Roles', 'Collections', 'Environments', 'Admin log', 'Settings'];
  expect([linksOf(page, 'Administration'), linksOf(page, 'Breadcrumb')]).toEqual([tabs, []]);
  expect([linksOf(person, 'Administration'), linksOf(person, 'Breadcrumb')]).toEqual([tabs, ['People']]);
  expect(person.html).toMatch(/<a href="[^"]*\/people" aria-current="true">People/);
});

test('an unknown page keeps the navigation for users, and links to the start page for others', async () => {
  const { browser } = await server.browse(member);
  const [missing, forbidden, dead] = await Promise.all(
    ['/nowhere', '/people', '/notes/999'].map((page) => browser.open(server.at(page))),
  );
  for (const page of [missing!, forbidden!, dead!]) {
    expect([page.status, linksOf(page, 'Console')[0], read(page)]).toEqual([
      404,
      'Start',
      expect.stringContaining('Page not found'),
    ]);
  }
  const stranger = await fetch(server.at('/nowhere'));
  expect([stranger.status, await stranger.text()]).toEqual([404, expect.stringContaining('Go to the start page')]);
});

test('remaining time is rounded up', () => {
  const hour = 3_600_000;
  expect([7 * 24 * hour - 1, 47 * hour, 15 * 60_000 - 1, 1, 0].map(describeLeft)).toEqual([
    '7 days',
    '47 hours',
    '15 minutes',
    '1 minute',
    '1 minute',
  ]);
});

test('no class name has rules in two style sheets', () => {
  const root = 'src/console';
  const files = [
    'src/http/style.ts',
    ...readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /style\.ts$/.test(file))
      .map((file) => join(root, file)),
  ];
  const owners = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [, selectors = ''] of readFileSync(file, 'utf8').matchAll(/([^{}`]+)\{/g)) {
      for (const selector of selectors.split(',')) {
        // One element with one class: it applies to every element with this class, on every page.
        const name = /^(?:[a-z]+\d?)?\.([\w-]+)(?:::?[\w-]+(?:\([^)]*\))?)*$/.exec(selector.trim())?.[1];
        if (name !== undefined) owners.set(name, (owners.get(name) ?? new Set()).add(file));
      }
    }
  }
  expect(owners.size).toBeGreaterThan(100);
  expect([...owners].filter(([, where]) => where.size > 1).map(([name, where]) => [name, [...where]])).toEqual([]);
});
