// The cost of calls for assistants in tokens (gpt-tokenizer, o200k_base), the
// size limits of results, and the cost for the database in statements per call.
import { createHash } from 'node:crypto';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../src/agent/sources/sql/source.ts';
import { systemClock } from '../src/core/clock.ts';
import { AppError } from '../src/core/errors.ts';
import { errorText } from '../src/mcp/results/result.ts';
import { estimateTokens } from '../src/mcp/results/tokens.ts';
import { toolNames } from '../src/mcp/tools.ts';
import { type Counted, counted } from './agent/counted.ts';
import { accessOf, databases, type Shop } from './agent/shop.ts';
import { servers, type TestDatabase } from './databases.ts';
import { answerOf, legacy, type McpTestServer, modern, openMcpServer, post, withExtras } from './mcp/mcp-server.ts';
import { runSql } from './sql/schemas.ts';

// A lending library: eleven tables, one of thirteen fields.
const tables = [
  'CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT)',
  'CREATE TABLE staff (id INTEGER PRIMARY KEY, branch_id INTEGER NOT NULL REFERENCES branches(id), manager_id INTEGER REFERENCES staff(id), name TEXT NOT NULL)',
  `CREATE TABLE members (id INTEGER PRIMARY KEY, branch_id INTEGER REFERENCES branches(id), first_name TEXT NOT NULL,
    last_name TEXT NOT NULL, email TEXT NOT NULL, phone TEXT, street TEXT, city TEXT, postal_code TEXT, country TEXT,
    birth_date DATE, joined_at DATETIME NOT NULL, notes TEXT)`,
  'CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
  'CREATE TABLE publishers (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
  'CREATE TABLE subjects (id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
  'CREATE TABLE books (id INTEGER PRIMARY KEY, publisher_id INTEGER REFERENCES publishers(id), subject_id INTEGER REFERENCES subjects(id), title TEXT NOT NULL)',
  'CREATE TABLE book_authors (book_id INTEGER REFERENCES books(id), author_id INTEGER REFERENCES authors(id), PRIMARY KEY (book_id, author_id))',
  'CREATE TABLE copies (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books(id), branch_id INTEGER REFERENCES branches(id))',
  'CREATE TABLE loans (id INTEGER PRIMARY KEY, copy_id INTEGER NOT NULL REFERENCES copies(id), member_id INTEGER NOT NULL REFERENCES members(id), due DATE)',
  'CREATE TABLE fines (id INTEGER PRIMARY KEY, loan_id INTEGER NOT NULL REFERENCES loans(id), cents INTEGER NOT NULL)',
];
const first = ['Ingrid', 'Mateo', 'Yusuf', 'Hélène', 'Piotr'];
const last = ['Sandvik', 'Okafor', 'Brûlé', 'Castellanos', 'Nowak', 'Abernathy', 'Ferro'];
const members = Array.from({ length: 600 }, (_, i): (string | number | null)[] => {
  const [given, family] = [first[i % first.length]!, last[i % last.length]!];
  return [
    i + 1,
    null,
    given,
    family,
    `${given}.${family}${i}@mail.example`.toLowerCase(),
    i % 3 ? `+47 22 ${100_000 + i * 7}` : null,
    `${i + 3} Harbour Street`,
    'Bergen',
    `${5000 + i}`,
    'Norway',
    '1984-03-17',
    '2024-05-06 07:08:09',
    i % 4 ? null : 'Prefers large print; calls before coming.',
  ];
});
const long = 'The heron stood in the reeds. '.repeat(400);
const literal = (value: string | number | null) => (typeof value === 'string' ? `'${value}'` : String(value));

let server: McpTestServer;
let database: TestDatabase;

