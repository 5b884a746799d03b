// Workflows and runs in the storage: concurrency limits, leases,
// and that a worker with a lost lease can no longer write.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Claim, NewRun, Workflow } from '../../src/store/workflows/types.ts';
import { dropSpares } from './spares.ts';
import { cleanUpAfterAll, createPlace, openPair, type Variant, variants } from './stores.ts';

afterAll(dropSpares);

const LEASE = 60_000;

async function open(variant: Variant) {
  const place = await createPlace(variant);
  const [store, other] = await openPair(place, variant);
  const { id: userId } = await store.identity.addUser({ email: 'ada@b.example' });
  const { renderingId } = (await store.permissions.caller(userId))!;
  return { place, store, other, userId, renderingId };
}

describe.each(variants)('workflows on $name', (variant) => {
  cleanUpAfterAll();
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(variant);
  });
  let made = 0;
  const publish = (more: object = {}): Promise<Workflow> => {
    const { store, renderingId, userId } = opened;
    const wish = { renderingId, name: `flow ${++made}`, collection: 'orders', definition: '{}', concurrency: null };
    return store.workflows.publish({ ...wish, by: userId, ...more });
  };
  const runOf = (workflow: Workflow, recordId = '1', more: object = {}): NewRun => {
    return { workflow, recordId, userId: opened.userId, origin: 'webhook', originName: 'ci', ...more };
  };
  const start = async (workflow: Workflow, recordId = '1'): Promise<string> => {
    const created = await opened.store.runs.create(runOf(workflow, recordId));
    return created.state === 'created' ? created.runId : expect.fail(created.state);
  };
  const claim = async (id: string, owner = 'a', from = opened.store): Promise<Claim> =>
    (await from.runs.claim({ owner, leaseMs: LEASE, limit: 5, ids: [id] }))[0] ?? expect.fail('not claimed');

  test('a workflow is published, gets versions, and the later of two concurrent edits is refused', async () => {
    const { store, other, renderingId, userId } = opened;
    const first = await publish({ definition: '{"a":1}' });
    expect(first).toMatchObject({ version: 1, isActive: true, source: 'console', trigger: { isEnabled: false } });
    const again = { ...first, definition: '{"a":2}', concurrency: 2, by: userId, of: { id: first.id, since: 1 } };
    const second = await store.workflows.publish({ ...again, renderingId });
    expect(second.version).toBe(2);
    await expect(other.workflows.publish({ ...again, renderingId })).rejects.toThrow(
      'version 2 was saved in the meantime',
    );
    await expect(publish({ name: first.name })).rejects.toThrow('has a workflow');
    expect([await other.workflows.definition(first.id, 1), await other.workflows.definition(first.id, 2)]).toEqual([
      '{"a":1}',
      '{"a":2}',
    ]);
    expect((await other.workflows.versions(first.id)).map(({ version }) => version)).toEqual([2, 1]);
    // What is saved last is active, also after a pause, under the new name.
    await store.workflows.setActive(first.id, false, userId);
    const renamed = `${first.name} again`;
    await store.workflows.publish({ ...again, name: renamed, renderingId, of: { id: first.id, since: 2 } });
    const third = { name: renamed, collection: 'orders', version: 3, isActive: true };
    expect(await other.workflows.find(first.id)).toMatchObject(third);
    const log = await store.adminLog.search({ limit: 3 });
    expect(log.map(({ action }) => action)).toEqual(['workflow.update', 'workflow.pause', 'workflow.update']);
  });

  test('every change of what can be started raises the version that all processes compare', async () => {
    const { store, other } = opened;
    const code = { name: 'counted', collection: 'orders', definition: '{"v":1}', concurrency: null };
    const { id } = await publish({ definition: '{"a":1}' });
    const changes = {
      publish: () => publish({ definition: '{"a":1}' }),
      pause: () => store.workflows.setActive(id, false, 1),
      resume: () => store.workflows.setActive(id, true, 1),
      trigger: () => store.workflows.changeTrigger(id, { isEnabled: true, keyId: 'k' }, 1),
      code: () => store.workflows.publishCode([code]),
      'same code': () => store.workflows.publishCode([code]),
      'no code': () => store.workflows.publishCode([]),
    };
    const raised: Record<string, boolean> = {};
    for (const [name, change] of Object.entries(changes)) {
      const before = await other.versions();
      await change();
      const after = await other.versions();
      raised[name] = after.workflows! > before.workflows!;
      expect({ ...after, workflows: 0 }).toEqual({ ...before, workflows: 0 });
    }
    expect(raised).toEqual({
      ...{ publish: true, pause: true, resume: true, trigger: true },
      ...{ code: true, 'same code': false, 'no code': true },
    });
  });

  test('a workflow in code exists in every rendering, gets a version if it changes, and is removed with the code', async () => {
    const { store, other } = opened;
    const code = { name: 'in code', collection: 'orders', definition: '{"v":1}', concurrency: null };
    await Promise.all([store.workflows.publishCode([code]), other.workflows.publishCode([code])]);
    const found = async () => (await store.workflows.list({})).filter(({ name }) => name === 'in code');
    const all = await found();
    expect(all.map(({ version, source, isActive }) => [version, source, isActive])).toEqual(
      all.map(() => [1, 'code', true]),
    );
    expect(all.length).toBeGreaterThan(0);
    await store.workflows.publishCode([{ ...code, definition: '{"v":2}' }]);
    expect((await found()).map(({ version }) => version)).toEqual(all.map(() => 2));
    await store.workflows.publishCode([]);
    expect((await found()).map(({ isActive }) => isActive)).toEqual(all.map(() => false));
  });

  test('a webhook URL has a version that only regeneration raises', async () => {
    const { store, userId } = opened;
    const { id } = await publish();
    const change = async (wish: object) => (await store.workflows.changeTrigger(id, wish, userId))!.trigger;
    expect(await change({ isEnabled: true, keyId: 'k1' })).toMatchObject({ isEnabled: true, version: 1, keyId: 'k1' });
    expect(await change({ isEnabled: false })).toMatchObject({ isEnabled: false, version: 1, keyId: 'k1' });
    expect(await change({ isEnabled: true, keyId: 'k2' })).toMatchObject({ isEnabled: true, version: 1, keyId: 'k1' });
    expect(await change({ regenerate: true, keyId: 'k2' })).toMatchObject({ isEnabled: true, version: 2, keyId: 'k2' });
    const secret = await store.workflows.signingSecret(id, true);
    expect(secret).toMatch(/^whsec_/);
    expect(await opened.other.workflows.signingSecret(id)).toBe(secret);
  });

  test('of many concurrent starts of a workflow on one record one succeeds; after its end another may', async () => {
    const { store, other } = opened;
    const workflow = await publish();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? store : other).runs.create(runOf(workflow))),
    );
    expect(all.map(({ state }) => state).sort()).toEqual(['created', ...Array<string>(19).fill('ongoing')]);
    const [created] = all.filter(({ state }) => state === 'created');
    const { runId } = created as { runId: string };
    expect(all.every((one) => 'runId' in one && one.runId === runId)).toBe(true);
    const held = await claim(runId);
    expect(await store.runs.finish(held, { stepId: 's', state: 'done', outcome: {}, next: null })).toBe('held');
    expect(await other.runs.find(runId)).toMatchObject({ state: 'succeeded', stepId: null, position: 1 });
    expect((await store.runs.create(runOf(workflow))).state).toBe('created');
  });

  test('an idempotency key returns the run to a repeat, and refuses another record', async () => {
    const { store, other } = opened;
    const workflow = await publish();
    const key = { idempotencyKey: 'once' };
    const [a, b] = await Promise.all([
      store.runs.create(runOf(workflow, '1', key)),
      other.runs.create(runOf(workflow, '1', key)),
    ]);
    expect([a.state, b.state].sort()).toEqual(['created', 'repeated']);
    expect((a as { runId: string }).runId).toBe((b as { runId: string }).runId);
    expect(await store.runs.create(runOf(workflow, '2', key))).toEqual({ state: 'mismatch' });
  });

  test('an idempotency key is valid for a day', async () => {
    const { store } = opened;
    const { knex } = opened.place.tables();
    const workflow = await publish();
    const day = 86_400_000;
    const seen = [];
    for (const [recordId, ageMs] of [
      ['young', day - 60_000],
      ['old', day + 1],
    ] as const) {
      const key = { idempotencyKey: recordId };
      const { runId } = (await store.runs.create(runOf(workflow, recordId, key))) as { runId: string };
      await knex('workflow_runs')
        .where({ id: runId })
        .update({ created_at: systemClock.now() - ageMs });
      await store.runs.sweep();
      seen.push((await store.runs.create(runOf(workflow, recordId, key))).state);
    }
    expect(seen).toEqual(['repeated', 'ongoing']);
  });

  test('runs of one moment are listed page by page, each once', async () => {
    const { store } = opened;
    const workflow = await publish();
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await start(workflow, `${n}`));
    await opened.place.tables().knex('workflow_runs').whereIn('id', ids).update({ created_at: 1000 });
    const seen: string[] = [];
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = await store.runs.list({ workflowId: workflow.id, limit: 2, ...(after && { after }) });
      seen.push(...page.map(({ id }) => id));
      if (page.length < 2) break;
    }
    expect(seen).toEqual(ids.toSorted().toReversed());
  });

  test('a process that lost a run writes nothing more of it', async () => {
    const { store, other } = opened;
    const id = await start(await publish());
    const late = (await store.runs.claim({ owner: 'late', leaseMs: -1, limit: 1, ids: [id] }))[0]!;
    const position = await store.runs.begin(late, 'change');
    const taken = await claim(id, 'b', other);
    expect([taken.fence, taken.steps.map(({ state }) => state)]).toEqual([2, ['begun']]);
    const done = { stepId: 'change', state: 'done', outcome: {}, next: null } as const;
    expect(await store.runs.finish(late, { ...done, position: position as number })).toBe('lost');
    expect(await store.runs.begin(late, 'more')).toBe('lost');
    expect(await store.runs.fail(late, { code: 'X', message: 'x' })).toBe(false);
    expect(await store.runs.renew(late, LEASE)).toBe('lost');
    expect(await other.runs.finish(taken, { ...done, position: 1, data: { secret: 7 } })).toBe('held');
    const [step] = await store.runs.steps(id);
    expect(step).toMatchObject({ state: 'done', data: { secret: 7 }, position: 1 });
    expect(JSON.stringify(await opened.place.tables().knex('workflow_run_steps').where({ run_id: id }))).not.toContain(
      'secret',
    );
  });

  const passed = ['look', 'size'].map((stepId) => {
    return { stepId, state: 'done', outcome: {}, data: { of: stepId }, at: systemClock.now() } as const;
  });
  const placesOf = async (id: string) =>
    (await opened.store.runs.steps(id)).map(({ position, stepId, state, data }) => [position, stepId, state, data]);
  const before = [
    [1, 'look', 'done', { of: 'look' }],
    [2, 'size', 'done', { of: 'size' }],
  ];

  test('skipped steps are written with the next one, and not by a process that lost the run', async () => {
    const { store, other, userId } = opened;
    const begun = await start(await publish());
    const late = (await store.runs.claim({ owner: 'late', leaseMs: -1, limit: 1, ids: [begun] }))[0]!;
    const held = await claim(begun, 'b', other);
    expect(await store.runs.begin(late, 'change', undefined, passed)).toBe('lost');
    const done = { stepId: 'told', state: 'done', outcome: {}, next: 'more' } as const;
    expect(await store.runs.finish(late, { ...done, passed })).toBe('lost');
    expect(await store.runs.release(late, 'more', passed)).toBe(false);
    expect(await placesOf(begun)).toEqual([]);
    expect(await other.runs.begin(held, 'change', undefined, passed)).toBe(3);
    expect(await placesOf(begun)).toEqual([...before, [3, 'change', 'begun', undefined]]);
    expect(await other.runs.finish(held, { ...done, stepId: 'change', position: 3 })).toBe('held');
    expect(await other.runs.finish(held, { ...done, passed })).toBe('held');
    expect((await placesOf(begun)).slice(3)).toEqual([
      [4, 'look', 'done', { of: 'look' }],
      [5, 'size', 'done', { of: 'size' }],
      [6, 'told', 'done', undefined],
    ]);

    const waits = { stepId: 'ask', reason: 'guidance', outcome: {}, until: systemClock.now() + LEASE } as const;
    const ends: Readonly<Record<string, (one: Claim) => Promise<unknown>>> = {
      waits: (one) => store.runs.wait(one, { ...waits, passed }),
      fails: (one) => store.runs.fail(one, { code: 'X', message: 'x', passed }),
      leaves: (one) => store.runs.release(one, 'next', passed),
      async cancels(one) {
        await store.runs.cancel(one.run.id, userId);
        expect(await store.runs.begin(one, 'change', undefined, passed)).toBe('cancel');
        expect(await placesOf(one.run.id)).toEqual([]);
        return store.runs.endCancelled(one, passed);
      },
    };
    const seen: Record<string, unknown> = {};
    for (const [name, end] of Object.entries(ends)) {
      const id = await start(await publish());
      await end(await claim(id));
      const { state, position, stepId } = (await store.runs.find(id))!;
      expect((await placesOf(id)).slice(0, 2)).toEqual(before);
      seen[name] = [state, position, stepId];
    }
    expect(seen).toEqual({
      waits: ['awaiting-input', 3, 'ask'],
      fails: ['failed', 2, null],
      leaves: ['queued', 2, 'next'],
      cancels: ['cancelled', 2, null],
    });
  });

  test('a run that was answered between select and claim is not claimed with its old state', async () => {
    const { store, userId } = opened;
    const { knex } = opened.place.tables();
    const id = await start(await publish());
    const waits = { stepId: 'ask', reason: 'guidance', outcome: {}, until: systemClock.now() + LEASE } as const;
    await store.runs.wait(await claim(id), waits);
    await knex('workflow_runs').where({ id }).update({ due_at: 1 });
    const wish = { owner: 'late', leaseMs: LEASE, limit: 1, ids: [id] };
    const taking = store.runs.claim(wish);
    const answering = store.runs.answer(id, { position: 1, by: userId, value: 1 });
    const [[taken], isAnswered] = await Promise.all([taking, answering]);
    // Either the claim won and the answer came too late, or the run has the answer, in this claim or the next.
    const known = taken ?? (await store.runs.claim(wish))[0];
    expect(known!.steps.map(({ answeredBy }) => answeredBy)).toEqual([isAnswered ? userId : null]);
  });

  test('a waiting step is answered once, and not after it expired', async () => {
    const { store, other, userId } = opened;
    const id = await start(await publish());
    const waits = { stepId: 'ask', reason: 'guidance', outcome: {}, data: { text: 'do it' } } as const;
    await store.runs.wait(await claim(id), { ...waits, until: systemClock.now() + LEASE });
    expect(await store.runs.find(id)).toMatchObject({ state: 'awaiting-input', reason: 'guidance', stepId: 'ask' });
    const answers = await Promise.all(
      [store, other].map((at) => at.runs.answer(id, { position: 1, by: userId, value: { done: true } })),
    );
    expect(answers.sort()).toEqual([false, true]);
    const held = await claim(id);
    expect(held.steps).toMatchObject([{ state: 'waiting', answer: { done: true }, answeredBy: userId }]);
    await store.runs.wait(held, { ...waits, until: systemClock.now() - 1 });
    expect(await store.runs.answer(id, { position: 2, by: userId, value: 1 })).toBe(false);
    expect((await claim(id)).steps).toHaveLength(2);
  });

  test('an unclaimed run is cancelled immediately, a claimed one before its next step', async () => {
    const { store, userId } = opened;
    const [queued, running] = [await start(await publish()), await start(await publish())];
    expect(await store.runs.cancel(queued, userId)).toBe(true);
    expect(await store.runs.find(queued)).toMatchObject({ state: 'cancelled' });
    const held = await claim(running);
    expect(await store.runs.cancel(running, userId)).toBe(true);
    expect(await store.runs.find(running)).toMatchObject({ state: 'running', cancelAsked: true });
    expect(await store.runs.begin(held, 'next')).toBe('cancel');
    expect(await store.runs.endCancelled(held)).toBe(true);
    expect(await store.runs.find(running)).toMatchObject({ state: 'cancelled', position: 0 });
    expect(await store.runs.cancel(running, userId)).toBe(false);
  });

  test('the first cancellation is recorded, and a cancelled run does not start to wait', async () => {
    const { store, place, userId } = opened;
    const { id: second } = await store.identity.addUser({ email: 'bo@b.example' });
    const id = await start(await publish());
    const held = await claim(id);
    expect(await store.runs.cancel(id, second)).toBe(true);
    expect(await store.runs.cancel(id, userId)).toBe(true);
    const waits = {
      stepId: 'ask',
      reason: 'guidance',
      outcome: {},
      data: {},
      until: systemClock.now() + LEASE,
    } as const;
    expect(await store.runs.wait(held, waits)).toBe('cancel');
    // If the worker dies now, another takes the run over and ends it. It must not wait for an answer that cannot come.
    expect([await store.runs.find(id), await store.runs.steps(id)]).toMatchObject([{ state: 'running' }, []]);
    expect(await store.runs.endCancelled(held)).toBe(true);
    const row = await place.tables().knex('workflow_runs').where({ id }).first('state', 'cancelled_by');
    expect(row).toEqual({ state: 'cancelled', cancelled_by: second });
  });

  test('a workflow with a concurrency limit has no more active runs, across all processes', async () => {
    const { store, other } = opened;
    const workflow = await publish({ concurrency: 2 });
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => start(workflow, `${n}`)));
    const take = (owner: string, at: typeof store) => at.runs.claim({ owner, leaseMs: LEASE, limit: 8, ids });
    const taken = (await Promise.all([take('a', store), take('b', other), take('c', store)])).flat();
    expect(taken).toHaveLength(2);
    expect(await store.runs.release(taken[0]!)).toBe(true);
  });

  test('due runs are those that can be claimed: within the limit of the workflow, each with its fence', async () => {
    const { other } = opened;
    const [limited, free] = [await publish({ concurrency: 2 }), await publish()];
    const held = await Promise.all(Array.from({ length: 4 }, (_, n) => start(limited, `${n}`)));
    const open = await start(free);
    const due = async (ids: readonly string[]) => other.runs.due({ limit: 100, ids });
    const all = [...held, open];
    const first = await due(all);
    expect([first.length, first.filter(({ id }) => id === open)]).toEqual([3, [{ id: open, fence: 0 }]]);
    expect((await other.runs.due({ limit: 1000 })).map(({ id }) => id)).toContain(open);
    const working = first.filter(({ id }) => id !== open).map(({ id }) => id);
    for (const id of working) await claim(id);
    expect(await due(all)).toEqual([{ id: open, fence: 0 }]);
    // A run that a crash left behind is due even if the workflow is at its limit.
    const [left] = working;
    await opened.place.tables().knex('workflow_runs').where({ id: left! }).update({ due_at: 1 });
    expect(await due(held)).toEqual([{ id: left, fence: 1 }]);
  });

  test('of the runs that a limit holds back the oldest is woken, by any process', async () => {
    const { store, other } = opened;
    const workflow = await publish({ concurrency: 1 });
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) {
      ids.push(await start(workflow, `${n}`));
      await opened.place.tables().knex('workflow_runs').where({ id: ids[n]! }).update({ created_at: n });
    }
    const take = () => store.runs.claim({ owner: 'a', leaseMs: LEASE, limit: 3, ids });
    const [first] = await take();
    expect([first?.isLimited, await take(), await other.runs.due({ limit: 9, ids })]).toEqual([true, [], []]);
    const finished = { stepId: 's', state: 'done', outcome: {}, next: null } as const;
    expect(await store.runs.finish(first!, finished)).toBe('held');
    expect(await other.runs.due({ limit: 9, ids })).toEqual([]);
    const [next] = ids.filter((id) => id !== first?.run.id);
    expect(await other.runs.wake(workflow.id)).toBe(next);
    expect((await other.runs.due({ limit: 9, ids })).map(({ id }) => id)).toEqual([next]);
    expect([(await claim(await start(await publish()))).isLimited, await store.runs.wake('none')]).toEqual([
      false,
      undefined,
    ]);
  });

  test('the end of a webhook run is reported by one process, retried after a while, and then done', async () => {
    const { store, other, userId } = opened;
    const workflow = await publish();
    await store.workflows.changeTrigger(workflow.id, { callbackUrl: 'https://example.com/done?key=1' }, userId);
    const id = await start(workflow);
    await store.runs.fail(await claim(id), { code: 'X', message: 'It did not work.' });
    const both = await Promise.all([store.runs.takeCallbacks(10, LEASE), other.runs.takeCallbacks(10, LEASE)]);
    expect(both.flat()).toMatchObject([{ url: 'https://example.com/done?key=1', attempts: 1, run: { id } }]);
    await store.runs.settleCallback(id, -1, 'HTTP 503');
    expect(await other.runs.takeCallbacks(10, LEASE)).toMatchObject([{ attempts: 2 }]);
    await store.runs.settleCallback(id, null, null);
    expect(await store.runs.takeCallbacks(10, LEASE)).toEqual([]);
  });
});
