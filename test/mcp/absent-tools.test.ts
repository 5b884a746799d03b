// No text advises a caller to use a tool that they cannot see: every text, for every set of tools, with typical
// mistakes.
import { afterEach, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { fullAccess, type Verb } from '../../src/core/caller.ts';
import { withoutTools } from '../../src/mcp/results/absent-tools.ts';
import { toolNames } from '../../src/mcp/tools.ts';
import { createRandom } from '../agent/oracle/random.ts';
import { ask } from './asking.ts';
import {
  legacy,
  type McpTestServer,
  type McpTestServerOptions,
  modern,
  notes,
  openMcpServer,
  post,
  withExtras,
} from './mcp-server.ts';

let server: McpTestServer | undefined;
afterEach(() => server?.close());

const people = {
  name: 'people',
  columns: [
    { name: 'id', type: 'Number' as const },
    { name: 'name', type: 'String' as const },
  ],
  primaryKey: ['id'],
  rows: [
    [1, 'Ada'],
    [2, 'Bo'],
  ],
};
const linked = { ...notes, foreignKeys: [{ columns: ['owner'], table: 'people', targetColumns: ['id'] }] };

const open = (options: McpTestServerOptions = {}) =>
  openMcpServer({
    source: createMemorySource('memory', [people, linked]),
    customize: withExtras('notes'),
    workflowOn: 'notes',
    ...options,
  });

const collectionName = 'notes';
const long = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`unknown_field_${at}`, 'x'.repeat(20)]));
/** Typical mistakes of models. */
const mistakes: readonly Record<string, unknown>[] = [
  {},
  { nonsense: 1 },
  { collectionName: 'nothing' },
  { collectionName },
  { collectionName, fields: ['titel'], attributes: { titel: 1 }, recordIds: ['1'], recordId: '1', groups: ['titel'] },
  { collectionName, filters: { field: 'text', operator: 'Before', value: 'x' }, operation: 'count' },
  { collectionName, filters: { titel: 'x' }, operation: 'count' },
  { collectionName: 'people', fields: ['notes:text'], groups: ['notes:text'], operation: 'count' },
  { collectionName: 'people', operation: 'sum', field: 'notes:id' },
  { collectionName, relationName: 'nothing', parentRecordId: '1' },
  { collectionName, relationName: 'nothing', parentRecordId: '1', targetRecordId: '1' },
  { collectionName, relationName: 'nothing', parentRecordId: '1', targetRecordIds: ['1'] },
  { collectionName: 'people', relationName: 'notes', parentRecordId: '99' },
  { collectionName, attributes: long },
  { collectionName: 'people', attributes: { name: 'Cy', notes: [1] } },
  { collectionName, recordId: '1', attributes: long },
  { collectionName, recordIds: ['1', '999'] },
  { collectionName, actionName: 'Nothing', recordIds: ['1'] },
  { collectionName, actionName: 'Archive' },
  { collectionName, actionName: 'Archive', recordIds: ['1'], values: long },
  { chartName: 'nothing' },
  { collectionName, chartName: 'age' },
  { workflowId: 'nothing', recordId: '1' },
  { runId: 'nothing' },
  { collectionName, pagination: { size: 5000 }, limit: 5000, operation: 'count' },
];

// These tool names are also English words and count only after one of these words.
const words = ['list', 'create', 'update', 'delete'];
const pattern = (name: string) =>
  words.includes(name) ? `(?:with|in|as|by|call|use|then) ${name}\\b(?! of)` : `\\b${name}\\b`;

/** The tools that a text mentions. Quotes hold data and arguments. */
function namedIn(text: string): string[] {
  const said = text.replace(/(?<!\w)'[^']*'|"[^"]*"/g, '');
  return toolNames.filter((name) => new RegExp(pattern(name), 'i').test(said));
}

interface Listed {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: Record<string, { readonly description?: string }> };
}

interface Said {
  readonly note?: string;
  readonly unseen?: readonly string[];
}

