// Records in a real browser without scripts: a person finds a record, changes it, and sees who changed it. They type no
// id and see no JSON. They approve a write, answer a run, and set a row scope in the same way.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { hasChromium, openChromium, takePicture } from '../chromium.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const devices = [
  ['desk', { width: 1366, height: 768 }],
  ['phone', { width: 390, height: 844 }],
] as const;
const json = /[{[]"|\{\{/;

describe.skipIf(!hasChromium)('records in a browser', () => {
  let server: ConsoleTestServer;
  let browser: Browser;
  beforeAll(async () => {
    server = await openConsoleServer({ app: { customize: customizeDemo } });
    await server.addUser({
      email: 'kim@example.com',
      role: 'Administrator',
      firstName: 'Kim',
      team: 'South',
      tags: { country: 'NO' },
    });
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const open = async (page: string, options: NonNullable<Parameters<Browser['newContext']>[0]> = {}): Promise<Page> => {
    const tab = await (await browser.newContext(options)).newPage();
    await tab.goto(server.at(page));
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill(server.account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.locator('#main').waitFor();
    return tab;
  };

  test.each(devices)('from the list to a saved change, on a %s', async (device, viewport) => {
    const note = `Ring twice, ${device}`;
    const tab = await open('/data', { javaScriptEnabled: false, viewport });
    await takePicture(tab, `collections-${device}`);
    await tab
      .getByRole('main')
      .getByRole('link', { name: /^orders/ })
      .click();
    await tab.getByRole('heading', { name: 'orders' }).waitFor();
    await tab.getByText('Filter', { exact: true }).click();
    await tab.getByLabel('Add condition: field').selectOption('status');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('status: how to compare').selectOption({ label: 'is' });
    await tab.getByLabel('status: value').fill('delivered');
    await tab.getByLabel('Add condition: field').selectOption('customer:country');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('customer › country: how to compare').selectOption('Equal');
    await tab.getByLabel('customer › country: value').fill('NO');
    await tab.getByRole('button', { name: 'Apply filter' }).click();
    await tab.getByText('status is delivered and customer › country is NO').waitFor();
    await takePicture(tab, `list-${device}`);
    const [known] = await server.ask(
      "SELECT o.number FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.status = 'delivered' AND c.country = 'NO' ORDER BY o.id LIMIT 1",
    );
    const first = tab.locator('.records tbody th a').first();
    expect(await first.textContent()).toBe(known!.number);
    await first.click();
    await tab.getByRole('heading', { name: String(known!.number) }).waitFor();
    await takePicture(tab, `record-${device}`);
    await tab.getByRole('link', { name: 'Edit', exact: true }).click();
    await tab.getByLabel('note', { exact: true }).fill(note);
    await takePicture(tab, `edit-${device}`);
    await tab.getByRole('button', { name: 'Preview' }).click();
    await tab.getByRole('heading', { name: `Save these changes to ${known!.number}?` }).waitFor();
    await takePicture(tab, `preview-${device}`);
    const noteOf = async () => (await server.ask(`SELECT note FROM orders WHERE number = '${known!.number}'`))[0]?.note;
    expect(await noteOf()).not.toBe(note);
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('Saved.', { exact: true }).waitFor();
    expect(await noteOf()).toBe(note);
    const changes = tab.getByRole('region', { name: 'Changes of this record' });
    expect(await changes.textContent()).toMatch(/Ada Byron.*Console.*Changed records.*completed/s);
    await tab.context().close();
  });

  test.each(devices)('a row scope is set, tried and saved without JSON, on a %s', async (device, viewport) => {
    const tab = await open('/teams', { javaScriptEnabled: false, viewport });
    await tab.getByRole('main').getByRole('link', { name: 'South', exact: true }).click();
    await tab.getByRole('main').getByRole('link', { name: 'orders', exact: true }).click();
    await tab.getByLabel('Add condition: field').selectOption('customer:country');
    await tab.getByRole('button', { name: 'Add condition', exact: true }).click();
    await tab.getByLabel('customer › country: how to compare').selectOption('Equal');
    await tab.getByLabel('customer › country: compare with').selectOption({ label: 'their tag country' });
    const people = tab.getByLabel('Count visible records for');
    const kimValue = await people.locator('option', { hasText: /kim/i }).first().getAttribute('value');
    await people.selectOption(kimValue);
    await tab.getByRole('button', { name: 'Count', exact: true }).click();
    const [counted] = await server.ask(
      "SELECT count(*) AS all_orders, sum(c.country = 'NO') AS seen FROM orders o JOIN customers c ON c.id = o.customer_id",
    );
    const figures = new Intl.NumberFormat('en');
    const [seen, all] = [figures.format(Number(counted!.seen)), figures.format(Number(counted!.all_orders))];
    await tab.getByText(`would see ${seen} of ${all} orders`).waitFor();
    expect(await tab.getByRole('main').innerText()).not.toMatch(json);
    await takePicture(tab, `scope-${device}`);
    await tab.getByRole('button', { name: 'Review changes' }).click();
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('Saved.').waitFor();
    const kim = (await server.store.identity.findUserByEmail('kim@example.com'))!;
    expect((await server.store.permissions.accessOf(kim.id))!.scope('orders')).toEqual({
      field: 'customer:country',
      operator: 'Equal',
      value: 'NO',
    });
    await server.store.permissions.setScope('South', 'orders', null);
    await tab.context().close();
  });

  test.each(devices)(
    'several records get a value, by the keyboard and without scripts, on a %s',
    async (device, viewport) => {
      const note = `Together, ${device}`;
      const tab = await open('/data/orders', { javaScriptEnabled: false, viewport });
      const boxes = tab.locator('.records tbody input[type=checkbox]');
      const ids = [];
      for (const at of [0, 2]) {
        await boxes.nth(at).focus();
        await tab.keyboard.press('Space');
        ids.push(await boxes.nth(at).inputValue());
      }
      await takePicture(tab, `selected-${device}`);
      await tab.getByLabel('Field to change').selectOption('note');
      await tab.getByRole('button', { name: 'Change', exact: true }).focus();
      await tab.keyboard.press('Enter');
      await tab.getByRole('heading', { name: 'Change note of 2 records' }).waitFor();
      await tab.getByLabel('note', { exact: true }).fill(note);
      await takePicture(tab, `value-of-several-${device}`);
      await tab.getByRole('button', { name: 'Preview' }).click();
      await tab.getByText('2 records change.').waitFor();
      await takePicture(tab, `preview-of-several-${device}`);
      await tab.getByRole('button', { name: 'Change 2 records' }).click();
      await tab.getByText('2 records changed.').waitFor();
      await takePicture(tab, `changed-several-${device}`);
      const changed = await server.ask(`SELECT id FROM orders WHERE note = '${note}' ORDER BY id`);
      expect(changed.map(({ id }) => `${id}`)).toEqual(ids);
      await tab.context().close();
    },
  );

  test('one box selects all records of the page, where scripts run', async () => {
    const tab = await open('/data/orders');
    await tab.getByLabel('Select all on this page').check();
    expect(await tab.locator('.records tbody input[type=checkbox]:checked').count()).toBe(25);
    await tab.locator('.records tbody input[type=checkbox]').first().uncheck();
    expect(await tab.getByLabel('Select all on this page').isChecked()).toBe(false);
    await tab.getByRole('button', { name: 'Delete', exact: true }).click();
    await tab.getByRole('heading', { name: 'Delete 24 records of orders?' }).waitFor();
    await takePicture(tab, 'delete-several');
    await tab.getByRole('button', { name: 'Back', exact: true }).click();
    await tab.getByRole('heading', { name: 'orders', exact: true }).waitFor();
    await tab.context().close();
  });

  test.each(devices)('a write is approved and a run is answered from the inbox, on a %s', async (device, viewport) => {
    const note = `Approved on a ${device}`;
    const recordIds = [device === 'desk' ? '41' : '42'];
    const [order] = await server.ask(`SELECT number FROM orders WHERE id = ${recordIds[0]}`);
    const number = `${order!.number}`;
    const given = { collectionName: 'orders', recordId: recordIds[0]!, attributes: { note } };
    const approval = await server.file({ collection: 'orders', recordIds, given });
    const { renderingId } = (await server.store.permissions.caller(server.ada.id))!;
    const name = `Ask first, ${device}`;
    const steps = [{ id: 'call', type: 'guidance', title: 'Call the customer', text: 'Is the order meant?' }];
    const definition = JSON.stringify({ name, collection: 'orders', steps });
    const wish = { renderingId, name, collection: 'orders', concurrency: null, by: server.ada.id, definition };
    await server.store.workflows.publish(wish);
    const texts: string[] = [];
    const tab = await open('', { javaScriptEnabled: false, viewport });
    const look = async (what: string) => {
      texts.push(await tab.getByRole('main').innerText());
      await takePicture(tab, `${what}-${device}`);
    };
    const follow = (link: string | RegExp) => tab.getByRole('main').getByRole('link', { name: link }).first().click();
    await look('start-waiting');
    await follow('Inbox');
    await look('inbox-approval');
    await tab.getByLabel(`Change ${number} of orders`).check();
    await tab.getByRole('button', { name: 'Approve selected' }).click();
    await tab.getByRole('status', { name: 'Results' }).getByText(`Change ${number} of orders`).waitFor();
    await look('inbox-approved');
    await follow(`Change ${number} of orders`);
    await tab.getByText('Approved by you').waitFor();
    await look('approved');
    await tab.goto(server.at('/workflows'));
    await follow(name);
    await tab.getByLabel('Find in orders').fill(number);
    await tab.getByRole('button', { name: 'Find', exact: true }).click();
    await tab.getByLabel('Record', { exact: true }).selectOption({ label: number });
    await tab.getByRole('button', { name: 'Start a run' }).click();
    await tab.getByRole('heading', { name: `${name} on ${number}` }).waitFor();
    await tab.goto(server.at('/inbox'));
    await look('inbox-question');
    await follow(`${name}: ${number} of orders`);
    await tab.getByText('Is the order meant?').waitFor();
    await look('question');
    await tab.getByRole('button', { name: 'Mark as done' }).click();
    await expect.poll(async () => (await server.store.runs.list({ limit: 1 }))[0]?.state).toBe('succeeded');
    await tab.reload();
    await tab.getByText('Completed.').waitFor();
    await look('answered');
    expect(texts.filter((text) => json.test(text) || new RegExp(`record ${recordIds[0]}\\b`).test(text))).toEqual([]);
    expect((await server.store.approvals.find(approval.id))?.state).not.toBe('pending');
    await tab.context().close();
  });
});
