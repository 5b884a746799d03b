// The caller, hooks, validations, binaries and chart periods: the input of code and its effects, over HTTP and MCP.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Agent, CollectionCustomizer } from '../../src/index.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE items (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL, n INTEGER)',
  "INSERT INTO items VALUES (1, 'one', 1), (2, 'two', 2), (3, 'six', 3)",
  'CREATE TABLE rules (id INTEGER PRIMARY KEY, present TEXT, longer TEXT, shorter TEXT, has TEXT, likes TEXT, fits TEXT, n REAL, m REAL, before DATETIME, after DATETIME, between_ INTEGER)',
  "INSERT INTO rules (id, present) VALUES (1, 'x')",
  'CREATE TABLE files (id INTEGER PRIMARY KEY, plain BLOB, uri BLOB, hex BLOB)',
  `INSERT INTO files VALUES ${[16, 100].map((length, at) => `(${at + 1}, ${Array(3).fill(`x'${'07'.repeat(length)}'`)})`)}, (3, NULL, NULL, NULL)`,
  `INSERT INTO files VALUES (4, x'89504e470d0a1a0a', x'89504e470d0a1a0a', x'89504e470d0a1a0a')`,
]; // biome-ignore format: a table

const types = ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const;
const positions = ['Before', 'After'] as const;
// biome-ignore lint/suspicious/noExplicitAny: the context of whichever hook.
type Handler = (context: any) => unknown;
let seen: unknown[] = [];
let hooks: Partial<Record<`${(typeof positions)[number]} ${(typeof types)[number]}`, Handler>> = {};
function listen(items: CollectionCustomizer): void {
  for (const position of positions)
    for (const type of types)
      items
        .addHook(position, type, async (context) => {
          // The second hook waits for the first, even a slow one.
          await new Promise((resolve) => setTimeout(resolve, 1));
          seen.push(`${position} ${type} 1`);
          await hooks[`${position} ${type}`]?.(context);
        })
        .addHook(position, type, () => void seen.push(`${position} ${type} 2`));
}

const rules = (each: CollectionCustomizer) =>
  each
    .addFieldValidation('present', 'Present')
    .addFieldValidation('longer', 'LongerThan', 2)
    .addFieldValidation('shorter', 'ShorterThan', 4)
    .addFieldValidation('has', 'Contains', '-')
    .addFieldValidation('likes', 'Like', 'A_c%')
    .addFieldValidation('fits', 'Match', /^[A-Z]\d+$/)
    .addFieldValidation('n', 'GreaterThan', 10)
    .addFieldValidation('m', 'LessThan', 10)
    .addFieldValidation('before', 'Before', '2024-05-01T00:00:00Z')
    .addFieldValidation('after', 'After', '2024-05-01T00:00:00Z')
    .addFieldValidation('between_', 'GreaterThan', 1)
    .addFieldValidation('between_', 'LessThan', 5);

const ranges = ['Day', 'Week', 'Month', 'Quarter', 'Year'] as const;
const points = {
  Day: [['2024-01-01', 2], ['2023-12-29', 8], ['2023-12-31T23:30:00Z', 1]],
  Week: [['2023-12-31', 1], ['2024-01-01', 2], ['2024-01-07', 3], ['2024-01-15', null], ['2024-01-22', 4]],
  Month: [['2023-12-31', 1], ['2024-01-01', 2], ['2024-01-31', 3], ['2024-03-01', 4]],
  Quarter: [['2023-12-31', 1], ['2024-01-01', 2], ['2024-03-31', 3], ['2024-07-01', 4]],
  Year: [['2022-12-31', 1], ['2023-01-01', 2], ['2023-12-31', 3], ['2025-06-01', 4]],
} as const; // biome-ignore format: a table

