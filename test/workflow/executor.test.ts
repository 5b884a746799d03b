// Runs from their start to their end: the executor, and what holds whatever a step does.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { openWorkflowPlace, type WorkflowPlace } from './place.ts';

afterAll(dropSpares);

const look = { id: 'look', type: 'read-record', fields: ['total', 'customer:name'] };
const told = { id: 'told', type: 'guidance', text: 'Pack {{record.total}} for {{steps.look.customer:name}}.' };

describe.each(variants)('runs on $name', (variant) => {
  cleanUpAfterAll();
  let at: WorkflowPlace;
  beforeAll(async () => {
    at = await openWorkflowPlace(variant);
  });
  afterAll(() => at.close());

  test('a run takes its steps one after the other, and waits for a person', async () => {
    const run = await at.run([{ ...look, next: 'told' }, told]);
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'guidance', stepId: 'told', position: 2 });
    expect(await at.steps(run.id)).toMatchObject([
      { state: 'done', data: { total: 10.5, 'customer:name': 'Ada' }, outcome: { type: 'read-record', fields: 2 } },
      { state: 'waiting', data: { ask: 'inputs', text: 'Pack 10.5 for Ada.' } },
    ]);
    const answer = { decision: 'done', values: {} };
    expect(await at.store.runs.answer(run.id, { position: 2, by: at.userId, value: answer })).toBe(true);
    expect(await at.go(run.id)).toMatchObject({ state: 'succeeded', stepId: null });
    expect((await at.store.activity.list({ limit: 10 })).length).toBeGreaterThanOrEqual(0);
  });

  test('a missing record ends it', async () => {
    const id = await at.start(await at.publish([look]), '99');
    expect(await at.go(id)).toMatchObject({
      state: 'failed',
      failure: { code: 'RECORD_NOT_FOUND', message: "No record '99' in 'orders', or you may not see it." },
    });
  });

  test('who does not answer in time ends it', async () => {
    const run = await at.run([{ ...told, text: 'Look.', waitSeconds: 60 }]);
    at.wait(59_000);
    expect(await at.go(run.id)).toMatchObject({ state: 'awaiting-input' });
    at.wait(1000);
    expect(await at.go(run.id)).toMatchObject({ state: 'failed', failure: { code: 'ANSWER_TIMED_OUT' } });
    expect(await at.steps(run.id)).toMatchObject([{ state: 'failed' }]);
  });
});
