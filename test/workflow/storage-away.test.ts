// Runs and triggers during an outage of their databases, simulated. Interrupted work continues as soon as possible, and
// reads are retried.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { AppError } from '../../src/core/errors.ts';
import { stepHandlers } from '../../src/workflows/steps/table.ts';
import { createTriggerAddresses } from '../../src/workflows/triggers/trigger-address.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

afterAll(dropSpares);
cleanUpAfterAll();

let at: WorkflowTestServer;
beforeAll(async () => {
  at = await openWorkflowServer(variants[0]!);
});
afterAll(() => at.close());

const steps = [{ id: 'look', type: 'read-record', fields: ['id'] }];
const away = (): never => {
  throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
};

test('a run whose storage failed is due again within two seconds, not after its lease', async () => {
  const id = await at.start(await at.publish(steps), '1');
  const permissions = { ...at.store.permissions, accessOf: away };
  const executor = at.another({ store: { ...at.store, permissions } });
  await executor.start();
  await executor.take([id]);
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'running' });
  await expect.poll(async () => (await at.store.runs.due({ limit: 1, ids: [id] })).length, { timeout: 10_000 }).toBe(1);
  await executor.stop(0);
  expect(await at.go(id)).toMatchObject({ state: 'succeeded' });
});

test.each([
  ['answers after a minute', 15, { state: 'succeeded' }],
  ['stays unreachable', 1000, { state: 'failed', failure: { code: 'SOURCE_UNAVAILABLE' } }],
])('a step reads from a database that %s', async (_, failures, expected) => {
  let asked = 0;
  const { 'read-record': read, ...others } = stepHandlers();
  const flaky: typeof read = (call) => {
    if (asked++ < failures) throw new AppError('SOURCE_UNAVAILABLE', {});
    return read(call);
  };
  const executor = at.another({
    handlers: { ...others, 'read-record': flaky },
    clock: { ...systemClock, sleep: () => Promise.resolve() },
  });
  const id = await at.start(await at.publish(steps), '2');
  await executor.take([id]);
  expect(await at.store.runs.find(id)).toMatchObject(expected);
});

test('a run that waits for a database is released when its process stops', async () => {
  const { 'read-record': read, ...others } = stepHandlers();
  let begun = (): void => undefined;
  const gone: typeof read = () => {
    begun();
    throw new AppError('SOURCE_UNAVAILABLE', {});
  };
  const executor = at.another({ handlers: { ...others, 'read-record': gone } });
  const id = await at.start(await at.publish(steps), '3');
  const asked = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const going = executor.take([id]);
  await asked;
  await executor.stop(5000);
  await going;
  expect(await at.store.runs.find(id)).toMatchObject({ state: 'queued' });
  expect(await at.go(id)).toMatchObject({ state: 'succeeded' });
});

// RFC 4291 section 2.5.1: a client with one address of an IPv6 network has the whole network.
test('lookups of unknown keys are limited for an IPv6 /64 as a whole', async () => {
  let looked = 0;
  const { keys } = at.store;
  const of: typeof keys.of = (...args) => {
    looked++;
    return keys.of(...args);
  };
  const addresses = createTriggerAddresses({
    store: { ...at.store, keys: { ...keys, of } },
    address: 'http://127.0.0.1/v1',
  });
  const forged = `${'k'.repeat(16)}.${'x'.repeat(20)}.${'s'.repeat(43)}`;
  for (let n = 1; n <= 12; n++) expect(await addresses.verify(forged, `2001:db8:1:2:${n}::${n}`)).toBeUndefined();
  expect(looked).toBe(5);
  await addresses.verify(forged, '2001:db8:1:3::1');
  expect(looked).toBe(6);
});

test('a URL that could not be looked up during an outage of the storage works afterwards', async () => {
  const { workflows, keys } = at.store;
  const parts = { store: at.store, address: 'http://127.0.0.1/v1' };
  const maker = createTriggerAddresses(parts);
  const workflow = await at.publish(steps);
  const enabled = await workflows.changeTrigger(
    workflow.id,
    { isEnabled: true, keyId: await maker.newestKey() },
    at.userId,
  );
  const signed = (await maker.urlOf(enabled!))!.split('/').at(-1)!;
  let isThere = false;
  const flaky = { ...keys, of: (...args: Parameters<typeof keys.of>) => (isThere ? keys.of(...args) : away()) };
  const addresses = createTriggerAddresses({ ...parts, store: { ...at.store, keys: flaky } });
  // More attempts than the limit of unknown keys per client.
  for (let attempt = 0; attempt < 10; attempt++) await expect(addresses.verify(signed, 'client')).rejects.toThrow();
  isThere = true;
  expect(await addresses.verify(signed, 'client')).toMatchObject({ workflowId: workflow.id });
});
