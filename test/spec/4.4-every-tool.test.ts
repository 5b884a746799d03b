// What the ten tools of behaviour 4.4 have in common, each as a client sees it: its OAuth scope, its annotations, the
// rights that it needs, and its entry in the activity log.
import { afterEach, expect, test } from 'vitest';
import type { Access, Verb } from '../../src/core/caller.ts';
import { accessOf } from '../agent/shop.ts';
import { type Counter, openCounter } from '../mcp/counter.ts';
import { legacy, post } from '../mcp/mcp-server.ts';

const linked = { collectionName: 'customers', relationName: 'orders' };
const ofAction = { collectionName: 'orders', actionName: 'Archive', recordIds: [1, '2'] };
interface Sample {
  readonly scope: 'mcp:read' | 'mcp:write' | 'mcp:action';
  readonly given: Record<string, unknown>;
  /** Collection and ids of the log entry. */
  readonly entry: readonly [collection: string, recordIds?: readonly string[]];
  readonly denied: readonly (readonly [verb: Verb, collection: string])[];
  readonly hints: readonly [readOnly: boolean, destructive: boolean, idempotent: boolean];
}
const tools: Readonly<Record<string, Sample>> = {
  describeCollection: { scope: 'mcp:read', given: { collectionName: 'orders' }, entry: ['orders'], denied: [['browse', 'orders']], hints: [true, false, true] },
  list: { scope: 'mcp:read', given: { collectionName: 'orders' }, entry: ['orders'], denied: [['browse', 'orders']], hints: [true, false, true] },
  listRelated: { scope: 'mcp:read', given: { ...linked, parentRecordId: 2 }, entry: ['customers', ['2']], denied: [['browse', 'orders'], ['browse', 'customers']], hints: [true, false, true] },
  create: { scope: 'mcp:write', given: { collectionName: 'customers', attributes: [{ id: 8, name: 'Di' }, { id: 9, name: 'Ed' }] }, entry: ['customers', ['8', '9']], denied: [['browse', 'customers'], ['add', 'customers']], hints: [false, false, false] },
  update: { scope: 'mcp:write', given: { collectionName: 'customers', recordId: [1, 2], attributes: { city: 'Oslo' } }, entry: ['customers', ['1', '2']], denied: [['browse', 'customers'], ['edit', 'customers']], hints: [false, true, true] },
  delete: { scope: 'mcp:write', given: { collectionName: 'line_notes', recordIds: [1, 2] }, entry: ['line_notes', ['1', '2']], denied: [['browse', 'line_notes'], ['delete', 'line_notes']], hints: [false, true, true] },
  associate: { scope: 'mcp:write', given: { ...linked, parentRecordId: 1, targetRecordId: [4, 5] }, entry: ['customers', ['1']], denied: [['browse', 'customers'], ['browse', 'orders'], ['edit', 'orders']], hints: [false, true, true] },
  dissociate: { scope: 'mcp:write', given: { ...linked, parentRecordId: 2, targetRecordIds: [2, 3] }, entry: ['customers', ['2']], denied: [['browse', 'customers'], ['browse', 'orders'], ['edit', 'orders']], hints: [false, true, true] },
  getActionForm: { scope: 'mcp:read', given: ofAction, entry: ['orders', ['1', '2']], denied: [['browse', 'orders']], hints: [true, false, true] },
  executeAction: { scope: 'mcp:action', given: ofAction, entry: ['orders', ['1', '2']], denied: [['browse', 'orders']], hints: [false, true, false] },
}; // biome-ignore format: a table

let counter: Counter;
afterEach(() => counter.house.close());
let rights: Access = accessOf();
const open = async (access: Access = accessOf()) => {
  rights = access;
  const archive = { scope: 'Bulk', execute: () => undefined } as const;
  counter = await openCounter({ Archive: archive }, {}, { access: () => rights });
};
const send = (method: string, params: Record<string, unknown>, token: string) =>
  post(counter.house, legacy(method, params), { authorization: `Bearer ${token}` });

test('describeCollection, list, listRelated, create, update, delete, associate, dissociate, getActionForm, executeAction: each needs its OAuth scope, and has its annotations', async () => {
  await open();
  const tokens = { 'reader-2': ['mcp:read'], 'writer-2': ['mcp:write'], 'actor-2': ['mcp:action'], 'user-2': ['mcp:read', 'mcp:write', 'mcp:action'] };
  for (const [token, scopes] of Object.entries(tokens)) {
    const { body } = await send('tools/list', {}, token);
    const listed = (body as { result: { tools: { name: string; annotations: Record<string, boolean> }[] } }).result.tools;
    const shown = listed.filter(({ name }) => name in tools);
    expect([token, shown.map(({ name }) => name)]).toEqual([token, Object.keys(tools).filter((name) => scopes.includes(tools[name]!.scope))]);
    for (const { name, annotations } of shown)
      expect([name, annotations.readOnlyHint, annotations.destructiveHint, annotations.idempotentHint]).toEqual([name, ...tools[name]!.hints]);
    for (const [name, { scope }] of Object.entries(tools)) {
      if (scopes.includes(scope)) continue;
      const { status, headers } = await send('tools/call', { name, arguments: {} }, token);
      expect([token, name, status, headers.get('www-authenticate')]).toEqual([token, name, 403, expect.stringContaining(scope)]);
    }
  }
}); // biome-ignore format: short

