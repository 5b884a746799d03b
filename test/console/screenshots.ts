// Takes the pictures of the console for docs/screenshots: `npx tsx test/console/screenshots.ts [folder]`.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { customizeDemo } from '../../src/cli/demo-customization.ts';
import { chromiumArguments, chromiumPath } from '../oauth/chromium.ts';
import { openPlace } from './place.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../../docs/screenshots');
mkdirSync(folder, { recursive: true });
const sizes = { phone: { width: 375, height: 812 }, desktop: { width: 1280, height: 900 } };

const place = await openPlace({ app: { customize: customizeDemo } });
const bob = await place.addUser({ email: 'bob@example.com', firstName: 'Bob', lastName: 'Marsh', level: 'admin' });
const bobs = (await place.userOf(bob)).id;
const claude = { userId: bobs, clientId: 'https://claude.ai/oauth/client', clientName: 'Claude' };

async function fileAll() {
  const change = await place.file({
    ...claude,
    collection: 'orders',
    recordIds: ['17'],
    given: {
      collectionName: 'orders',
      recordId: '17',
      attributes: { status: 'cancelled', shipping_fee: 0, note: 'Customer asked to cancel by phone, fee waived' },
    },
  });
  const remove = await place.file({
    ...claude,
    clientId: 'desktop-app',
    clientName: 'Desktop assistant',
    tool: 'delete',
    collection: 'reviews',
    recordIds: ['3', '8'],
    given: { collectionName: 'reviews', recordIds: ['3', '8'] },
  });
  const own = await place.file({
    collection: 'customers',
    recordIds: ['5'],
    policy: { policy: 'ask-person', secondPerson: true },
    given: { collectionName: 'customers', recordId: '5', attributes: { loyalty_points: 5000, newsletter: true } },
  });
  const action = await place.file({
    tool: 'executeAction',
    collection: 'orders',
    action: 'Cancel',
    recordIds: ['21'],
    given: { collectionName: 'orders', actionName: 'Cancel', recordIds: ['21'] },
  });
  return { change, remove, own, action };
}

const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumArguments });
try {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: size === 'phone' ? 2 : 1 });
      await take(await context.newPage(), (page, name) =>
        page.screenshot({ path: join(folder, `console-${name}-${size}-${colorScheme}.png`), fullPage: true }),
      );
      await context.close();
    }
  }
} finally {
  await browser.close();
  await place.stop();
}

async function take(page: Page, shoot: (page: Page, name: string) => Promise<unknown>): Promise<void> {
  const { change, remove, own } = await fileAll();
  await page.goto(place.at(`/approvals/${change.id}`));
  await shoot(page, 'sign-in');
  await page.getByLabel('E-mail').fill(place.account.email);
  await page.getByLabel('Password').fill(place.account.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await shoot(page, 'approval');
  await page.goto(place.at(''));
  await shoot(page, 'start');
  await page.goto(place.at(`/approvals/${remove.id}`));
  await shoot(page, 'approval-delete');
  await page.goto(place.at(`/approvals/${own.id}`));
  await shoot(page, 'approval-other');
  await page.goto(place.at(`/approvals/${change.id}`));
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved by you').waitFor();
  await shoot(page, 'approved');
  await page.goto(place.at('/approvals/unknown'));
  await shoot(page, 'gone');
  for (const { id } of await place.store.approvals.list('pending', 100)) {
    await place.store.approvals.decide(id, { by: place.ada.id, verdict: 'denied' });
  }
  await page.goto(place.at('/approvals'));
  await shoot(page, 'nothing');
}
