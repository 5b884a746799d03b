// The whole server over a small workshop database, with a user of a front end: every kind of relation, a composite key,
// and actions and charts of every kind.
import { Readable } from 'node:stream';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { frontOrigin, sessionToken } from './front-end.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL)',
  'CREATE TABLE profiles (id INTEGER PRIMARY KEY, bio VARCHAR(40), customer_id INTEGER UNIQUE REFERENCES customers(id))',
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, label VARCHAR(40) NOT NULL, total INTEGER NOT NULL, placed DATE, customer_id INTEGER REFERENCES customers(id))',
  'CREATE TABLE items (order_id INTEGER NOT NULL REFERENCES orders(id), line INTEGER NOT NULL, article VARCHAR(40) NOT NULL, PRIMARY KEY (order_id, line))',
  'CREATE TABLE tags (id INTEGER PRIMARY KEY, word VARCHAR(40) NOT NULL)',
  'CREATE TABLE taggings (order_id INTEGER NOT NULL REFERENCES orders(id), tag_id INTEGER NOT NULL REFERENCES tags(id), PRIMARY KEY (order_id, tag_id))',
  "INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bo'), (3, 'Cy')",
  "INSERT INTO profiles VALUES (1, 'curls', 1), (2, 'hats', 2), (3, 'free', NULL)",
  "INSERT INTO orders VALUES (1, 'boots', 10, '2024-01-05', 1), (2, 'hats', 20, '2024-01-20', 1), (3, 'socks', 30, '2024-03-02', 2), (4, 'belts', 40, NULL, NULL)",
  "INSERT INTO items VALUES (1, 1, 'sole'), (1, 2, 'lace'), (2, 1, 'felt')",
  "INSERT INTO tags VALUES (1, 'rush'), (2, 'gift'), (3, 'late')",
  'INSERT INTO taggings VALUES (1, 1), (1, 2), (2, 2)',
];

export const all: CollectionPermission = {
  ...{ browse: true, read: true, edit: true, add: true, delete: true, export: true },
};

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed JSON, otherwise undefined. */
  readonly body: unknown;
}

export interface Workshop extends TestServer {
  readonly database: TestDatabase;
  readonly api: string;
  /** The token of Kim, with the role `Hand`. */
  readonly token: string;
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Told>;
  /** `POST` of a document with these attributes. */
  act(path: string, attributes: object): Promise<Told>;
  permit(collections: Readonly<Record<string, CollectionPermission>>): Promise<void>;
  rows(sql: string): Promise<string[]>;
  /** Entries of the activity log, oldest first. */
  entries(): Promise<Record<string, unknown>[]>;
  /** Arguments of the action handlers. */
  readonly ran: unknown[];
}

export interface WorkshopOptions extends Omit<TestServerOptions, 'database'> {
  readonly server?: (typeof servers)[number];
  readonly permissions?: Readonly<Record<string, CollectionPermission>>;
  readonly customize?: (agent: HeadlessAgent) => void;
}

export async function openWorkshop(options: WorkshopOptions = {}): Promise<Workshop> {
  const { server: dialect = servers[0]!, permissions = { '*': all }, customize, ...more } = options;
  const database = await dialect.create();
  await runSql(database, tables);
  const ran: unknown[] = [];
  const server = await startServer({
    database: database.url,
    ...more,
    env: { SERVICE_AGENT_ORIGINS: frontOrigin, ...more.env },
    app: {
      ...more.app,
      customize(agent) {
        addActions(agent, ran);
        addCharts(agent);
        agent.customizeCollection('customers', (customers) => customers.renameField('profiles', 'profile'));
        customize?.(agent);
      },
    },
  });
  const { permissions: rights } = server.store;
  const permit: Workshop['permit'] = (collections) => rights.setRole('Hand', collections);
  await permit(permissions);
  const account = await server.addUser({ email: 'kim@example.test', role: 'Hand' });
  const api = `${new URL(server.mcpUrl).origin}/service`;
  const token = await sessionToken(api, account);
  const call: Workshop['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${api}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  return {
    ...server,
    database,
    api,
    token,
    call,
    act: (path, attributes) => call('POST', path, { data: { attributes, type: 'custom-action-requests' } }),
    permit,
    ran,
    rows: async (sql) => (await askSql(database, sql)).map((row) => Object.values(row).join(' ')),
    async entries() {
      await server.store.activity.flush();
      const newest = await server.store.activity.list({ limit: 100 });
      return newest.map((one) => ({ ...one })).reverse();
    },
    async stop() {
      await server.stop();
      await database.drop();
    },
  };
}

interface Filling {
  readonly reason: string;
  readonly kind: string;
  readonly other: string;
  readonly amount: number;
  readonly customer: readonly (string | number)[];
  readonly proof: { readonly name: string; readonly mimeType: string; readonly content: Buffer };
  readonly city: string;
  readonly stamp: string;
}

