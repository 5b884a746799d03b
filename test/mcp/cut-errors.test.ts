// Errors of calls on a wide table with long names and values: truncation never drops a field to send, and never cuts a
// name.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { MAX_ERROR_TOKENS } from '../../src/mcp/results/result.ts';
import { ask } from './asking.ts';
import { type McpTestServer, openMcpServer, withExtras } from './mcp-server.ts';

const collectionName = 'shipments_of_the_northern_region';
const wide = Array.from({ length: 45 }, (_, at) => `original_language_identifier_${String(at).padStart(2, '0')}`);
const labels = Array.from({ length: 60 }, (_, at) => `waiting for the customer's answer, number ${at}`);
const columns = [
  { name: 'shipment_identifier', type: 'Number' as const },
  ...wide.map((name, at) => ({
    name,
    type: at % 3 === 0 ? ('Number' as const) : ('String' as const),
    nullable: false,
  })),
  { name: 'state_of_the_shipment', type: 'Enum' as const, enumValues: labels, nullable: true },
  { name: 'weight_in_kilograms', type: 'Number' as const, nullable: true },
];
const names = [...columns.map(({ name }) => name), collectionName];
const row = columns.map(({ type }, at) => (type === 'Number' ? at + 1 : type === 'Enum' ? labels[0] : `text ${at}`));

let server: McpTestServer;
beforeAll(async () => {
  server = await openMcpServer({
    source: createMemorySource('memory', [
      { name: collectionName, columns, primaryKey: ['shipment_identifier'], rows: [row] },
    ]),
    customize: withExtras(collectionName),
  });
});
afterAll(() => server.close());

const long = 'some words that nobody asked for '.repeat(400);
const full = Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]));
const without = (...left: string[]) =>
  Object.fromEntries(Object.entries(full).filter(([name]) => !left.includes(name)));
/** The call, and the names that its error must contain. */
const calls: readonly (readonly [tool: string, args: Record<string, unknown>, needed: readonly string[]])[] = [
  ['create', { attributes: without('original_language_identifier_44') }, ['original_language_identifier_44']],
  ['create', { attributes: without(...wide.slice(40)) }, wide.slice(40)],
  ['create', { attributes: { ...full, weight_in_kilograms: long } }, ['weight_in_kilograms']],
  ['create', { attributes: { ...full, state_of_the_shipment: long } }, ['state_of_the_shipment']],
  [
    'create',
    { attributes: { ...full, weight_in_kilograms: [long], state_of_the_shipment: { a: long } } },
    ['weight_in_kilograms', 'state_of_the_shipment'],
  ],
  ['create', { attributes: { ...full, weight_in_kilogram: 1 } }, ['weight_in_kilograms']],
  ['create', { attributes: { ...full, [`weight_in_kilograms ${long}`]: 1 } }, []],
  ['create', { attributes: { weight_in_kilograms: long } }, ['weight_in_kilograms']],
  ['update', { recordId: '1', attributes: { weight_in_kilograms: long } }, ['weight_in_kilograms']],
  [
    'update',
    { recordId: '1', attributes: Object.fromEntries(wide.slice(0, 9).map((name) => [name, null])) },
    wide.slice(0, 9),
  ],
  ['update', { recordId: '1', attributes: { wieght_in_kilograms: 1 } }, ['weight_in_kilograms']],
  ['update', { recordId: long, attributes: { weight_in_kilograms: 1 } }, []],
  ['list', { fields: ['original_language_identifier'] }, ['original_language_identifier_00']],
  ['list', { fields: [long] }, []],
  ['list', { sort: 'weight' }, ['weight_in_kilograms']],
  [
    'list',
    { filters: { field: 'weight_in_kilograms', operator: 'GreaterThan', value: long } },
    ['weight_in_kilograms'],
  ],
  ['list', { filters: { field: 'weight_in_kilograms', operator: long, value: 1 } }, []],
  [
    'list',
    { filters: { field: 'state_of_the_shipment', operator: 'Equal', value: 'waiting for the customer' } },
    ['state_of_the_shipment'],
  ],
  ['list', { filters: { field: 'state_of_the_shipment', operator: 'Equal', value: long } }, ['state_of_the_shipment']],
  ['list', { filters: { field: 'weight_in_kilograms', operator: 'ILike', value: '1' } }, ['weight_in_kilograms']],
  [
    'aggregate',
    { operation: 'sum', field: 'original_language_identifier_01' },
    ['original_language_identifier_01', 'shipment_identifier'],
  ],
  ['aggregate', { operation: 'sum', field: 'original_language_identifier' }, ['original_language_identifier_00']],
  [
    'aggregate',
    { operation: 'count', groups: [{ field: 'original_language_identifer_07' }] },
    ['original_language_identifier_07'],
  ],
  ['aggregate', { operation: 'count', groups: [{ field: long }] }, []],
];

/** Names that occur in a text only in part. */
function cutNames(text: string): string[] {
  const words = text.match(/[A-Za-z_]\w{3,}/g) ?? [];
  return words.filter(
    (word) => !names.includes(word) && names.some((name) => name.includes(word)) && word.includes('_'),
  );
}

test.each(calls)('%s %j', async (tool, args, needed) => {
  const text = String(await ask(server, tool, { collectionName, ...args }));
  expect(text).toMatch(/^[A-Z_]+: /);
  for (const name of needed) expect(text).toContain(name);
  const sent = JSON.stringify(args);
  expect(
    cutNames(text).filter((word) => !sent.includes(`"${word}"`)),
    text,
  ).toEqual([]);
  // Only errors with a call to send, or with a list of all fields to send, may be longer.
  const isWhole = /\{"|Also wrong or missing/.test(text);
  expect(countTokens(text), text).toBeLessThanOrEqual(isWhole ? 6 * MAX_ERROR_TOKENS : MAX_ERROR_TOKENS);
  // The code and the advice are separate sentences.
  expect(text.length, text).toBeGreaterThan(20);
});
