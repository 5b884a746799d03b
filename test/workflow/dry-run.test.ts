// A dry run shows what a run would do, on real databases, and has no effect on any of them.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/core/clock.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';
import type { DryRun } from '../../src/workflows/dry-run/dry-run.ts';
import type { SubmittedAnswer } from '../../src/workflows/input-requests/answers.ts';
import { openProvider, saying } from '../agent/ai-server.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { everything, openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

afterAll(dropSpares);

const step = { id: 'x' } as const;
const late = {
  ...{ id: 'late', type: 'condition', title: 'Late?' },
  options: [
    {
      id: 'big',
      label: '10 or more',
      when: { field: 'total', operator: 'GreaterThanOrEqual', value: 10 },
      next: 'set',
    },
    { id: 'small', label: 'Less', next: null },
  ],
} as const;
const look = { id: 'look', type: 'read-record', fields: ['customer:name', 'total'], next: 'late' } as const;
const set = { id: 'set', type: 'update-record', values: { total: 99 } } as const;

describe.each(variants)('a dry run on $name', (variant) => {
  cleanUpAfterAll();
  let at: WorkflowTestServer;
  let calls = 0;
  beforeAll(async () => {
    const customize = (agent: HeadlessAgent): void => {
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('refund', {
          scope: 'Single',
          form: [{ label: 'reason', type: 'String', isRequired: true }],
          execute: (_, result) => {
            calls++;
            return result.webhook('https://example.com/told');
          },
        }),
      );
    };
    at = await openWorkflowServer(variant, { customize });
  });
  afterAll(() => at.close());

  const access = async (userId = at.userId) => (await at.store.permissions.accessOf(userId))!;
  /** All records of the shop, and the runs, approvals and files of the storage. */
  const everyRow = async () => {
    const caller = await access();
    const tables = at.engine.index(caller).map(({ name }) => name);
    const rows = await Promise.all(
      tables.map(async (collection) => {
        const fields = at.engine.describe(caller, collection).fields.map(({ name }) => name);
        return [collection, (await at.engine.list(caller, { collection, fields, limit: 100 })).rows];
      }),
    );
    return JSON.stringify([rows, await at.store.runs.list({ limit: 100 })]);
  };
  /** Tries the steps on an order, and checks that nothing has changed. */
  const tryOn = async (
    recordId: string,
    steps: readonly object[],
    answers: readonly SubmittedAnswer[] = [],
    userId = at.userId,
  ): Promise<DryRun> => {
    const before = await everyRow();
    const workflow = await at.publish(steps);
    const definition = parseDefinition({ name: workflow.name, collection: 'orders', steps });
    const { signal } = new AbortController();
    const request = { workflow, definition, recordId, answers, signal: signal as never };
    const tried = await at.room.dryRun(await access(userId), request);
    expect(await everyRow()).toBe(before);
    expect(calls).toBe(0);
    return tried;
  };
  const reasons = (tried: DryRun) => tried.steps.map(({ step: { id } }) => id);

  test('reads values, takes an option, and shows the change before a person confirms it', async () => {
    const tried = await tryOn('1', [look, late, set]);
    expect(reasons(tried)).toEqual(['look', 'late']);
    expect(tried.steps[0]!.values).toEqual({ 'customer:name': 'Ada', total: 10.5 });
    expect(tried.steps[1]!.option).toBe('10 or more');
    expect(tried.end).toMatchObject({
      kind: 'asks',
      step: { id: 'set' },
      question: { changes: [{ field: 'total', before: 10.5, after: 99 }] },
    });
    expect(tried.reads.length).toBeGreaterThan(0);
  });

  test('goes on as if it was confirmed, and says that later steps read the records without the change', async () => {
    const after = { ...look, id: 'after', next: null };
    const confirmed = [{ decision: 'confirm' }];
    const tried = await tryOn('1', [look, late, { ...set, next: 'after' }, after], confirmed);
    expect(reasons(tried)).toEqual(['look', 'late', 'set', 'after']);
    expect(tried.steps[2]!.values).toEqual({ total: 99 });
    expect(tried.steps[3]!.notes.join()).toContain('without what “set” would change');
    expect(tried.end).toEqual({ kind: 'succeeded' });
    const rejected = await tryOn('1', [look, late, set], [{ decision: 'decline' }]);
    expect(rejected.end).toMatchObject({ kind: 'unknown', problem: expect.stringContaining('ends the run') });
  });

  test('makes no automatic change, and fills later steps with the values it would have', async () => {
    const automatic = { ...set, mode: 'automatic', next: 'say' };
    const tried = await tryOn('1', [automatic, { id: 'say', type: 'guidance', text: 'Now {{steps.set.total}}.' }]);
    expect(tried.steps[0]).toMatchObject({ effect: { changes: [{ field: 'total', after: 99 }] } });
    expect(tried.end).toMatchObject({ kind: 'asks', question: { text: 'Now 99.' } });
  });

  test('runs no action: it shows its values, and ends where its result is needed', async () => {
    const act = { ...step, type: 'trigger-action', action: 'refund', mode: 'automatic', next: 'say' };
    const say = { id: 'say', type: 'guidance', text: 'Done.' };
    const filled = { ...act, values: { reason: 'for {{record.id}}' } };
    const tried = await tryOn('1', [filled, say]);
    expect(tried.steps[0]!.effect!.changes).toMatchObject([{ field: 'reason', after: 'for 1' }]);
    expect(tried.end).toMatchObject({ kind: 'asks', step: { id: 'say' } });
    const needed = await tryOn('1', [filled, { ...say, text: '{{steps.x.status}}' }]);
    expect(needed.end).toMatchObject({ kind: 'unknown', step: { id: 'say' } });
    const missing = await tryOn('1', [act, say]);
    expect(missing.end).toMatchObject({ kind: 'asks', question: { fields: [{ name: 'reason', required: true }] } });
    const entered = await tryOn('1', [act, say], [{ decision: 'run', values: { reason: 'broken' } }]);
    expect(entered.steps[0]!.effect!.changes).toMatchObject([{ field: 'reason', after: 'broken' }]);
    const refused = await tryOn('1', [act, say], [{ decision: 'run', values: {} }]);
    expect(refused.end).toMatchObject({ kind: 'asks', problem: { field: 'reason' } });
  });

  test('asks no language model and no remote server: the person who tries it answers', async () => {
    const { ai, asked } = await openProvider('openai', saying('openai', '{"answer":true}'));
    const own = at;
    at = await openWorkflowServer(variant, { customize: (agent) => agent.addAi(ai) });
    onTestFinished(async () => {
      await at.close();
      at = own;
    });
    const mood = { id: 'mood', type: 'ai', prompt: 'Is {{record.id}} good?', answer: { type: 'boolean' }, next: 'far' };
    const far = { id: 'far', type: 'mcp', server: 'none', tool: 'open', arguments: { it: '{{steps.mood.answer}}' } };
    const tried = await tryOn('1', [mood, far]);
    expect(tried.end).toMatchObject({ kind: 'asks', question: { text: 'Is 1 good?' } });
    expect(tried.end).toMatchObject({ notes: [expect.stringContaining('language model would be asked')] });
    const answered = await tryOn('1', [mood, far], [{ decision: 'answer', values: { answer: 'yes' } }]);
    expect(answered.end).toMatchObject({
      ...{ kind: 'asks', step: { id: 'far' } },
      question: { changes: [{ field: 'it', after: true }] },
    });
    const options = [{ id: 'yes' }, { id: 'no' }];
    const choice = await tryOn('1', [{ id: 'how', type: 'condition', question: 'How?', options }]);
    expect(choice.end).toMatchObject({ kind: 'asks', question: { text: 'How?' } });
    expect(asked).toEqual([]);
  });

  test('has the rights of the person who tries it', async () => {
    const kim = await at.addUser({ email: `kim${systemClock.now()}@b.example`, role: 'Reader' });
    await at.store.permissions.setRole('Reader', { '*': { ...everything, edit: false } });
    const tried = await tryOn('1', [look, late, set], [], kim);
    expect(tried.end).toMatchObject({ kind: 'failed', step: { id: 'set' }, problem: { code: 'FORBIDDEN' } });
    const lost = await tryOn('987654', [look, late, set]);
    expect(lost.end).toMatchObject({ kind: 'failed', step: { id: 'look' }, problem: { code: 'RECORD_NOT_FOUND' } });
  });

  test('ends a loop', async () => {
    const again = { ...look, next: 'look' };
    const tried = await tryOn('1', [again]);
    expect(tried.end).toMatchObject({ kind: 'unknown', problem: expect.stringContaining('100 steps') });
  });
});
