// Opening the form of a step and saving it unchanged changes nothing, whatever the definition: random valid definitions
// with every key of the schema, with values that controls show only roughly. The browser runs no script.
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { operators } from '../../src/core/filter.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';
import { hasChromium, openChromium } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const DEFINITIONS = Number(process.env.EDITOR_DEFINITIONS ?? 25);
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);

const isPlain = (text: string): boolean => !text.includes('{{') && !text.includes('\0') && text !== '__proto__';
const odd = fc.constantFrom(
  'a\nb',
  '\n first',
  ' spaced ',
  '"quoted" <b>&amp;</b>',
  'tab\there',
  'zero\u200bwidth',
  'ä 日本 🙂',
  "it's `x`",
  '\r\n',
  '0',
);
const text = (maxLength: number) =>
  fc
    .oneof(odd, fc.string({ unit: 'grapheme', minLength: 1, maxLength }))
    .filter((each) => isPlain(each) && each.length <= maxLength);
const own = ['id', 'number', 'customer_id', 'status', 'total', 'note', 'created_at'];
const fieldName = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...own, 'customer:email', 'customer:city') },
  { weight: 1, arbitrary: text(12) },
);
const reference = fc.constantFrom(
  '{{record.total}}',
  '{{ record.note }}',
  '{{user.email}}',
  '{{run.id}}',
  'by {{user.email}}',
  '{{record.a b}}',
);
const scalar = fc.oneof(
  text(20),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('', 'paid', '2026-02-31', '2026-11-20', '5'),
  reference,
);
const json = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(text(5), scalar, { maxKeys: 2, noNullPrototype: true }) },
);
const values = fc.dictionary(fieldName, json, { maxKeys: 4, noNullPrototype: true });
const leaf = fc.record(
  { field: fieldName, operator: fc.constantFrom(...operators), value: json },
  { requiredKeys: ['field', 'operator'] },
);
const { filter } = fc.letrec<{ filter: object }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    leaf,
    fc.record({
      aggregator: fc.constantFrom('And', 'Or', 'Not'),
      conditions: fc.array(tie('filter'), { maxLength: 3 }),
    }),
    fc.record({ some: fc.constantFrom('order_items', 'gone'), where: tie('filter') }, { requiredKeys: ['some'] }),
    fc.record({ none: fc.constantFrom('order_items', 'gone') }),
    fc.record({ every: fc.constantFrom('order_items'), where: tie('filter') }),
  ),
}));
const sort = fc.array(fc.record({ field: fieldName, ascending: fc.boolean() }, { requiredKeys: ['field'] }), {
  maxLength: 5,
});
const bound = fc.oneof(fc.integer(), fc.constantFrom(0.1, 1e21));
const answer = fc.oneof(
  fc.record({ type: fc.constant('text'), maxLength: fc.integer({ min: 1, max: 10_000 }) }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('number'), min: bound, max: bound }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('boolean') }),
  fc.record({ type: fc.constant('enum'), options: fc.array(text(10), { minLength: 2, maxLength: 4 }) }),
);
const input = fc.record(
  { name: fc.constantFrom('why', 'how-much', 'sure'), label: text(20), required: fc.boolean(), answer },
  { requiredKeys: ['name', 'answer'] },
);
const modes = ['automatic', 'confirm', 'manual'];
/** The keys of a step by its type; a key is left out at random unless it is required. */
const types: Readonly<
  Record<string, readonly [keys: Record<string, fc.Arbitrary<unknown>>, required: readonly string[]]>
> = {
  condition: [
    { mode: fc.constantFrom(...modes), question: text(40), waits: fc.constant(true), of: fc.constant(true) },
    [],
  ],
  'read-record': [{ fields: fc.array(fieldName, { minLength: 1, maxLength: 5 }), of: fc.constant(true) }, ['fields']],
  'update-record': [
    { mode: fc.constantFrom(...modes), values, waits: fc.constant(true), of: fc.constant(true) },
    ['values'],
  ],
  'trigger-action': [
    {
      mode: fc.constantFrom(...modes),
      action: fc.constantFrom('Ship', 'Refund', 'gone'),
      values,
      waits: fc.constant(true),
    },
    ['action'],
  ],
  'load-related-record': [
    {
      mode: fc.constantFrom(...modes),
      relation: fc.constantFrom('customer', 'order_items', 'gone'),
      filter,
      sort,
      waits: fc.constant(true),
    },
    ['relation'],
  ],
  mcp: [
    {
      mode: fc.constantFrom('confirm', 'automatic'),
      server: text(10),
      tool: text(10),
      arguments: values,
      allowChanges: fc.boolean(),
    },
    ['server', 'tool'],
  ],
  guidance: [{ text: text(60), inputs: fc.array(input, { maxLength: 3 }), waits: fc.constant(true) }, ['text']],
  ai: [{ mode: fc.constantFrom(...modes), prompt: text(60), answer, otherwise: json }, ['prompt', 'answer']],
};
const stepOfType = ([type, [keys, required]]: (typeof entries)[number]) =>
  fc.record({ type: fc.constant(type), title: text(30), ...keys } as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: ['type', ...required],
  });