beforeAll(async () => {
  database = await servers[0]!.create();
  const inserts = members.map((row) => `(${row.map(literal).join(', ')})`).join(', ');
  const books = [1, 2, 3].map((id) => `(${id}, NULL, NULL, '${id === 3 ? 'short' : long}')`).join(', ');
  await runSql(database, [...tables, `INSERT INTO members VALUES ${inserts}`, `INSERT INTO books VALUES ${books}`]);
  server = await openMcpServer({
    source: createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
    customize: withExtras('branches'),
  });
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

/** The only text in the result of a tool. */
async function ask(name: string, given: Record<string, unknown> = {}): Promise<string> {
  const call = modern('tools/call', { name, arguments: given });
  const { body } = await post(server, call.body, call.headers);
  return (body as { result: { content: [{ text: string }] } }).result.content[0].text;
}

interface Listed {
  tools: { name: string; title: string; description: string; inputSchema: unknown; annotations: object }[];
}

/** The tools of the specification. */
const specifiedNames = [
  ...['describeCollection', 'list', 'listRelated', 'create', 'update', 'delete', 'associate', 'dissociate'],
  ...['getActionForm', 'executeAction'],
];
/** Listed only for users with workflows. */
const ofWorkflows = ['listWorkflows', 'triggerWorkflow', 'getWorkflowRun'];

const modelView = ({ name, description, inputSchema }: Listed['tools'][number]) =>
  countTokens(JSON.stringify({ name, description, input_schema: inputSchema }));

describe('the tool list and the instructions', () => {
  test('tools/list: a tool takes at most 350 tokens, the tools of the specification 1,300 and 8 kB, all tools 2,100', async () => {
    const { body } = await post(server, legacy('tools/list'));
    const { tools } = (body as { result: Listed }).result;
    expect(tools.map(({ name }) => name)).toEqual(toolNames.filter((name) => !ofWorkflows.includes(name)));
    const costs = tools.map(modelView);
    expect(Math.max(...costs)).toBeLessThanOrEqual(350);
    const sum = (some: readonly Listed['tools'][number][]) => some.map(modelView).reduce((a, b) => a + b);
    const specified = tools.filter(({ name }) => specifiedNames.includes(name));
    expect(specified).toHaveLength(10);
    expect(sum(specified)).toBeLessThanOrEqual(1300);
    expect(sum(tools)).toBeLessThanOrEqual(2100);
    expect(JSON.stringify(specified).length).toBeLessThanOrEqual(8000);
  });

  test('the three workflow tools take at most 300 tokens, and are listed if there are workflows', async () => {
    const other = await openMcpServer({ workflowOn: 'notes' });
    const { body } = await post(other, legacy('tools/list'));
    await other.close();
    const added = (body as { result: Listed }).result.tools.filter(({ name }) => ofWorkflows.includes(name));
    expect(added.map(({ name }) => name)).toEqual(ofWorkflows);
    expect(added.map(modelView).reduce((a, b) => a + b)).toBeLessThanOrEqual(300);
  });

  test('every argument has a type, and every list has an item type', async () => {
    const { body } = await post(server, legacy('tools/list'));
    const { tools } = (body as { result: Listed }).result;
    const untyped = tools.flatMap(({ name, inputSchema }) =>
      Object.entries((inputSchema as { properties: Record<string, { type?: string; items?: unknown }> }).properties)
        .filter(([, { type, items }]) => type === undefined || (type === 'array' && items === undefined))
        .map(([argument]) => `${name}.${argument}`),
    );
    expect(untyped).toEqual([]);
  });

  test('every tool has a title and all four hints', async () => {
    const { body } = await post(server, legacy('tools/list'));
    const { tools } = (body as { result: Listed }).result;
    const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
    expect(tools.map((tool) => [typeof tool.title, Object.keys(tool.annotations)])).toEqual(
      tools.map(() => ['string', hints]),
    );
  });

  test('instructions: under 300 tokens', async () => {
    const { body, headers } = modern('server/discover');
    const answer = await post(server, body, headers);
    const { instructions } = (answer.body as { result: { instructions: string } }).result;
    expect(countTokens(instructions)).toBeLessThan(300);
  });
});

describe('descriptions', () => {
  test('the index of 11 collections: at most 150 tokens', async () => {
    const text = await ask('describeCollection');
    expect([Object.keys(JSON.parse(text).collections).length, countTokens(text) <= 150, text]).toEqual([
      11,
      true,
      text,
    ]);
  });

  test('a collection of 13 fields: at most 120 tokens, 450 in full', async () => {
    const concise = await ask('describeCollection', { collectionName: 'members' });
    const full = await ask('describeCollection', { collectionName: 'members', detail: 'full' });
    expect(Object.keys(JSON.parse(concise).fields)).toHaveLength(13);
    expect(countTokens(concise)).toBeLessThanOrEqual(120);
    expect(countTokens(full)).toBeLessThanOrEqual(450);
  });
});

describe('lists', () => {
  test('ten rows cost at most 1.15 times the CSV of the same cells, and the envelope at most 40 tokens', async () => {
    const text = await ask('list', { collectionName: 'members', pagination: { size: 10 } });
    const { columns, rows } = JSON.parse(text) as { columns: string[]; rows: (string | number | null)[][] };
    const cell = (value: string | number | null) => (value === null ? '' : String(value));
    const csv = [columns.join(','), ...rows.map((row) => row.map(cell).join(','))].join('\n');
    const cells = JSON.stringify({ columns, rows });
    expect(rows).toHaveLength(10);
    expect(countTokens(cells) / countTokens(csv)).toBeLessThanOrEqual(1.15);
    expect(countTokens(text) - countTokens(cells)).toBeLessThanOrEqual(40);
  });

  test('a long list is cut between rows within the budget, and the cursor continues until the last record', async () => {
    const ids: unknown[] = [];
    let cursor: string | undefined;
    let cut = 0;
    do {
      const text = await ask('list', {
        collectionName: 'members',
        pagination: { size: 600 },
        ...(cursor && { cursor }),
      });
      const answer = JSON.parse(text) as { rows: unknown[][]; hasMore: boolean; nextCursor?: string; note?: string };
      expect(countTokens(text)).toBeLessThanOrEqual(8000);
      if (answer.note?.startsWith(`Cut at ${answer.rows.length} of `)) cut++;
      ids.push(...answer.rows.map((row) => row[0]));
      cursor = answer.nextCursor;
    } while (cursor !== undefined);
    expect([cut > 1, ids]).toEqual([true, members.map((row) => row[0])]);
  });

  test('related records are cut between records too', async () => {
    const text = await ask('list', { collectionName: 'members', pagination: { size: 600 }, format: 'records' });
    const { records, hasMore, nextCursor } = JSON.parse(text);
    expect([countTokens(text) <= 8000, Object.keys(records[0]).length, hasMore, typeof nextCursor]).toEqual([
      true,
      13,
      true,
      'string',
    ]);
  });

  test('a long text is clipped and the note says how to read it; a list of only this text is complete', async () => {
    const both = JSON.parse(await ask('list', { collectionName: 'books', fields: ['id', 'title'] }));
    const filters = { field: 'id', operator: 'Equal', value: 1 };
    const alone = JSON.parse(await ask('list', { collectionName: 'books', fields: ['title'], filters }));
    expect(both.rows).toEqual([
      [
        1,
        `${long.slice(0, 2000)}…[2000 of 12000 characters; for more, list this record with "cells":{"title":{"from":2000}}]`,
      ],
      [
        2,
        `${long.slice(0, 2000)}…[2000 of 12000 characters; for more, list this record with "cells":{"title":{"from":2000}}]`,
      ],
      [3, 'short'],
    ]);
    expect(alone.rows).toEqual([[long]]);
  });
});

describe('a small budget', () => {
  let small: McpTestServer;
  beforeAll(async () => {
    small = await openMcpServer({
      source: createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
      settings: { answerTokens: 500 },
    });
  });
  afterAll(() => small.close());

  test('a single record that is too large is clipped until it fits', async () => {
    const call = modern('tools/call', {
      name: 'list',
      arguments: { collectionName: 'books', pagination: { size: 1 } },
    });
    const answer = await post(small, call.body, call.headers);
    const { rows, note, nextCursor } = answerOf(answer.body) as { rows: unknown[][]; note: string; nextCursor: string };
    expect(countTokens(JSON.stringify(answerOf(answer.body)))).toBeLessThanOrEqual(500);
    expect([rows.length, note, typeof nextCursor]).toEqual([1, undefined, 'string']);
  });
});

describe('errors', () => {
  const wide = Array.from({ length: 40 }, (_, i) => `a_rather_long_operator_name_${i}`);
  test.each([
    new AppError('OPERATOR_NOT_ALLOWED', { collection: 'members', field: 'email', operator: 'Nope', allowed: wide }),
    new AppError('UNKNOWN_FIELD', { collection: 'x'.repeat(300), field: 'y'.repeat(300), near: wide.slice(0, 5) }),
    new AppError('INVALID_ARGUMENT', { argument: 'filters', problem: 'word '.repeat(300) }),
    new AppError('INVALID_VALUE', { at: 'id', expected: 'a number', got: 'q'.repeat(10_000) }),
  ])('$code takes at most 80 tokens, and starts with its code', (error) => {
    const text = errorText(error);
    expect([countTokens(text) <= 80, text.startsWith(error.code)]).toEqual([true, true]);
  });

  test('the errors that models cause most often take at most 80 tokens each, and name the next step', async () => {
    const collectionName = 'members';
    const texts = await Promise.all([
      ask('list', {}),
      ask('list', { collectionName: 'membre' }),
      ask('list', { collectionName, fields: ['name'] }),
      ask('list', { collectionName, filters: { field: 'email', operator: 'Before', value: 'x' } }),
      ask('list', { collectionName, filters: { emial: 'x' } }),
      ask('list', { collectionName, sort: 3 }),
      ask('list', { collectionName, most: 3 }),
      ask('list', { collectionName, pagination: { size: 5000 } }),
    ]);
    expect(texts.map((text) => [text, countTokens(text) <= 80])).toEqual(texts.map((text) => [text, true]));
    expect(texts.map((text) => text.split(':')[0])).toEqual([
      'INVALID_ARGUMENT',
      'UNKNOWN_COLLECTION',
      'UNKNOWN_FIELD',
      'OPERATOR_NOT_ALLOWED',
      'UNKNOWN_FIELD',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
      'INVALID_ARGUMENT',
    ]);
  });

  test('errors of writes take at most 80 tokens each, and nothing is written', async () => {
    const collectionName = 'members';
    const many = Array.from({ length: 300 }, (_, at) => `${10_000 + at}`);
    const attributes = { first_name: 'A', last_nam: 'B', emal: 'x', joined_at: 'yesterday', birth_date: 'spring' };
    const texts = await Promise.all([
      ask('create', { collectionName, attributes }),
      ask('create', { collectionName, attributes: Array.from({ length: 100 }, () => attributes) }),
      ask('update', { collectionName, recordIds: many, attributes: { first_name: 'A' } }),
      ask('delete', { collectionName, recordIds: many }),
      ask('delete', { collectionName }),
      ask('associate', { collectionName, relationName: 'lone', parentRecordId: 1, targetRecordId: 1 }),
    ]);
    expect(texts.map((text) => [text, countTokens(text) <= 80])).toEqual(texts.map((text) => [text, true]));
    expect(texts.map((text) => text.split(':')[0])).toEqual([
      'INVALID_RECORD',
      'INVALID_RECORD',
      'RECORD_NOT_FOUND',
      'RECORD_NOT_FOUND',
      'INVALID_ARGUMENT',
      'UNKNOWN_RELATION',
    ]);
  });
});

// Deterministic, so the numbers are the same in every run.
let drawn = 0;
const randomBytes = (length: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(length / 32) }, () => createHash('sha256').update(`${drawn++}`).digest()),
  ).subarray(0, length);
