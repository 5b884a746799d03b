// The console over the demo shop, as an administrator sees it.
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { addRemotes, connectAll } from '../console/connected.ts';
import { type ConsoleTestServer, openConsoleServer } from '../console/console-server.ts';
import type { Camera, Shoot } from './camera.ts';

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 Version/19.1 Mobile/15E148 Safari/604.1';
/** Pages that need no preparation. */
const plain: Readonly<Record<string, string>> = {
  tokens: '/tokens',
  'tokens-new': '/tokens/new',
  'tokens-new-api': '/tokens/new?for=api',
  'tokens-everyone': '/tokens/everyone',
  remotes: '/remotes',
  notes: '/notes',
  'notes-new': '/notes/new',
  'admin-log': '/admin-log',
  people: '/people',
  person: '/people/1',
  roles: '/roles',
  role: '/roles/Member',
  'role-collection': '/roles/Member/orders',
  meanings: '/meanings',
  'meanings-collection': '/meanings/orders',
  'meanings-field': '/meanings/orders/fields/status',
  'meanings-metric': '/meanings/orders/new-metric',
  'meanings-segment': '/meanings/orders/new-segment',
  teams: '/teams',
  team: '/teams/Operations',
  collections: '/collections',
  collection: '/collections/orders',
  environments: '/environments',
  workflows: '/workflows',
  'workflow-new': '/workflows/new',
  'workflow-json': '/workflows/new/json',
  runs: '/runs',
  'api-page': '/api',
  'playground-tools': '/playground',
};

export async function takeConsole(camera: Camera): Promise<void> {
  const testServer = await openConsoleServer({
    app: { customize: customizeDemo },
    env: { SERVICE_SECRET: 'of-the-pictures', SERVICE_ACTIVITY_DAYS: '365', SERVICE_TRUSTED_PROXIES: '10.0.0.0/8' },
  });
  try {
    await addRemotes(testServer);
    await connectAll(testServer);
    // The last use is stored with a delay.
    await new Promise((resolve) => setTimeout(resolve, 6000));
    const bob = await testServer.addUser({
      email: 'bob@example.com',
      firstName: 'Bob',
      lastName: 'Marsh',
      level: 'admin',
    });
    const context: Context = { place: testServer, bobs: (await testServer.userOf(bob)).id };
    await camera.open(['desktop', 'light'], (page, shoot) => takeApprovals(context, page, shoot));
    await camera.open(['desktop', 'light'], (page, shoot) => takeAccounts(context, page, shoot));
    await camera.open(['desktop', 'light'], async (page, shoot) => {
      await takeLogs(context, page, shoot);
      await takeWorkflows(testServer, page, shoot);
      for (const [name, path] of Object.entries(plain)) {
        await page.goto(testServer.at(path));
        await shoot(`console-${name}`);
      }
    });
    await camera.open(['phone', 'dark'], (page, shoot) => takeApprovals(context, page, shoot));
  } finally {
    await testServer.stop();
  }
}

interface Context {
  readonly place: ConsoleTestServer;
  /** The id of a second administrator. */
  readonly bobs: number;
}

const claude = { clientId: 'https://claude.ai/oauth/client', clientName: 'Claude' };

async function fileAll({ place: testServer, bobs }: Context) {
  const byBob = { ...claude, userId: bobs };
  const change = await testServer.file({
    ...byBob,
    collection: 'orders',
    recordIds: ['17'],
    given: {
      collectionName: 'orders',
      recordId: '17',
      attributes: { status: 'cancelled', shipping_fee: 0, note: 'Customer asked to cancel by phone, fee waived' },
    },
  });
  const remove = await testServer.file({
    ...byBob,
    clientId: 'desktop-app',
    clientName: 'Desktop assistant',
    tool: 'delete',
    collection: 'reviews',
    recordIds: ['3', '8'],
    given: { collectionName: 'reviews', recordIds: ['3', '8'] },
  });
  const own = await testServer.file({
    collection: 'customers',
    recordIds: ['5'],
    policy: { policy: 'ask-person', secondPerson: true },
    given: { collectionName: 'customers', recordId: '5', attributes: { loyalty_points: 5000, newsletter: true } },
  });
  const action = await testServer.file({
    tool: 'executeAction',
    collection: 'orders',
    action: 'Cancel',
    recordIds: ['21'],
    given: { collectionName: 'orders', actionName: 'Cancel', recordIds: ['21'] },
  });
  return { change, remove, own, action };
}