/** Descriptions and contents of prompts and resources. */
async function shelf(at: McpTestServer, authorization: string): Promise<[string, string][]> {
  const ask = async (
    method: string,
    params: { readonly uri?: string } & Record<string, unknown> = {},
  ): Promise<unknown> => {
    const { body, headers } = modern(method, params);
    const answer = await post(at, body, {
      ...headers,
      authorization,
      ...(params.uri !== undefined && { 'mcp-name': params.uri }),
    });
    const { result, error } = answer.body as { result?: unknown; error?: { message: string } };
    if (error) throw new Error(`${method} ${JSON.stringify(params)}: ${error.message}`);
    return result;
  };
  const texts: [string, string][] = [];
  const { prompts } = (await ask('prompts/list')) as { prompts: { name: string; arguments?: { name: string }[] }[] };
  for (const prompt of prompts) {
    const given = Object.fromEntries(
      (prompt.arguments ?? []).map(({ name }) => [name, name === 'period' ? 'Month' : 'notes']),
    );
    const got = await ask('prompts/get', { name: prompt.name, arguments: given });
    texts.push([`prompt ${prompt.name}`, saidIn(prompt)], [`prompt ${prompt.name}: text`, saidIn(got)]);
  }
  const { resources } = (await ask('resources/list')) as { resources: { uri: string }[] };
  const { resourceTemplates } = (await ask('resources/templates/list')) as { resourceTemplates: object[] };
  for (const each of resourceTemplates) texts.push(['template', saidIn(each)]);
  for (const { uri, ...more } of resources) {
    texts.push([`resource ${uri}`, saidIn(more)], [uri, saidIn(await ask('resources/read', { uri }))]);
  }
  return texts;
}

/** All strings in a value, one per line. */
function saidIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(saidIn).join('\n ');
}

/** Texts that are empty or mention a tool that this caller lacks. */
async function misled(at: McpTestServer, token = 'user-2'): Promise<{ asked: number; wrong: string[] }> {
  const authorization = `Bearer ${token}`;
  const { body } = await post(at, legacy('tools/list'), { authorization });
  const { tools } = (body as { result: { tools: Listed[] } }).result;
  const has = new Set(tools.map(({ name }) => name));
  const discover = modern('server/discover');
  const told = await post(at, discover.body, { ...discover.headers, authorization });
  const { instructions } = (told.body as { result: { instructions: string } }).result;
  const texts: [string, string][] = [['instructions', instructions]];
  for (const { name, description, inputSchema } of tools) {
    texts.push([`${name}: description`, description]);
    for (const [argument, { description: about = '' }] of Object.entries(inputSchema.properties))
      texts.push([`${name}.${argument}`, `${about} `]);
    for (const given of mistakes) {
      const call = legacy('tools/call', { name, arguments: given });
      const { body: answer } = await post(at, call, { authorization });
      // Without a result, the response is the step-up challenge.
      const text = (answer as { result?: { content: [{ text: string }] } }).result?.content[0].text;
      const where = `${name} ${JSON.stringify(given).slice(0, 80)}`;
      if (text === undefined) continue;
      // Keeps only the notes of a result, not its data.
      const { note = '', unseen = [] } = text.startsWith('{') ? (JSON.parse(text) as Said) : { note: text };
      for (const each of [note, ...unseen]) texts.push([where, `${each} `]);
    }
  }
  texts.push(...(await shelf(at, authorization)));
  const wrong = texts.flatMap(([where, text]) => {
    if (text === '' || /^[A-Z_]+:\s*$/.test(text)) return [`${where} is empty`];
    return namedIn(text)
      .filter((name) => !has.has(name))
      .map((name) => `${where} names ${name}: ${text}`);
  });
  return { asked: texts.length, wrong };
}