const randomUuid = () =>
  randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const pick = (text: string, length: number) =>
  Array.from(randomBytes(length), (byte) => text[byte % text.length]).join('');
const samples: Record<string, () => unknown> = {
  prose: () => 'The order came late, because the customer had asked for another colour of lamp.',
  uuids: () => randomUuid(),
  base64: () => randomBytes(90).toString('base64'),
  hex: () => randomBytes(40).toString('hex'),
  numbers: () => [randomBytes(4).readUInt32LE(), randomBytes(4).readUInt32LE() / 7e6, -7, 3],
  dates: () => [new Date(randomBytes(4).readUInt32LE() * 500).toISOString(), '2024-05-06'],
  addresses: () => 'leonie.kohler@mail.example, Theodor-Heuss-Straße 34, 70174 Stuttgart',
  'random letters': () => pick('abcdefghijklmnopqrstuvwxyz', 40),
  'random capitals': () => pick('ABCDEFGHIJKLMNOPQRSTUVWXYZ', 40),
  consonants: () => pick('qzxjkvwb', 40),
  japanese: () => '注文は倉庫の確認待ちのため遅れました',
  chinese: () => '客户要求更换灯的颜色',
  korean: () => '고객이 다른 색상의 램프를 요청했습니다',
  russian: () => 'Заказ был доставлен поздно, потому что клиент попросил',
  arabic: () => 'تم شحن الطلب متأخرا لأن العميل طلب لونا آخر',
  hindi: () => 'ग्राहक ने दूसरे रंग का अनुरोध किया',
  thai: () => 'คำสั่งซื้อถูกจัดส่งล่าช้า',
  vietnamese: () => 'Đơn hàng bị giao trễ vì khách hàng yêu cầu màu khác',
  emoji: () => '👍🏽🎉🚀👨‍👩‍👧‍👦🇩🇪',
  html: () => '<div class="row"><p style="color:red">Hello &amp; bye</p></div>',
  punctuation: () => '!@#$%^&*()_+{}|:"<>?~`-=[]\\;\',./',
  quotes: () => '"\\"\\\\"'.repeat(5),
};

