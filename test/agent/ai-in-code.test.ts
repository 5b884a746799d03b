// `context.ai` in customization code, with real providers and servers that speak both API formats.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withCancellation } from '../../src/agent/ai/provider.ts';
import { Stop } from '../../src/core/clock/stop.ts';
import type { AiProvider, CollectionCustomizer } from '../../src/index.ts';
import { shopAgent } from '../app/agent.ts';
import { readSource } from '../architecture/source-text.ts';
import { failing, kinds, openProvider, saying } from './ai-server.ts';
import { accessOf } from './shop.ts';

const access = accessOf();
const ask = async (ai: AiProvider | null, content: string) =>
  (await ai!.ask({ messages: [{ role: 'user', content }] })).choices[0].message.content;

async function openCustomers(ai: AiProvider | null, customize: (customers: CollectionCustomizer) => unknown) {
  const { agent } = shopAgent();
  if (ai) agent.addAi(ai);
  const { engine } = await agent.customizeCollection('customers', customize).start();
  return { agent, engine };
}

const addMood = (customers: CollectionCustomizer) =>
  customers.addField('mood', {
    columnType: 'String',
    dependencies: ['name'],
    getValues: async (records, { ai }) =>
      Promise.all(records.map(({ name }) => (ai ? ask(ai, `The mood of ${name}?`) : 'nobody to ask'))),
  });

describe.each(kinds)('with a provider of the kind %s', (kind) => {
  test('a computed field queries the provider, also after a restart', async () => {
    const { ai, asked } = await openProvider(kind, saying(kind, 'calm'));
    const { agent, engine } = await openCustomers(ai, addMood);
    const read = () => engine.list(access, { collection: 'customers', fields: ['mood'], limit: 2 });
    expect((await read()).rows).toEqual([['calm'], ['calm']]);
    expect(asked.map(({ body }) => JSON.stringify(body.messages)).sort()).toEqual([
      expect.stringContaining('The mood of Ada?'),
      expect.stringContaining('The mood of Bo?'),
    ]);
    await agent.restart();
    expect((await read()).rows).toEqual([['calm'], ['calm']]);
  });

  test('a hook and an action query the provider', async () => {
    const { ai } = await openProvider(kind, saying(kind, 'no'), saying(kind, 'Dear Ada'));
    const { engine } = await openCustomers(ai, (customers) =>
      customers
        .addHook('Before', 'List', async (context) => {
          if ((await ask(context.ai, 'May they?')) === 'no') context.throwForbiddenError('The model says no');
        })
        .addAction('Write', {
          scope: 'Global',
          execute: async (context, builder) => builder.success((await ask(context.ai, 'A letter')) ?? ''),
        }),
    );
    await expect(engine.list(access, { collection: 'customers', limit: 1 })).rejects.toMatchObject({
      code: 'DENIED',
      message: 'The model says no',
    });
    const result = await engine.actions.execute(access, { collection: 'customers', action: 'Write', values: {} });
    expect(result).toMatchObject({ type: 'success', message: 'Dear Ada' });
  });

  test('cancelling a call closes its request to the provider', async () => {
    const { ai, asked, closed } = await openProvider(kind, 'silence');
    const { engine } = await openCustomers(ai, (customers) =>
      addMood(customers).addAction('Write', {
        scope: 'Global',
        execute: async (context, builder) => builder.success((await ask(context.ai, 'A letter')) ?? ''),
      }),
    );
    const calls = [
      (signal: AbortSignal) => engine.list(access, { collection: 'customers', fields: ['mood'], limit: 1 }, { signal }),
      (signal: AbortSignal) =>
        engine.actions.execute(access, { collection: 'customers', action: 'Write', values: {} }, { signal }),
    ];
    for (const [before, call] of calls.entries()) {
      const stop = new AbortController();
      const answer = call(stop.signal).catch(({ code }) => code);
      await expect.poll(() => asked).toHaveLength(before + 1);
      stop.abort();
      expect(await answer).toBe('CANCELLED');
      await expect.poll(() => closed()).toBe(before + 1);
    }
  });

  test.each([
    [429, 'AI_RATE_LIMITED'],
    [500, 'AI_UNAVAILABLE'],
    // Errors that the operator must fix are reported as a fault of the code, and logged.
    [401, 'CUSTOMIZATION_FAILED'],
    [400, 'CUSTOMIZATION_FAILED'],
  ])('an uncaught status %i of the provider gives the caller %s', async (status, code) => {
    const { ai } = await openProvider(kind, failing(kind, status));
    const { engine } = await openCustomers(ai, addMood);
    const call = engine.list(access, { collection: 'customers', fields: ['mood'], limit: 1 });
    await expect(call).rejects.toMatchObject({ code });
  });
});

test('without addAi, context.ai is null', async () => {
  const { engine } = await openCustomers(null, (customers) =>
    addMood(customers).addAction('See', {
      scope: 'Global',
      execute: ({ ai }, builder) => builder.success(String(ai)),
    }),
  );
  const { rows } = await engine.list(access, { collection: 'customers', fields: ['mood'], limit: 1 });
  expect(rows).toEqual([['nobody to ask']]);
  const result = await engine.actions.execute(access, { collection: 'customers', action: 'See', values: {} });
  expect(result).toMatchObject({ message: 'null' });
});

test('context.ai cannot be passed to addAi, and does not reveal its key', async () => {
  const given: unknown[] = [];
  const { ai } = await openProvider('openai', saying('openai', 'calm'));
  const { engine } = await openCustomers(ai, (customers) =>
    customers.addHook('Before', 'List', (context) => void given.push(context.ai)),
  );
  const { signal } = new AbortController();
  await engine.list(access, { collection: 'customers', limit: 1 }, { signal });
  expect(JSON.stringify(given)).toBe('[{"name":"house","provider":"openai","model":"model-1"}]');
  expect(() => shopAgent().agent.addAi(given[0] as AiProvider)).toThrow('addAi needs a provider');
});

test('the client libraries are loaded by the first request only', () => {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const kinds = paths.flatMap((path) =>
    readSource(readFileSync(`src/${path}`, 'utf8'))
      .imports.filter(({ from }) => /^(openai|@anthropic-ai\/)/.test(from))
      .map(({ from, kind }) => `${kind} ${from}`),
  );
  expect(kinds.filter((kind) => !kind.startsWith('type ')).sort()).toEqual([
    'dynamic @anthropic-ai/sdk',
    'dynamic openai',
  ]);
});

test.each(['ask', 'askInChunks'] as const)('%s ends with the call, and with the signal that code passes', (way) => {
  const ended = (end: 'call' | 'code' | undefined, passes = true) => {
    const got: (AbortSignal | undefined)[] = [];
    const keep = (_: unknown, { signal }: { readonly signal?: AbortSignal } = {}) => void got.push(signal);
    const [call, code] = [new Stop(), new AbortController()];
    const provider = withCancellation({ ask: keep, askInChunks: keep } as unknown as AiProvider, call);
    provider[way]({ messages: [] }, passes ? { signal: code.signal, timeoutSeconds: 5 } : {});
    if (end === 'call') call.abort();
    if (end === 'code') code.abort();
    return got[0]?.aborted;
  };
  expect([ended(undefined), ended('call'), ended('code'), ended('call', false), ended('code', false)]).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
});
