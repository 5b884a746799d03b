// A person who is no developer makes the workflow of docs/workflows.md in the console, without JSON and without ids,
// tries it on an order found by its number, and starts it.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium, takePicture } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';
import { laptop, phone } from './looked-at.ts';

describe.skipIf(!hasChromium).each([
  ['a laptop', laptop, true],
  ['a phone', phone, true],
  ['a laptop without scripts', laptop, false],
] as const)('on %s', (name, viewport, javaScriptEnabled) => {
  let server: ConsoleTestServer;
  let browser: Browser;
  let tab: Page;
  let texts = '';
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    browser = await openChromium();
    tab = await (await browser.newContext({ viewport, javaScriptEnabled, bypassCSP: true })).newPage();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  let shots = 0;
  /** Judges the page, and keeps its visible text. */
  const look = async (what: string): Promise<void> => {
    texts += await tab.getByRole('main').innerText();
    await takePicture(tab, `${name}-${++shots}-${what}`);
    if (javaScriptEnabled) expect(await findFaults(tab, what)).toEqual([]);
  };
  const press = (button: string) => tab.getByRole('button', { name: button, exact: true }).click();
  const addStep = async (type: string, place: string) => {
    await tab.getByLabel('What it does').selectOption({ label: type });
    await tab.getByLabel('Where').selectOption({ label: place });
    await press('Continue');
  };

  test('a refund is made, tried and started', { timeout: 120_000 }, async () => {
    await tab.goto(server.at('/workflows'));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await press('Sign in');
    await tab.getByRole('link', { name: 'New workflow' }).click();
    await tab.getByLabel('Name').fill('Refund an order');
    await tab.getByLabel('Works on a record of').selectOption('orders');
    await tab.getByLabel('The first step').selectOption({ label: 'Read fields of the record' });
    await look('new');
    await press('Continue');
    await tab.getByLabel('Title').fill('Look at the order');
    for (const field of ['number', 'status', 'total']) await tab.getByLabel(field, { exact: true }).first().check();
    await look('first-step');
    await press('Create the workflow');
    await tab.getByText('Created.').waitFor();

    await addStep('Change fields of the record', 'after Look at the order');
    await tab.getByLabel('Title').fill('Refund');
    await tab.getByLabel('Add a field: field').selectOption('status');
    await press('Add a field');
    await tab.getByLabel('status', { exact: true }).fill('returned');
    await look('update');
    await press('Save');
    await tab.getByText('Published.').waitFor();

    await addStep('Choose how to go on', 'after Look at the order');
    await tab.getByLabel('Title').fill('How much?');
    await tab.getByLabel('Label').first().fill('100 or more');
    await tab.getByLabel('Option 1: Add condition: field').selectOption('total');
    await tab.getByRole('button', { name: 'Option 1: Add condition' }).click();
    await tab.getByLabel('Option 1: total: how to compare').selectOption({ label: 'is at least' });
    await tab.getByLabel('Option 1: total: value').fill('100');
    await press('Count the matching records');
    await tab.getByText(/Matches [\d,]+ of [\d,]+ orders\./).waitFor();
    await look('condition');
    await press('Save');
    await tab.getByText('Published.').waitFor();

    await addStep('Give a person a task', 'after How much?: 100 or more');
    await tab.getByLabel('Title').fill('Call the customer');
    await tab.getByLabel('Task').fill('Call the customer of this order.');
    await look('task');
    await press('Save');
    await tab.getByText('Published.').waitFor();
    await look('steps');

    const [workflow] = (await server.store.workflows.list({})).filter((each) => each.name === 'Refund an order');
    const stored = await server.store.workflows.definition(workflow!.id, workflow!.version);
    expect(JSON.parse(stored!)).toEqual({
      name: 'Refund an order',
      collection: 'orders',
      steps: [
        {
          id: 'look-at-the-order',
          type: 'read-record',
          title: 'Look at the order',
          fields: ['number', 'status', 'total'],
          next: 'how-much',
        },
        {
          ...{ id: 'how-much', type: 'condition', title: 'How much?', mode: 'automatic', next: 'refund' },
          options: [
            {
              id: 'option-100-or-more',
              label: '100 or more',
              when: { field: 'total', operator: 'GreaterThanOrEqual', value: 100 },
              next: 'call-the-customer',
            },
            { id: 'otherwise', label: 'Otherwise' },
          ],
        },
        {
          id: 'call-the-customer',
          type: 'guidance',
          title: 'Call the customer',
          text: 'Call the customer of this order.',
          next: 'refund',
        },
        { id: 'refund', type: 'update-record', title: 'Refund', mode: 'confirm', values: { status: 'returned' } },
      ],
    });

    await tab.getByRole('link', { name: 'Dry run' }).click();
    const [order] = await server.ask("select number from orders where total >= 100 and status = 'paid' limit 1");
    const number = `${order!.number}`;
    await tab.getByLabel('Find in orders').fill(number);
    await press('Find');
    await tab.getByLabel('Record').selectOption({ label: number });
    await press('Try it');
    await tab.getByText('Takes the option 100 or more.').waitFor();
    await look('dry-run');
    await press('Mark as done');
    await press('Apply');
    await tab.getByText('The run would succeed').waitFor();
    await look('dry-run-end');
    expect(await server.store.runs.list({ limit: 5 })).toEqual([]);

    await tab.getByRole('link', { name: 'Back to the workflow' }).click();
    await tab.getByLabel('Find in orders').fill(number);
    await press('Find');
    await tab.getByLabel('Record').selectOption({ label: number });
    await look('workflow');
    await press('Start a run');
    await tab.getByText(`Refund an order on ${number}`).first().waitFor();
    expect(texts).not.toMatch(/"id":|"steps":|"type":/);
  });
});
