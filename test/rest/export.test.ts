// The CSV export: every record once, no cells that a spreadsheet would run as formulas, and no truncated file that
// looks complete.
import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Access } from '../../src/core/caller.ts';
import type { StopSignal } from '../../src/core/clock/stop.ts';
import { everything, frontEnd, openRestServer, type RestTestServer } from './rest-server.ts';
import { openStores } from './stores.ts';

const number = (name: string) => ({ name, type: 'Number' }) as const;
const text = (name: string) => ({ name, type: 'String', nullable: true }) as const;
const cells = [
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '"\'\t=1"'],
  ['\r=1', '"\'\r=1"'],
  ['\n=1', '"\'\n=1"'],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠1', "'＠1"],
  [' =1', ' =1'],
  ['1=1+1', '1=1+1'],
  ['a\rb', '"a\rb"'],
  ['a\tb', '"a\tb"'],
  ['a;b', '"a;b"'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['é 🦊', 'é 🦊'],
  ['', ''],
  [null, ''],
] as const;

const source = (rows = 2500) =>
  createMemorySource('memory', [
    {
      name: 'cells',
      columns: [number('id'), text('value')],
      primaryKey: ['id'],
      rows: cells.map(([value], at) => [at + 1, value]),
    },
    {
      name: 'amounts',
      columns: [
        number('id'),
        number('amount'),
        { name: 'at', type: 'Date' },
        { name: 'data', type: 'Json' },
        { name: 'is', type: 'Boolean' },
      ],
      primaryKey: ['id'],
      rows: [[1, -5.5, '2026-11-20T11:11:52.442Z', { a: [1] }, true]],
    },
    {
      name: 'many',
      columns: [number('id'), number('half')],
      primaryKey: ['id'],
      rows: Array.from({ length: rows }, (_, at) => [at, Math.floor(at / 2)]),
    },
    { name: 'keyless', columns: [number('n')], rows: Array.from({ length: rows }, (_, at) => [at]) },
  ]);

let server: RestTestServer;
afterEach(() => server.close());

async function open(more: { access?: () => Access; around?: (engine: Engine) => Engine } = {}) {
  const engine = await openStores(() => {}, source());
  server = await openRestServer({ ...more, engine: more.around?.(engine) ?? engine });
  return (path: string, init?: RequestInit) => server.ask(path, init);
}
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer()).toString('utf8');

describe('the file', () => {
  test('cells: quoted as RFC 4180 says, and no formulas (CWE-1236)', async () => {
    const ask = await open();
    expect(await bytesOf(await ask('/cells.csv?fields[cells]=value&header=%3Dlabel'))).toBe(
      `\ufeff'=label\r\n${cells.map(([, cell]) => `${cell}\r\n`).join('')}`,
    );
  });

  test('numbers are not escaped, whatever they begin with', async () => {
    const ask = await open();
    expect(await (await ask('/amounts.csv')).text()).toBe(
      'id,amount,at,data,is\r\n1,-5.5,2026-11-20T11:11:52.442Z,"{""a"":[1]}",true\r\n',
    );
  });

  test('columns in the requested order, with labels of the caller', async () => {
    const ask = await open();
    const header = encodeURIComponent(JSON.stringify(['When', 'How, much']));
    expect([
      await (await ask(`/amounts.csv?fields[amounts]=at,amount&header=${header}`)).text(),
      await (await ask('/amounts.csv?fields[amounts]=amount&header=A')).text(),
      (await ask('/amounts.csv?fields[amounts]=amount&header=A,B')).status,
      (await ask('/amounts.csv?header=[1]')).status,
    ]).toEqual(['When,"How, much"\r\n2026-11-20T11:11:52.442Z,-5.5\r\n', 'A\r\n-5.5\r\n', 400, 400]);
  });

  test('the file name, and which headers a front end may read', async () => {
    const ask = await open();
    const disposition = async (query: string) =>
      (await ask(`/cells.csv${query}`, { headers: { origin: frontEnd } })).headers.get('content-disposition');
    const { headers } = await ask('/cells.csv', { headers: { origin: frontEnd } });
    expect([
      headers.get('content-type'),
      headers.get('access-control-expose-headers'),
      await disposition(''),
      await disposition('?filename=my%20cells.csv'),
      await disposition(`?filename=${encodeURIComponent('a"b\r\n/ü(1)')}`),
    ]).toEqual([
      'text/csv; charset=utf-8; header=present',
      expect.stringContaining('Content-Disposition'),
      'attachment; filename="cells.csv"; filename*=UTF-8\'\'cells.csv',
      'attachment; filename="my cells.csv"; filename*=UTF-8\'\'my%20cells.csv',
      'attachment; filename="a_b____(1).csv"; filename*=UTF-8\'\'a_b___%C3%BC%281%29.csv',
    ]);
  });
});

