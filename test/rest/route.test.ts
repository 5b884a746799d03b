// How a path matches the route table: the most literal route wins, by whole segments, decoded after the split.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RoutePath } from '../../src/http/router.ts';
import { dataRoutes } from '../../src/rest/routes.ts';
import { matchRoute } from './matched-route.ts';

const row = (path: string, method: RoutePath['method'] = 'GET'): RoutePath => ({ method, path });
const paths = [
  '/:c/:id',
  '/:c/count',
  '/:c',
  '/:c.csv',
  '/_charts/:name',
  '/:c/:id/relationships/:r',
  '/',
  '/authentication',
];
const table = [row('/stats/:c', 'POST'), ...paths.map((path) => row(path))];
const found = async (path: string, method = 'GET') => {
  const it = await matchRoute(table, method, path);
  return it && ('route' in it ? [it.route.path, it.params] : it);
};

test.each([
  ['/', ['/', {}]],
  ['/authentication', ['/authentication', {}]],
  ['/orders', ['/:c', { c: 'orders' }]],
  ['/orders.csv', ['/:c.csv', { c: 'orders' }]],
  ['/orders/count', ['/:c/count', { c: 'orders' }]],
  ['/orders/%63ount', ['/:c/:id', { c: 'orders', id: 'count' }]],
  ['/orders%2Ecsv', ['/:c', { c: 'orders.csv' }]],
  ['/orders/7', ['/:c/:id', { c: 'orders', id: '7' }]],
  ['/_charts/sales', ['/_charts/:name', { name: 'sales' }]],
  ['/a%2Fb/c%7Cd%20%C3%A9', ['/:c/:id', { c: 'a/b', id: 'c|d é' }]],
  ['/orders/7/relationships/lines', ['/:c/:id/relationships/:r', { c: 'orders', id: '7', r: 'lines' }]],
  ['/orders/', undefined],
  ['//7', undefined],
  ['/%E0%A4%A', expect.any(URIError)],
  ['/orders/7/relationships', undefined],
  ['/.csv', ['/:c', { c: '.csv' }]],
])('%s', async (path, expected) => {
  expect(await found(path)).toEqual(expected);
});

test('docs/apis.md lists exactly the routes that read records', () => {
  const [, section = ''] = readFileSync('docs/apis.md', 'utf8').split('### Reading records');
  const [about = ''] = section.split(/\n##+ /);
  const told = [...about.matchAll(/^\| `([A-Z]+) \{prefix\}(\/[^`]*)` \|/gm)].map(
    ([, method, path]) => `${method} ${path}`,
  );
  const names: Readonly<Record<string, string>> = { ':collection': '{c}', ':id': '{id}', ':relation': '{r}' };
  const reading = dataRoutes.flatMap(({ method, path }) =>
    /^POST \/(_internal\/cap|scope)|^GET \/:/.test(`${method} ${path}`)
      ? [`${method} ${path.replace(/:\w+/g, (name) => names[name] ?? name)}`]
      : [],
  );
  expect(told.sort()).toEqual(reading.sort());
});

test('a more literal route of another method hides none, and Allow lists the methods of all matches', async () => {
  expect([await found('/stats/7'), await found('/stats/7', 'POST')]).toEqual([
    ['/:c/:id', { c: 'stats', id: '7' }],
    ['/stats/:c', { c: '7' }],
  ]);
  expect(await found('/stats/7', 'PUT')).toMatchObject({
    code: 'METHOD_NOT_ALLOWED',
    details: { method: 'PUT', allow: ['POST', 'GET', 'HEAD'] },
  });
});
