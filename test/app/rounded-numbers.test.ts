// Two integers above 2^53 can be the same JSON number (RFC 8259 section 6), so such a number is refused as an id or a
// value.
import { describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { requestOf } from './call.ts';
import { openHttp } from './callers.ts';
import { openTables } from './music.ts';

const tables = [
  'CREATE TABLE snow (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(40), price DECIMAL(20, 4), weight DOUBLE PRECISION)',
  'CREATE TABLE flakes (code VARCHAR(20) NOT NULL PRIMARY KEY, snow_id BIGINT REFERENCES snow (id))',
  "INSERT INTO snow (id, name) VALUES (9007199254740992, 'even'), (9007199254740993, 'odd')",
  "INSERT INTO flakes VALUES ('9007199254740992', 9007199254740992), ('9007199254740993', 9007199254740993)",
];
// JSON.parse reads 9007199254740993 as this number.
const rounded = 9007199254740992;
const refused = expect.stringMatching(/^INVALID_(?:VALUE|RECORD): .*its digits as a (?:string|text)/s);

describe.each(servers)('$dialect', (maker) => {
  test('an id or a value that JSON rounded is refused, and its digits as a string are accepted', async () => {
    const music = await openTables(maker, tables);
    const snapshot = async () => [await music.rows('snow'), await music.rows('flakes')];
    const before = await snapshot();
    const name = { attributes: { name: 'changed' } };
    const collectionName = 'snow';
    for (const recordIds of [[rounded], [rounded * 2], [-rounded], `[${rounded}]`]) {
      expect(await music.call('delete', { collectionName, recordIds })).toEqual(refused);
      expect(await music.call('update', { collectionName, recordIds, ...name })).toEqual(refused);
    }
    expect(await music.call('delete', { collectionName: 'flakes', recordIds: [rounded] })).toEqual(refused);
    for (const attributes of [{ id: rounded }, { id: 1, price: rounded }, { id: 1, name: rounded }])
      expect(await music.call('create', { collectionName, attributes })).toEqual(refused);
    for (const operator of ['Equal', 'In', 'GreaterThan'])
      expect(await music.call('list', { collectionName, filters: { field: 'id', operator, value: rounded } })).toEqual(
        refused,
      );
    expect(await snapshot()).toEqual(before);
    expect(await music.call('create', { collectionName, attributes: { id: 1, weight: 1e20 } })).toMatchObject({
      ids: ['1'],
    });
    expect(await music.call('update', { collectionName, recordIds: ['9007199254740993'], ...name })).toMatchObject({
      count: 1,
    });
    expect((await music.rows('snow')).filter((row) => String(row).includes('changed'))).toHaveLength(1);
  });

  test('a rounded number is refused over the HTTP API, in values of actions and in workflow starts', async () => {
    const executed: unknown[] = [];
    const music = await openTables(maker, tables, (agent) =>
      agent.customizeCollection('snow', (snow) => {
        snow.addAction('Melt', {
          scope: 'Bulk',
          execute: async ({ getRecordIds }) => void executed.push(await getRecordIds()),
        });
        snow.addAction('Send', {
          scope: 'Global',
          form: [
            { label: 'code', type: 'String' },
            { label: 'amount', type: 'Number' },
            { label: 'amounts', type: 'NumberList' },
          ],
          execute: ({ formValues }) => void executed.push(formValues),
        });
      }),
    );
    const http = await openHttp(music);
    const snapshot = async () => [await music.rows('snow'), await music.rows('flakes')];
    const before = await snapshot();
    const one = { type: 'snow', id: rounded };
    const some = { data: { attributes: { ids: [rounded] } } };
    const flake = '/flakes/9007199254740993/relationships/snow';
    const answers = [
      await http.ask('DELETE', '/snow', some),
      await http.ask('PUT', flake, { data: one }),
      await http.ask('DELETE', '/snow/9007199254740993/relationships/flakes', { data: [{ ...one, type: 'flakes' }] }),
      await http.ask('POST', '/flakes', {
        data: { type: 'flakes', attributes: { code: 'new' }, relationships: { snow: { data: one } } },
      }),
      await http.execute('snow', 'Melt', [rounded as never]),
      ...(await Promise.all(
        [{ code: rounded }, { amount: rounded }, { amounts: [1, rounded] }].map((values) =>
          http.execute('snow', 'Send', [], values),
        ),
      )),
    ];
    for (const { status, body } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(JSON.stringify(body)).toMatch(/its digits as a string|a number of at most 15 digits/);
    }
    const calls = [{ code: rounded }, { amount: rounded }, { amounts: [1, rounded] }];
    for (const values of calls)
      expect(await music.call('executeAction', { collectionName: 'snow', actionName: 'Send', values })).toMatch(
        /its digits as a string|a number of at most 15 digits/,
      );
    const { renderingId } = (await music.store.permissions.caller(
      (await music.store.identity.findUserByEmail(music.clerk.email))!.id,
    ))!;
    const step = { id: 'set', type: 'update-record', values: { name: 'changed' } };
    const { id: workflowId } = await music.store.workflows.publish({
      ...{ renderingId, name: 'Check', collection: 'snow', concurrency: null, by: 1 },
      definition: JSON.stringify({ name: 'Check', collection: 'snow', steps: [step] }),
    });
    for (const recordId of [rounded, `[${rounded}]`])
      expect(await music.call('triggerWorkflow', { workflowId, recordId })).toMatch(/its digits as a string/);
    expect(await music.store.runs.list({ renderingId, limit: 5 })).toEqual([]);
    expect(executed).toEqual([]);
    expect(await snapshot()).toEqual(before);
  });

  test('a number that JSON cannot represent is refused with the digits that were sent', async () => {
    const music = await openTables(maker, tables);
    const http = await openHttp(music);
    const before = await music.rows('snow');
    const secret = (
      await music.store.tokens.create({
        userId: (await music.store.identity.findUserByEmail(music.clerk.email))!.id,
        name: 'raw',
        scopes: ['mcp:read', 'mcp:write'],
      })
    ).secret;
    const post = async (attributes: string) => {
      const { headers, body } = requestOf('tools/call', {
        name: 'create',
        arguments: { collectionName: 'snow', attributes: 'HERE' },
      });
      const answer = await fetch(music.mcpUrl, {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${secret}` },
        body: body.replace('"HERE"', attributes),
      });
      return answer.text();
    };
    for (const literal of ['9007199254740993', '1234567890123456.7891', '0.1234567890123456789', '1e999', '-1E400']) {
      const said = new RegExp(
        `the number ${literal.replace(/[.+]/g, '.')} \\(at 'price'\\).*Send its digits as a string`,
      );
      expect(await post(`{"id": 5, "price": ${literal}}`)).toMatch(said);
      expect(
        await http.raw('POST', '/snow', `{"data":{"type":"snow","attributes":{"id":5,"price":${literal}}}}`),
      ).toMatch(said);
      expect(await post(`{"id": 5, "name": "x", "nested": {"price": [1, ${literal}]}}`)).toMatch(said);
    }
    expect(await music.rows('snow')).toEqual(before);
    for (const [price, id] of [
      ['1.50', 11],
      ['1e2', 12],
      ['100.0', 13],
      ['123456789012345', 14],
      ['0.1', 15],
    ] as const)
      expect(await post(`{"id": ${id}, "price": ${price}}`)).not.toMatch(/isError|error/);
    const exact = { collectionName: 'snow', attributes: { id: 20, price: '0.12345' } };
    expect(await music.call('create', exact)).toMatch(/INVALID_RECORD.*at most 4 digits after the decimal point/s);
    expect(await music.call('create', { ...exact, attributes: { id: 20, price: 0.12345 } })).toMatch(
      /at most 4 digits/,
    );
    expect(await music.call('create', { ...exact, attributes: { id: 20, price: 0.1 + 0.2 } })).toMatchObject({
      ids: ['20'],
    });
  });
});

test('SQLite: an integer stored as a double is shown, and so are the others', async () => {
  const music = await openTables(servers[0]!, [
    'CREATE TABLE snow (id INTEGER PRIMARY KEY, big BIGINT, name TEXT)',
    "INSERT INTO snow VALUES (1, 9223372036854775808, 'double'), (2, 9223372036854775807, 'exact'), (3, 5, 'small')",
  ]);
  expect(await music.call('list', { collectionName: 'snow', fields: ['id', 'big'] })).toMatchObject({
    rows: [
      [1, '9223372036854775808'],
      [2, '9223372036854775807'],
      [3, 5],
    ],
  });
  expect(
    JSON.stringify(await music.call('aggregate', { collectionName: 'snow', operation: 'max', field: 'big' })),
  ).not.toMatch(/INTERNAL/);
});

test.each(servers)(
  '$dialect: NUL and lone surrogates are refused, other characters are stored unchanged',
  async (maker) => {
    const type = { sqlite: 'JSON', mariadb: 'JSON', postgres: 'JSONB' }[maker.dialect];
    const music = await openTables(maker, [
      `CREATE TABLE notes (id INTEGER PRIMARY KEY, body VARCHAR(40), data ${type})`,
    ]);
    const create = (attributes: object) =>
      music.call('create', { collectionName: 'notes', attributes: { id: 1, ...attributes } });
    const wrong = ['\0', 'a\ud83e', '\udd8ab'];
    for (const text of wrong) {
      expect(await create({ body: text })).toMatch(/^INVALID_RECORD: .*without (NUL|lone)/s);
      expect(await create({ data: { deep: [text] } })).toMatch(/^INVALID_RECORD: .*JSON without NUL/s);
    }
    const right = { body: '\ud83e\udd8a \\u0000', data: { deep: ['\ud83e\udd8a', '\\u0000 \\ud83e'] } };
    expect(await create(right)).toMatchObject({ ids: ['1'] });
    expect(await music.call('list', { collectionName: 'notes', fields: ['body'] })).toMatchObject({
      rows: [[right.body]],
    });
  },
);

test.each(servers)('$dialect: a time with more digits than its column is returned as it is stored', async (maker) => {
  const [type, sent, kept] = (
    {
      sqlite: ['DATETIME', '2024-03-31T10:00:00.987Z', '2024-03-31T10:00:00.000Z'],
      mariadb: ['DATETIME', '2024-03-31T10:00:00.987Z', '2024-03-31T10:00:00.000Z'],
      postgres: ['TIMESTAMPTZ(0)', '2024-03-31T10:00:00.987Z', '2024-03-31T10:00:01.000Z'],
    } as const
  )[maker.dialect];
  const music = await openTables(maker, [
    `CREATE TABLE visits (id INTEGER NOT NULL PRIMARY KEY, at_time ${type})`,
    "INSERT INTO visits VALUES (1, '2024-01-01 00:00:00')",
  ]);
  const change = { collectionName: 'visits', recordIds: ['1'], attributes: { at_time: sent } };
  const answers = [await music.call('update', { ...change, dryRun: true }), await music.call('update', change)];
  const list = await music.call('list', { collectionName: 'visits', fields: ['at_time'] });
  expect(list).toMatchObject({ rows: [[kept]] });
  for (const answer of answers) {
    expect(JSON.stringify(answer)).toContain(kept);
    expect(JSON.stringify(answer)).not.toContain(sent);
  }
});
