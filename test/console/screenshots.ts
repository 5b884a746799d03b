// Takes screenshots of the console; docs/screenshots keeps those that the docs show: `npx tsx
// test/console/screenshots.ts [folder [accounts|logs|workflows]]`.
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { customizeDemo } from '../../src/cli/demo/customization.ts';
import { openChromium } from '../chromium.ts';
import { connectAll } from './connected.ts';
import { openConsoleServer } from './console-server.ts';

const folder = process.argv[2] ?? join(tmpdir(), 'portico-screenshots');
mkdirSync(folder, { recursive: true });
type Shoot = (page: Page, name: string) => Promise<unknown>;
const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 Version/19.1 Mobile/15E148 Safari/604.1';
const sizes = { phone: { width: 375, height: 812 }, desktop: { width: 1280, height: 900 } };

const only = process.argv[3];
const server = await openConsoleServer({
  app: { customize: customizeDemo },
  env: { SERVICE_SECRET: 'of-the-pictures', SERVICE_ACTIVITY_DAYS: '365', SERVICE_TRUSTED_PROXIES: '10.0.0.0/8' },
});
const bob = await server.addUser({ email: 'bob@example.com', firstName: 'Bob', lastName: 'Marsh', level: 'admin' });
const bobs = (await server.userOf(bob)).id;
const claude = { userId: bobs, clientId: 'https://claude.ai/oauth/client', clientName: 'Claude' };

async function fileAll() {
  const change = await server.file({
    ...claude,
    collection: 'orders',
    recordIds: ['17'],
    given: {
      collectionName: 'orders',
      recordId: '17',
      attributes: { status: 'cancelled', shipping_fee: 0, note: 'Customer asked to cancel by phone, fee waived' },
    },
  });
  const remove = await server.file({
    ...claude,
    clientId: 'desktop-app',
    clientName: 'Desktop assistant',
    tool: 'delete',
    collection: 'reviews',
    recordIds: ['3', '8'],
    given: { collectionName: 'reviews', recordIds: ['3', '8'] },
  });
  const own = await server.file({
    collection: 'customers',
    recordIds: ['5'],
    policy: { policy: 'ask-person', secondPerson: true },
    given: { collectionName: 'customers', recordId: '5', attributes: { loyalty_points: 5000, newsletter: true } },
  });
  const action = await server.file({
    tool: 'executeAction',
    collection: 'orders',
    action: 'Cancel',
    recordIds: ['21'],
    given: { collectionName: 'orders', actionName: 'Cancel', recordIds: ['21'] },
  });
  return { change, remove, own, action };
}

await connectAll(server);
// The last use is stored with a delay.
await new Promise((resolve) => setTimeout(resolve, 6000));

const browser = await openChromium();
try {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: size === 'phone' ? 2 : 1 });
      const shoot: Shoot = (page, name) =>
        page.screenshot({ path: join(folder, `console-${name}-${size}-${colorScheme}.png`), fullPage: true });
      if (only === undefined) await take(await context.newPage(), shoot);
      if (only === undefined || only === 'accounts') await takeAccounts(await context.newPage(), shoot);
      // One screenshot of each page, since they are long.
      if ((size === 'phone') === (colorScheme === 'dark')) {
        if (only === undefined || only === 'logs') await takeLogs(await context.newPage(), shoot);
        if (only === undefined || only === 'workflows') await takeWorkflows(await context.newPage(), shoot);
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}

async function takeAccounts(page: Page, shoot: Shoot): Promise<void> {
  const { store } = server;
  const { token } = await store.links.make(bobs, 'invite');
  await page.goto(server.at(`/welcome/${token}`));
  await shoot(page, 'welcome');
  await page.goto(server.at('/sign-out'));
  await page.goto(server.at('/account'));
  await signIn(page);
  await store.sessions.begin({ userId: server.ada.id, browser: phone, address: '203.0.113.24' });
  await page.goto(server.at('/account'));
  await shoot(page, 'account');
  await page.goto(server.at('/account/app'));
  await shoot(page, 'app');
  const secret = await page.locator('input[name=secret]').inputValue();
  const code = () => new TOTP({ secret }).generate();
  await page.getByRole('textbox', { name: 'Code' }).fill(code());
  await page.getByLabel('Your password').fill(server.account.password);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  await shoot(page, 'codes');
  await page.goto(server.at('/account'));
  await page.getByText('Turn off').first().click();
  await shoot(page, 'account-app');
  await page.goto(server.at(''));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(page);
  await page.getByRole('textbox', { name: 'Code' }).waitFor();
  await shoot(page, 'code');
  await store.secondFactors.switchOff(server.ada.id);
  await store.sessions.endAll(server.ada.id, { grants: false });
}