describe('every record', () => {
  test('once, page by page with a cursor, whatever the order and the conditions', async () => {
    const asked: object[] = [];
    const ask = await open({
      around: (engine) => ({
        ...engine,
        list(access, given, options) {
          asked.push({ limit: given.limit, skip: given.skip, hasCursor: given.cursor !== undefined });
          return engine.list(access, given, options);
        },
      }),
    });
    const filters = encodeURIComponent('{"field":"id","operator":"less_than","value":2400}');
    const lines = (await (await ask(`/many.csv?sort=-half&filters=${filters}&page[size]=1`)).text())
      .trimEnd()
      .split('\r\n');
    const ids = lines.slice(1).map((line) => Number(line.split(',')[0]));
    expect([lines[0], ids.length, new Set(ids).size, ids.slice(0, 4), asked]).toEqual([
      'id,half',
      2400,
      2400,
      [2399, 2398, 2397, 2396],
      [false, true, true].map((hasCursor) => ({ limit: 1000, skip: undefined, hasCursor })),
    ]);
  });

  test('of a collection without a key only up to one page', async () => {
    const ask = await open();
    const few = await ask('/keyless.csv?filters={"field":"n","operator":"less_than","value":2}');
    const many = await ask('/keyless.csv');
    expect([await few.text(), many.status, await many.json()]).toEqual([
      'n\r\n0\r\n1\r\n',
      400,
      { errors: [expect.objectContaining({ detail: expect.stringMatching(/at most 1000 records/) })] },
    ]);
  });

  test('needs the rights to export and to browse', async () => {
    const without = (verb: string) => ({ ...everything, can: (asked: string) => asked !== verb });
    let access: Access = without('export');
    const ask = await open({ access: () => access });
    const statuses = [(await ask('/many.csv')).status];
    access = without('browse');
    statuses.push((await ask('/many.csv')).status);
    expect([statuses, server.activity.map(({ action, outcome }) => [action, outcome])]).toEqual([
      [403, 404],
      [
        ['export', 'denied'],
        ['export', 'failed'],
      ],
    ]);
  });

  test('HEAD reads only the first page', async () => {
    const ask = await open();
    const response = await ask('/many.csv', { method: 'HEAD' });
    expect([response.status, await response.text(), server.activity.map(({ outcome }) => outcome)]).toEqual([
      200,
      '',
      ['completed'],
    ]);
  });
});

/** Calls `later` instead of reading the second page. */
const atSecond =
  (later: (signal: StopSignal | undefined) => Promise<never>) =>
  (engine: Engine): Engine => {
    let calls = 0;
    return {
      ...engine,
      list: (access, given, options) => (++calls === 2 ? later(options?.signal) : engine.list(access, given, options)),
    };
  };

describe('when it ends early', () => {
  test('a failure after the first page closes the connection, and is logged', async () => {
    const ask = await open({ around: atSecond(() => Promise.reject(new Error('the disk is gone'))) });
    const response = await ask('/many.csv');
    await expect(response.text()).rejects.toThrow();
    expect([
      response.status,
      server.activity.map(({ action, outcome, code }) => [action, outcome, code]),
      server.observations.flatMap((one) => (one.type === 'failure' ? [(one.cause as Error).message] : [])),
    ]).toEqual([200, [['export', 'failed', 'INTERNAL']], ['the disk is gone']]);
  });

  test('a client that disconnects cancels the statement', async () => {
    let stopped: () => void = () => {};
    const isStopped = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    await open({
      around: atSecond(
        (signal) =>
          new Promise((_, reject) =>
            signal!.addEventListener('abort', () => {
              stopped();
              reject(new Error('stopped'));
            }),
          ),
      ),
    });
    const { hostname, port } = new URL(server.origin);
    const sent = request({ hostname, port, path: '/service/many.csv', headers: { authorization: 'Bearer user' } });
    sent.once('response', (response) => response.once('data', () => sent.destroy()));
    sent.on('error', () => {});
    sent.end();
    await isStopped;
    await expect.poll(() => server.activity.length).toBe(1);
    expect(server.observations.filter(({ type }) => type === 'failure')).toEqual([]);
  });
});
