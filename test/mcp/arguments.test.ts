// Arguments as models send them, and the resulting engine calls.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ListRequest } from '../../src/agent/requests.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { answerOf, legacy, type McpTestServer, openMcpServer, post } from './mcp-server.ts';

let server: McpTestServer;
const asked: ListRequest[] = [];

beforeAll(async () => {
  server = await openMcpServer({
    around: (engine) => ({
      ...engine,
      list: (access, request) => {
        asked.push(request);
        return engine.list(access, { collection: request.collection, limit: request.limit });
      },
    }),
  });
});
afterAll(() => server.close());
beforeEach(() => {
  asked.length = 0;
});

const ask = async (given: unknown) =>
  answerOf((await post(server, legacy('tools/call', { name: 'list', arguments: given }))).body);

const paid: PlainFilter = { field: 'status', operator: 'Equal', value: 'paid' };
const base = { collection: 'notes', limit: 15, skip: 0 };

test.each<[string, Record<string, unknown>, Partial<ListRequest>]>([
  ['only the name: the configured page size', {}, {}],
  ['null counts as absent', { search: null, filters: null, sort: null, fields: null, pagination: null }, {}],
  ['a page by number and size', { pagination: { size: 20, number: 3 } }, { limit: 20, skip: 40 }],
  ['numbers as strings', { pagination: { size: '20', number: '2' } }, { limit: 20, skip: 20 }],
  ['a page as a JSON string', { pagination: '{"size":5}' }, { limit: 5 }],
  ['a cursor, which overrides the page number', { cursor: 'abc', pagination: { number: 4 } }, { cursor: 'abc' }],
  ['search, trimmed', { search: '  lamp ' }, { search: 'lamp' }],
  ['a number to search for', { search: 42 }, { search: '42' }],
  ['a flag as a string', { search: 'x', shouldSearchInRelation: 'true' }, { search: 'x', searchExtended: true }],
  ['a timezone', { timezone: 'Europe/Oslo' }, { timezone: 'Europe/Oslo' }],
  ['fields as a list', { fields: ['id', 'author:name'] }, { fields: ['id', 'author:name'] }],
  [
    'fields with the older separator, which the engine reads',
    { fields: ['author@@@name'] },
    { fields: ['author@@@name'] },
  ],
  ['fields as a JSON string', { fields: '["id","text"]' }, { fields: ['id', 'text'] }],
  ['fields as one string', { fields: 'id, text' }, { fields: ['id', 'text'] }],
  ['a single sort clause', { sort: { field: 'id', ascending: false } }, { sort: [{ field: 'id', ascending: false }] }],
  ['ascending by default', { sort: [{ field: 'a:b' }] }, { sort: [{ field: 'a:b', ascending: true }] }],
  ['a sort as a string', { sort: '-id' }, { sort: [{ field: 'id', ascending: false }] }],
  ['a sort as a JSON string', { sort: '{"field":"id"}' }, { sort: [{ field: 'id', ascending: true }] }],
  ['a condition', { filters: paid }, { filter: paid }],
  ['a condition as a JSON string', { filters: JSON.stringify(paid) }, { filter: paid }],
  ['an empty object', { filters: {} }, {}],
  ['a list of conditions', { filters: [paid] }, { filter: { aggregator: 'And', conditions: [paid] } }],
  [
    'a tree in another spelling',
    { filters: { aggregator: 'or', conditions: [{ field: 'a:b', operator: 'greater_than', value: 3 }, paid] } },
    { filter: { aggregator: 'Or', conditions: [{ field: 'a:b', operator: 'GreaterThan', value: 3 }, paid] } },
  ],
  [
    'an operator as a sign',
    { filters: { field: 'total', operator: '>=', value: 3 } },
    { filter: { field: 'total', operator: 'GreaterThanOrEqual', value: 3 } },
  ],
  [
    'one value for a list',
    { filters: { field: 'status', operator: 'In', value: 'paid' } },
    { filter: { field: 'status', operator: 'In', value: ['paid'] } },
  ],
  [
    'a list of values as a JSON string',
    { filters: { field: 'id', operator: 'in', value: '[1,2]' } },
    { filter: { field: 'id', operator: 'In', value: [1, 2] } },
  ],
  [
    'an operator without a value',
    { filters: { field: 'status', operator: 'Blank' } },
    { filter: { field: 'status', operator: 'Blank' } },
  ],
])('accepted: %s', async (_name, given, expected) => {
  await ask({ collectionName: 'notes', ...given });
  expect(asked).toEqual([{ ...base, ...expected }]);
});

