// A small shop on every source, with a configurable Access.

import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { DataSourceOptions } from '../../src/agent/customize/definitions.ts';
import type { Engine, EngineOptions } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { type Access, allowPolicy, type FieldAccess, type Verb } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { type Dialect, servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { connect } from './connection.ts';

export const shopTables: readonly MemoryTable[] = [
  {
    name: 'customers',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'name', type: 'String' },
      { name: 'city', type: 'String', nullable: true },
      { name: 'secret', type: 'String', nullable: true },
    ],
    primaryKey: ['id'],
    rows: [
      [1, 'Ada', 'Paris', 'x1'],
      [2, 'Bo', 'Rome', 'x2'],
      [3, 'Cy', null, 'x3'],
    ],
  },
  {
    name: 'orders',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'customer_id', type: 'Number', nullable: true },
      { name: 'total', type: 'Number' },
      { name: 'placed_at', type: 'Date' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
    rows: [
      [1, 1, 10.5, '2024-03-30T23:30:00.000Z'],
      [2, 2, 20, '2024-03-31T00:30:00.000Z'],
      [3, 2, 20, '2024-03-31T21:59:59.999Z'],
      [4, null, 30, '2024-03-31T22:00:00.000Z'],
      [5, 3, 5, '2024-04-01T08:00:00.000Z'],
    ],
  },
  {
    name: 'order_lines',
    columns: [
      { name: 'order_id', type: 'Number' },
      { name: 'line', type: 'Number' },
      { name: 'article', type: 'String' },
    ],
    primaryKey: ['order_id', 'line'],
    foreignKeys: [{ columns: ['order_id'], table: 'orders', targetColumns: ['id'] }],
    rows: [
      [1, 1, 'pen'],
      [1, 2, 'ink'],
      [2, 1, 'pen'],
      [3, 1, 'pad'],
      [4, 1, 'pen'],
    ],
  },
  {
    name: 'line_notes',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'order_id', type: 'Number', nullable: true },
      { name: 'line', type: 'Number', nullable: true },
      { name: 'text', type: 'String' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['order_id', 'line'], table: 'order_lines', targetColumns: ['order_id', 'line'] }],
    rows: [
      [1, 1, 2, 'blue'],
      [2, 3, 1, 'lined'],
      [3, 1, null, 'loose'],
    ],
  },
];

const sqlTypes = {
  sqlite: { Number: 'decimal(12, 2)', String: 'text', Date: 'datetime' },
  mariadb: { Number: 'decimal(12, 2)', String: 'varchar(60) collate utf8mb4_bin', Date: 'datetime(6)' },
  postgres: { Number: 'numeric(12, 2)', String: 'text collate "C"', Date: 'timestamptz' },
} as const;

export interface Shop {
  readonly engine: Engine;
  /** Runs SQL against the database. The source over arrays cannot run any. */
  run(sql: string): Promise<void>;
  /** Another engine over the same database in its current state. */
  again(): Promise<{ readonly engine: Engine }>;
  close(): Promise<void>;
}

export interface ShopOptions extends Partial<EngineOptions> {
  readonly customize?: (agent: HeadlessAgent) => void;
  /** Wraps the source, to count or watch its calls. */
  readonly wrap?: (source: Source) => Source;
  readonly source?: DataSourceOptions;
}

export interface Seller {
  readonly name: 'memory' | Dialect;
  open(options?: ShopOptions): Promise<Shop>;
}

const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
const defaults = { observe: () => {}, clock: systemClock, limits };

const same = (source: Source): Source => source;

function openEngine(
  open: () => Source,
  { customize, source, sources, wrap = same, ...options }: ShopOptions = {},
): Promise<Engine> {
  const agent = createHeadlessAgent();
  for (const each of sources ?? [undefined]) agent.addDataSource(() => each ?? wrap(open()), source);
  customize?.(agent);
  return agent.createEngine({ ...defaults, ...options });
}

