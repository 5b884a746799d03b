// The table covers every entry point: tools, routes, steps and error codes are read from the server and its route
// tables. Anything missing from the table fails here.
import { expect, onTestFinished, test } from 'vitest';
import { AppError, errorCodes } from '../../src/core/errors.ts';
import { dataRoutes } from '../../src/rest/routes.ts';
import { outcomeOfCode } from '../../src/store/audit/activity.ts';
import { stepHandlers } from '../../src/workflows/steps/table.ts';
import { ask } from '../app/call.ts';
import { servers } from '../databases.ts';
import { matchRoute } from '../rest/matched-route.ts';
import { requests } from './entries/http.ts';
import { toolCalls } from './entries/tools.ts';
import { stepTypes } from './entries/workflows.ts';
import { everything } from './oracle.ts';
import { openWorld } from './world.ts';

/** Tools without writes, and without reads of the shop that are not in the table already. */
const otherTools: Readonly<Record<string, string>> = {
  requestActionFileUpload: 'the first half of attach',
  listWorkflows: 'names of workflows; test/mcp/workflows.test.ts',
  getWorkflowRun: 'state of a run; test/mcp/workflows.test.ts',
  readFile: 'a file that an action gave to the same user',
};

/** Routes with the same handler as one in the table, or without records. */
const otherRoutes: Readonly<Record<string, string>> = {
  'GET /_charts/:chart': 'a function is about no collection; measures: test/agent/measure-charts.test.ts',
  'POST /_charts/:chart': 'as by GET',
  'POST /_charts/:collection/:chart': 'as by GET',
  'POST /_actions/:collection/:index/:slug/hooks/change': 'as hooks/load',
  'POST /_actions/:collection/:index/:slug/hooks/search': 'as hooks/load',
  'POST /_actions/:collection/:slug': 'the other address of an action, with useUnsafeActionEndpoint',
  'POST /_actions/:collection/:slug/hooks/load': 'the same',
  'POST /_actions/:collection/:slug/hooks/change': 'the same',
  'POST /_actions/:collection/:slug/hooks/search': 'the same',
  'POST /_internal/ai/query': 'a question to a model, with no records',
  'POST /_internal/native_query': 'is refused to everybody',
  'POST /_internal/capabilities': 'names of fields; test/rest/matrix.test.ts',
  'POST /scope-cache-invalidation': 'does nothing',
};

/** Steps that use no record of the shop. */
const otherSteps: Readonly<Record<string, string>> = {
  guidance: 'waits for a person; every run of the table has one',
};

/** Error codes with status 401 or 403 that do not deny a call. */
const otherRefusals: Readonly<Record<string, string>> = {
  ANSWER_WITHHELD: 'the call was done before: its answer is kept back',
  READ_ONLY: 'nobody can write there, whoever asks',
  SSO_REFUSED: 'nobody is signed in yet',
  INVALID_DPOP_PROOF: 'as without a token: there is no user to log it for',
  HOST_NOT_ALLOWED: 'no call comes so far',
  ADDRESS_NOT_ALLOWED: 'the same',
  ORIGIN_NOT_ALLOWED: 'the same',
  REMOTE_RECONNECT: 'the run waits for an account',
};

test('every refusal is logged as denied', () => {
  // Every message can be built from details with members that behave like an empty list.
  const anything = new Proxy({}, { get: () => [] }) as never;
  const refusals = errorCodes.filter((code) => [401, 403].includes(new AppError(code, anything).status));
  const logged = refusals.filter((code) => outcomeOfCode(code).outcome !== 'denied');
  expect(logged.sort()).toEqual(Object.keys(otherRefusals).sort());
  expect(outcomeOfCode('STEP_DECLINED').outcome).toBe('denied');
});

test('every tool has a policy', async () => {
  const ends: (() => Promise<void>)[] = [];
  const world = await openWorld(servers[0]!, (end) => ends.unshift(end));
  onTestFinished(async () => {
    for (const end of ends) await end();
  });
  await world.apply(everything);
  const token = await world.tokenOf(['mcp:read', 'mcp:write', 'mcp:action']);
  const { text } = await ask(world.mcpUrl, token, 'tools/list', {});
  const listed = (JSON.parse(text) as { result: { tools: { name: string }[] } }).result.tools.map(({ name }) => name);
  const placed = new Set([...Object.values(toolCalls).map(([tool]) => tool), ...Object.keys(otherTools)]);
  expect(listed.filter((name) => !placed.has(name))).toEqual([]);
  expect(listed.length).toBeGreaterThan(10);
});

test("every route of the agent's HTTP API has a policy", async () => {
  const placed = new Set(Object.keys(otherRoutes));
  for (const [method, path] of Object.values(requests)) {
    const found = await matchRoute(dataRoutes, method, path.replace(/\?.*/, ''));
    if (found && 'route' in found) placed.add(`${found.route.method} ${found.route.path}`);
  }
  const all = dataRoutes.map(({ method, path }) => `${method} ${path}`);
  expect(all.filter((route) => !placed.has(route))).toEqual([]);
  expect(Object.keys(otherRoutes).filter((route) => !all.includes(route))).toEqual([]);
});

test('every kind of step has a policy', () => {
  const placed = new Set([...stepTypes(), ...Object.keys(otherSteps)]);
  expect(Object.keys(stepHandlers()).filter((type) => !placed.has(type))).toEqual([]);
});
