// Each type of step in each of its modes, on the records of a real database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { Run } from '../../src/store/workflows/types.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { everything, openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

afterAll(dropSpares);

/** The arguments of the executed action, by order. */
const executed: unknown[] = [];

function customize(agent: HeadlessAgent): void {
  agent.customizeCollection('orders', (orders) =>
    orders
      .importField('first', { path: 'customer:name' })
      .addAction('refund', {
        scope: 'Single',
        form: [
          { label: 'reason', type: 'String', isRequired: true },
          { label: 'amount', type: 'Number' },
        ],
        execute: async (context, result) => {
          executed.push({ id: await context.getRecordId(), ...context.formValues });
          if (context.formValues.reason === 'refuse') return result.error('Order 4711 of Ada is closed.');
          if (context.formValues.reason === 'break') throw new Error('broken');
          return result.success('Refunded.');
        },
      })
      .addAction('tell', {
        scope: 'Single',
        execute: (_, result) => result.webhook('https://example.com/told', 'POST', {}, { a: 1 }),
      }),
  );
}

describe.each(variants)('steps on $name', (variant) => {
  cleanUpAfterAll();
  let at: WorkflowTestServer;
  const sent: string[] = [];
  beforeAll(async () => {
    const sendWebhook = async ({ url }: { readonly url: string }) => {
      sent.push(url);
      return 204;
    };
    at = await openWorkflowServer(variant, { customize, parts: { sendWebhook } });
  });
  afterAll(() => at.close());

  const access = async (userId = at.userId) => (await at.store.permissions.accessOf(userId))!;
  const question = async (run: Run, userId?: number) => (await at.room.inputRequest(await access(userId), run.id))!;
  /** Answers like a user on the page, and continues the run. */
  const answer = async (run: Run, decision: string, values: object = {}, userId?: number): Promise<Run> => {
    const given = { decision, values: values as Record<string, unknown> };
    expect(await at.room.answer(await access(userId), run.id, run.position, given)).toBe(true);
    return at.go(run.id);
  };
  const total = async (id: number): Promise<unknown> => {
    const { rows } = await at.engine.get(await access(), { collection: 'orders', id, fields: ['total'] });
    return rows[0]![0];
  };
  const on = async (recordId: string, steps: readonly object[]): Promise<Run> =>
    at.go(await at.start(await at.publish(steps), recordId));
  const last = async (run: Run) => (await at.steps(run.id)).at(-1)!;

  const way = (id: string, value: number) => ({
    id,
    when: { field: 'total', operator: 'GreaterThan', value },
    next: `to-${id}`,
  });
  const ends = ['to-dear', 'to-cheap'].map((id) => ({ id, type: 'read-record', fields: ['id'] }));

  test('condition: takes the first option whose filter the record matches', async () => {
    const step = { id: 'which', type: 'condition', options: [way('dear', 15), way('cheap', 0)] };
    for (const [id, option] of [
      ['1', 'cheap'],
      ['2', 'dear'],
    ] as const) {
      const run = await on(id, [step, ...ends]);
      expect(run).toMatchObject({ state: 'succeeded', position: 2 });
      expect(await at.steps(run.id)).toMatchObject([{ outcome: { option } }, { stepId: `to-${option}` }]);
    }
    const none = { ...step, options: [way('dear', 900), { ...way('cheap', 800) }] };
    expect(await on('1', [none, ...ends])).toMatchObject({ state: 'failed', failure: { code: 'STEP_FAILED' } });
    expect(await on('99', [none, ...ends])).toMatchObject({ failure: { code: 'RECORD_NOT_FOUND' } });
  });

  test('condition: an option without a filter always applies; without its own next step, it goes to that of the step', async () => {
    const options = [way('dear', 900), { id: 'other' }, way('cheap', 0)];
    const step = { id: 'which', type: 'condition', question: 'Where to?', options, next: 'to-other' };
    const other = { id: 'to-other', type: 'read-record', fields: ['id'] };
    const run = await on('1', [step, ...ends, other]);
    expect([run.state, (await last(run)).stepId]).toEqual(['succeeded', 'to-other']);
    // An explicit end stands, although the step has a next one.
    const over = { ...step, options: [{ id: 'over', next: null }, way('cheap', 0)] };
    const ended = await on('1', [{ ...over, next: 'to-cheap' }, ...ends.slice(1)]);
    expect([ended.state, ended.position]).toEqual(['succeeded', 1]);
  });

  test('condition: an older filter through a to-many relation keeps its meaning, and a quantified one works', async () => {
    const field = 'customer:orders:total';
    const old = {
      aggregator: 'And',
      conditions: [
        { field, operator: 'NotEqual', value: -1 },
        { field, operator: 'GreaterThan', value: 15 },
      ],
    };
    const none = { none: 'customer:orders', where: { field: 'total', operator: 'GreaterThan', value: 15 } };
    const options = [
      { id: 'dear', when: old, next: 'to-dear' },
      { id: 'cheap', when: none, next: 'to-cheap' },
    ];
    const step = { id: 'which', type: 'condition', options };
    for (const [id, option] of [
      ['1', 'cheap'],
      ['2', 'dear'],
    ] as const)
      expect(await at.steps((await on(id, [step, ...ends])).id)).toMatchObject([{ outcome: { option } }, {}]);
  });

  test('condition: a user chooses, or confirms the result', async () => {
    const options = [{ ...way('dear', 15), label: 'Too dear' }, way('cheap', 0)];
    const confirm = await on('2', [{ id: 'which', type: 'condition', mode: 'confirm', options }, ...ends]);
    expect(confirm).toMatchObject({ state: 'awaiting-input', reason: 'choice' });
    const asked = await question(confirm);
    expect(asked.fields).toMatchObject([{ name: 'option', type: 'enum', value: 'dear', required: true }]);
    expect(asked.fields[0]!.options).toEqual([
      { value: 'dear', label: 'Too dear' },
      { value: 'cheap', label: 'cheap' },
    ]);
    const wrong = { decision: 'choose', values: { option: 'other' } };
    await expect(at.room.answer(await access(), confirm.id, 1, wrong)).rejects.toThrow('expected one of dear, cheap');
    expect(await answer(confirm, 'choose', { option: 'cheap' })).toMatchObject({ state: 'succeeded' });
    expect((await last(confirm)).stepId).toBe('to-cheap');
    const manual = await on('2', [{ id: 'which', type: 'condition', mode: 'manual', options }, ...ends]);
    expect((await question(manual)).fields[0]!.value).toBeUndefined();
    await answer(manual, 'choose', { option: 'dear' });
    expect((await last(manual)).stepId).toBe('to-dear');
  });

  test('update-record: in automatic mode, with templates', async () => {
    const steps = [
      { id: 'look', type: 'read-record', fields: ['total'], next: 'set' },
      {
        id: 'set',
        type: 'update-record',
        mode: 'automatic',
        values: { total: '{{steps.look.total}}', customer_id: 3 },
      },
    ];
    const run = await on('2', steps);
    expect(run).toMatchObject({ state: 'succeeded', position: 2 });
    expect(await last(run)).toMatchObject({
      data: { total: 20, customer_id: 3 },
      outcome: { fields: ['customer_id'] },
    });
  });

  test('update-record: a preview is shown and confirmed, and shown again if the record changed', async () => {
    const step = { id: 'set', type: 'update-record', values: { total: 99 } };
    const run = await on('3', [step]);
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'confirmation' });
    expect((await question(run)).changes).toEqual([{ field: 'total', before: 20, after: 99 }]);
    await at.engine.update(await access(), { collection: 'orders', ids: [3], values: { total: 21 } });
    const again = await answer(run, 'confirm');
    expect(again).toMatchObject({ state: 'awaiting-input', position: 1 });
    expect([await total(3), (await question(again)).changes![0]!.before]).toEqual([21, 21]);
    expect(await answer(again, 'confirm')).toMatchObject({ state: 'succeeded' });
    expect(await total(3)).toBe(99);
    const declined = await answer(await on('3', [{ ...step, values: { total: 1 } }]), 'decline');
    expect(declined).toMatchObject({ state: 'failed', failure: { code: 'STEP_DECLINED' } });
    expect(await total(3)).toBe(99);
  });

  test('update-record: a field of another collection needs the approval of that collection, and is shown and logged', async () => {
    await at.store.permissions.setRole('Clerk', {
      '*': everything,
      customers: { ...everything, approval: { edit: 'ask-person' } },
    });
    try {
      const values = { first: 'Eve' };
      const run = await on('1', [{ id: 'set', type: 'update-record', mode: 'automatic', values }]);
      expect(run).toMatchObject({ state: 'awaiting-input', reason: 'approval' });
      const name = async () => {
        const { rows } = await at.engine.get(await access(), { collection: 'customers', id: 1, fields: ['name'] });
        return rows[0]![0];
      };
      const effect = { collection: 'customers', change: 'updated', cause: 'relation', count: 1 };
      const changes = [{ id: '1', fields: { name: { before: await name(), after: 'Eve' } } }];
      expect([(await question(run)).effects, await name()]).toMatchObject([[{ ...effect, changes }], 'Ada']);
      expect(await answer(run, 'confirm')).toMatchObject({ state: 'succeeded' });
      expect(await name()).toBe('Eve');
      const [entry] = await at.store.activity.search({ action: 'update', limit: 1 });
      expect(entry).toMatchObject({ collection: 'orders', effects: [{ ...effect, ids: ['1'] }] });
    } finally {
      await at.store.permissions.setRole('Clerk', { '*': everything });
    }
    const denied = { '*': everything, customers: { ...everything, approval: { edit: 'deny' as const } } };
    await at.store.permissions.setRole('Clerk', denied);
    try {
      const step = { id: 'set', type: 'update-record', mode: 'automatic', values: { first: 'Mallory' } };
      expect(await on('1', [step])).toMatchObject({ state: 'failed', failure: { code: 'FORBIDDEN' } });
    } finally {
      await at.store.permissions.setRole('Clerk', { '*': everything });
      await at.engine.update(await access(), { collection: 'customers', ids: [1], values: { name: 'Ada' } });
    }
  });

  test('update-record: a user enters the values', async () => {
    const run = await on('4', [{ id: 'set', type: 'update-record', mode: 'manual', values: { total: 31 } }]);
    expect(run).toMatchObject({ reason: 'form' });
    expect((await question(run)).fields).toMatchObject([{ name: 'total', type: 'number', value: 31, required: true }]);
    const given = { decision: 'save', values: { total: 'much' } };
    await expect(at.room.answer(await access(), run.id, 1, given)).rejects.toThrow('expected a number');
    const rounded = { decision: 'save', values: { total: '9007199254740993' } };
    await expect(at.room.answer(await access(), run.id, 1, rounded)).rejects.toThrow('a number of at most 15 digits');
    expect(await answer(run, 'save', { total: '32.5' })).toMatchObject({ state: 'succeeded' });
    expect(await total(4)).toBe(32.5);
  });

  test('trigger-action: missing values are requested, and an action that refuses ends the run without its message', async () => {
    executed.length = 0;
    const step = { id: 'pay', type: 'trigger-action', action: 'refund', mode: 'automatic', values: { amount: 5 } };
    const run = await on('1', [step]);
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'form' });
    expect((await question(run)).fields).toMatchObject([
      { name: 'reason', type: 'text', required: true },
      { name: 'amount', type: 'number', value: 5 },
    ]);
    const given = { decision: 'run', values: { amount: 6 } };
    await expect(at.room.answer(await access(), run.id, 1, given)).rejects.toThrow('a value is required');
    const done = await answer(run, 'run', { reason: 'late', amount: '7' });
    expect(done).toMatchObject({ state: 'succeeded', position: 1 });
    expect(executed).toEqual([{ id: 1, reason: 'late', amount: 7 }]);
    expect(await last(done)).toMatchObject({ outcome: { result: 'success' }, data: { message: 'Refunded.' } });
    const refused = await on('1', [{ ...step, values: { reason: 'refuse' } }]);
    expect(refused.failure).toEqual({
      code: 'ACTION_REFUSED',
      message: 'The action reported that it could not be done.',
    });
  });

  const buyer = (next: string) => ({ id: 'buyer', type: 'load-related-record', relation: 'customer', next });

  test('condition, update-record: use the record that an earlier step loaded', async () => {
    const named = (id: string, value: string, next: string | null) => {
      return { id, when: { field: 'name', operator: 'Equal', value }, next };
    };
    const options = [named('none', 'Nobody', null), named('ada', 'Ada', 'set')];
    const which = { id: 'which', type: 'condition', record: 'buyer', options };
    const set = { id: 'set', type: 'update-record', record: 'buyer', mode: 'automatic', values: { name: 'Ada' } };
    const run = await on('1', [buyer('which'), which, set]);
    expect(run).toMatchObject({ state: 'succeeded', position: 3 });
    await at.store.activity.flush();
    const [entry] = await at.store.activity.search({ action: 'update', limit: 1 });
    expect(entry).toMatchObject({ collection: 'customers', recordIds: ['1'], workflow: { runId: run.id } });
  });

  test('trigger-action: in manual mode a user sees the form, even if all values are given', async () => {
    executed.length = 0;
    const values = { reason: '{{user.email}}', amount: 5 };
    const run = await on('1', [{ id: 'pay', type: 'trigger-action', action: 'refund', mode: 'manual', values }]);
    expect([run.state, run.reason, executed]).toEqual(['awaiting-input', 'form', []]);
    expect((await question(run)).fields).toMatchObject([{ value: 'ada@b.example' }, { value: 5 }]);
    expect(await answer(run, 'run', { reason: 'late', amount: '7' })).toMatchObject({ state: 'succeeded' });
    expect(executed).toEqual([{ id: 1, reason: 'late', amount: 7 }]);
  });

  test('trigger-action: confirmed; failing code leaves the outcome uncertain, and a user decides', async () => {
    executed.length = 0;
    const step = { id: 'pay', type: 'trigger-action', action: 'refund', values: { reason: 'break' } };
    const run = await on('2', [step]);
    expect(run).toMatchObject({ reason: 'confirmation' });
    const unsure = await answer(run, 'confirm');
    expect(unsure).toMatchObject({ state: 'awaiting-input', reason: 'uncertain', position: 1 });
    expect((await question(unsure)).decisions.map(({ id }) => id)).toEqual(['done', 'again', 'end']);
    const ended = await answer(await answer(await on('3', [step]), 'confirm'), 'end');
    expect([ended.state, ended.failure?.code, executed.length]).toEqual(['failed', 'STEP_UNCERTAIN', 2]);
    const again = await answer(unsure, 'again');
    expect([again.reason, executed.length]).toEqual(['uncertain', 3]);
    expect(await answer(again, 'done')).toMatchObject({ state: 'succeeded' });
    expect(executed).toHaveLength(3);
  });

  test('trigger-action: Portico sends a webhook of the action', async () => {
    const run = await on('1', [{ id: 'tell', type: 'trigger-action', action: 'tell', mode: 'automatic' }]);
    expect([run.state, sent]).toEqual(['succeeded', ['https://example.com/told']]);
    expect((await last(run)).outcome).toMatchObject({ result: 'webhook', status: 204 });
  });

  test('load-related-record: one, many in order, none, and chosen by a user', async () => {
    const buyer = { id: 'buyer', type: 'load-related-record', relation: 'customer', next: 'look' };
    const look = { id: 'look', type: 'read-record', record: 'buyer', fields: ['name'] };
    const run = await on('1', [buyer, look]);
    expect(await at.steps(run.id)).toMatchObject([
      { data: { collection: 'customers', id: '1' } },
      { data: { name: 'Ada' } },
    ]);
    const lines = await relationTo('order_lines');
    const many = { id: 'line', type: 'load-related-record', relation: lines, sort: [{ field: 'article' }] };
    expect((await last(await on('1', [many]))).data).toEqual({ collection: 'order_lines', id: '1|2' });
    const filter = { field: 'article', operator: 'Equal', value: 'pen' };
    expect((await last(await on('1', [{ ...many, filter }]))).data).toMatchObject({ id: '1|1' });
    const none = await on('1', [
      { ...many, filter: { ...filter, value: 'hat' }, next: 'look', otherwise: null },
      { ...look, record: undefined, fields: ['id'] },
    ]);
    expect(none).toMatchObject({ state: 'succeeded', position: 1 });
    expect((await last(none)).state).toBe('skipped');
    const chosen = await on('1', [{ ...many, mode: 'confirm' }]);
    expect((await question(chosen)).fields[0]).toMatchObject({
      value: '1|2',
      options: [{ value: '1|2' }, { value: '1|1' }],
    });
    expect(await answer(chosen, 'choose', { record: '1|1' })).toMatchObject({ state: 'succeeded' });
    expect((await last(chosen)).data).toMatchObject({ id: '1|1' });
  });

  test('load-related-record: in manual mode only related records are accepted, and no record takes its own branch', async () => {
    const lines = await relationTo('order_lines');
    const line = {
      id: 'line',
      type: 'load-related-record',
      relation: lines,
      mode: 'manual',
      next: 'look',
      otherwise: 'end',
    };
    const steps = [
      line,
      { id: 'look', type: 'read-record', record: 'line', fields: ['article'] },
      { id: 'end', type: 'read-record', fields: ['id'] },
    ];
    const run = await on('1', steps);
    expect(run).toMatchObject({ state: 'awaiting-input', reason: 'choice' });
    const [field] = (await question(run)).fields;
    expect(field).toMatchObject({ name: 'record', options: [{ value: '1|1' }, { value: '1|2' }] });
    expect(field).not.toHaveProperty('value');
    const foreign = { decision: 'choose', values: { record: '2|1' } };
    await expect(at.room.answer(await access(), run.id, 1, foreign)).rejects.toThrow('expected one of 1|1, 1|2');
    const done = await answer(run, 'choose', { record: '1|2' });
    expect([done.state, (await last(done)).data]).toEqual(['succeeded', { article: 'ink' }]);
    const none = await answer(await on('1', steps), 'none');
    expect([none.state, (await last(none)).stepId]).toEqual(['succeeded', 'end']);
    // There is no record to choose from.
    const nothing = await on('5', steps);
    expect([nothing.state, (await last(nothing)).stepId]).toEqual(['succeeded', 'end']);
  });

  const relationTo = async (to: string): Promise<string> =>
    at.engine.describe(await access(), 'orders').relations.find((each) => each.to === to)!.name;

  test('guidance: the requested inputs are entered, and used later', async () => {
    const inputs = [
      { name: 'parcel', answer: { type: 'text' } },
      { name: 'weight', required: false, answer: { type: 'number', min: 1 } },
    ];
    const steps = [
      { id: 'pack', type: 'guidance', text: 'Pack {{record.total}}.', inputs, next: 'then' },
      { id: 'then', type: 'guidance', text: 'Send {{steps.pack.parcel}} of {{steps.pack.weight}} kg.' },
    ];
    const run = await on('1', steps);
    const given = { decision: 'done', values: { parcel: 'P1', weight: 0 } };
    await expect(at.room.answer(await access(), run.id, 1, given)).rejects.toThrow('a number of 1 or more');
    const next = await answer(run, 'done', { parcel: 'P1', weight: '2' });
    expect((await question(next)).text).toBe('Send P1 of 2 kg.');
    expect(await answer(next, 'done')).toMatchObject({ state: 'succeeded' });
  });

  test('ai: without a model, the fallback of the definition applies, or a user answers', async () => {
    const step = { id: 'mood', type: 'ai', prompt: 'Angry?', answer: { type: 'enum', options: ['yes', 'no'] } };
    const said = await on('1', [{ ...step, otherwise: 'no' }]);
    expect(await last(said)).toMatchObject({ data: { answer: 'no' }, outcome: { answeredBy: 'definition' } });
    const run = await on('1', [step]);
    expect(run).toMatchObject({ reason: 'form' });
    await answer(run, 'answer', { answer: 'yes' });
    expect(await last(run)).toMatchObject({ data: { answer: 'yes' }, outcome: { answeredBy: 'person' } });
    expect(await on('1', [{ ...step, mode: 'manual', otherwise: 'no' }])).toMatchObject({ reason: 'form' });
  });

  test('every step that uses the record fails if it is missing or not visible, and changes nothing', async () => {
    executed.length = 0;
    const lines = await relationTo('order_lines');
    const look = { id: 'look', type: 'read-record', fields: ['id'] };
    const load = { id: 'load', type: 'load-related-record', otherwise: null };
    const pay = { id: 'pay', type: 'trigger-action', action: 'refund', values: { reason: 'late' } };
    const steps = [
      look,
      { id: 'set', type: 'update-record', mode: 'automatic', values: { total: 1 } },
      { id: 'ask', type: 'update-record', values: { total: 1 } },
      { ...pay, mode: 'automatic' },
      { ...load, relation: 'customer' },
      { ...load, relation: lines },
      { id: 'which', type: 'condition', options: [way('dear', 15), { ...way('cheap', 0), next: null }] },
      { id: 'told', type: 'guidance', text: 'Pack {{record.total}}.' },
    ];
    const failed = ['failed', 'RECORD_NOT_FOUND'];
    const codeOf = ({ state, failure }: Run) => [state, failure?.code];
    const fails = async (recordId: string, step: object) => {
      const target = { ...look, id: 'to-dear' };
      expect([step, codeOf(await on(recordId, 'options' in step ? [step, target] : [step]))]).toEqual([step, failed]);
    };
    for (const step of steps) await fails('99', step);
    const own = { field: 'total', operator: 'LessThan', value: 0 } as const;
    await at.store.permissions.setScope('Operations', 'orders', own);
    try {
      for (const step of steps) await fails('1', step);
    } finally {
      await at.store.permissions.setScope('Operations', 'orders', null);
    }
    expect([executed, await total(1)]).toEqual([[], 10.5]);
    // Steps before the first that uses data are taken.
    const talk = { id: 'talk', type: 'guidance', text: 'Talk.', next: 'look' };
    const talked = await on('99', [talk, look]);
    expect([talked.state, codeOf(await answer(talked, 'done'))]).toEqual(['awaiting-input', failed]);
  });

  test('mcp: fails where remote servers are not supported', async () => {
    const run = await on('1', [{ id: 'far', type: 'mcp', server: 's', tool: 't' }]);
    expect(run.failure?.message).toContain('steps of the type mcp are not supported here');
  });
});
