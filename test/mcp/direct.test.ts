// Tool calls without the SDK (mcp/transport/serving.ts) compared with the SDK's own handler: the same status and the
// same message for any request.
import { afterEach, describe, expect, test } from 'vitest';
import { fullAccess } from '../../src/core/caller.ts';
import {
  legacy,
  type McpTestServer,
  type McpTestServerOptions,
  modern,
  openMcpServer,
  post,
  withExtras,
} from './mcp-server.ts';

const META = 'io.modelcontextprotocol/';
const asks = { [`${META}clientCapabilities`]: { elicitation: {} } };
const call = (name: string, args?: unknown, more: object = {}) => ({
  name,
  ...(args !== undefined && { arguments: args }),
  ...more,
});
const note = { id: 900, owner: 2, text: 'new' };

const calls: readonly (readonly [what: string, params: Record<string, unknown>, id?: number | string])[] = [
  ['an answer', call('list', { collectionName: 'notes', fields: ['text'] })],
  ['an answer without arguments', call('describeCollection')],
  ['arguments as text', call('list', '{"collectionName":"notes"}')],
  ['arguments that are null', call('describeCollection', null)],
  ['arguments that are a list', call('list', [])],
  ['an id that is a text', call('describeCollection', {}), 'one "two"'],
  ['an error of the tool', call('list', { collectionName: 'note' })],
  ['an argument too many', call('list', { collectionName: 'notes', size: 1 })],
  ['a tool that is none', call('lists', {})],
  ['a name that is no text', call(7 as never, {})],
  ['a write', call('create', { collectionName: 'notes', attributes: note })],
  ['a write of a client that can ask', call('create', { collectionName: 'notes', attributes: note }, { _meta: asks })],
  ['an action', call('executeAction', { collectionName: 'notes', actionName: 'Archive', recordIds: [2] })],
  ['a chart', call('getChart', { chartName: 'total' })],
  ['members of the request that nobody knows', call('describeCollection', {}, { task: {}, other: 1 })],
  ['an answer to no question', call('describeCollection', {}, { inputResponses: {}, requestState: 'made up' })],
  ['a progress token', call('describeCollection', {}, { _meta: { progressToken: 'p1' } })],
  ['a progress token that is none', call('describeCollection', {}, { _meta: { progressToken: {} } })],
  ['a trace', call('describeCollection', {}, { _meta: { traceparent: '00-a-b-01' } })],
];

const eras = {
  '2026-07-28': modern,
  'an earlier revision': (method: string, { _meta, ...params }: Record<string, unknown>, id?: number | string) => {
    // In this era requests do not carry client capabilities.
    const meta = _meta !== undefined && _meta !== asks ? { _meta } : {};
    return { body: legacy(method, { ...params, ...meta }, id), headers: {} };
  },
} as const;

const houses: readonly (readonly [which: string, McpTestServerOptions])[] = [
  ['plainly', {}],
  ['with output schemas', { settings: { outputSchemas: true } }],
  [
    'with approval of writes',
    {
      access: (id) => ({
        ...fullAccess({ id, tags: {}, timezone: 'UTC', renderingId: 1 } as never),
        hasPolicies: true,
        policy: () => ({ policy: 'ask', secondPerson: false }),
      }),
    },
  ],
];

let opened: McpTestServer[] = [];
afterEach(async () => {
  await Promise.all(opened.map((server) => server.close()));
  opened = [];
});

async function answers(options: McpTestServerOptions, serving: 'shared' | 'sdk', era: keyof typeof eras) {
  const server = await openMcpServer({ ...options, serving, customize: withExtras('notes', 'owner') });
  opened.push(server);
  const found: unknown[] = [];
  for (const [what, params, id] of calls) {
    const { body, headers } = eras[era]('tools/call', params, id);
    const { status, body: answer } = await post(server, body, headers as Record<string, string>);
    found.push([what, status, settled(answer)]);
  }
  return { found, outcomes: server.activity.map(({ action, outcome, code }) => [action, outcome, code]) };
}

/** Replaces random values: the state of an elicitation, the URL of a request and its time. */
function settled(answer: unknown): unknown {
  const text = typeof answer === 'string' ? answer.replaceAll(/^.*data: /gms, '') : JSON.stringify(answer);
  return JSON.parse(
    text
      .replaceAll(/"requestState":"[^"]+"/g, '"requestState":"..."')
      .replaceAll(/approvals\/[\w-]+/g, 'approvals/...')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then'),
  );
}

describe.each(houses)('%s', (_which, options) => {
  test.each(Object.keys(eras) as (keyof typeof eras)[])(
    'calls of %s return the same as through the SDK',
    async (era) => {
      const [direct, sdk] = [await answers(options, 'shared', era), await answers(options, 'sdk', era)];
      expect(direct).toEqual(sdk);
      expect(JSON.stringify(direct.found[0])).toContain('note 2 of user 2');
      expect(JSON.stringify(direct)).not.toMatch(/INTERNAL|SOURCE_UNAVAILABLE/);
    },
  );
});

test('an elicitation is sent without the SDK, and its answer passes through the SDK', async () => {
  const [, , [, options]] = houses as [never, never, (typeof houses)[number]];
  const { found } = await answers(options, 'shared', '2026-07-28');
  expect(JSON.stringify(found.find((each) => (each as string[])[0] === 'a write of a client that can ask'))).toContain(
    '"resultType":"input_required"',
  );
});
