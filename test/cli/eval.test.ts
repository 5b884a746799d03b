// `portico eval`: the forty tasks of the demo shop pass within their limits, and a failed expectation is reported.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Call, type Evaluation, findProblems } from '../../eval/kit/definitions.ts';
import { type Answer, judge } from '../../eval/kit/judge.ts';
import { composeReport } from '../../eval/kit/report.ts';
import { type Report, runEvaluation } from '../../eval/kit/run.ts';
import { openDemo } from '../../eval/kit/targets.ts';
import { evaluation } from '../../eval/shop.ts';
import { loadConfig } from '../../src/core/config.ts';
import { buildOnce, makePlace, type Place, portico, startServer } from './command.ts';

describe('the forty tasks of the demo shop', () => {
  let report: Report;
  const empty: string[] = [];
  beforeAll(async () => {
    const target = await openDemo(loadConfig({ env: { SERVICE_LOG_LEVEL: 'Error' } }), '0.0.0-test', evaluation.people);
    const ask: typeof target.ask = (sql, parameters) => {
      const rows = target.ask?.(sql, parameters) ?? [];
      if (rows.length === 0) empty.push(sql);
      return rows;
    };
    try {
      report = await runEvaluation(evaluation, { ...target, ask }, countTokens);
    } finally {
      await target.close();
    }
  }, 60_000);

  test('all pass', () => {
    expect(report.tasks.filter(({ problems }) => problems.length > 0)).toEqual([]);
    expect(report.tasks).toHaveLength(40);
  });

  test('none has an empty expected result or lacks an expectation', () => {
    expect(empty).toEqual([]);
    const unjudged = evaluation.tasks.filter(({ calls }) => calls.every((call) => call.expect === undefined));
    expect(unjudged).toEqual([]);
  });

  test('each has a token limit, and the median stays small', () => {
    expect(evaluation.tasks.filter(({ tokens }) => tokens === undefined)).toEqual([]);
    const spent = report.tasks.map(({ written, read }) => written + read).sort((a, b) => a - b);
    expect(spent[20]).toBeLessThan(150);
    expect(report.greeting).toBeLessThan(2400);
  });
});

describe('an expectation', () => {
  const answer: Answer = {
    text: '{"columns":["id","city"],"rows":[[1,"Bergen"],[2,"Oslo"]],"hasMore":false}',
    isError: false,
  };
  const refused: Answer = { text: "UNKNOWN_FIELD: 'orders' has no field 'x'. Near: y.", isError: true };
  const known = { answers: new Map(), ask: () => [[2]] };
  const holds: readonly [Answer, Call['expect']][] = [
    [answer, {}],
    [answer, { equals: { 'rows.last.city': 'Oslo', 'rows.*.id': [1, 2], hasMore: false } }],
    [
      answer,
      {
        rows: [
          [1, 'Bergen'],
          [2, 'Oslo'],
        ],
        count: { $value: 'SELECT 2' },
        contains: ['Bergen'],
        lacks: ['Paris'],
      },
    ],
    [refused, { error: 'UNKNOWN_FIELD', contains: ['Near: y'] }],
    [answer, { equals: { 'rows.0.id': 1 + 1e-12 }, database: [{ is: { $value: 'SELECT 2' }, was: 2 }] }],
  ];
  const fails: readonly [Answer, Call['expect']][] = [
    [refused, {}],
    [answer, { error: 'UNKNOWN_FIELD' }],
    [refused, { error: 'UNKNOWN' }],
    [answer, { equals: { 'rows.0.city': 'Oslo' } }],
    [answer, { equals: { 'rows.0.town': null } }],
    [answer, { equals: { 'rows.0.id': '1' } }],
    [{ text: '{"id":123456789012}', isError: false }, { equals: { id: 123456789013 } }],
    [
      answer,
      {
        rows: [
          [2, 'Oslo'],
          [1, 'Bergen'],
        ],
      },
    ],
    [answer, { rows: [[1, 'Bergen']] }],
    [answer, { count: 3 }],
    [answer, { contains: ['Paris'] }],
    [answer, { lacks: ['Bergen'] }],
    [answer, { database: [{ is: { $sql: 'SELECT 2' }, was: [[3]] }] }],
  ];

  test.each(holds)('of %j passes: %j', (given, expectation) => {
    expect(judge(given, expectation, known)).toEqual([]);
  });
  test.each(fails)('of %j fails: %j', (given, expectation) => {
    expect(judge(given, expectation, known)).toHaveLength(1);
  });
});

test('all misspelt names of a file are reported together', () => {
  const call = { tool: 'list', arguments: {}, expects: {} };
  const file = {
    title: 't',
    tasks: [{ says: 's', as: 'nobody', calls: [call, { tool: 'list', arguments: {}, expect: { equal: {} } }] }],
  };
  expect(findProblems(file)).toEqual([
    "task 1: 'as' must be the name of one of 'people'.",
    "task 1, call 1: unknown 'expects'. Use tool, arguments, name, expect.",
    "task 1, call 2, expect: unknown 'equal'. Use error, equals, rows, count, contains, lacks, database.",
  ]);
  expect(findProblems([])).toEqual(['the file: expected an object.']);
  expect(findProblems(evaluation)).toEqual([]);
});

