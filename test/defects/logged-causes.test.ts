// An error in code of the operator is logged once with its file and line, at every entry point, and never appears in
// the answer. The table has every kind of customizer callback, and each fails in every possible way.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Agent } from '../../src/index.ts';
import { createMemoryDataSource } from '../../src/index.ts';
import { createTestableAgent, type TestableAgent } from '../../src/testing/index.ts';
import { emptyAgent, type Logged } from '../app/agent.ts';

const words = 'the till is jammed';
const file = 'logged-causes.test.ts';

/** The ways a callback can fail. */
const ways: Readonly<Record<string, () => unknown>> = {
  'an Error': () => {
    throw new Error(words);
  },
  'a string': () => {
    throw words;
  },
  undefined: () => {
    throw undefined;
  },
  'a rejected promise': async () => {
    throw new Error(words);
  },
  'a promise rejected with undefined': () => Promise.reject(undefined),
};

let failing: { readonly part: string; readonly run: () => unknown } | undefined;

/** Runs `usual`, or fails if the test selected the callback `part`. */
function act<T>(part: string, usual: () => T): T {
  return failing?.part === part ? (failing.run() as T) : usual();
}

function customize(agent: Agent): void {
  agent.addDataSource(
    createMemoryDataSource('fair', [
      {
        name: 'stalls',
        columns: [
          { name: 'id', type: 'Number' },
          { name: 'name', type: 'String' },
          { name: 'rent', type: 'Number' },
        ],
        primaryKey: ['id'],
        rows: [
          [1, 'Apples', 10],
          [2, 'Pears', 20],
        ],
      },
      {
        name: 'tents',
        columns: [
          { name: 'id', type: 'Number' },
          { name: 'name', type: 'String' },
        ],
        primaryKey: ['id'],
        rows: [[1, 'Red']],
      },
    ]),
  );
  const nothing = () => undefined;
  agent
    .customizeCollection('stalls', (stalls) => {
      stalls
        .addField('sign', {
          columnType: 'String',
          dependencies: ['name'],
          getValues: (records) => act('addField', () => records.map(({ name }) => `${name}!`)),
        })
        .addSegment('cheap', () =>
          act('addSegment', () => ({ field: 'rent', operator: 'LessThan' as const, value: 15 })),
        )
        .replaceSearch((search) =>
          act('replaceSearch', () => ({ field: 'name', operator: 'Equal' as const, value: search })),
        )
        .replaceFieldOperator('sign', 'Equal', (value) =>
          act('replaceFieldOperator', () => ({ field: 'name', operator: 'Equal' as const, value })),
        )
        .replaceFieldWriting('rent', (value) => act('replaceFieldWriting', () => ({ rent: value })))
        .addExternalRelation('owners', {
          schema: { who: 'String' },
          listRecords: () => act('addExternalRelation', () => [{ who: 'Ann' }]),
        })
        .addChart('One', (_context, result) => act('addChart of a collection', () => result.value(1)))
        .addAction('Close', {
          scope: 'Single',
          form: [
            {
              label: 'Why',
              type: 'String',
              value: () => act('value of a form', () => 'rain'),
              if: () => act('if of a form', () => true),
            },
            { label: 'When', type: 'Enum', enumValues: () => act('enumValues of a form', () => ['now', 'later']) },
            {
              label: 'Who',
              type: 'String',
              widget: 'Dropdown',
              search: 'dynamic',
              options: () => act('options of a form', () => ['Ann']),
            },
          ],
          execute: (_context, result) => act('execute', () => result.success('Closed')),
        })
        .addAction('Print', {
          scope: 'Global',
          generateFile: true,
          execute: (_context, result) => act('execute with a file', () => result.file('a', 'a.txt', 'text/plain')),
        });
      for (const position of ['Before', 'After'] as const)
        for (const type of ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const)
          stalls.addHook(position, type, () => act(`addHook ${position} ${type}`, nothing));
    })
    .customizeCollection('tents', (tents) =>
      tents
        .overrideCreate(({ data }) => act('overrideCreate', () => data.map((record) => ({ ...record, id: 1 }))))
        .overrideUpdate(() => act('overrideUpdate', nothing))
        .overrideDelete(() => act('overrideDelete', nothing)),
    )
    .addWorkflow({
      name: 'Closing',
      collection: 'stalls',
      steps: [{ id: 'close', type: 'trigger-action', action: 'Close', mode: 'automatic' }],
    })
    .addChart('All', (_context, result) => act('addChart', () => result.value(2)));
}

interface Kind {
  /** Calls that run the callback, by entry point. */
  readonly calls: Readonly<Record<string, (place: TestableAgent) => unknown>>;
  /** An invalid return value; absent if the return value is not used. */
  readonly wrong?: unknown;
}

