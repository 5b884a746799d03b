// Runs from start to end: the executor, and its guarantees for every step.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppError } from '../../src/core/errors.ts';
import { isUncertain } from '../../src/workflows/runs/failure.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { everything, openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

afterAll(dropSpares);

const look = { id: 'look', type: 'read-record', fields: ['total', 'customer:name'] };
const told = { id: 'told', type: 'guidance', text: 'Pack {{record.total}} for {{steps.look.customer:name}}.' };

describe.each(variants)('runs on $name', (variant) => {
  cleanUpAfterAll();
  let at: WorkflowTestServer;
  beforeAll(async () => {
    at = await openWorkflowServer(variant);
  });
  afterAll(() => at.close());

  test('a run takes its steps one after another, and waits for a user', async () => {
    const run = await at.run([{ ...look, next: 'told' }, told]);
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'guidance', stepId: 'told', position: 2 });
    expect(await at.steps(run.id)).toMatchObject([
      { state: 'done', data: { total: 10.5, 'customer:name': 'Ada' }, outcome: { type: 'read-record', fields: 2 } },
      { state: 'waiting', data: { ask: 'inputs', text: 'Pack 10.5 for Ada.' } },
    ]);
    const answer = { decision: 'done', values: {} };
    expect(await at.store.runs.answer(run.id, { position: 2, by: at.userId, value: answer })).toBe(true);
    expect(await at.go(run.id)).toMatchObject({ state: 'succeeded', stepId: null });
    await at.store.activity.flush();
    const entries = (await at.store.activity.list({ limit: 10 })).filter((one) => one.workflow?.runId === run.id);
    expect(entries.map(({ action, workflow }) => [action, workflow?.stepName]).reverse()).toEqual([
      ['read', 'look'],
      ['completeWorkflowStep', 'look'],
      ['completeWorkflowStep', 'told'],
      ['completeWorkflow', undefined],
    ]);
  });

  test('a missing record ends the run', async () => {
    const id = await at.start(await at.publish([look]), '99');
    expect(await at.go(id)).toMatchObject({
      state: 'failed',
      failure: { code: 'RECORD_NOT_FOUND', message: "No record '99' in 'orders', or you may not see it." },
    });
  });

  test('a run without an answer in time fails', async () => {
    const run = await at.run([{ ...told, text: 'Look.', waitSeconds: 60 }]);
    at.wait(59_000);
    expect(await at.go(run.id)).toMatchObject({ state: 'awaiting-input' });
    at.wait(1000);
    expect(await at.go(run.id)).toMatchObject({ state: 'failed', failure: { code: 'ANSWER_TIMED_OUT' } });
    expect(await at.steps(run.id)).toMatchObject([{ state: 'failed' }]);
  });

  test('without its own limit, a step waits a week for an answer', async () => {
    const run = await at.run([{ ...told, text: 'Look.' }]);
    at.wait(7 * 86_400_000 - 60_000);
    expect(await at.go(run.id)).toMatchObject({ state: 'awaiting-input' });
    at.wait(60_000);
    expect(await at.go(run.id)).toMatchObject({ state: 'failed', failure: { code: 'ANSWER_TIMED_OUT' } });
  });

  test('a run under way keeps the version it started with, and the next run has the one saved last', async () => {
    const talk = (text: string, next: string) => ({ ...told, text, next });
    const workflow = await at.publish([talk('Old.', 'look'), look]);
    const run = await at.go(await at.start(workflow, '1'));
    const steps = [talk('New.', 'end'), { ...look, id: 'end' }];
    const definition = JSON.stringify({ name: workflow.name, collection: 'orders', steps });
    const saved = { ...workflow, definition, concurrency: null, by: at.userId };
    const newest = await at.store.workflows.publish({ ...saved, of: { id: workflow.id, since: 1 } });
    const access = (await at.store.permissions.accessOf(at.userId))!;
    const answered = async (id: string) => {
      expect(await at.room.answer(access, id, 1, { decision: 'done', values: {} })).toBe(true);
      expect(await at.go(id)).toMatchObject({ state: 'succeeded' });
      return (await at.steps(id)).map(({ stepId, data }) => [stepId, stepId === 'told' || data]);
    };
    const found = { total: expect.any(Number), 'customer:name': 'Ada' };
    const next = await at.go(await at.start(newest, '3'));
    expect([run.version, next.version]).toEqual([1, 2]);
    expect((await answered(run.id)).map(([stepId]) => stepId)).toEqual(['told', 'look']);
    expect((await answered(next.id)).map(([stepId]) => stepId)).toEqual(['told', 'end']);
    expect((await at.steps(run.id)).at(-1)!.data).toEqual(found);
  });

  test('these failures of a change leave its outcome open, and others end the run', () => {
    const codes = [
      ...['ACTION_FAILED', 'FAILED_AFTER_WRITE', 'CUSTOMIZATION_FAILED', 'OUTCOME_UNKNOWN', 'SOURCE_UNAVAILABLE'],
      ...['PLATFORM_UNAVAILABLE', 'TIMED_OUT', 'CALL_TIMED_OUT', 'CANCELLED', 'NOT_READY', 'REMOTE_UNAVAILABLE', 'INTERNAL'],
      ...['FORBIDDEN', 'RECORD_NOT_FOUND', 'INVALID_RECORD', 'ACTION_REFUSED', 'REMOTE_REFUSED', 'WRITE_CONFLICT'],
    ] as const; // biome-ignore format: short
    const open = codes.filter((code) => isUncertain({ code } as AppError));
    expect(open).toEqual(codes.slice(0, 12));
  });

  const set = (total: number) => ({ id: 'set', type: 'update-record', mode: 'automatic', values: { total } });
  const access = async (userId: number) => (await at.store.permissions.accessOf(userId))!;
  const totalOf = async (id: number) =>
    (await at.engine.get(await access(at.userId), { collection: 'orders', id, fields: ['total'] })).rows[0]![0];
  const position = (run: { readonly position: number }) => run.position;
  const yes = async (run: { readonly id: string; readonly position: number }, userId: number, decision = 'confirm') =>
    at.room.answer(await access(userId), run.id, position(run), { decision });

  test('every step has the current rights of its user', async () => {
    const userId = await at.addUser({ email: 'bo@b.example', role: 'Packer' });
    await at.store.permissions.setRole('Packer', { '*': everything });
    const workflow = await at.publish([{ ...told, text: 'Look.', next: 'set' }, set(77)]);
    const run = await at.go(await at.start(workflow, '1', userId));
    await at.store.permissions.setRole('Packer', { '*': { ...everything, edit: false } });
    expect(await yes(run, userId, 'done')).toBe(true);
    expect(await at.go(run.id)).toMatchObject({ state: 'failed', failure: { code: 'FORBIDDEN' } });
    expect(await totalOf(1)).toBe(10.5);
    await at.store.permissions.setRole('Packer', { '*': everything });
    const next = await at.go(await at.start(workflow, '1', userId));
    expect(await yes(next, userId, 'done')).toBe(true);
    await at.store.identity.setDisabled(userId, true);
    expect(await at.go(next.id)).toMatchObject({ state: 'failed', failure: { code: 'FORBIDDEN' } });
    expect(await totalOf(1)).toBe(10.5);
  });

  test('a user who moves to another team during a run ends it at the next step', async () => {
    await at.addUser({ email: 'nia@b.example', team: 'North' });
    const userId = await at.addUser({ email: 'kim@b.example' });
    const run = await at.go(
      await at.start(await at.publish([{ ...told, text: 'Look.', next: 'set' }, set(76)]), '5', userId),
    );
    expect(await yes(run, userId, 'done')).toBe(true);
    await at.store.members.change(userId, { team: 'North' });
    const ended = await at.go(run.id);
    expect(ended).toMatchObject({ state: 'failed', failure: { code: 'FORBIDDEN' } });
    expect(ended.failure!.message).toContain('has changed teams');
    expect(await totalOf(5)).toBe(5);
    // The user also no longer sees the run of the former team, although they started it.
    expect(await at.room.inputRequest(await access(userId), run.id)).toBeUndefined();
  });

  test('a step that needs approval waits for it, and a second-person approval needs another user', async () => {
    const first = await at.addUser({ email: 'cy@b.example', role: 'Asker' });
    const second = await at.addUser({ email: 'di@b.example', role: 'Asker', level: 'editor' });
    const third = await at.addUser({ email: 'ed@b.example', role: 'Reader', level: 'editor' });
    const approval = { edit: { policy: 'ask-person', secondPerson: true } } as const;
    await at.store.permissions.setRole('Asker', { '*': { ...everything, approval } });
    await at.store.permissions.setRole('Reader', { '*': { ...everything, edit: false } });
    const run = await at.go(await at.start(await at.publish([set(78)]), '2', first));
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'approval' });
    await expect(yes(run, first)).rejects.toThrow('another person');
    await expect(yes(run, third)).rejects.toThrow("may not edit 'orders'");
    expect(await totalOf(2)).toBe(20);
    expect(await yes(run, second)).toBe(true);
    expect(await at.go(run.id)).toMatchObject({ state: 'succeeded' });
    expect(await totalOf(2)).toBe(78);
    const denied = { edit: 'deny' } as const;
    await at.store.permissions.setRole('Asker', { '*': { ...everything, approval: denied } });
    const other = await at.go(await at.start(await at.publish([set(1)]), '2', first));
    expect(other).toMatchObject({ state: 'failed', failure: { code: 'FORBIDDEN' } });
  });

  test('a user who views the run of another does not see what the run has read', async () => {
    const editor = await at.addUser({ email: 'fay@b.example', role: 'Blind', level: 'editor' });
    await at.store.permissions.setRole('Blind', { '*': { ...everything, fields: { total: 'hidden' } } });
    const member = await at.addUser({ email: 'gus@b.example', role: 'Blind' });
    const run = await at.run([
      { ...look, next: 'told' },
      { ...told, text: 'For {{steps.look.customer:name}}.' },
    ]);
    expect((await at.room.inputRequest(await access(editor), run.id))!.text).toBe('For (not shown).');
    expect(await at.room.inputRequest(await access(member), run.id)).toBeUndefined();
    await expect(yes(run, member, 'done')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const hidden = await at.run([{ ...told, text: 'Costs {{record.total}}.' }], {});
    const question = await at.room.inputRequest(await access(editor), hidden.id);
    expect([question!.text, question!.refusal]).toEqual([undefined, expect.stringContaining("no field 'total'")]);
  });

  test('a waiting run is cancelled immediately, an active one before its next step', async () => {
    const run = await at.run([{ ...told, text: 'Look.' }]);
    expect(await at.room.cancel(await access(at.userId), run.id)).toBe(true);
    expect(await at.store.runs.find(run.id)).toMatchObject({ state: 'cancelled' });
    expect(await at.room.cancel(await access(at.userId), run.id)).toBe(false);
    const id = await at.start(await at.publish([set(5)]), '3');
    const [claim] = await at.store.runs.claim({ owner: at.executor.owner, leaseMs: 60_000, limit: 1, ids: [id] });
    expect(await at.room.cancel(await access(at.userId), id)).toBe(true);
    await at.executor.execute(claim!);
    expect(await at.store.runs.find(id)).toMatchObject({ state: 'cancelled', position: 0 });
    expect(await totalOf(3)).toBe(20);
    await at.store.activity.flush();
    const entries = await at.store.activity.list({ limit: 50 });
    // The entry of the change is written with the mark of its step, which the cancellation refused.
    expect(entries.filter(({ action, workflow }) => action === 'update' && workflow?.runId === id)).toMatchObject([
      { outcome: 'failed', code: 'CANCELLED' },
    ]);
  });

  test('an interrupted change is not repeated: a user is asked', async () => {
    const id = await at.start(await at.publish([set(6)]), '3');
    const [gone] = await at.store.runs.claim({ owner: 'gone', leaseMs: 1000, limit: 1, ids: [id] });
    expect(await at.store.runs.begin(gone!, 'set')).toBe(1);
    expect(await at.go(id)).toMatchObject({ state: 'running' });
    at.wait(2000);
    const run = await at.go(id);
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'uncertain', position: 1 });
    expect(await totalOf(3)).toBe(20);
    // The worker that lost its lease comes back, and its writes have no effect.
    await at.another().execute(gone!);
    expect(await at.store.runs.find(id)).toMatchObject({ state: 'awaiting-input', reason: 'uncertain' });
    expect(await yes(run, at.userId, 'again')).toBe(true);
    expect(await at.go(id)).toMatchObject({ state: 'succeeded', position: 1 });
    expect(await totalOf(3)).toBe(6);
  });

  // CWE-400: a step that crashes its process would otherwise crash every process that takes over the run.
  test('a run whose process died three times at one step waits for a user; progress resets the count', async () => {
    const id = await at.start(await at.publish([{ ...look, next: 'set' }, set(9)]), '3');
    const lose = async () => {
      const [gone] = await at.store.runs.claim({ owner: 'gone', leaseMs: 1000, limit: 1, ids: [id] });
      at.wait(2000);
      return gone!.run.lostLeases;
    };
    const counts = [await lose(), await lose(), await lose()];
    const run = await at.go(id);
    expect([counts, run]).toMatchObject([[0, 1, 2], { state: 'awaiting-input', reason: 'uncertain', stepId: 'look' }]);
    expect(await yes(run, at.userId, 'again')).toBe(true);
    expect(await at.go(id)).toMatchObject({ state: 'succeeded' });
    const other = await at.start(await at.publish([{ ...look, next: 'set' }, set(7)]), '3');
    for (let turn = 0; turn < 2; turn++) {
      await at.store.runs.claim({ owner: 'gone', leaseMs: 1000, limit: 1, ids: [other] });
      at.wait(2000);
    }
    expect(await at.go(other)).toMatchObject({ state: 'succeeded', lostLeases: 0 });
  });

  test('read steps are stored with the next change; after an interruption only they are repeated', async () => {
    const circle = { id: 'again', type: 'read-record', fields: ['id'], next: 'set' };
    const id = await at.start(await at.publish([{ ...look, next: 'again' }, circle, set(8)]), '2');
    const { runs } = at.store;
    const calls: string[] = [];
    let isCut = true;
    const watched: typeof runs = {
      ...runs,
      async begin(...given) {
        calls.push('begin');
        if (isCut) throw new Error('the storage does not answer');
        return runs.begin(...given);
      },
      async finish(claim, done) {
        calls.push(`finish ${done.stepId}`);
        return runs.finish(claim, done);
      },
    };
    const executor = at.another({ store: { ...at.store, runs: watched } });
    await executor.take([id]);
    expect([calls, await at.steps(id), await totalOf(2)]).toEqual([['begin'], [], 78]);
    isCut = false;
    at.wait(31_000);
    await executor.take([id]);
    expect(calls).toEqual(['begin', 'begin', 'finish set']);
    expect((await at.steps(id)).map(({ position, stepId, state }) => [position, stepId, state])).toEqual([
      [1, 'look', 'done'],
      [2, 'again', 'done'],
      [3, 'set', 'done'],
    ]);
    expect([(await at.store.runs.find(id))!.state, await totalOf(2)]).toEqual(['succeeded', 8]);
  });

  test('of several executors that claim the same runs, each run gets one', async () => {
    const workflow = await at.publish([look]);
    const ids: string[] = [];
    for (const record of ['1', '2', '3', '4', '5']) ids.push(await at.start(workflow, record));
    const others = [at.executor, at.another(), at.another()];
    const taken = await Promise.all(others.map((one) => one.take(ids)));
    expect(taken.reduce((sum, count) => sum + count)).toBe(5);
    for (const id of ids) {
      expect(await at.store.runs.find(id)).toMatchObject({ state: 'succeeded' });
      expect(await at.steps(id)).toHaveLength(1);
    }
  });

  test('an executor that stops releases its runs, and another continues them', async () => {
    const id = await at.start(await at.publish([{ ...look, next: 'set' }, set(7)]), '4');
    const [claim] = await at.store.runs.claim({ owner: 'other', leaseMs: 60_000, limit: 1, ids: [id] });
    const leaving = at.another();
    const work = leaving.execute(claim!);
    await Promise.all([leaving.stop(10_000), work]);
    const run = (await at.store.runs.find(id))!;
    expect([run.state, run.failure]).toEqual(['queued', null]);
    expect(await leaving.take([id])).toBe(0);
    expect(await at.go(id)).toMatchObject({ state: 'succeeded' });
    expect(await totalOf(4)).toBe(7);
  });

  test('a run with endless steps ends', async () => {
    const run = await at.run([{ ...look, fields: ['id'], next: 'look' }]);
    expect(run).toMatchObject({ state: 'failed', position: 200, failure: { code: 'TOO_MANY_STEPS' } });
  }, 60_000);
});