test('a report has a row for each task, the problems and the totals', () => {
  const tasks = [
    { says: 'One', calls: 1, written: 10, read: 20, problems: [] },
    { says: 'Two', calls: 2, written: 30, read: 60, problems: ['call 1, list: rows: expected 1, got 2'] },
  ];
  expect(composeReport({ title: 'Both', greeting: 7, tasks }, 'o200k').split('\n')).toEqual([
    'Both',
    '',
    '        CALLS  WRITTEN  READ  TOKENS  TASK',
    'ok      1      10       20    30      One',
    'FAILED  2      30       60    90      Two',
    '',
    'FAILED: Two',
    '  call 1, list: rows: expected 1, got 2',
    '',
    '1 of 2 tasks passed, in 3 calls.',
    "120 tokens (o200k): 60 for the median task, 90 for the largest ('Two').",
    'Tools and instructions, once per conversation: 7 tokens.',
    '',
  ]);
});

describe('the command', () => {
  let place: Place;
  beforeAll(buildOnce);
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.remove());

  const write = (tasks: Evaluation['tasks'], people?: Evaluation['people']) =>
    writeFileSync(
      join(place.folder, 'tasks.json'),
      JSON.stringify({ title: 'Mine', tasks, ...(people && { people }) }),
    );
  const count: Call = {
    tool: 'aggregate',
    arguments: { collectionName: 'orders', operation: 'count' },
    expect: { equals: { 'rows.0.0': { $value: 'SELECT count(*) FROM orders' } } },
  };

  test('exits with 0 if all tasks pass, and with 1 if an answer is wrong or exceeds the token limit', async () => {
    write([{ says: 'Count', calls: [count] }]);
    const good = await portico(['eval', 'tasks.json'], place);
    write([
      { says: 'Count', calls: [{ ...count, expect: { equals: { 'rows.0.0': -1 } } }] },
      { says: 'Cheaply', tokens: 5, calls: [count] },
      { says: 'From nowhere', calls: [{ ...count, arguments: { collectionName: { $ref: 'gone.name' } } }] },
    ]);
    const bad = await portico(['eval', 'tasks.json'], place);
    expect([good.code, good.stdout.includes('1 of 1 tasks passed, in 1 calls.')]).toEqual([0, true]);
    expect([bad.code, bad.stdout]).toEqual([
      1,
      expect.stringMatching(
        /rows\.0\.0: expected -1[\s\S]*the limit is 5[\s\S]*no earlier call has the name 'gone'[\s\S]*0 of 3 tasks passed/,
      ),
    ]);
  });

  test('reports an unreadable or invalid file in one line, with exit code 1', async () => {
    const gone = await portico(['eval', 'gone.json'], place);
    writeFileSync(join(place.folder, 'tasks.json'), '{"title":"t","tasks":[{"says":"s","calls":[],"token":1}]}');
    const wrong = await portico(['eval', 'tasks.json'], place);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringMatching(/^portico: gone\.json cannot be read: /)]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/task 1: unknown 'token'\. Use says, /)]);
    writeFileSync(join(place.folder, 'tasks.json'), '{"title":"t","tasks":[{"says":"s","id":9007199254740993}]}');
    const rounded = await portico(['eval', 'tasks.json'], place);
    expect([rounded.code, rounded.stderr]).toEqual([
      1,
      expect.stringMatching(/the number 9007199254740993 \(at 'id'\).*Send its digits as a string/),
    ]);
  });

  test('calls a server by its URL with the token of the environment', async () => {
    const server = await startServer(['--email', 'ada@example.com'], place);
    try {
      const args = ['token', 'create', '--user', 'ada@example.com', '--name', 'eval', '--scopes', 'mcp:read'];
      const SERVICE_MCP_TOKEN = (await portico(args, place)).stdout.trim();
      const run = { ...place, env: { SERVICE_MCP_TOKEN } };
      write([{ says: 'Count', calls: [{ ...count, expect: { equals: { 'columns.0': 'count' } } }] }]);
      const good = await portico(['eval', 'tasks.json', '--url', server.mcpUrl], run);
      write([{ says: 'Count', calls: [count] }]);
      const asking = await portico(['eval', 'tasks.json', '--url', server.mcpUrl], run);
      const without = await portico(['eval', 'tasks.json', '--url', server.mcpUrl], place);
      expect([good.code, good.stderr]).toEqual([0, '']);
      expect([asking.code, asking.stdout]).toEqual([1, expect.stringContaining('there is no database to query')]);
      expect([without.code, without.stderr]).toEqual([1, expect.stringMatching(/SERVICE_MCP_TOKEN must contain/)]);
    } finally {
      server.signal('SIGTERM');
      await server.ended;
    }
  });
});
