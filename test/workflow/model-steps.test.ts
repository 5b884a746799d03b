// Steps that a language model answers over HTTP, like a real provider: which
// answers are accepted, and how a step handles unusable or missing answers.
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Run } from '../../src/store/workflows/types.ts';
import { failing, openProvider, type Reply, saying } from '../agent/ai-server.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { openWorkflowServer } from './workflow-server.ts';

afterAll(dropSpares);
cleanUpAfterAll();

const variant = variants.find(({ name }) => name === 'sqlite')!;

/** Each reply is either the content of the model, or the whole response of the server. */
async function open(...replies: (string | Reply)[]) {
  const sent = replies.map((one) =>
    typeof one === 'string' && one !== 'cut' ? saying('openai', one) : (one as Reply),
  );
  const { ai, asked } = await openProvider('openai', ...sent);
  let slept = 0;
  const clock = {
    ...systemClock,
    sleep: async (ms: number) => {
      slept += ms;
    },
  };
  const at = await openWorkflowServer(variant, { customize: (agent) => agent.addAi(ai), parts: { clock } });
  onTestFinished(() => at.close());
  const access = async () => (await at.store.permissions.accessOf(at.userId))!;
  return {
    at,
    asked,
    slept: () => slept,
    question: async (run: Run) => (await at.room.inputRequest(await access(), run.id))!,
    answer: async (run: Run, decision: string, values: Record<string, unknown>) => {
      await at.room.answer(await access(), run.id, run.position, { decision, values });
      return at.go(run.id);
    },
    last: async (run: Run) => (await at.steps(run.id)).at(-1)!,
  };
}

const says = (answer: unknown): string => JSON.stringify({ answer });
const mood = {
  ...{ id: 'mood', type: 'ai', prompt: 'Is {{record.total}} much?' },
  answer: { type: 'enum', options: ['yes', 'no'] },
};

test('ai: the answer of the model has the requested type, and later steps can use it', async () => {
  const { at, asked, last } = await open(says('yes'), says(7));
  const rate = {
    id: 'rate',
    type: 'ai',
    prompt: 'It said {{steps.mood.answer}}.',
    answer: { type: 'number', max: 10 },
  };
  const run = await at.run([{ ...mood, next: 'rate' }, rate]);
  expect(run).toMatchObject({ state: 'succeeded', position: 2 });
  expect((await at.steps(run.id)).map(({ data, outcome }) => [data, outcome])).toEqual([
    [{ answer: 'yes' }, { type: 'ai', answeredBy: 'model' }],
    [{ answer: 7 }, { type: 'ai', answeredBy: 'model' }],
  ]);
  expect((await last(run)).stepId).toBe('rate');
  const [first, second] = asked.map(({ body }) => body);
  expect(first.messages.at(-1)).toEqual({ role: 'user', content: 'Is 10.5 much?' });
  expect(first.response_format.json_schema.schema.properties.answer).toMatchObject({ enum: ['yes', 'no'] });
  expect(second.messages.at(-1).content).toBe('It said yes.');
});

test('ai: with confirmation the answer is a proposal, and the user decides', async () => {
  const { at, question, answer, last } = await open(says('yes'));
  const run = await at.run([{ ...mood, mode: 'confirm' }]);
  expect(run).toMatchObject({ state: 'awaiting-input', reason: 'confirmation' });
  expect((await question(run)).fields).toMatchObject([{ name: 'answer', value: 'yes' }]);
  expect(await answer(run, 'answer', { answer: 'no' })).toMatchObject({ state: 'succeeded' });
  expect(await last(run)).toMatchObject({ data: { answer: 'no' }, outcome: { answeredBy: 'person' } });
});

test('ai: in manual mode the model is not called', async () => {
  const { at, asked, question, answer } = await open(says('yes'));
  const run = await at.run([{ ...mood, mode: 'manual', otherwise: 'no' }]);
  expect(run).toMatchObject({ state: 'awaiting-input', reason: 'form' });
  expect((await question(run)).fields[0]).not.toHaveProperty('value');
  expect(await answer(run, 'answer', { answer: 'yes' })).toMatchObject({ state: 'succeeded' });
  expect(asked).toEqual([]);
});

