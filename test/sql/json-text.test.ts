// JSON is returned as the database holds it, byte for byte. Code receives it parsed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { listText } from '../../src/mcp/results/list-result.ts';
import { accessOf } from '../agent/shop.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from './schemas.ts';

const documents = [
  '{"b": 1.0, "a": 9007199254740993, "10": [1e2,  -0.10], "2": {"b": 12345678901234567890.5}, "b": 2}',
  '[9007199254740993, "é\\u00e9", null]',
  '{"toJSON": 9007199254740993}',
  '"9007199254740993"',
  '{}',
];

const textOf = { sqlite: 'copy', mariadb: "concat(copy, '') as copy", postgres: 'copy::text as copy' };

describe.each(servers)('$dialect', ({ dialect, create }) => {
  let database: TestDatabase;
  let engine: Engine;
  const seen: unknown[] = [];
  beforeAll(async () => {
    database = await create();
    const type = dialect === 'sqlite' ? 'json' : dialect === 'mariadb' ? 'longtext check (json_valid(doc))' : 'json';
    const quoted = (text: string) => `'${dialect === 'mariadb' ? text.replaceAll('\\', '\\\\') : text}'`;
    await runSql(database, [
      `create table docs (id integer primary key, doc ${type}, copy ${type.replaceAll('doc', 'copy')})`,
      ...documents.map((text, index) => `insert into docs (id, doc) values (${index + 1}, ${quoted(text)})`),
      ...(dialect === 'postgres'
        ? [
            'create table others (id integer primary key, doc jsonb, list jsonb[])',
            `insert into others values (1, ${quoted(documents[0]!)}, array[${quoted('{"a": 9007199254740993}')}::jsonb])`,
          ]
        : []),
    ]);
    const agent = createHeadlessAgent()
      .addDataSource(() => createSqlSource(database.url, { clock: systemClock, observe: () => {} }))
      .customizeCollection('docs', (docs) =>
        docs
          .addField('size', {
            columnType: 'Number',
            dependencies: ['doc'],
            getValues: (records) => {
              seen.push(...records.map(({ doc }) => structuredClone(doc)));
              return records.map(({ doc }) => Object.keys(Object(doc)).length);
            },
          })
          .addField('changed', {
            columnType: 'Json',
            dependencies: ['doc'],
            getValues: (records) =>
              records.map(({ doc }) => {
                if (typeof doc === 'object' && doc && 'a' in doc) doc.a = 'changed';
                return doc;
              }),
          })
          .replaceFieldWriting('copy', async (_value, context) => {
            const first = { field: 'id', operator: 'Equal', value: 1 } as const;
            const [found] = await context.collection('docs').list({ conditionTree: first }, ['doc']);
            return { copy: found!.doc };
          }),
      );
    engine = await agent.createEngine({
      observe: () => {},
      clock: systemClock,
      limits: { pageSizeLimit: 100, queryTimeoutMs: 10_000 },
    });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  const answer = async (collection: string, fields: string[], format: 'table' | 'records' = 'table') =>
    listText(await engine.list(accessOf(), { collection, fields, limit: 9 }), { format, budgetTokens: 8000 });

  test('a list returns the JSON text of the column unchanged, as a table and as records', async () => {
    expect([await answer('docs', ['doc']), await answer('docs', ['doc'], 'records')]).toEqual([
      `{"columns":["doc"],"rows":[${documents
        .map((text, at) => (at === 2 ? `[${JSON.stringify(JSON.parse(text))}]` : `[${text}]`))
        .join(',')}],"hasMore":false}`,
      `{"records":[${documents
        .map((text, at) => `{"doc":${at === 2 ? JSON.stringify(JSON.parse(text)) : text}}`)
        .join(',')}],"hasMore":false}`,
    ]);
  });

  test('code gets parsed values, and its changes are returned', async () => {
    seen.length = 0;
    expect(await answer('docs', ['size', 'changed'])).toContain(
      '[4,{"2":{"b":12345678901234567000},"10":[100,-0.1],"b":2,"a":"changed"}]',
    );
    expect(seen).toEqual(documents.map((text) => JSON.parse(text)));
  });

  test('a value that code writes back unchanged is stored unchanged', async () => {
    await engine.update(accessOf(), { collection: 'docs', ids: [1], values: { copy: {} } });
    const [row] = await askSql(database, `select ${textOf[dialect]} from docs where id = 1`);
    expect(row).toEqual({ copy: documents[0] });
  });

  test.runIf(dialect === 'postgres')('jsonb is returned as the server prints it, in arrays too', async () => {
    expect(await answer('others', ['doc', 'list'])).toBe(
      '{"columns":["doc","list"],"rows":[[{"2": {"b": 12345678901234567890.5}, "a": 9007199254740993, "b": 2, "10": [100, -0.10]},[{"a": 9007199254740993}]]],"hasMore":false}',
    );
  });
});