async function takeAccounts({ place: testServer, bobs }: Context, page: Page, shoot: Shoot): Promise<void> {
  const { store } = testServer;
  const { token } = await store.links.make(bobs, 'invite');
  await page.goto(testServer.at(`/welcome/${token}`));
  await shoot('console-welcome');
  await page.goto(testServer.at('/sign-out'));
  await page.goto(testServer.at('/account'));
  await signIn(testServer, page);
  await store.sessions.begin({ userId: testServer.ada.id, browser: phone, address: '203.0.113.24' });
  await page.goto(testServer.at('/account'));
  await shoot('console-account');
  await page.goto(testServer.at('/account/app'));
  await shoot('console-app');
  const secret = await page.locator('input[name=secret]').inputValue();
  const code = () => new TOTP({ secret }).generate();
  await page.getByRole('textbox', { name: 'Code' }).fill(code());
  await page.getByLabel('Your password').fill(testServer.account.password);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  await shoot('console-codes');
  await page.goto(testServer.at('/account'));
  await page.getByText('Turn off').first().click();
  await shoot('console-account-app');
  await page.goto(testServer.at(''));
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn(testServer, page);
  await page.getByRole('textbox', { name: 'Code' }).waitFor();
  await shoot('console-code');
  await store.secondFactors.switchOff(testServer.ada.id);
  await store.sessions.endAll(testServer.ada.id, { grants: false });
}

/** A morning's activity of an assistant and a user. */
async function recordMorning({ place: testServer, bobs }: Context): Promise<void> {
  const { renderingId } = (await testServer.store.permissions.caller(testServer.ada.id))!;
  const from = Date.now() - 3 * 3600_000;
  const rows = [
    ['list', 'read', 'orders', [], 'completed'],
    ['listRelated', 'read', 'orders', ['17'], 'completed'],
    ['aggregate', 'read', 'customers', [], 'completed'],
    ['update', 'write', 'orders', ['17', '18'], 'completed'],
    ['delete', 'write', 'reviews', ['3'], 'denied'],
  ] as const;
  for (const [at, [action, type, collection, recordIds, outcome]] of rows.entries()) {
    testServer.store.activity.record({
      ...{ userId: at % 2 === 0 ? testServer.ada.id : bobs, renderingId, action, type, collection, outcome },
      ...{ clientId: claude.clientId, clientName: claude.clientName, startedAt: from + at * 240_000, durationMs: 3.4 },
      ...(recordIds.length > 0 && { recordIds: [...recordIds] }),
      ...(outcome === 'denied' && { code: 'DENIED' }),
    });
  }
  await testServer.store.activity.flush();
}

async function takeLogs(context: Context, page: Page, shoot: Shoot): Promise<void> {
  const { place: testServer } = context;
  await recordMorning(context);
  await page.goto(testServer.at('/activity'));
  await signIn(testServer, page);
  await page.getByRole('heading', { name: 'Activity' }).waitFor();
  await page.goto(testServer.at('/activity?record=18&type=write'));
  await page.locator('tbody a').first().click();
  await page.getByRole('heading', { name: 'update' }).waitFor();
  await shoot('console-activity-entry');
  const call = new URLSearchParams({ 'arg.collectionName': 'orders', 'arg.pagination': '{"size": 5}' });
  await page.goto(testServer.at(`/playground/list?${call}`));
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText('In the activity log').click();
  await shoot('console-playground');
  await page.goto(testServer.at('/activity'));
  await shoot('console-activity');
  await page.goto(testServer.at('/settings?shown=set'));
  await shoot('console-settings');
}

