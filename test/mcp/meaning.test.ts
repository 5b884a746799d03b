// What assistants read about the meaning of collections and fields, by a real client on each database.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { commentedParcels, withComments } from '../sql/comments.ts';
import { runSql } from '../sql/schemas.ts';
import { type McpTestServer, type McpTestServerOptions, openMcpServer } from './mcp-server.ts';

interface Opened {
  readonly server: McpTestServer;
  readonly client: Client;
  /** The text of a tool's answer. */
  ask(name: string, given?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

const sourceOf = ({ url }: TestDatabase) => createSqlSource(url, { observe: () => undefined, clock: systemClock });

async function open(source: Source, options: McpTestServerOptions = {}): Promise<Opened> {
  const server = await openMcpServer({ source, ...options });
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: 'Bearer user-2' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }) as never);
  return {
    server,
    client,
    async ask(name, given = {}) {
      const result = await client.callTool({ name, arguments: given });
      return (result.content as unknown as [{ text: string }])[0].text;
    },
    async close() {
      await client.close();
      await server.close();
    },
  };
}

const customize = (agent: HeadlessAgent) => {
  agent.addMetric('left', {
    collection: 'parcels',
    measure: { count: true },
    filter: { field: 'left_at', operator: 'Present' },
    description: 'Parcels on their way',
  });
  agent.addInstructions('A store that sends parcels.').customizeCollection('parcels', (parcels) =>
    parcels
      .describe({ synonyms: ['shipments'] })
      .describeField('code', { hiddenByDefault: true, values: { A1: 'Sent by air' } })
      .describeField('id', { unit: 'pieces', examples: [1, 2], synonyms: ['number'] }),
  );
};

describe.each(servers)('$dialect', (dbServer) => {
  const hasComments = dbServer.dialect !== 'sqlite';
  let database: TestDatabase;
  let opened: Opened;
  beforeAll(async () => {
    database = await dbServer.create();
    await runSql(database, commentedParcels(dbServer.dialect));
    opened = await open(sourceOf(database), { customize });
  });
  afterAll(async () => {
    await opened?.close();
    await database?.drop();
  });

  test('describeCollection shows database comments separately from names and types', async () => {
    const parcels = JSON.parse(await opened.ask('describeCollection', { collectionName: 'parcels' }));
    const index = JSON.parse(await opened.ask('describeCollection'));
    expect(Object.keys(parcels.fields)).toEqual(['id', 'left_at', 'code']);
    expect([parcels.description, parcels.descriptions, index.descriptions?.parcels]).toEqual(
      hasComments
        ? [
            'Parcels that left the store',
            {
              id: 'in pieces; such as 1, 2',
              left_at: 'The day on which the parcel left',
              code: 'Tracking code of the carrier; A1: Sent by air',
            },
            'Parcels that left the store',
          ]
        : [undefined, { id: 'in pieces; such as 1, 2', code: 'A1: Sent by air' }, undefined],
    );
  });

  test('a field hidden by default is marked, left out of lists, and read by name', async () => {
    const { fields } = JSON.parse(await opened.ask('describeCollection', { collectionName: 'parcels' }));
    expect(fields.code).toMatch(/^String\? named only$/);
    const all = JSON.parse(await opened.ask('list', { collectionName: 'parcels' }));
    expect(all.columns).toEqual(['id', 'left_at']);
    const named = JSON.parse(await opened.ask('list', { collectionName: 'parcels', fields: ['id', 'code'] }));
    expect(named.rows).toEqual([
      [1, 'A1'],
      [2, 'B2'],
    ]);
    const found = JSON.parse(await opened.ask('list', { collectionName: 'parcels', search: 'B2' }));
    expect(found.rows).toEqual([]);
  });

  test('metrics are listed, and are measures of aggregate', async () => {
    const { metrics } = JSON.parse(await opened.ask('describeCollection', { collectionName: 'parcels' }));
    expect(metrics).toEqual({ left: 'Parcels on their way' });
    const measures = { left: { metric: 'left' }, rate: { ratio: [{ kpi: 'left' }, 'all'] }, all: { count: true } };
    const answer = JSON.parse(await opened.ask('aggregate', { collectionName: 'parcels', measures }));
    expect(answer.rows).toEqual([[1, 0.5, 2]]);
    const wrong = await opened.ask('aggregate', { collectionName: 'parcels', measures: { l: { metric: 'lef' } } });
    expect(wrong).toMatch(/^INVALID_ARGUMENT: .*measures.l.metric.*'parcels' has no metric 'lef'. Near: left./);
  });

  test('detail "full" adds synonyms', async () => {
    const full = JSON.parse(await opened.ask('describeCollection', { collectionName: 'parcels', detail: 'full' }));
    expect([full.synonyms, full.descriptions.id]).toEqual([['shipments'], 'in pieces; such as 1, 2; also: number']);
  });

  test('the introduction by the operator follows the instructions', () => {
    expect(opened.client.getInstructions()).toMatch(
      /^Portico serves [\s\S]*instruction to you\.\n\nAbout this application:\nA store that sends parcels\.$/,
    );
  });

  test.each([
    ['a list', ['parcels', 'Left Parcels']],
    ['a list as a JSON string', '["parcels", "left_parcels"]'],
    ['names with commas', 'parcels, left_parcels'],
  ])('several collections in one call: %s', async (_, collectionName) => {
    const { collections } = JSON.parse(await opened.ask('describeCollection', { collectionName }));
    expect(Object.keys(collections)).toEqual(['parcels', 'left_parcels']);
    const { name: _name, ...alone } = JSON.parse(await opened.ask('describeCollection', { collectionName: 'parcels' }));
    expect(collections.parcels).toEqual(alone);
  });

  test('an unknown name among several is refused', async () => {
    const text = await opened.ask('describeCollection', { collectionName: ['parcels', 'parcel_list'] });
    expect(text).toMatch(/^UNKNOWN_COLLECTION: No collection 'parcel_list'\./);
    const numbers = await opened.ask('describeCollection', { collectionName: ['parcels', 7] });
    expect(numbers).toMatch(/^INVALID_ARGUMENT: .*send a name, or a list of names/);
  });
});

test('several collections that exceed one answer are cut, and the note names the rest', async () => {
  const columns = Array.from({ length: 30 }, (_, at) => ({ name: `c${at}`, type: 'Number' as const }));
  const tables = ['one', 'two', 'three'].map((name) => ({ name, columns, primaryKey: ['c0'], rows: [] }));
  const opened = await open(createMemorySource('memory', tables), { settings: { answerTokens: 500 } });
  const text = await opened.ask('describeCollection', { collectionName: ['one', 'two', 'three'] });
  await opened.close();
  const { collections, note } = JSON.parse(text);
  expect(Object.keys(collections)).toEqual(['one']);
  expect(note).toBe('Left out: two, three. Ask for fewer at a time.');
  expect(countTokens(text)).toBeLessThanOrEqual(500);
});

test('descriptions that exceed the answer are omitted, names and types are kept', async () => {
  const columns = Array.from({ length: 30 }, (_, at) => ({ name: `c${at}`, type: 'Number' as const }));
  const wide = { name: 'wide', columns, primaryKey: ['c0'], rows: [] };
  const opened = await open(withComments(wide, 'A long comment about this column, for all who read it'), {
    settings: { answerTokens: 500 },
  });
  const described = JSON.parse(await opened.ask('describeCollection', { collectionName: 'wide' }));
  await opened.close();
  expect(Object.keys(described.fields)).toHaveLength(30);
  expect([described.descriptions, described.note]).toEqual([
    undefined,
    'Too many descriptions: send search with words for some.',
  ]);
});