const memory: Seller = {
  name: 'memory',
  async open(options) {
    const engine = await openEngine(() => createMemorySource('memory', shopTables), options);
    return {
      engine,
      run: () => Promise.reject(new Error('no SQL here')),
      again: async () => ({ engine }),
      close: () => engine.close(),
    };
  },
};

/** One seller for each test database. */
export const databases: readonly Seller[] = servers.map((server) => ({
  name: server.dialect,
  async open(options) {
    const database = await server.create();
    const statements: string[] = [];
    for (const { name, columns, primaryKey = [], foreignKeys = [], rows } of shopTables) {
      const parts = [
        ...columns.map(
          ({ name, type, nullable }) =>
            `${name} ${sqlTypes[server.dialect][type as 'Number']} ${nullable ? 'null' : 'not null'}`,
        ),
        `primary key (${primaryKey})`,
        ...foreignKeys.map((key) => `foreign key (${key.columns}) references ${key.table} (${key.targetColumns})`),
      ];
      statements.push(`create table ${name} (${parts})`);
      const values = rows.map((row) => `(${row.map((value) => literal(value, server.dialect))})`);
      if (values.length > 0) statements.push(`insert into ${name} values ${values}`);
    }
    await runSql(database, statements);
    const open = () =>
      openEngine(() => createSqlSource(database.url, { clock: systemClock, observe: () => {} }), options);
    const engine = await open();
    return {
      engine,
      async run(sql) {
        const other = await connect(database);
        await other.run(sql, []);
        await other.end();
      },
      again: async () => ({ engine: await open() }),
      async close() {
        await engine.close();
        await database.drop();
      },
    };
  },
}));

export const sellers: readonly Seller[] = [memory, ...databases];

function literal(value: unknown, dialect: Dialect): string {
  if (value === null || typeof value === 'number') return String(value);
  const text = String(value);
  return `'${dialect === 'mariadb' && /T.*Z$/.test(text) ? text.replace('T', ' ').slice(0, -1) : text}'`;
}

export interface Rights {
  /** Collections that may be browsed; all when absent. */
  readonly browse?: readonly string[];
  /** `collection.field`. */
  readonly hidden?: readonly string[];
  /** `collection.field`. */
  readonly readOnly?: readonly string[];
  /** `collection.verb`. */
  readonly denied?: readonly string[];
  /** `collection.action`. */
  readonly untriggered?: readonly string[];
  /** By `collection.action`. */
  readonly conditions?: Readonly<Record<string, PlainFilter>>;
  readonly scopes?: Readonly<Record<string, PlainFilter>>;
  readonly timezone?: string;
}

export function accessOf({
  browse,
  hidden = [],
  readOnly = [],
  denied = [],
  untriggered = [],
  conditions = {},
  scopes = {},
  timezone = 'UTC',
}: Rights = {}): Access {
  return {
    caller: {
      id: 1,
      email: 'ada@example.com',
      firstName: 'Ada',
      lastName: 'L',
      team: 'Operations',
      role: 'Member',
      tags: {},
      timezone,
      permissionLevel: 'user',
      renderingId: 1,
    },
    can: (verb: Verb, collection: string) =>
      (!browse || browse.includes(collection)) && !denied.includes(`${collection}.${verb}`),
    startsWorkflows: true,
    collections: null,
    hasPolicies: false,
    mayCascade: () => true,
    policy: () => allowPolicy,
    actionPolicy: () => allowPolicy,
    canTrigger: (collection, action) => !untriggered.includes(`${collection}.${action}`),
    triggerCondition: (collection, action) => conditions[`${collection}.${action}`] ?? null,
    field: (collection, field): FieldAccess => {
      if (hidden.includes(`${collection}.${field}`)) return 'hidden';
      return readOnly.includes(`${collection}.${field}`) ? 'read' : 'write';
    },
    scope: (collection) => scopes[collection] ?? null,
  };
}
