// The allow-list of tools: exact names, in the order of the table; and what clients learn about each tool.
import { expect, test } from 'vitest';
import type { Observation } from '../../src/core/observe.ts';
import { selectTools, toolNames } from '../../src/mcp/tools.ts';

function select(enabled: readonly string[] | null) {
  const seen: Observation[] = [];
  const names = selectTools(enabled, (one) => seen.push(one)).map(({ name }) => name);
  return { names, warnings: seen.length };
}

test('without a list all tools are served, the further ones too', () => {
  const further = [
    'aggregate',
    'getChart',
    'listWorkflows',
    'triggerWorkflow',
    'getWorkflowRun',
    'requestActionFileUpload',
  ];
  const { names, warnings } = select(null);
  expect([names, further.filter((name) => !names.includes(name)), warnings]).toEqual([toolNames, [], 0]);
});

test('with a list those are served and no others, each once', () => {
  expect(select(['list', 'describeCollection', 'list'])).toEqual({
    names: ['describeCollection', 'list'],
    warnings: 0,
  });
});

test('without describeCollection the list stays as it is, with a warning', () => {
  expect(select(['list', 'create'])).toEqual({ names: ['list', 'create'], warnings: 1 });
});

test.each([
  [['list', 'lists'], "no tool 'lists'. Near: list"],
  [['List'], "no tool 'List'. Near: list"],
  [['describeCollection', 'zzzzzz'], "no tool 'zzzzzz'. Known: describeCollection, list,"],
  [[''], "no tool ''."],
  [[], 'is empty.'],
])('%j is refused at start', (enabled, words) => {
  expect(() => select(enabled)).toThrow(words);
});

/** Read-only, destructive, idempotent, open world. */
const told: Readonly<Record<string, readonly [title: string, hints: string]>> = {
  describeCollection: ['Describe a collection', 'read idempotent'],
  list: ['List records', 'read idempotent'],
  listRelated: ['List related records', 'read idempotent'],
  create: ['Create a record', ''],
  update: ['Update records', 'destructive idempotent'],
  delete: ['Delete records', 'destructive idempotent'],
  associate: ['Link records', 'destructive idempotent'],
  dissociate: ['Unlink records', 'destructive idempotent'],
  getActionForm: ['Form of an action', 'read idempotent'],
  executeAction: ['Execute an action', 'destructive open'],
  requestActionFileUpload: ['Upload a file', ''],
  aggregate: ['Count and sum records', 'read idempotent'],
  getChart: ['Figures of a chart', 'read idempotent'],
  listWorkflows: ['List workflows', 'read idempotent'],
  triggerWorkflow: ['Start a workflow', 'destructive open'],
  getWorkflowRun: ['State of a workflow run', 'read idempotent'],
};

test.each(selectTools(null, () => undefined).map((tool) => [tool.name, tool] as const))(
  '%s has its title and its four hints',
  (name, { title, annotations }) => {
    const [expected, hints] = told[name] ?? [];
    const has = (hint: string) => hints?.split(' ').includes(hint);
    expect([title, annotations]).toEqual([
      expected,
      {
        readOnlyHint: has('read'),
        destructiveHint: has('destructive'),
        idempotentHint: has('idempotent'),
        openWorldHint: has('open'),
      },
    ]);
  },
);