/** The id of a record that a test creates or deletes. */
let id = 100;

const mcp = (tool: string, args: Readonly<Record<string, unknown>>) => (place: TestableAgent) =>
  place.mcp.call(tool, args);
const stalls = (place: TestableAgent) => place.client.collection('stalls');
const tents = (place: TestableAgent) => place.client.collection('tents');
const inStalls = { collectionName: 'stalls' };
const inTents = { collectionName: 'tents' };
const list = {
  MCP: mcp('list', inStalls),
  HTTP: (place: TestableAgent) => stalls(place).list(),
  CSV: (place: TestableAgent) => stalls(place).exportCsv(),
};
const form = {
  MCP: mcp('getActionForm', { ...inStalls, actionName: 'Close', recordIds: [1] }),
  HTTP: (place: TestableAgent) => stalls(place).action('Close', { recordId: 1 }),
};
const recordFor = (collection: string) => ({ id, name: 'Plums', ...(collection === 'stalls' && { rent: 5 }) });
const create = (collection: 'stalls' | 'tents') => ({
  MCP: (place: TestableAgent) =>
    place.mcp.call('create', { collectionName: collection, attributes: recordFor(collection) }),
  HTTP: (place: TestableAgent) => place.client.collection(collection).create(recordFor(collection)),
});
const update = {
  MCP: mcp('update', { ...inStalls, recordId: 1, attributes: { rent: 11 } }),
  HTTP: (place: TestableAgent) => stalls(place).update(1, { rent: 12 }),
};
const remove = {
  MCP: (place: TestableAgent) => place.mcp.call('delete', { ...inStalls, recordIds: [id] }),
  HTTP: (place: TestableAgent) => stalls(place).delete(id),
};
const aggregate = {
  MCP: mcp('aggregate', { ...inStalls, operation: 'Count' }),
  HTTP: (place: TestableAgent) => stalls(place).count(),
};

const kinds: Readonly<Record<string, Kind>> = {
  addField: { calls: list, wrong: ['of one only'] },
  addSegment: {
    calls: {
      MCP: mcp('list', { ...inStalls, segment: 'cheap' }),
      HTTP: (place) => stalls(place).list({ segment: 'cheap' }),
    },
    wrong: { field: 'nothing', operator: 'Equal', value: 1 },
  },
  replaceSearch: {
    calls: { MCP: mcp('list', { ...inStalls, search: 'x' }), HTTP: (place) => stalls(place).search('x') },
    wrong: { field: 'nothing', operator: 'Equal', value: 1 },
  },
  replaceFieldOperator: {
    calls: {
      MCP: mcp('list', { ...inStalls, filters: { field: 'sign', operator: 'Equal', value: 'x' } }),
      HTTP: (place) => stalls(place).list({ filters: { field: 'sign', operator: 'Equal', value: 'x' } }),
    },
    wrong: { field: 'nothing', operator: 'Equal', value: 1 },
  },
  replaceFieldWriting: { calls: update, wrong: { nothing: 1 } },
  addExternalRelation: {
    calls: { MCP: mcp('listRelated', { ...inStalls, relationName: 'owners', parentRecordId: 1 }) },
    wrong: 'no list',
  },
  'addChart of a collection': {
    calls: {
      MCP: mcp('getChart', { ...inStalls, chartName: 'One', recordId: 1 }),
      HTTP: (place) => stalls(place).valueChart('One', 1),
    },
    wrong: 5,
  },
  addChart: {
    calls: { MCP: mcp('getChart', { chartName: 'All' }), HTTP: (place) => place.client.valueChart('All') },
    wrong: 5,
  },
  'value of a form': { calls: form, wrong: Symbol('no text') },
  'if of a form': { calls: form },
  'enumValues of a form': { calls: form, wrong: 5 },
  'options of a form': { calls: form, wrong: 5 },
  execute: {
    calls: {
      MCP: mcp('executeAction', { ...inStalls, actionName: 'Close', recordIds: [1] }),
      HTTP: async (place) => (await stalls(place).action('Close', { recordId: 1 })).execute(),
    },
    wrong: 5,
  },
  'execute with a file': {
    calls: {
      MCP: mcp('executeAction', { ...inStalls, actionName: 'Print' }),
      HTTP: async (place) => (await stalls(place).action('Print')).execute(),
    },
    wrong: 5,
  },
  'addHook Before List': { calls: list },
  'addHook After List': { calls: list },
  'addHook Before Create': { calls: create('stalls') },
  'addHook After Create': { calls: create('stalls') },
  'addHook Before Update': { calls: update },
  'addHook After Update': { calls: update },
  'addHook Before Delete': { calls: remove },
  'addHook After Delete': { calls: remove },
  'addHook Before Aggregate': { calls: aggregate },
  'addHook After Aggregate': { calls: aggregate },
  overrideCreate: { calls: create('tents'), wrong: 'no list' },
  overrideUpdate: {
    calls: {
      MCP: mcp('update', { ...inTents, recordId: 1, attributes: { name: 'Blue' } }),
      HTTP: (place) => tents(place).update(1, { name: 'Blue' }),
    },
  },
  overrideDelete: {
    calls: { MCP: mcp('delete', { ...inTents, recordIds: [1] }), HTTP: (place) => tents(place).delete(1) },
  },
};