function addActions(agent: HeadlessAgent, ran: unknown[]): void {
  agent.customizeCollection('orders', (orders) =>
    orders
      .addAction<Filling>('Mark as Lost!', {
        scope: 'Single',
        description: 'Nobody knows where it is.',
        form: [
          { label: 'Reason', id: 'reason', type: 'String', isRequired: true, description: 'In a word' },
          { label: 'kind', type: 'Enum', enumValues: ['stolen', 'other'], defaultValue: 'stolen' },
          { label: 'other', type: 'String', if: ({ formValues }) => formValues.kind === 'other', isRequired: true },
          { label: 'amount', type: 'Number', widget: 'NumberInput', min: 1, max: 100, placeholder: 'In euros' },
          { label: 'customer', type: 'Collection', collectionName: 'customers' },
          { label: 'proof', type: 'File', widget: 'FilePicker', extensions: ['txt'], maxSizeMb: 1 },
          {
            label: 'city',
            type: 'String',
            widget: 'Dropdown',
            search: 'dynamic',
            options: (_, search) => ['Bergen', 'Bonn', 'Lyon'].filter((city) => city.startsWith(search ?? 'B')),
          },
          { label: 'stamp', type: 'String', isReadOnly: true, value: ({ formValues }) => `for ${formValues.reason}` },
        ],
        execute: async (context, result) => {
          const { proof, ...values } = context.formValues;
          ran.push([await context.getRecordId(), values, proof && [proof.name, proof.mimeType, `${proof.content}`]]);
          return result.success('Marked.', { html: '<b>lost</b>', invalidated: ['items', 'profiles'] });
        },
      })
      .addAction('Bundle', {
        scope: 'Bulk',
        execute: async (context, result) => {
          ran.push(await context.getRecordIds());
          return result.success();
        },
      })
      .addAction('Report', {
        scope: 'Global',
        generateFile: true,
        execute: async (context, result) => {
          ran.push(await context.getRecordIds());
          return result
            .setHeader('X-Total', '3')
            .setHeader('Set-Cookie', 'portico=stolen')
            .setHeader('Access-Control-Allow-Origin', 'https://evil.example')
            .setHeader('content-length', '1')
            .file(Readable.from(['a;b\r\n', 'ä;€\r\n']), 'Größe "1".csv', 'text/csv');
        },
      })
      .addAction('Refuse', { scope: 'Single', execute: (_, result) => result.error('No.', { html: '<i>no</i>' }) })
      .addAction('Call', {
        scope: 'Single',
        execute: (_, result) => result.webhook('https://hooks.example.com/a', 'PUT', { 'X-Key': '1' }, { id: 1 }),
      })
      .addAction('Go', {
        scope: 'Single',
        execute: (_, result) => result.setHeader('X-Way', 'out').redirectTo('/elsewhere?a=b'),
      })
      .addAction('Break', {
        scope: 'Single',
        execute: () => {
          throw new Error('inner secret');
        },
      })
      .addAction('Guarded', {
        scope: 'Single',
        approval: 'ask-person',
        execute: (_, result) => {
          ran.push('guarded');
          return result.success();
        },
      })
      .addAction('Asked', {
        scope: 'Single',
        approval: 'ask',
        execute: (_, result) => {
          ran.push('asked');
          return result.success();
        },
      }),
  );
}

function addCharts(agent: HeadlessAgent): void {
  agent
    .addChart('value', (_, chart) => chart.value(12, 8))
    .addChart('distribution', (_, chart) => chart.distribution({ a: 1, b: 2 }))
    .addChart('timeBased', (_, chart) =>
      // 23:00 UTC is already the next day in Paris.
      chart.timeBased('Day', [
        { date: '2024-01-05T23:00:00Z', value: 1 },
        { date: '2024-01-07', value: 2 },
      ]),
    )
    .addChart('multipleTimeBased', (_, chart) =>
      chart.multipleTimeBased('Month', ['2024-01-05', '2024-03-05'], [{ label: 'sold', values: [1, null] }]),
    )
    .addChart('percentage', (_, chart) => chart.percentage(42))
    .addChart('objective', (_, chart) => chart.objective(3, 10))
    .addChart('leaderboard', (_, chart) => chart.leaderboard({ a: 1, b: 2 }))
    .addChart('smart', (_, chart) => chart.smart({ any: ['thing', null] }))
    .addChart('measures', { collection: 'orders', measures: { all: { sum: 'total' } }, groups: ['customer:name'] })
    .customizeCollection('orders', (orders) =>
      orders.addChart('weight', async ({ getRecord, recordId }, chart) =>
        chart.value(Number((await getRecord(['total'])).total) + Number(recordId)),
      ),
    );
}