test('accepted: all arguments as one JSON string', async () => {
  await ask('{"collectionName":"notes","pagination":{"size":1}}');
  expect(asked).toEqual([{ ...base, limit: 1 }]);
});

test.each<[Record<string, unknown>, string]>([
  [
    { collectionName: '' },
    'collectionName: send the name of a collection; describeCollection without a name lists them.',
  ],
  [{ filtre: paid }, 'filtre: unknown argument. Near: filters.'],
  [{ filter: paid, filters: paid }, "filter: same as 'filters', which was also sent: send only one."],
  [{ fields: 3 }, 'fields: send a list of field names such as ["id","relation:field"].'],
  [{ search: {} }, 'search: send a string.'],
  [{ enableCount: 'maybe' }, 'enableCount: send true or false.'],
  [{ format: 'xml' }, "format: send 'table' or 'records'."],
  [{ pagination: 3 }, 'pagination: send an object such as {"size":15,"number":1}.'],
  [{ pagination: { rows: 3 } }, 'pagination.rows: unknown; send {"size":15,"number":1}.'],
  [{ pagination: { size: 0 } }, 'pagination.size: send a whole number of at least 1.'],
  [{ pagination: { size: 1.5 } }, 'pagination.size: send a whole number of at least 1.'],
  [{ pagination: { number: 'two' } }, 'pagination.number: send a whole number of at least 1.'],
  [{ pagination: { size: 1001 } }, 'pagination.size: at most 1000; continue with nextCursor.'],
  [
    { sort: [{ field: 'id', ascending: true, direction: 'desc' }] },
    'sort: send {"field":"name","ascending":true} or a list of these.',
  ],
  [{ sort: [{ field: 'id', ascending: 'up' }] }, 'sort: send {"field":"name","ascending":true} or a list of these.'],
  [
    { filters: 'status = paid' },
    'filters: send {"field":"status","operator":"Equal","value":"paid"} or {"aggregator":"And","conditions":[...]}.',
  ],
  [
    { filters: { aggregator: 'And', conditions: [paid, 'paid'] } },
    'filters.conditions[1]: send {"field":"status","operator":"Equal","value":"paid"} or {"aggregator":"And","conditions":[...]}.',
  ],
  [
    { filters: { field: 'status', operator: 'In', value: 'paid,open' } },
    'status In: send {"field":"status","operator":"In","value":["paid","open"]}, or the whole text as a list of one item.',
  ],
  [
    { filters: { field: 'status', value: 'paid' } },
    'filters: send {"field":"status","operator":"Equal","value":"paid"}, or another operator.',
  ],
  [
    { limit: 10, offset: 15 },
    'offset: send {"pagination":{"size":15,"number":2}} for the second page, or nextCursor as cursor.',
  ],
  [{ filters: { aggregator: 'Xor', conditions: [] } }, 'filters.aggregator: send "And", "Or" or "Not".'],
])('refused with what to send: %j', async (given, problem) => {
  expect([await ask({ collectionName: 'notes', ...given }), asked]).toEqual([`INVALID_ARGUMENT: ${problem}`, []]);
});

test('an operator that does not exist is refused with near names', async () => {
  const filters = { field: 'a', operator: 'Equalz', value: 1 };
  expect(await ask({ collectionName: 'notes', filters })).toBe("UNKNOWN_OPERATOR: No operator 'Equalz'. Near: Equal.");
});

test('describeCollection refuses an unknown argument', async () => {
  const call = legacy('tools/call', { name: 'describeCollection', arguments: { collections: 'notes' } });
  expect(answerOf((await post(server, call)).body)).toBe(
    'INVALID_ARGUMENT: collections: unknown argument. Near: collectionName.',
  );
});