const entries = Object.entries(types);

const definitions = fc
  .tuple(
    fc.array(fc.oneof(...entries.map(stepOfType)), { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(), { minLength: 60, maxLength: 60 }),
    fc.array(fc.record({ label: text(20), when: filter }, { requiredKeys: [] }), { minLength: 12, maxLength: 12 }),
  )
  .map(([steps, dice, optionKeys]) => {
    let die = 0;
    const roll = (sides: number): number => dice[die++ % dice.length]! % sides;
    const ids = steps.map((_, at) => `s${at}`);
    /** A next step, the end, or nothing. */
    const other = (key: string) => [{}, { [key]: null }, { [key]: ids[roll(ids.length)] }][roll(3)]!;
    const loading = steps.findIndex(({ type }) => type === 'load-related-record');
    const built = steps.map((step, at) => {
      const { waits, of, ...keys } = step;
      const next = at + 1 < ids.length ? { next: ids[at + 1] } : [{}, { next: null }][roll(2)]!;
      const options = Array.from({ length: 2 + roll(2) }, (_, option) => ({
        ...{ id: `o${option}`, ...optionKeys[(at * 3 + option) % 12] },
        ...(option > 0 && other('next')),
      }));
      return {
        id: ids[at],
        ...keys,
        ...next,
        ...(waits !== undefined && { waitSeconds: [60, 61, 3600, 90_000, 86_400, 30 * 86_400][roll(6)] }),
        ...(of !== undefined && loading >= 0 && loading !== at && { record: ids[loading] }),
        ...(keys.type === 'condition' && { options }),
        ...(keys.type === 'load-related-record' && other('otherwise')),
        ...(keys.type === 'mcp' && other('onError')),
      };
    });
    return JSON.parse(JSON.stringify({ name: 'Any', collection: 'orders', steps: built })) as object;
  });

/** Random names are seldom equal, and seldom have a line break. */
const namedTwice = {
  name: 'Any',
  collection: 'orders',
  steps: [{ id: 's0', type: 'read-record', fields: ['gone', 'customer_id', 'two\r\nlines', 'gone'] }],
};

describe.skipIf(!hasChromium)('saving a form unchanged', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  let tab: Page;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    browser = await openChromium();
    tab = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
    await tab.goto(server.at('/workflows'));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  test(`keeps ${DEFINITIONS} random definitions (SEED=${seed})`, { timeout: 20_000 + DEFINITIONS * 8000 }, async () => {
    console.info(`SEED=${seed}`);
    const { renderingId } = (await server.store.permissions.accessOf(server.ada.id))!.caller;
    const seen = new Set<string>();
    const random = fc.sample(definitions, { seed, numRuns: DEFINITIONS });
    for (const [at, definition] of [namedTwice, ...random].entries()) {
      const { steps } = parseDefinition(definition);
      const name = `Any ${at}`;
      const wish = { renderingId, name, collection: 'orders', concurrency: null, by: server.ada.id };
      const { id } = await server.store.workflows.publish({
        ...wish,
        definition: JSON.stringify({ ...definition, name }),
      });
      for (const step of steps) {
        for (const key of Object.keys(step)) seen.add(`${step.type} ${key}`);
        await tab.goto(server.at(`/workflows/${id}/steps/${step.id}`));
        await tab.locator('button.primary[value=save]').click();
        if (tab.url().includes('done=same')) continue;
        const alerts = await tab.getByRole('alert').allInnerTexts();
        const { version } = (await server.store.workflows.find(id))!;
        const now = parseDefinition(JSON.parse((await server.store.workflows.definition(id, version))!));
        expect.soft(alerts, `SEED=${seed}, definition ${at}: ${JSON.stringify(step)}`).toEqual([]);
        expect(
          now.steps.find((each) => each.id === step.id),
          `SEED=${seed}, definition ${at}`,
        ).toEqual(step);
        expect.fail('a version was made');
      }
      expect((await server.store.workflows.find(id))!.version).toBe(1);
    }
    expect(seen.size).toBeGreaterThan(20);
  });
});
