// The routes that the agent finds in a host application, and those of them that it now handles.
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { expressKind } from '../../src/frameworks/express.ts';
import { fastifyKind } from '../../src/frameworks/fastify.ts';
import { findHiddenRoutes } from '../../src/frameworks/kinds.ts';
import { koaKind } from '../../src/frameworks/koa.ts';

const handle = () => undefined;
const layers = [
  {},
  { route: { path: '/a' } },
  { route: { path: ['/b', '/c'] } },
  { route: { path: /d/ } },
  { route: {} },
];

test.each([
  ['4', '_router'],
  ['5', 'router'],
])('Express %s: single paths and lists of paths; patterns have no name', (_, property) => {
  const app = Object.assign(() => undefined, { use: () => undefined, [property]: { stack: [...layers] } });
  expect(expressKind.mount(app as never, handle).routes()).toEqual(['/a', '/b', '/c']);
});

test('Express without a route has none', () => {
  expect(expressKind.mount(Object.assign(() => undefined, { use: () => undefined }) as never, handle).routes()).toEqual(
    [],
  );
});

test('Koa: the routes of every router, also of one that is used after the mount', () => {
  const routed = (...paths: unknown[]) =>
    Object.assign(() => undefined, { router: { stack: paths.map((path) => ({ path })) } });
  const middleware: unknown[] = [() => undefined, routed('/a', /b/)];
  const { routes } = koaKind.mount(
    { middleware, handleRequest: async () => undefined, callback: handle } as never,
    handle,
  );
  middleware.push(routed('/c', '/d'));
  expect(routes()).toEqual(['/a', '/c', '/d']);
});

test('Fastify: routes from before and after the mount, below shared segments too', async () => {
  const app = fastify();
  for (const path of ['/oauth', '/oauth/callback', '/oauth/callback/again', '/shop/:id/items'])
    app.get(path, async () => 'ours');
  const { routes } = fastifyKind.mount(app as never, handle);
  await app.register(async (inner) => inner.post('/late', async () => 'ours'), { prefix: '/service' });
  await app.ready();
  const found = new Set(routes());
  await app.close();
  expect(
    ['/oauth', '/oauth/callback', '/oauth/callback/again', '/shop/:id/items', '/service/late'].filter(
      (path) => !found.has(path),
    ),
  ).toEqual([]);
});

test('of all hosts, the routes of the agent are named once, in their order', () => {
  const hosts = [
    ['/', '/mcp', '/oauth/x'],
    ['/oauth/x', '/mcp/y', '/other'],
  ].map((paths) => ({ routes: () => paths }));
  expect(findHiddenRoutes(hosts, (path) => /^\/(mcp|oauth)/.test(path))).toEqual(['/mcp', '/oauth/x', '/mcp/y']);
});