/** A morning's activity of an assistant and a user. */
async function recordMorning(): Promise<void> {
  const { renderingId } = (await server.store.permissions.caller(server.ada.id))!;
  const from = Date.now() - 3 * 3600_000;
  const rows = [
    ['list', 'read', 'orders', [], 'completed'],
    ['listRelated', 'read', 'orders', ['17'], 'completed'],
    ['aggregate', 'read', 'customers', [], 'completed'],
    ['update', 'write', 'orders', ['17', '18'], 'completed'],
    ['delete', 'write', 'reviews', ['3'], 'denied'],
  ] as const;
  for (const [at, [action, type, collection, recordIds, outcome]] of rows.entries()) {
    server.store.activity.record({
      ...{ userId: at % 2 === 0 ? server.ada.id : bobs, renderingId, action, type, collection, outcome },
      ...{ clientId: claude.clientId, clientName: claude.clientName, startedAt: from + at * 240_000, durationMs: 3.4 },
      ...(recordIds.length > 0 && { recordIds: [...recordIds] }),
      ...(outcome === 'denied' && { code: 'DENIED' }),
    });
  }
  await server.store.activity.flush();
}

async function takeLogs(page: Page, shoot: Shoot): Promise<void> {
  if ((await server.store.activity.list({ limit: 1 })).length === 0) await recordMorning();
  await page.goto(server.at('/activity'));
  await signIn(page);
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  if (page.viewportSize()?.width === sizes.phone.width) {
    await page.goto(server.at('/activity?record=18&type=write'));
    await page.locator('tbody a').first().click();
    await page.getByRole('heading', { name: 'update' }).waitFor();
    await shoot(page, 'activity-entry');
    return;
  }
  const call = new URLSearchParams({ 'arg.collectionName': 'orders', 'arg.pagination': '{"size": 5}' });
  await page.goto(server.at(`/playground/list?${call}`));
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText('In the activity log').click();
  await shoot(page, 'playground');
  await page.goto(server.at('/activity'));
  await shoot(page, 'activity');
  await page.goto(server.at('/settings?shown=set'));
  await shoot(page, 'settings');
}

/** Starts a run on the first delivered order; it waits for a person to inspect the parcel. */
async function startReturn(): Promise<{ readonly workflowId: string; readonly runId: string }> {
  const { store, ada } = server;
  const workflow = (await store.workflows.list({})).find(({ name }) => name === 'Take back an order')!;
  for (let order = 1; ; order++) {
    const wish = { workflow, recordId: `${order}`, userId: ada.id, origin: 'console', originName: 'Console' } as const;
    const made = await store.runs.create(wish);
    if (made.state !== 'created') continue;
    for (let found = await store.runs.find(made.runId); ; found = await store.runs.find(made.runId)) {
      if (found?.state === 'awaiting-input') {
        if (found.stepId === 'check') return { workflowId: workflow.id, runId: made.runId };
        await store.runs.cancel(made.runId, ada.id);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function takeWorkflows(page: Page, shoot: Shoot): Promise<void> {
  const { workflowId, runId } = await startReturn();
  await page.goto(server.at(`/workflows/${workflowId}`));
  await signIn(page);
  await page.getByRole('heading', { name: 'Take back an order' }).waitFor();
  await shoot(page, 'workflow');
  await page.goto(server.at(`/runs/${runId}`));
  await page.getByText('in what state it is').waitFor();
  await shoot(page, 'run');
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(server.account.email);
  await page.getByLabel('Password').fill(server.account.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function take(page: Page, shoot: Shoot): Promise<void> {
  const { change, remove, own } = await fileAll();
  await page.goto(server.at(`/approvals/${change.id}`));
  await shoot(page, 'sign-in');
  await signIn(page);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await shoot(page, 'approval');
  await page.goto(server.at(''));
  await shoot(page, 'start');
  await page.goto(server.at('/apps'));
  await shoot(page, 'apps');
  await page.goto(server.at('/apps/everyone'));
  await shoot(page, 'apps-everyone');
  await page.goto(server.at(`/approvals/${remove.id}`));
  await shoot(page, 'approval-delete');
  await page.goto(server.at(`/approvals/${own.id}`));
  await shoot(page, 'approval-other');
  await page.goto(server.at(`/approvals/${change.id}`));
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved by you').waitFor();
  await shoot(page, 'approved');
  await page.goto(server.at('/approvals/unknown'));
  await shoot(page, 'gone');
  for (const { id } of await server.store.approvals.list('pending', 100)) {
    await server.store.approvals.decide(id, { by: server.ada.id, verdict: 'denied' });
  }
  await page.goto(server.at('/approvals'));
  await shoot(page, 'nothing');
}