const place = serveOutside(tables, (agent: Agent) => {
  for (const range of ranges) {
    const values = points[range].map(([date, value]) => ({ date, value }));
    agent
      .addChart(range, (_, chart) => chart.timeBased(range, values))
      .addChart(`${range} edge`, (_, chart) => chart.timeBased(range, [{ date: '2023-12-31T23:30:00Z', value: 1 }]))
      .addChart(`${range} lines`, (_, chart) =>
        chart.multipleTimeBased(
          range,
          values.map(({ date }) => date),
          [{ label: 'a', values: values.map(({ value }) => value) }],
        ),
      );
  }
  agent
    .addChart('Hour', (_, chart) => chart.timeBased('Hour' as 'Day', [{ date: '2024-01-01', value: 1 }]))
    .customizeCollection('items', listen)
    .customizeCollection('rules', rules)
    .customizeCollection('files', (files) =>
      files.replaceFieldBinaryMode('uri', 'datauri').replaceFieldBinaryMode('hex', 'hex'),
    );
});

test('caller: id, email, firstName, lastName, team, role, tags, timezone: of the signed-in user', async () => {
  const callers: unknown[] = [];
  for (const type of types) hooks[`Before ${type}`] = ({ caller }) => void callers.push(caller);
  await place.list('/items');
  await place.tool('list', { collectionName: 'items' });
  await place.get('/items/count');
  await place.save('items', 1, { name: 'one' });
  hooks = {};
  const { id, email, firstName, lastName, team, role, tags, timezone } = {
    ...{ id: 1, email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron' },
    ...{ team: 'Operations', role: 'Administrator', tags: { region: 'south' }, timezone: 'Europe/Paris' },
  };
  const expected = { id, email, firstName, lastName, team, role, tags, timezone };
  expect(callers.length).toBeGreaterThanOrEqual(4);
  for (const caller of callers) {
    expect(caller).toMatchObject(expected);
    expect(Object.entries((caller as { tags: object }).tags)).toEqual([['region', 'south']]);
  }
});

describe('hooks', () => {
  const rows = async () => (await place.list('/items?sort=id')).map(({ id, name, n }) => [id, name, n]);
  const around = async (type: string, given: typeof hooks, act: () => Promise<unknown>) => {
    hooks = given;
    seen = [];
    const answer = await act();
    hooks = {};
    return { answer: answer as never, order: seen.filter((one) => String(one).includes(` ${type} `)) };
  };
  beforeEach(async () => {
    for (const id of await place.ids('/items')) await place.remove('items', id);
    for (const [id, name, n] of [one, two, six]) await place.save('items', null, { id, name, n });
  });
  const both = (type: string) => positions.flatMap((position) => [1, 2].map((at) => `${position} ${type} ${at}`));
  const json = (value: unknown) => JSON.parse(JSON.stringify(value));
  const [one, two, six] = [[1, 'one', 1], [2, 'two', 2], [3, 'six', 3]]; // biome-ignore format: short

  test.each<[string, () => Promise<unknown>]>([
    ['over HTTP', async () => (await place.list('/items?sort=-id')).map(({ id, name, n }) => [id, name, n])],
    ['over MCP', async () => (await place.tool('list', { collectionName: 'items', fields: ['id', 'name', 'n'], sort: '-id' })).json.rows],
  ])('hook: List: Before narrows the list, After changes the answer and not the stored record: %s', async (_, act) => {
    let told: unknown;
    const { answer, order } = await around('List', 
      {
        'Before List': ({ narrow }) =>
          narrow({ field: 'id', operator: 'LessThan', value: 3 }),
        'After List': ({ records, collectionName }) => {
          told = [collectionName, json(records).length];
          for (const record of records as Record<string, unknown>[]) record.name = `<${record.name}>`;
        },
      },
      act,
    );
    expect([answer, order, told, await rows()]).toEqual([
      [[2, '<two>', 2], [1, '<one>', 1]],
      both('List'),
      ['items', 2],
      [one, two, six],
    ]);
  }); // biome-ignore format: short

  test.each([
    ['over HTTP', () => place.save('items', null, { id: 7, name: ' new ' })],
    ['over MCP', () => place.tool('create', { collectionName: 'items', attributes: { id: 7, name: ' new ' } })],
  ])(
    'hook: Create; position: Before, After: Before changes the new record, After gets the stored one: %s',
    async (_, act) => {
      let before: unknown;
      let after: unknown;
      const { order } = await around(
        'Create',
        {
          'Before Create': ({ data }) => {
            before = json(data);
            for (const record of data as Record<string, unknown>[])
              Object.assign(record, { name: String(record.name).trim(), n: 7 });
          },
          'After Create': ({ data, records }) => {
            after = [json(data), json(records)];
          },
        },
        act,
      );
      const stored = [{ id: 7, name: 'new', n: 7 }];
      expect([order, before, after, await rows()]).toEqual([
        both('Create'),
        [{ id: 7, name: ' new ' }],
        [stored, stored],
        [one, two, six, [7, 'new', 7]],
      ]);
    },
  );

  test.each([
    ['over HTTP', () => place.save('items', 2, { name: 'zwei' })],
    ['over MCP', () => place.tool('update', { collectionName: 'items', recordIds: [2], attributes: { name: 'zwei' } })],
  ])('hook: Update: Before changes the patch, After gets it and the records: %s', async (_, act) => {
    let before: unknown;
    let after: unknown;
    const { order } = await around(
      'Update',
      {
        'Before Update': ({ patch }) => {
          before = json(patch);
          Object.assign(patch, { n: 22 });
        },
        'After Update': ({ patch, records }) => {
          after = [json(patch), json(records)];
        },
      },
      act,
    );
    expect([order, before, after, await rows()]).toEqual([
      both('Update'),
      { name: 'zwei' },
      [{ name: 'zwei', n: 22 }, [{ id: 2, name: 'zwei', n: 22 }]],
      [one, [2, 'zwei', 22], six],
    ]);
  });

  test.each([
    ['over HTTP', () => place.remove('items', 9)],
    ['over MCP', () => place.tool('delete', { collectionName: 'items', recordIds: [9] })],
  ])('hook: Delete: Before runs while the record exists, After gets the deleted record: %s', async (_, act) => {
    await place.save('items', null, { id: 9, name: 'nine', n: 9 });
    let before: unknown;
    let after: unknown;
    const { order } = await around(
      'Delete',
      {
        'Before Delete': async ({ collection }) => {
          before = await collection('items').count({});
        },
        'After Delete': ({ records }) => {
          after = json(records);
        },
      },
      act,
    );
    expect([order, before, after, await rows()]).toEqual([
      both('Delete'),
      4,
      [{ id: 9, name: 'nine', n: 9 }],
      [one, two, six],
    ]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['over HTTP', async () => (await place.get('/items/count')).body.count],
    ['over MCP', async () => (await place.tool('aggregate', { collectionName: 'items', operation: 'count' })).json.rows[0][0]],
  ])('hook: Aggregate: Before narrows the records, After changes the result: %s', async (_, act) => {
    const { answer, order } = await around('Aggregate', 
      {
        'Before Aggregate': ({ narrow }) =>
          narrow({ field: 'id', operator: 'LessThan', value: 3 }),
        'After Aggregate': ({ result }) => {
          for (const each of result as { value: number }[]) each.value *= 10;
        },
      },
      act,
    );
    expect([answer, order]).toEqual([20, both('Aggregate')]);
  }); // biome-ignore format: short

  test('hook: List, Aggregate; position: Before: conditions of several hooks and of the request all apply, and After gets them; 0 and an empty string are unchanged', async () => {
    const told: unknown[] = [];
    const twice: Handler = ({ narrow }) => [narrow({ field: 'id', operator: 'GreaterThan', value: 1 }), narrow({ field: 'id', operator: 'LessThan', value: 3 })];
    const given: typeof hooks = { 'Before List': twice, 'Before Aggregate': twice, 'After List': ({ filter, records }) => {
      told.push(json(filter));
      for (const record of records as Record<string, unknown>[]) Object.assign(record, { n: 0, name: '', more: 1 });
    } };
    const asked = `filters=${encodeURIComponent('{"field":"n","operator":"Present"}')}`;
    const list = await around('List', given, () => place.list(`/items?${asked}`));
    const count = await around('Aggregate', given, async () => (await place.get(`/items/count?${asked}`)).body.count);
    expect([list.answer, count.answer, told]).toEqual([
      [{ id: 2, name: '', n: 0 }],
      1,
      [{ conditionTree: { aggregator: 'And', conditions: [{ field: 'n', operator: 'Present' }, { field: 'id', operator: 'GreaterThan', value: 1 }, { field: 'id', operator: 'LessThan', value: 3 }] } }],
    ]);
  }); // biome-ignore format: short

  test.each(['Create', 'Update', 'Delete'] as const)('hook: %s: Before that throws stops the call, and nothing is written; After cannot undo it', async (type) => {
    const act = { Create: () => place.save('items', null, { id: 8, name: 'eight' }), Update: () => place.save('items', 1, { name: 'uno' }), Delete: () => place.remove('items', 1) }[type];
    const stop: Handler = ({ throwError }) => throwError('Not now.');
    const before = await around(type, { [`Before ${type}`]: stop }, act);
    const kept = await rows();
    const after = await around(type, { [`After ${type}`]: stop }, act);
    const { status, body } = before.answer as { status: number; body: { errors: { detail: string }[] } };
    const late = after.answer as { status: number; body: { errors: { detail: string }[] } };
    expect([status >= 400, body.errors[0]!.detail, before.order, kept]).toEqual([true, 'Not now.', [`Before ${type} 1`], [one, two, six]]);
    expect([late.body.errors[0]!.detail, (await rows()).length]).toEqual([expect.stringContaining('Not now.'), { Create: 4, Update: 3, Delete: 3 - 1 }[type]]);
  }); // biome-ignore format: short
});

test.each<[operator: string, field: string, bad: unknown[], good: unknown[], rule: unknown[]]>([
  ['Present', 'present', ['', null], ['a', ' '], [['is present', undefined]]],
  ['LongerThan', 'longer', ['ab', '', 'a😀'], ['abc', 'ab😀', null], [['is longer than', 2]]],
  ['ShorterThan', 'shorter', ['abcd', 'abcde'], ['abc', 'ab😀', '', null], [['is shorter than', 4]]],
  ['Contains', 'has', ['ab', ''], ['a-b', '-', null], [['contains', '-']]],
  ['Like', 'likes', ['Ac', 'aBcd', 'xAbc', 'Abbc'], ['Abc', 'Abcd', null], [['is like', '/^A.c.*$/']]],
  ['Match', 'fits', ['a1', 'A1x', 'A', ''], ['A1', 'Z22', null], [['is like', '/^[A-Z]\\d+$/']]],
  ['GreaterThan', 'n', [10, 9.99, -11], [10.01, 11, null], [['is greater than', 10]]],
  ['LessThan', 'm', [10, 10.01, 11], [9.99, -1, null], [['is less than', 10]]],
  ['Before', 'before', ['2024-05-01T00:00:00.000Z', '2024-05-02T00:00:00.000Z'], ['2024-04-30T23:59:59.000Z', null], [['is before', '2024-05-01T00:00:00Z']]],
  ['After', 'after', ['2024-05-01T00:00:00.000Z', '2024-04-30T00:00:00.000Z'], ['2024-05-01T00:00:01.000Z', null], [['is after', '2024-05-01T00:00:00Z']]],
  ['GreaterThan, LessThan', 'between_', [1, 5], [2, 4, null], [['is greater than', 1], ['is less than', 5]]],
])('validation | %s: of %s: at its bounds, for creates and updates; invalid values are not written; the schema file has the rule', async (operator, field, bad, good, rule) => {
  const stored = async () => (await place.list('/rules?filters=%7B%22field%22%3A%22id%22%2C%22operator%22%3A%22Equal%22%2C%22value%22%3A1%7D'))[0]![field];
  for (const value of bad) {
    const before = await stored();
    const updated = await place.save('rules', 1, { [field]: value });
    const created = await place.save('rules', null, { id: 2, present: 'x', [field]: value });
    const tool = await place.tool('update', { collectionName: 'rules', recordIds: [1], attributes: { [field]: value } });
    const problem = { field, problem: expect.stringMatching(operator.replace(', ', '|')) };
    expect([updated.status, updated.body.errors[0].data.fields, created.status, JSON.stringify(tool).includes('breaks the rule'), await stored()], `${value}`).toEqual([400, [problem], 400, true, before]);
  }
  for (const value of good) {
    expect([(await place.save('rules', 1, { [field]: value })).status, await stored()], `${value}`).toEqual([200, value]);
    expect((await place.save('rules', null, { id: 2, present: 'x', [field]: value })).status).toBe(200);
    await place.remove('rules', 2);
  }
  const { fields } = place.schema.collections.find(({ name }: { name: string }) => name === 'rules');
  const { validations } = fields.find((one: { field: string }) => one.field === field);
  expect(validations.map(({ type, value }: Record<string, unknown>) => [type, value])).toEqual(rule);
}); // biome-ignore format: a table

test('validation | Present: a record without the field is not created; other rules allow it', async () => {
  expect([(await place.save('rules', null, { id: 3 })).status, await place.ids('/rules')]).toEqual([400, [1]]);
});

describe('binary mode', () => {
  const bytes = (hex: string) => Buffer.from(hex, 'hex').toString('base64');
  const uri = (hex: string, type = 'application/octet-stream') => `data:${type};base64,${bytes(hex)}`;
  const [short, long, png] = ['07'.repeat(16), '07'.repeat(100), '89504e470d0a1a0a'];

  test('binary mode | datauri, hex: shown in this form at any length, null as null; the schema file names it', async () => {
    const rows = (await place.list('/files?sort=id')).map((one) => [one.uri, one.hex]);
    const { fields } = place.schema.collections.find(({ name }: { name: string }) => name === 'files');
    const modes = fields.map((one: Record<string, unknown>) => [one.field, one.type, one.binaryMode]);
    expect([rows, modes]).toEqual([
      [[uri(short), short], [uri(long), long], [null, null], [uri(png, 'image/png'), png]],
      expect.arrayContaining([['uri', 'Binary', 'datauri'], ['hex', 'Binary', 'hex']]),
    ]);
  }); // biome-ignore format: short

  test('binary mode | datauri, hex: both forms are accepted for both modes, in writes and filters; others are refused', async () => {
    for (const field of ['uri', 'hex'])
      for (const value of [uri(short), short]) {
        const filters = (given: unknown) => `/files?filters=${encodeURIComponent(JSON.stringify({ field, operator: 'Equal', value: given }))}`;
        expect([await place.ids(filters(value)), (await place.save('files', 3, { [field]: value })).status, await place.ids(filters(value))]).toEqual([[1], 200, [1, 3]]);
        expect((await place.save('files', 3, { [field]: 'no binary' })).status).toBe(400);
        await place.save('files', 3, { [field]: null });
      }
  }); // biome-ignore format: short
});

test.each<[string, labels: string[], values: unknown[], utc: string, paris: string]>([
  ['Day', ['29/12/2023', '30/12/2023', '31/12/2023', '01/01/2024'], [8, 0, 0, 3], '31/12/2023', '01/01/2024'],
  ['Week', ['W52-2023', 'W1-2024', 'W2-2024', 'W3-2024', 'W4-2024'], [1, 5, 0, null, 4], 'W52-2023', 'W1-2024'],
  ['Month', ['Dec 23', 'Jan 24', 'Feb 24', 'Mar 24'], [1, 5, 0, 4], 'Dec 23', 'Jan 24'],
  ['Quarter', ['Q4-2023', 'Q1-2024', 'Q2-2024', 'Q3-2024'], [1, 5, 0, 4], 'Q4-2023', 'Q1-2024'],
  ['Year', ['2022', '2023', '2024', '2025'], [1, 5, 0, 4], '2023', '2024'],
])('time range | %s: every period from first to last, with sums of its values, in the requested timezone', async (range, labels, values, utc, paris) => {
  const ask = async (chart: string, zone = '') => (await place.get(`/_charts/${encodeURIComponent(chart)}${zone}`)).body;
  const lines = await ask(`${range} lines`);
  expect([await ask(range), lines, await ask(`${range} edge`, '?timezone=UTC'), await ask(`${range} edge`)]).toEqual([
    labels.map((label, at) => ({ label, values: { value: values[at] } })),
    { labels, values: [{ key: 'a', values }] },
    [{ label: utc, values: { value: 1 } }],
    [{ label: paris, values: { value: 1 } }],
  ]);
}); // biome-ignore format: a table

test('time range | Day, Week, Month, Quarter, Year: no others', async () => {
  expect((await place.get('/_charts/Hour')).status).toBeGreaterThanOrEqual(400);
});