/** Starts a run on the first delivered order; it waits for a person to inspect the parcel. */
async function startReturn({
  store,
  ada,
}: ConsoleTestServer): Promise<{ readonly workflowId: string; readonly runId: string }> {
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

/** The workflow of docs/workflows.md. */
async function publishRefund({ store, ada }: ConsoleTestServer): Promise<string> {
  const { renderingId } = (await store.permissions.caller(ada.id))!;
  const [name, collection] = ['Refund an order', 'orders'];
  const when = { field: 'total', operator: 'GreaterThanOrEqual', value: 100 };
  const steps = [
    ...[
      {
        id: 'look',
        type: 'read-record',
        title: 'Look at the order',
        fields: ['number', 'status', 'total'],
        next: 'late',
      },
    ],
    {
      ...{ id: 'late', type: 'condition', title: 'How much?' },
      options: [
        { id: 'big', label: '100 or more', when, next: 'ask' },
        { id: 'small', label: 'Less', next: 'refund' },
      ],
    },
    {
      id: 'ask',
      type: 'guidance',
      title: 'Call the customer',
      text: 'Call about {{steps.look.number}}.',
      next: 'refund',
    },
    { id: 'refund', type: 'update-record', title: 'Refund', values: { status: 'returned' } },
  ];
  const definition = JSON.stringify({ name, collection, steps });
  return (await store.workflows.publish({ renderingId, name, collection, concurrency: null, by: ada.id, definition }))
    .id;
}

async function takeWorkflows(testServer: ConsoleTestServer, page: Page, shoot: Shoot): Promise<void> {
  const { workflowId, runId } = await startReturn(testServer);
  await page.goto(testServer.at(`/workflows/${workflowId}`));
  await page.getByRole('heading', { name: 'Take back an order' }).waitFor();
  await shoot('console-workflow');
  const refund = await publishRefund(testServer);
  await page.goto(testServer.at(`/workflows/${refund}/edit`));
  await page.getByText('Add a step').waitFor();
  await shoot('console-workflow-steps');
  await page.goto(testServer.at(`/workflows/${refund}/steps/late`));
  await page.getByText('Option 2').first().waitFor();
  await shoot('console-workflow-condition');
  await page.goto(testServer.at(`/workflows/${refund}/try?record=17`));
  await page.getByText('Takes the option').waitFor();
  await shoot('console-workflow-dry-run');
  await page.goto(testServer.at(`/runs/${runId}`));
  await page.getByText('in what state it is').waitFor();
  await shoot('console-run');
}

async function signIn({ account }: ConsoleTestServer, page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(account.email);
  await page.getByLabel('Password').fill(account.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function takeApprovals(context: Context, page: Page, shoot: Shoot): Promise<void> {
  const { place: testServer } = context;
  const { change, remove, own } = await fileAll(context);
  await page.goto(testServer.at(`/approvals/${change.id}`));
  await shoot('console-sign-in');
  await signIn(testServer, page);
  await page.getByRole('button', { name: 'Approve' }).waitFor();
  await shoot('console-approval');
  await page.goto(testServer.at(''));
  await shoot('console-start');
  await page.goto(testServer.at('/apps'));
  await shoot('console-apps');
  await page.goto(testServer.at('/apps/everyone'));
  await shoot('console-apps-everyone');
  await page.goto(testServer.at(`/approvals/${remove.id}`));
  await shoot('console-approval-delete');
  await page.goto(testServer.at(`/approvals/${own.id}`));
  await shoot('console-approval-other');
  await page.goto(testServer.at(`/approvals/${change.id}`));
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved by you').waitFor();
  await shoot('console-approved');
  await page.goto(testServer.at('/approvals/unknown'));
  await shoot('console-gone');
  for (const { id } of await testServer.store.approvals.list('pending', 100)) {
    await testServer.store.approvals.decide(id, { by: testServer.ada.id, verdict: 'denied' });
  }
  await page.goto(testServer.at('/approvals'));
  await shoot('console-nothing');
}