test.each([
  ['is not one of the options', says('perhaps')],
  ['is of another type', says({ yes: true })],
  ['is not JSON', 'Yes.'],
])('an answer that %s is requested again; a second one ends the run', async (_, wrong) => {
  const { at, asked } = await open(wrong, says('no'), wrong, wrong, says('no'));
  expect(await at.run([mood])).toMatchObject({ state: 'succeeded' });
  const run = await at.run([mood]);
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'STEP_FAILED' } });
  expect(run.failure!.message).toBe("The step 'mood': the model did not return an answer of the required type.");
  expect(asked).toHaveLength(4);
});

test('a number that JSON rounds is refused and requested again', async () => {
  const wrong = '{"answer": 9007199254740993}';
  const { at, asked, last } = await open(wrong, '{"answer": 0.12345678901234567890}', wrong, says(7));
  const count = { id: 'count', type: 'ai', prompt: 'How many?', answer: { type: 'number' } };
  expect(await at.run([count])).toMatchObject({ state: 'failed', failure: { code: 'STEP_FAILED' } });
  const run = await at.run([count]);
  expect(run).toMatchObject({ state: 'succeeded' });
  expect(await last(run)).toMatchObject({ data: { answer: 7 } });
  expect(asked).toHaveLength(4);
});

test('a failing provider is retried for some seconds; a refusal is not retried', async () => {
  const back = await open(failing('openai', 503), failing('openai', 503), failing('openai', 503), says('no'));
  expect(await back.at.run([mood])).toMatchObject({ state: 'succeeded' });
  expect(back.slept()).toBe(500);
  // `otherwise` handles an agent without a model. An unavailable provider is a different case.
  const away = await open(failing('openai', 503));
  const run = await away.at.run([{ ...mood, otherwise: 'no' }]);
  expect(run).toMatchObject({ state: 'failed', failure: { code: 'AI_UNAVAILABLE' } });
  expect([away.slept(), away.asked.length]).toEqual([7500, 12]);
  const refused = await open(failing('openai', 401));
  expect(await refused.at.run([mood])).toMatchObject({ state: 'failed', failure: { code: 'AI_KEY_REFUSED' } });
  expect([refused.slept(), refused.asked.length]).toEqual([0, 1]);
});

const which = {
  id: 'which',
  type: 'condition',
  question: 'Where to with {{record.total}}?',
  options: [
    { id: 'left', label: 'To the left', next: 'to-left' },
    { id: 'right', next: 'to-right' },
  ],
};
const ends = ['to-left', 'to-right'].map((id) => ({ id, type: 'read-record', fields: ['id'] }));

test('condition: the model chooses one of the options, directly or as a proposal, and no other', async () => {
  const { at, asked, question, answer, last } = await open(says('right'), says('right'), says('up'), says('up'));
  const alone = await at.run([which, ...ends]);
  expect([alone.state, (await last(alone)).stepId]).toEqual(['succeeded', 'to-right']);
  expect(asked[0]!.body.messages.at(-1).content).toBe(
    'Where to with 10.5?\n\nThe possible answers:\nleft: To the left\nright: right',
  );
  const proposed = await at.run([{ ...which, mode: 'confirm' }, ...ends]);
  expect(proposed).toMatchObject({ state: 'awaiting-input', reason: 'choice' });
  expect((await question(proposed)).fields).toMatchObject([{ name: 'option', value: 'right' }]);
  expect(await answer(proposed, 'choose', { option: 'left' })).toMatchObject({ state: 'succeeded' });
  expect((await last(proposed)).stepId).toBe('to-left');
  expect(await at.run([which, ...ends])).toMatchObject({ state: 'failed', failure: { code: 'STEP_FAILED' } });
  expect(asked).toHaveLength(4);
});

test('condition: without a model a user is asked', async () => {
  const at = await openWorkflowServer(variant);
  onTestFinished(() => at.close());
  const run = await at.run([which, ...ends]);
  expect(run).toMatchObject({ state: 'awaiting-input', reason: 'choice' });
  const question = await at.room.inputRequest((await at.store.permissions.accessOf(at.userId))!, run.id);
  expect(question).toMatchObject({ text: 'Where to with 10.5?', fields: [{ name: 'option' }] });
  expect(question!.fields[0]).not.toHaveProperty('value');
});
