// The description of the query language: all its examples are valid calls, and it lists every operator.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { operators } from '../../src/core/filter.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { ask } from './asking.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

interface Sent {
  readonly tool: string;
  readonly given: Record<string, unknown>;
}

/** Complete JSON objects in a text, each with the text before it. */
function examplesIn(text: string): { before: string; json: string }[] {
  const found: { before: string; json: string }[] = [];
  for (let at = text.indexOf('{"'); at >= 0; at = text.indexOf('{"', at)) {
    let depth = 0;
    let end = at;
    do {
      if (text[end] === '{') depth++;
      if (text[end] === '}') depth--;
      end++;
    } while (depth > 0 && end < text.length);
    found.push({ before: text.slice(0, at), json: text.slice(at, end) });
    at = end;
  }
  return found;
}

const filterKeys = ['field', 'expression', 'aggregator', 'some', 'none', 'every'];

function callOf({ before, json }: { before: string; json: string }): Sent {
  const value = JSON.parse(json) as Record<string, unknown>;
  const collectionName = /"(some|none|every)"/.test(json) ? 'customers' : 'orders';
  if (value.name) return { tool: 'list', given: { collectionName: 'customers', fields: ['id', value] } };
  if (value.operation || value.measures) return { tool: 'aggregate', given: { collectionName, ...value } };
  if (Object.keys(value).some((key) => filterKeys.includes(key)))
    return { tool: 'list', given: { collectionName, filters: value } };
  expect(before).toContain('# Query language');
  return { tool: 'list', given: { collectionName, ...value } };
}

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let testServer: McpTestServer;
  beforeAll(async () => {
    database = await server.create();
    const time = server.dialect === 'postgres' ? 'TIMESTAMPTZ' : 'DATETIME';
    await runSql(database, [
      'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40), country VARCHAR(2))',
      `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), status VARCHAR(10),
        total DECIMAL(8,2), note TEXT, placed_at ${time})`,
      "INSERT INTO customers VALUES (1, 'Ada', 'FR'), (2, 'Bo', 'DE'), (3, 'Cy', 'IT')",
      "INSERT INTO orders VALUES (1, 1, 'paid', 120, 'late', '2024-03-01 10:00:00'), (2, 2, 'open', 5, NULL, '2024-03-31 10:00:00')",
    ]);
    testServer = await openMcpServer({
      source: createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
    });
  });
  afterAll(async () => {
    await testServer.close();
    await database.drop();
  });

  test('every JSON example is a valid call', async () => {
    const text = await ask(testServer, 'describeCollection', { detail: 'query' });
    const examples = examplesIn(text);
    expect(examples.length).toBeGreaterThanOrEqual(12);
    const answers = await Promise.all(
      examples.map(async (example) => {
        const { tool, given } = callOf(example);
        return [example.json, (await ask(testServer, tool, given)).slice(0, 10)];
      }),
    );
    expect(answers).toEqual(
      examples.map(({ json }) => [json, json.includes('"format":"records"') ? '{"records"' : '{"columns"']),
    );
  });

  test('the quantified examples return what the text says', async () => {
    const text = await ask(testServer, 'describeCollection', { detail: 'query' });
    const ids: Record<string, unknown> = {};
    for (const example of examplesIn(text)) {
      const key = /^\{"(none|some|every)"/.exec(example.json)?.[1];
      if (!key) continue;
      const { given } = callOf(example);
      ids[key] = JSON.parse(await ask(testServer, 'list', { ...given, fields: ['id'] })).rows.flat();
    }
    // Customer 3 has no orders; the order of customer 2 is not paid, and not over 9.
    expect(ids).toEqual({ none: [3], some: [2], every: [1, 3] });
  });
});

describe('the text', () => {
  let testServer: McpTestServer;
  beforeAll(async () => {
    testServer = await openMcpServer();
  });
  afterAll(() => testServer.close());

  test('names every operator, and takes at most 1,650 tokens', async () => {
    const text = await ask(testServer, 'describeCollection', { detail: 'query' });
    // One sentence covers the operators of the current period.
    const named = new Set([...text.matchAll(/\w+/g)].map(([word]) => word));
    const periods = operators.filter((name) => /^Previous(Week|Quarter|Year)ToDate$/.test(name));
    expect(operators.filter((name) => !named.has(name))).toEqual(periods);
    expect(countTokens(text)).toBeLessThanOrEqual(1650);
  });

  test('omits the sections of tools that are not served', async () => {
    const only = await openMcpServer({ settings: { enabledTools: ['describeCollection', 'list'] } });
    const text = await ask(only, 'describeCollection', { detail: 'query' });
    await only.close();
    expect([text.includes('## Records'), text.includes('aggregate')]).toEqual([true, false]);
  });
});
