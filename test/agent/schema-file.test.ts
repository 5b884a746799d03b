// The schema file: one model gives one text, with the names that callers use, and only what they may see.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/index.ts';
import { createSqlDataSource } from '../../src/index.ts';
import { emptyAgent, shopAgent } from '../app/agent.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';

interface Schema {
  readonly collections: readonly {
    readonly name: string;
    readonly fields: readonly Record<string, unknown>[];
    readonly [key: string]: unknown;
  }[];
  readonly meta: unknown;
}

async function schemaOf(customize: (agent: Agent) => unknown): Promise<{ schema: Schema; text: string }> {
  const { agent, schemaPath } = shopAgent({ prefix: '/data' });
  customize(agent);
  await agent.generateSchemaOnly();
  const text = readFileSync(schemaPath, 'utf8');
  return { schema: JSON.parse(text) as Schema, text };
}

const find = ({ collections }: Schema, name: string) => collections.find((each) => each.name === name)!;

const customize = (agent: Agent) =>
  agent
    .customizeCollection('orders', (orders) =>
      orders
        .addSegment('large', { field: 'total', operator: 'GreaterThan', value: 20 })
        .addSegment('all', { field: 'id', operator: 'Present' })
        .addFieldValidation('total', 'GreaterThan', 0)
        .addField('summary', { columnType: 'String', dependencies: ['id'], getValues: (all) => all.map(() => 'x') })
        .renameField('placed_at', 'placed at')
        .disableSearch()
        .addAction('Close it', { scope: 'Bulk', execute: () => undefined, submitButtonLabel: 'Close' })
        .addAction('Move', {
          scope: 'Single',
          generateFile: true,
          form: [{ label: 'Why', type: 'String', isRequired: () => true }],
          execute: () => undefined,
        }),
    )
    .removeCollection('line_notes');