const logged: Logged[] = [];
let place: TestableAgent;

beforeAll(async () => {
  place = await createTestableAgent(customize, { agent: { logger: (...line) => void logged.push(line) } });
});
afterAll(() => place.close());
beforeEach(() => {
  failing = undefined;
});

/** The complete text of a refusal, as the caller of a test client reads it. */
function readable(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message} ${JSON.stringify(error)}` : '';
}

async function failWith(part: string, run: () => unknown, call: (place: TestableAgent) => unknown): Promise<string> {
  id += 1;
  if (/^addHook.*Delete$/.test(part)) await stalls(place).create({ id, name: 'Dates', rent: 5 });
  logged.length = 0;
  failing = { part, run };
  try {
    await call(place);
  } catch (error) {
    return readable(error);
  } finally {
    failing = undefined;
  }
  throw new Error('the call did not fail');
}

/** A log line as a typical logger prints it. */
const printed = ([level, message, error]: Logged): string =>
  `${level} ${message} ${error instanceof Error ? error.stack : String(error)}`;

describe.each(Object.entries(kinds))('%s', (part, { calls, wrong }) => {
  const failures = { ...ways, ...(wrong !== undefined && { 'a wrong value': () => wrong }) };
  const cases = Object.entries(failures).flatMap(([way, run]) =>
    Object.entries(calls).map(([entrance, call]) => [way, entrance, run, call] as const),
  );
  test.each(cases)('%s, by %s', async (way, _entrance, run, call) => {
    const answer = await failWith(part, run, call);
    expect(answer).not.toContain(words);
    expect(answer).not.toContain(file);
    expect(logged.map(([level]) => level)).toEqual(['Error']);
    expect(printed(logged[0]!)).toMatch(new RegExp(`${file.replaceAll('.', '\\.')}:\\d+`));
    if (/Error|string|rejected promise/.test(way)) expect(printed(logged[0]!)).toContain(words);
  });
});

test('the logger receives the error object, with the line that threw it', async () => {
  await failWith('addField', ways['an Error']!, list.MCP);
  const [, message, error] = logged[0]!;
  expect(message).toMatch(/mcp list.*the field 'sign', added at .*logged-causes\.test\.ts:\d+/);
  expect(error).toMatchObject({ message: words, stack: expect.stringMatching(/logged-causes\.test\.ts:1\d:/) });
});

test('a workflow step that runs an action', async () => {
  logged.length = 0;
  failing = { part: 'execute', run: ways['an Error']! };
  const { rows } = await place.mcp.call('listWorkflows', inStalls);
  const { runId } = await place.mcp.call('triggerWorkflow', { workflowId: rows[0][0], recordId: 1 });
  await expect
    .poll(async () => (await place.mcp.call('getWorkflowRun', { runId })).state, { timeout: 20_000 })
    .toBe('awaiting-input');
  failing = undefined;
  expect(logged.map(([level]) => level)).toEqual(['Error']);
  expect(printed(logged[0]!)).toMatch(/workflow Closing.*'Close' of 'stalls'.*logged-causes\.test\.ts:\d+/s);
});

test('a callback of the start, and a plugin', async () => {
  const broken: Readonly<Record<string, (agent: Agent) => unknown>> = {
    callback: (agent) => agent.customizeCollection('stalls', () => ways['an Error']!()),
    'async callback': (agent) => agent.customizeCollection('stalls', () => ways['a rejected promise']!()),
    plugin: (agent) => agent.use(() => ways['an Error']!() as undefined, undefined),
    'data source': (agent) => agent.addDataSource(() => ways['an Error']!() as never),
  };
  for (const [what, add] of Object.entries(broken)) {
    const { agent, logged } = emptyAgent();
    customize(agent);
    add(agent);
    await expect(agent.start(), what).rejects.toThrow(words);
    const errors = logged.filter(([level]) => level === 'Error');
    expect(errors.map(printed), what).toEqual([expect.stringMatching(/start.*logged-causes\.test\.ts:\d+.*jammed/s)]);
    expect(errors[0]![2], what).toMatchObject({ message: words });
  }
});