describe('no text names a tool that the caller cannot see', () => {
  test.each(toolNames)('only %s is enabled', async (name) => {
    server = await open({ settings: { enabledTools: [name] } });
    const { asked, wrong } = await misled(server);
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(5);
  });

  test.each(toolNames)('all but %s are enabled', async (name) => {
    server = await open({ settings: { enabledTools: toolNames.filter((each) => each !== name) } });
    expect((await misled(server)).wrong).toEqual([]);
  });

  // Also covers texts that depend on several tools.
  test.each(Array.from({ length: 8 }, (_, at) => at + 1))('random tools, seed %i', async (seed) => {
    const random = createRandom(seed);
    const enabledTools = random.some(toolNames, 2, toolNames.length - 2);
    server = await open({ settings: { enabledTools } });
    expect((await misled(server)).wrong, enabledTools.join(' ')).toEqual([]);
  });

  test.each(['user-2', 'reader-2'])('the scopes of %s', async (token) => {
    server = await open();
    expect((await misled(server, token)).wrong).toEqual([]);
  });

  test('a role that may only browse', async () => {
    const access: McpTestServerOptions['access'] = (id) => {
      const full = fullAccess({
        ...{ id, email: 'ada@example.test', firstName: 'Ada', lastName: 'Byron', team: 'Operations', role: 'Member' },
        ...{ tags: {}, timezone: 'UTC', permissionLevel: 'user' as const, renderingId: 1 },
      });
      return { ...full, can: (verb: Verb) => verb === 'read' || verb === 'browse' };
    };
    server = await open({ access });
    expect((await misled(server)).wrong).toEqual([]);
  });
});

test.each<[verb: Verb, collection: string, shown: readonly string[]]>([
  ['add', 'people', ['create']],
  ['edit', 'people', ['update']],
  ['delete', 'people', ['delete']],
  ['edit', 'notes', ['update', 'associate', 'dissociate']],
  ['delete', 'notes', ['delete']],
  ['add', 'pairs', ['create', 'associate']],
  ['delete', 'pairs', ['delete', 'dissociate']],
  ['browse', 'notes', []],
])('the right to %s %s lists its tools, and no other tool that writes', async (verb, collection, shown) => {
  const access: McpTestServerOptions['access'] = (id) => {
    const full = fullAccess({
      ...{ id, email: 'ada@example.test', firstName: 'Ada', lastName: 'Byron', team: 'Operations', role: 'Member' },
      ...{ tags: {}, timezone: 'UTC', permissionLevel: 'user' as const, renderingId: 1 },
    });
    const can = (asked: Verb, of: string) =>
      asked === 'read' || asked === 'browse' || (asked === verb && of === collection);
    return { ...full, can };
  };
  const column = (name: string) => ({ name, type: 'Number' as const });
  const pairs = {
    ...{ name: 'pairs', columns: [column('note_id'), column('person_id')], primaryKey: ['note_id', 'person_id'] },
    foreignKeys: [
      { columns: ['note_id'], table: 'notes', targetColumns: ['id'] },
      { columns: ['person_id'], table: 'people', targetColumns: ['id'] },
    ],
    rows: [],
  };
  server = await open({ access, source: createMemorySource('memory', [people, linked, pairs]) });
  const { body } = await post(server, legacy('tools/list'), { authorization: 'Bearer user-2' });
  const { tools } = (body as { result: { tools: Listed[] } }).result;
  const writing = ['create', 'update', 'delete', 'associate', 'dissociate'];
  expect(tools.map(({ name }) => name).filter((name) => writing.includes(name))).toEqual(shown);
});

test('advice about a tool is shown to callers who have the tool', async () => {
  server = await open();
  expect(await ask(server, 'list', { collectionName: 'nothing' })).toContain('Call describeCollection');
  expect(await ask(server, 'list', {})).toContain('describeCollection without a name lists them');
});

test.each([
  ['Wrong. Call getChart for all.', 'Wrong.'],
  ['Send a name; getChart lists them.', 'Send a name.'],
  ['Do it (getChart shows how), then rest.', 'Do it, then rest.'],
  ["No field 'getChart'. Near: a.", "No field 'getChart'. Near: a."],
  ['send {"tool":"getChart. Or"}. Done.', 'send {"tool":"getChart. Or"}. Done.'],
  ["The record's own. It's as in list.", "The record's own."],
  ['Send a list of names.', 'Send a list of names.'],
  ['Only getChart.', 'Only getChart.'],
  ['One.\ngetChart shows more.\nTwo.', 'One.\nTwo.'],
])('%j without getChart and list', (text, left) => {
  expect(withoutTools(text, new Set(['getChart', 'list']))).toBe(left);
});