test('describeCollection, list, listRelated, create, update, delete, associate, dissociate, getActionForm, executeAction: each call is logged once, with its records, also if it fails or is a dry run', async () => {
  await open();
  const entries = async () => [...counter.house.activity, ...(await counter.house.store.activity.list({ limit: 99 })).toReversed()];
  for (const [name, { given, entry, scope }] of Object.entries(tools)) {
    const type = scope === 'mcp:read' ? 'read' : 'write';
    const calls: [given: object, type: string, outcome: string, ids: unknown][] = [[given, type, 'completed', entry[1]]];
    if (scope !== 'mcp:read') calls.unshift([{ ...given, dryRun: true }, 'read', 'completed', expect.anything()]);
    for (const [args, kind, outcome, ids] of calls) {
      const before = await entries();
      await send('tools/call', { name, arguments: args }, 'user-2');
      const added = (await entries()).filter((one) => !before.some((other) => JSON.stringify(other) === JSON.stringify(one)));
      const isDryCreate = name === 'create' && kind === 'read';
      expect([name, added.map((one) => [one.action, one.type, one.collection, one.recordIds, one.outcome])]).toEqual([name, [[name, kind, entry[0], isDryCreate ? undefined : kind === 'read' && scope !== 'mcp:read' ? entry[1] : ids, outcome]]]);
    }
  }
}); // biome-ignore format: short

test('describeCollection, list, listRelated, create, update, delete, associate, dissociate, getActionForm, executeAction: nothing happens without the rights, or if a policy denies it', async () => {
  await open();
  const stored = async () => {
    rights = accessOf();
    const fields = { customers: ['id', 'name', 'city'], orders: ['id', 'customer_id'], line_notes: ['id'] };
    return Promise.all(Object.entries(fields).map(([collectionName, fields]) => counter.ask('list', { collectionName, fields, sort: 'id' })));
  };
  const before = await stored();
  for (const [name, { given, denied, scope }] of Object.entries(tools)) {
    for (const [verb, collection] of denied) {
      const all = accessOf();
      rights = { ...all, can: (asked, of) => !(asked === verb && of === collection) && all.can(asked, of) };
      expect([name, verb, collection, await counter.ask(name, given)]).toEqual([name, verb, collection, expect.stringMatching(/^(FORBIDDEN|UNKNOWN_\w+):/)]);
    }
    if (scope !== 'mcp:write' || !('relationName' in given)) continue;
    rights = { ...accessOf(), policy: (verb, of) => ({ policy: verb === 'edit' && of === 'customers' ? 'deny' : 'allow', secondPerson: false }) };
    expect([name, await counter.ask(name, given)]).toEqual([name, expect.stringMatching(/^FORBIDDEN:/)]);
  }
  for (const verb of ['add', 'edit', 'delete'] as const) {
    rights = { ...accessOf(), can: (asked) => asked !== verb };
    const { permissions } = JSON.parse(await counter.ask('describeCollection', { collectionName: 'orders', detail: 'full' }));
    expect(permissions.split(' ')).toEqual(['read', 'add', 'edit', 'delete'].filter((each) => each !== verb));
  }
  rights = { ...accessOf(), canTrigger: () => false };
  for (const name of ['getActionForm', 'executeAction'])
    expect(await counter.ask(name, ofAction)).toMatch(/^(FORBIDDEN|UNKNOWN_ACTION):/);
  expect(await stored()).toEqual(before);
}); // biome-ignore format: short

test('describeCollection, list, listRelated, create, update, delete, associate, dissociate, getActionForm, executeAction: an unknown argument is refused by name, and nothing happens', async () => {
  await open();
  for (const [name, { given }] of Object.entries(tools))
    expect([name, await counter.ask(name, { ...given, colour: 'red' })]).toEqual([name, expect.stringMatching(/^INVALID_ARGUMENT: colour: unknown argument/)]);
  expect(JSON.parse(await counter.ask('list', { collectionName: 'customers', fields: ['id'] })).rows).toEqual([[1], [2], [3]]);
}); // biome-ignore format: short