describe('the entry of a collection', () => {
  test('has its properties, segments, actions and fields', async () => {
    const { schema } = await schemaOf(customize);
    const { fields, actions, ...orders } = find(schema, 'orders');
    expect(schema.collections.map(({ name }) => name)).toEqual(['customers', 'order_lines', 'orders']);
    expect(orders).toEqual({
      name: 'orders',
      icon: null,
      integration: null,
      isReadOnly: false,
      isSearchable: false,
      isVirtual: false,
      onlyForRelationships: false,
      paginationType: 'page',
      segments: [
        { id: 'orders.all', name: 'all' },
        { id: 'orders.large', name: 'large' },
      ],
    });
    expect(schema.meta).toMatchObject({ stack: { engine: 'nodejs', engine_version: process.versions.node } });
    expect(actions).toMatchObject([
      {
        id: 'orders-0-close-it',
        name: 'Close it',
        type: 'bulk',
        endpoint: '/data/_actions/orders/0/close-it',
        httpMethod: 'POST',
        download: false,
        submitButtonLabel: 'Close',
        fields: [],
        hooks: { load: false, change: ['changeHook'] },
      },
      {
        id: 'orders-1-move',
        type: 'single',
        endpoint: '/data/_actions/orders/1/move',
        download: true,
        fields: [{ field: 'Loading...' }],
        hooks: { load: true },
      },
    ]);
    expect(fields.map(({ field }) => field)).toEqual([
      'customer',
      'id',
      'order_lines',
      'placed at',
      'summary',
      'total',
    ]);
  });

  test('shows a foreign key only as its relation', async () => {
    const { schema } = await schemaOf(customize);
    const { fields } = find(schema, 'orders');
    const shown = Object.fromEntries(fields.map(({ field, ...rest }) => [field, rest]));
    const plain = {
      defaultValue: null,
      enums: [],
      integration: null,
      inverseOf: null,
      isFilterable: true,
      isPrimaryKey: false,
      isReadOnly: false,
      isRequired: false,
      isSortable: true,
      isVirtual: false,
      reference: null,
      validations: [],
    };
    const present = { type: 'is present', message: 'Field is required' };
    expect(shown).toEqual({
      id: { ...plain, type: 'Number', isPrimaryKey: true, isRequired: true, validations: [present] },
      'placed at': { ...plain, type: 'Date', isRequired: true, validations: [present] },
      summary: { ...plain, type: 'String', isReadOnly: true, isFilterable: false, isSortable: false },
      total: {
        ...plain,
        type: 'Number',
        isRequired: true,
        validations: [
          present,
          { type: 'is greater than', value: 0, message: 'Failed validation rule: GreaterThan(0)' },
        ],
      },
      customer: {
        ...plain,
        type: 'Number',
        relationship: 'BelongsTo',
        reference: 'customers.id',
        inverseOf: 'orders',
      },
      order_lines: {
        ...plain,
        type: ['Number'],
        relationship: 'HasMany',
        reference: 'order_lines.order_id|line',
        inverseOf: 'order',
        isFilterable: false,
        isSortable: false,
      },
    });
  });

  test('has relations of every kind', async () => {
    const { schema } = await schemaOf((agent) =>
      agent
        .customizeCollection('customers', (customers) =>
          customers.addManyToManyRelation('bought', 'order_lines', 'orders', {
            originKey: 'customer_id',
            foreignKey: 'id',
            foreignKeyTarget: 'order_id',
          }),
        )
        .customizeCollection('orders', (orders) => orders.addOneToOneRelation('twin', 'orders', { originKey: 'id' })),
    );
    const kinds = schema.collections.flatMap(({ name, fields }) =>
      fields.flatMap(({ field, relationship }) => (relationship ? [`${name}.${field} ${relationship}`] : [])),
    );
    expect(kinds).toEqual([
      'customers.bought BelongsToMany',
      'customers.orders HasMany',
      'line_notes.order_lines BelongsTo',
      'order_lines.line_notes HasMany',
      'order_lines.order BelongsTo',
      'orders.customer BelongsTo',
      'orders.order_lines HasMany',
      'orders.twin HasOne',
    ]);
  });

  test('shows an external relation as a field with a list of records', async () => {
    const { schema } = await schemaOf((agent) =>
      agent.customizeCollection('customers', (customers) =>
        customers
          .addExternalRelation('offers', {
            schema: { title: 'String', percent: 'Number', days: ['Dateonly'] },
            listRecords: () => [],
          })
          .renameField('offers', 'our offers'),
      ),
    );
    const fields = schema.collections.flatMap((each) => each.fields);
    expect(fields.filter(({ type }) => JSON.stringify(type).includes('fields'))).toEqual([
      {
        field: 'our offers',
        type: [
          {
            fields: [
              { field: 'days', type: ['Dateonly'] },
              { field: 'percent', type: 'Number' },
              { field: 'title', type: 'String' },
            ],
          },
        ],
        defaultValue: null,
        enums: [],
        integration: null,
        inverseOf: null,
        isFilterable: false,
        isPrimaryKey: false,
        isReadOnly: true,
        isRequired: false,
        isSortable: false,
        isVirtual: false,
        reference: null,
        validations: [],
      },
    ]);
  });

  test('shows validation patterns as regular expressions, each rule once', async () => {
    const { schema } = await schemaOf((agent) =>
      agent.customizeCollection('customers', (customers) =>
        customers
          .addFieldValidation('city', 'Like', 'a.%\\_b_')
          .addFieldValidation('city', 'Like', 'a.%\\_b_')
          .addFieldValidation('city', 'Present'),
      ),
    );
    const city = find(schema, 'customers').fields.find(({ field }) => field === 'city')!;
    expect([
      city.isRequired,
      (city.validations as { type: string; value?: unknown }[]).map(({ type, value }) => [type, value]),
    ]).toEqual([
      true,
      [
        ['is like', '/^a\\..*_b.$/'],
        ['is present', undefined],
      ],
    ]);
  });
});

test('the text does not depend on the order of customizations, and its keys are sorted', async () => {
  const twice = await Promise.all(
    [
      ['large', 'all'],
      ['all', 'large'],
    ].map((names) =>
      schemaOf((agent) => {
        for (const name of names)
          agent.customizeCollection('orders', (orders) =>
            orders.addSegment(name, { field: 'id', operator: 'Present' }),
          );
      }),
    ),
  );
  const [first, second] = twice.map(({ text }) => text);
  const keys = [...first!.matchAll(/^ {6}"(\w+)":/gm)].map(([, key]) => key).slice(0, 11);
  expect([first === second, keys, first!.endsWith('}\n')]).toEqual([true, [...keys].sort(), true]);
});

test.each([...servers])('views are read-only: $dialect', async (server) => {
  const database = await server.create();
  await runSql(database, [
    'create table shops (id integer primary key, name varchar(20))',
    'create view names as select name from shops',
  ]);
  const { agent, schemaPath } = emptyAgent();
  await agent.addDataSource(createSqlDataSource(database.url)).generateSchemaOnly();
  await agent.stop();
  await database.drop();
  const { collections } = JSON.parse(readFileSync(schemaPath, 'utf8')) as Schema;
  expect(
    collections.map(({ name, isReadOnly, fields }) => [name, isReadOnly, fields.map((field) => field.isReadOnly)]),
  ).toEqual([
    ['names', true, [true]],
    ['shops', false, [false, false]],
  ]);
});