test.each(Object.entries(samples))(
  'the estimate of %s is not too low, and at most 2.2 times too high',
  (_name, make) => {
    const text = JSON.stringify({ columns: ['a'], rows: Array.from({ length: 60 }, () => [make()]) });
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThanOrEqual(1);
    expect(ratio).toBeLessThanOrEqual(2.2);
  },
);

describe.each(databases)('statements of a call on $name, without BEGIN and COMMIT', (seller) => {
  const scopes = { orders: { field: 'total', operator: 'GreaterThan', value: 1 } } as const;
  const access = accessOf({ scopes });
  const isMariadb = seller.name === 'mariadb';

  const open = async (returns: boolean): Promise<Shop & Pick<Counted, 'statements'>> => {
    let count: Counted | undefined;
    const shop = await seller.open({
      wrap: (source) => {
        count = counted(source, returns);
        return count.source;
      },
      customize: (agent) => {
        agent.customizeCollection('orders', (orders) => {
          orders
            .renameField('placed_at', 'ordered')
            .importField('city', { path: 'customer:city' })
            .addField('label', {
              columnType: 'String',
              dependencies: ['total', 'customer:name'],
              getValues: (records) => records.map(({ total }) => `${total}`),
            })
            .addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 5 })
            .addFieldValidation('total', 'GreaterThan', 0)
            .replaceFieldWriting('total', (value) => ({ total: value }));
          // None of these customizations adds a statement.
          for (const position of ['Before', 'After'] as const)
            for (const type of ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const)
              orders.addHook(position, type, () => {});
        });
      },
    });
    count!.statements();
    return { ...shop, statements: count!.statements };
  };

  test('list, get, count, aggregate, related list: 1 each', async () => {
    const { engine, statements, close } = await open(true);
    const spent: Record<string, number> = {};
    const spend = async (name: string, run: Promise<unknown>) => {
      await run;
      spent[name] = statements();
    };
    const request = { collection: 'orders', segment: 'dear', search: '2', searchExtended: true };
    const get = { field: 'id', operator: 'Equal', value: 2 } as const;
    const fields = ['id', 'ordered', 'city', 'label', 'customer:name'];
    await spend('list', engine.list(access, { ...request, fields, sort: [{ field: 'city' }], limit: 2 }));
    await spend('get', engine.list(access, { collection: 'orders', filter: get, fields, limit: 1 }));
    await spend('count', engine.count(access, request));
    const groups = [{ field: 'ordered', bucket: 'Month' }, { field: 'city' }] as const;
    await spend(
      'aggregate',
      engine.aggregate(access, { ...request, operation: 'Sum', field: 'total', groups, limit: 5 }),
    );
    const related = { collection: 'customers', id: 2, relation: 'orders', fields, limit: 2 };
    await spend('related list', engine.listRelated(access, related));
    await close();
    expect(spent).toEqual({ list: 1, get: 1, count: 1, aggregate: 1, 'related list': 1 });
  });

  const values = { total: 9, ordered: '2024-05-01T00:00:00Z', customer_id: 1 };
  const write = async (returns: boolean): Promise<unknown[]> => {
    const { engine, statements, close } = await open(returns);
    const created = await engine.create(access, { collection: 'orders', records: [{ id: 9, ...values }] });
    const spent = [statements()];
    const changed = await engine.update(access, { collection: 'orders', ids: created.ids, values: { total: 8 } });
    spent.push(statements());
    const same = await engine.update(access, { collection: 'orders', ids: created.ids, values: { total: 8 } });
    spent.push(statements());
    const removed = await engine.delete(access, { collection: 'orders', ids: created.ids });
    spent.push(statements());
    await close();
    return [spent, [changed, same, removed].map((each) => [each.count, each.records[0]?.total])];
  };
  const told = [
    [1, 8],
    [1, 8],
    [1, 8],
  ];

  test('create, update, update to equal values, delete: 1 each, and 2 for an update on MariaDB', async () => {
    const update = isMariadb ? 2 : 1;
    expect(await write(true)).toEqual([[1, update, update, 1], told]);
  });

  test('without RETURNING, as on MySQL: at most 2, 3, 3, 2', async () => {
    const [spent, answers] = await write(false);
    expect(answers).toEqual(told);
    expect((spent as number[]).map((each, at) => each <= [2, 3, 3, 2][at]!)).toEqual([true, true, true, true]);
  });
});
