// Schedules and data changes that start runs: one run for each occurrence and record, in any number of processes, with
// the rights of one person.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WriteList } from '../../src/agent/write/effects.ts';
import type { NewUser } from '../../src/store/users/types.ts';
import type { StartSettings } from '../../src/store/workflows/start-rule-types.ts';
import type { Workflow } from '../../src/store/workflows/types.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, createPlace, variants } from '../store/stores.ts';
import { type AutomaticTestServer, openAutomatic } from './automatic-server.ts';
import { everything, openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

afterAll(dropSpares);

const MINUTE = 60_000;
const wait = { id: 'wait', type: 'guidance', text: 'Look.' };
const hourly: StartSettings = { kind: 'schedule', cron: '0 * * * *', timezone: 'UTC', limit: 100 };
const changed: StartSettings = { kind: 'change', operations: ['create', 'update'], limit: 100 };
const total = (operator: 'GreaterThan' | 'LessThan', value: number) => ({ field: 'total', operator, value });

describe.each(variants)('automatic starts on $name', (variant) => {
  cleanUpAfterAll();
  let at: WorkflowTestServer;
  let auto: AutomaticTestServer;
  beforeAll(async () => {
    at = await openWorkflowServer(variant);
    auto = openAutomatic(at);
  });
  afterAll(() => at.close());

  let editors = 0;
  const addEditor = (more: Partial<NewUser> = {}) =>
    at.addUser({ email: `editor-${++editors}@b.example`, firstName: `Ed${editors}`, level: 'editor', ...more });
  /** A workflow of a new editor, and the editor. */
  const open = async (steps: readonly object[] = [wait]) => {
    const userId = await addEditor();
    return { userId, workflow: await at.publish(steps) };
  };
  const recordsOf = async (workflow: Workflow) => (await auto.runsOf(workflow)).map(({ recordId }) => recordId).sort();
  const stop = async (id: string, by: number) => void (await at.store.startRules.delete(id, by));
  const update =
    (ids: readonly number[], values: Record<string, unknown>, userId = at.userId) =>
    async (written: WriteList) =>
      at.engine.update(await auto.accessOf(userId), { collection: 'orders', ids, values }, { written });

  describe('schedules', () => {
    test('of several processes, one starts the runs of an occurrence', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, { ...hourly, filter: total('GreaterThan', 15) }, userId);
      // Writers of SQLite in one process block each other.
      const stores =
        variant.server.dialect === 'sqlite' ? [at.store] : [at.store, await at.place.open({ clock: at.clock })];
      const processes = [...stores, ...stores].map((store) => auto.process(store));
      await Promise.all(processes.map(({ poll }) => poll()));
      expect(await recordsOf(workflow)).toEqual([]);
      at.wait(60 * MINUTE);
      await Promise.all(processes.map(({ poll }) => poll()));
      expect(await recordsOf(workflow)).toEqual(['2', '3', '4']);
      expect(await auto.rule(id)).toMatchObject({ lastResult: { started: 3, active: 0, hasMore: false } });
      const [run] = await auto.runsOf(workflow);
      expect(run).toMatchObject({ userId, origin: 'schedule', originName: `Schedule of Ed${editors}` });
      await stop(id, userId);
    });

    test('after a downtime, the missed occurrences are one', async () => {
      const { workflow, userId } = await open([{ id: 'look', type: 'read-record', fields: ['total'] }]);
      const { id } = await auto.add(workflow, { ...hourly, filter: total('LessThan', 6) }, userId);
      at.wait(10 * 60 * MINUTE);
      await auto.poll();
      for (const run of await auto.runsOf(workflow)) await at.go(run.id);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['5']);
      expect((await auto.rule(id)).nextAt).toBeGreaterThan(at.clock.now());
      at.wait(60 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['5', '5']);
      await stop(id, userId);
    });

    test('an occurrence that a process took and did not start is not lost', async () => {
      const { workflow, userId } = await open();
      const { id, nextAt } = await auto.add(workflow, { ...hourly, limit: 2 }, userId);
      at.wait(60 * MINUTE);
      const next = nextAt! + 60 * MINUTE;
      expect(await at.store.startRules.claimOccurrence(id, nextAt!, next)).toBe(true);
      expect(await at.store.startRules.claimOccurrence(id, nextAt!, next)).toBe(false);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1', '2']);
      await stop(id, userId);
    });

    test('a process that dies between two runs leaves the others to the next one, and no run starts twice', async () => {
      const { workflow, userId } = await open([{ id: 'look', type: 'read-record', fields: ['total'] }]);
      const { id, nextAt } = await auto.add(workflow, { ...hourly, limit: 3 }, userId);
      at.wait(60 * MINUTE);
      await at.store.startRules.claimOccurrence(id, nextAt!, nextAt! + 60 * MINUTE);
      const [taken] = await at.store.startRules.take(1, MINUTE);
      await at.store.startRules.choose(taken!, { records: ['1', '2', '3'], hasMore: true });
      const access = await auto.accessOf(userId);
      const by = { access, origin: 'schedule', clientId: 'schedule', clientName: 'Schedule' } as const;
      const first = await at.room.start(by, { workflow, recordId: '1', idempotencyKey: `${taken!.id} 1` });
      // Its run is over when the next process begins, so only the key tells that it was started.
      if (first.state === 'created') await at.go(first.runId);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1']);
      at.wait(2 * MINUTE);
      const [again] = await at.store.startRules.take(1, MINUTE);
      await at.store.startRules.settle(taken!, { at: 0, started: 0, active: 0 });
      expect(again?.fence).toBe(taken!.fence + 1);
      at.wait(2 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1', '2', '3']);
      expect(await at.store.startRules.take(10, MINUTE)).toEqual([]);
      await stop(id, userId);
    });

    test('the key of a run outlives the day after which other keys expire', async () => {
      const { workflow, userId } = await open([{ id: 'look', type: 'read-record', fields: ['total'] }]);
      const access = await auto.accessOf(userId);
      const by = { access, origin: 'schedule', clientId: 'schedule', clientName: 'Schedule' } as const;
      const request = { workflow, recordId: '1', idempotencyKey: 'start 1' };
      const created = await at.room.start(by, request);
      if (created.state === 'created') await at.go(created.runId);
      at.wait(25 * 60 * MINUTE);
      await at.store.runs.sweep();
      expect(await at.room.start(by, request)).toEqual({ ...created, state: 'repeated' });
    });

    test('at most the limit starts, in the order of the key, and the result says that more matched', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, { ...hourly, limit: 2 }, userId);
      at.wait(60 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1', '2']);
      expect(await auto.rule(id)).toMatchObject({ lastResult: { started: 2, hasMore: true } });
      at.wait(60 * MINUTE);
      await auto.poll();
      expect(await auto.rule(id)).toMatchObject({ lastResult: { started: 0, active: 2, hasMore: true } });
      await stop(id, userId);
    });

    test('while a start is under way, an occurrence adds no second one', async () => {
      const { workflow, userId } = await open();
      const { id, nextAt } = await auto.add(workflow, hourly, userId);
      at.wait(60 * MINUTE);
      expect(await at.store.startRules.claimOccurrence(id, nextAt!, nextAt! + 1)).toBe(true);
      expect(await at.store.startRules.claimOccurrence(id, nextAt! + 1, nextAt! + 2)).toBe(true);
      expect(await at.store.startRules.take(10, MINUTE)).toHaveLength(1);
      await stop(id, userId);
    });
  });

  describe('rights', () => {
    test('only records in the row scope of the person get a run', async () => {
      const userId = await addEditor({ team: 'Scoped' });
      await at.store.permissions.setScope('Scoped', 'orders', total('LessThan', 15));
      const { renderingId } = (await at.store.permissions.caller(userId))!;
      const steps = [{ ...wait, id: 'a' }];
      const definition = JSON.stringify({ name: 'scoped', collection: 'orders', steps });
      const workflow = await at.store.workflows.publish({
        ...{ renderingId, name: 'scoped', collection: 'orders', definition, concurrency: null, by: userId },
      });
      const timed = await auto.add(workflow, hourly, userId);
      at.wait(60 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1', '5']);
      await stop(timed.id, userId);
      const { id } = await auto.add(workflow, changed, userId);
      for (const run of await auto.runsOf(workflow)) await at.store.runs.cancel(run.id, userId);
      // Another person changes a record that the owner does not see, and one that they see.
      await auto.write(update([2, 5], { placed_at: '2024-05-01T00:00:00.000Z' }));
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1', '5', '5']);
      await stop(id, userId);
    });

    const stops: Readonly<
      Record<string, [(ids: { userId: number; workflow: Workflow; other: number }) => Promise<unknown>, RegExp]>
    > = {
      'the person is disabled': [({ userId }) => at.store.identity.setDisabled(userId, true), /disabled or deleted/],
      'the workflow is paused': [
        ({ workflow, userId }) => at.store.workflows.setActive(workflow.id, false, userId),
        /workflow is paused/,
      ],
      'another person publishes a version': [
        async ({ workflow, other }) => {
          const definition = (await at.store.workflows.definition(workflow.id, 1))!;
          const { name, collection, renderingId } = workflow;
          const of = { id: workflow.id, since: 1 };
          await at.store.workflows.publish({
            name,
            collection,
            renderingId,
            definition,
            concurrency: null,
            by: other,
            of,
          });
        },
        /Another person published version 2/,
      ],
      'the person is no editor any more': [
        ({ userId }) => at.store.members.change(userId, { level: 'user' }),
        /may no longer edit workflows/,
      ],
    };
    test.each(Object.keys(stops))('it starts nothing and says why when %s', async (name) => {
      const [change, reason] = stops[name]!;
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, hourly, userId);
      await change({ workflow, userId, other: await addEditor() });
      expect(await auto.automatic.stateOf(await auto.rule(id))).toMatchObject({
        state: 'stopped',
        reason: expect.stringMatching(reason),
      });
      at.wait(60 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      expect(await auto.rule(id)).toMatchObject({ lastResult: { started: 0, problem: expect.stringMatching(reason) } });
      await stop(id, userId);
    });

    test('a version of the same person needs no agreement, and one of another person goes on after it', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, hourly, userId);
      const publish = async (since: number, by: number) => {
        const definition = (await at.store.workflows.definition(workflow.id, 1))!;
        const { name, collection, renderingId } = workflow;
        const of = { id: workflow.id, since };
        return at.store.workflows.publish({ name, collection, renderingId, definition, concurrency: null, by, of });
      };
      await publish(1, userId);
      expect(await auto.automatic.stateOf(await auto.rule(id))).toMatchObject({ state: 'ready' });
      const current = await publish(2, await addEditor());
      expect(await auto.automatic.stateOf(await auto.rule(id))).toMatchObject({ needsAgreement: true });
      await auto.automatic.resume(await auto.accessOf(userId), current, await auto.rule(id));
      expect(await auto.automatic.stateOf(await auto.rule(id))).toMatchObject({ state: 'ready' });
      await stop(id, userId);
    });

    test('another editor cannot change or resume it, and can pause it', async () => {
      const { workflow, userId } = await open();
      const rule = await auto.add(workflow, hourly, userId);
      const other = await auto.accessOf(await addEditor());
      await expect(auto.automatic.save(other, workflow, rule, hourly)).rejects.toMatchObject({ code: 'DENIED' });
      await auto.automatic.pause(other, workflow, rule);
      expect(await auto.rule(rule.id)).toMatchObject({ isActive: false, nextAt: null });
      await expect(auto.automatic.resume(other, workflow, rule)).rejects.toMatchObject({ code: 'DENIED' });
      // The storage refuses it too.
      const wrong = at.store.startRules.change(rule.id, { isActive: true }, other.caller.id);
      await expect(wrong).rejects.toMatchObject({ code: 'DENIED' });
      await stop(rule.id, userId);
    });

    test('people without the level of an editor cannot see or add one', async () => {
      const { workflow } = await open();
      const access = await auto.accessOf(await at.addUser({ email: `plain-${++editors}@b.example` }));
      await expect(auto.automatic.add(access, workflow, hourly)).rejects.toMatchObject({ code: 'DENIED' });
      await expect(auto.automatic.list(access, workflow)).rejects.toMatchObject({ code: 'DENIED' });
      const foreign = await auto.accessOf(await addEditor({ team: 'Elsewhere' }));
      await expect(auto.automatic.add(foreign, workflow, hourly)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    });

    test('a condition on a hidden field is refused, and stops when the field is hidden later', async () => {
      await at.store.permissions.setRole('Blind', { '*': everything });
      const userId = await addEditor({ role: 'Blind' });
      const workflow = await at.publish([wait]);
      const settings: StartSettings = { ...hourly, filter: total('GreaterThan', 1) };
      const { id } = await auto.add(workflow, settings, userId);
      await at.store.permissions.setRole('Blind', { '*': { ...everything, fields: { total: 'hidden' } } });
      const refused = { code: 'INVALID_ARGUMENT', details: { argument: 'filter' } };
      await expect(auto.add(workflow, settings, userId)).rejects.toMatchObject(refused);
      const fields: StartSettings = { ...changed, fields: ['total'] };
      await expect(auto.add(workflow, fields, userId)).rejects.toMatchObject({ details: { argument: 'fields' } });
      at.wait(60 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      expect((await auto.rule(id)).lastResult?.problem).toContain("no field 'total'");
      await stop(id, userId);
    });
  });

  describe('data changes', () => {
    test('of a field that is hidden later start nothing', async () => {
      await at.store.permissions.setRole('Watcher', { '*': everything });
      const userId = await addEditor({ role: 'Watcher' });
      const workflow = await at.publish([wait]);
      const { id } = await auto.add(workflow, { ...changed, fields: ['total'] }, userId);
      await at.store.permissions.setRole('Watcher', { '*': { ...everything, fields: { total: 'hidden' } } });
      await auto.write(update([2], { total: 27 }));
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      const reason = expect.stringContaining('may no longer see a field whose changes start it');
      expect(await auto.automatic.stateOf(await auto.rule(id))).toMatchObject({ state: 'stopped', reason });
      // The time of a result would show when the hidden field changed.
      expect(await auto.rule(id)).toMatchObject({ lastResult: null });
      await stop(id, userId);
    });

    test('a created and a changed record start a run, and a write that fails starts none', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, { ...changed, filter: total('GreaterThan', 15) }, userId);
      const access = await auto.accessOf();
      const record = { id: 77, total: 50, placed_at: '2024-05-01T00:00:00.000Z' };
      await auto.write((written) => at.engine.create(access, { collection: 'orders', records: [record] }, { written }));
      await auto.write(update([2], { placed_at: '2024-06-01T00:00:00.000Z' }));
      // It does not match after the change.
      await auto.write(update([3], { total: 1 }));
      const failing = auto.write((written) =>
        at.engine.create(access, { collection: 'orders', records: [{ ...record, id: 78 }, record] }, { written }),
      );
      await expect(failing).rejects.toThrow();
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['2', '77']);
      at.wait(5 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['2', '77']);
      const [run] = await auto.runsOf(workflow);
      expect(run).toMatchObject({ origin: 'change', userId });
      await auto.write(update([3], { total: 20 }));
      await stop(id, userId);
    });

    test('a preview starts nothing', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, changed, userId);
      const access = await auto.accessOf();
      const request = { collection: 'orders', ids: [1], values: { total: 99 } };
      await auto.write((written) => at.engine.update(access, request, { written, preview: true }));
      at.wait(5 * MINUTE);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      await stop(id, userId);
    });

    test('with chosen fields, an update counts only if one of them has another value', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, { ...changed, operations: ['update'], fields: ['total'] }, userId);
      await auto.write(update([1], { placed_at: '2024-06-02T00:00:00.000Z' }));
      await auto.write(update([1], { total: 10.5 }));
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      await auto.write(update([1], { total: 11 }));
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1']);
      await auto.write(update([1], { total: 10.5 }));
      await stop(id, userId);
    });

    test('if the process dies after the commit, the run starts in two minutes', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, changed, userId);
      await auto.write(update([4], { total: 31 }), { end: false });
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      at.wait(2 * MINUTE + 1);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['4']);
      await stop(id, userId);
    });

    test('a change of more records than the limit starts that many, and the result says so', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, { ...changed, limit: 2 }, userId);
      await auto.write(update([1, 2, 3], { placed_at: '2024-06-03T00:00:00.000Z' }));
      await auto.poll();
      expect(await recordsOf(workflow)).toHaveLength(2);
      expect(await auto.rule(id)).toMatchObject({ lastResult: { started: 2, hasMore: true } });
      await stop(id, userId);
    });

    describe('of records that the row scope of the person hides', () => {
      let teams = 0;
      /** The person sees the order 3. */
      const openScoped = async (limit = 100) => {
        const team = `Third order ${++teams}`;
        const userId = await addEditor({ team });
        await at.store.permissions.setScope(team, 'orders', { field: 'id', operator: 'Equal', value: 3 });
        const { renderingId } = (await at.store.permissions.caller(userId))!;
        const given = { renderingId, name: team, collection: 'orders', concurrency: null, by: userId };
        const definition = JSON.stringify({ name: team, collection: 'orders', steps: [wait] });
        const workflow = await at.store.workflows.publish({ ...given, definition });
        return { userId, workflow, id: (await auto.add(workflow, { ...changed, limit }, userId)).id };
      };
      const placed = { placed_at: '2024-06-04T00:00:00.000Z' };

      test('leave no trace in the result, not even its time', async () => {
        const { userId, workflow, id } = await openScoped();
        await auto.write(update([1, 2], placed));
        await auto.poll();
        expect([await recordsOf(workflow), (await auto.rule(id)).lastResult]).toEqual([[], null]);
        await auto.write(update([1, 2, 3], placed));
        await auto.poll();
        expect([await recordsOf(workflow), (await auto.rule(id)).lastResult]).toEqual([
          ['3'],
          { at: expect.any(Number), started: 1, active: 0, hasMore: false },
        ]);
        await stop(id, userId);
      });

      test('do not use up the limit', async () => {
        const { userId, workflow, id } = await openScoped(1);
        await auto.write(update([1, 2, 3], placed));
        await auto.poll();
        expect([await recordsOf(workflow), (await auto.rule(id)).lastResult?.hasMore]).toEqual([['3'], false]);
        await stop(id, userId);
      });
    });

    test('a storage that fails before the commit does not fail the write, and the run starts', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, changed, userId);
      const { put } = at.store.startRules;
      let failures = 0;
      const startRules = at.store.startRules as { put: typeof put };
      startRules.put = async (...given) => {
        if (failures++ === 0) throw new Error('the storage is gone');
        return put(...given);
      };
      try {
        await auto.write(update([5], { total: 6 }));
      } finally {
        startRules.put = put;
      }
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['5']);
      await auto.write(update([5], { total: 5 }));
      await stop(id, userId);
    });

    test('a paused rule starts nothing, not even what was under way', async () => {
      const { workflow, userId } = await open();
      const rule = await auto.add(workflow, changed, userId);
      await auto.write(update([1], { total: 12 }));
      await auto.automatic.pause(await auto.accessOf(userId), workflow, rule);
      await auto.write(update([1], { total: 10.5 }));
      await auto.automatic.resume(await auto.accessOf(userId), workflow, rule);
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual([]);
      await stop(rule.id, userId);
    });
  });

  describe('loops', () => {
    test('a run does not start its own workflow, neither directly nor through another one', async () => {
      const [a, b] = [await open(), await open()];
      const rules = [await auto.add(a.workflow, changed, a.userId), await auto.add(b.workflow, changed, b.userId)];
      await auto.write(update([1], { total: 13 }), { by: { workflowId: a.workflow.id, chain: [] } });
      await auto.poll();
      expect([await recordsOf(a.workflow), await recordsOf(b.workflow)]).toEqual([[], ['1']]);
      const [run] = await auto.runsOf(b.workflow);
      expect(run!.chain).toEqual([a.workflow.id]);
      await auto.write(update([2], { total: 21 }), { by: run! });
      await auto.poll();
      expect([await recordsOf(a.workflow), await recordsOf(b.workflow)]).toEqual([[], ['1']]);
      await auto.write(update([1], { total: 10.5 }), { by: { workflowId: a.workflow.id, chain: [b.workflow.id] } });
      await stop(rules[0]!.id, a.userId);
      await stop(rules[1]!.id, b.userId);
    });

    test('at most five runs start each other in a row, and the result says so', async () => {
      const { workflow, userId } = await open();
      const { id } = await auto.add(workflow, changed, userId);
      const chain = ['w1', 'w2', 'w3'];
      await auto.write(update([1], { total: 14 }), { by: { workflowId: 'w4', chain } });
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1']);
      await auto.write(update([2], { total: 22 }), { by: { workflowId: 'w5', chain: [...chain, 'w4'] } });
      await auto.poll();
      expect(await recordsOf(workflow)).toEqual(['1']);
      expect((await auto.rule(id)).lastResult?.problem).toContain('5 runs in a row');
      await auto.write(update([1], { total: 10.5 }), { by: { workflowId: workflow.id, chain: [] } });
      await stop(id, userId);
    });
  });

  test('deleting the workflow deletes its rules and their starts', async () => {
    const { workflow, userId } = await open();
    const { id } = await auto.add(workflow, changed, userId);
    await auto.write(update([1], { total: 15 }));
    await at.store.workflows.delete(workflow.id, userId);
    expect(await at.store.startRules.find(id)).toBeUndefined();
    expect(await at.store.startRules.take(10, MINUTE)).toEqual([]);
  });

  test('another environment has none of them', async () => {
    const place = await createPlace(variant);
    await place.open();
    const { knex } = place.tables();
    const { project_id } = (await knex('environments').first('project_id'))!;
    await knex('environments').insert({ project_id, name: 'Staging', created_at: 0 });
    const production = await place.open({ environment: 'Production' });
    const staging = await place.open({ environment: 'Staging' });
    const { id: userId } = await production.identity.addUser({ email: 'ada@b.example', role: 'Clerk' });
    const { renderingId } = (await production.permissions.caller(userId))!;
    const wish = { renderingId, name: 'here', collection: 'orders', definition: '{}', concurrency: null, by: userId };
    const { id: workflowId } = await production.workflows.publish(wish);
    const common = { workflowId, collection: 'orders', version: 1, userId };
    const { id } = await production.startRules.add({ ...common, settings: hourly, nextAt: 1 });
    await production.startRules.claimOccurrence(id, 1, 2);
    expect(await staging.startRules.list()).toEqual([]);
    expect(await staging.startRules.find(id)).toBeUndefined();
    expect(await staging.startRules.dueSchedules()).toEqual([]);
    expect(await staging.startRules.take(10, MINUTE)).toEqual([]);
    expect(await staging.startRules.change(id, { isActive: false }, userId)).toBeUndefined();
    expect(await staging.startRules.delete(id, userId)).toBe(false);
    await expect(staging.startRules.add({ ...common, settings: hourly, nextAt: 1 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    expect(await production.startRules.dueSchedules()).toMatchObject([{ id, nextAt: 2 }]);
    expect(await production.startRules.take(10, MINUTE)).toMatchObject([{ ruleId: id }]);
  });
});
