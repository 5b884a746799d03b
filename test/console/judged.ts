// axe-core checks every page in a browser. The CSP allows only one script of ours and is bypassed only for axe-core.
// accessibility.test.ts takes light mode on a laptop or dark mode on a phone, the long test every size in both.
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { issuerOf, redirectUri } from '../app/shop.ts';
import { findFaults } from '../axe.ts';
import { hasChromium, openChromium, takePicture } from '../chromium.ts';
import { authorizationUrl, register } from '../oauth/client.ts';
import { addRemotes, connectAll } from './connected.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';
import { type Appearance, findMissing, pages, stepsOfEachType } from './looked-at.ts';

export function judgePages(appearances: readonly Appearance[]): void {
  describe.skipIf(!hasChromium).each(appearances)('in %s, %o', judgeIn);
}

function judgeIn(...[colorScheme, viewport]: Appearance): void {
  let server: ConsoleTestServer;
  let browser: Browser;
  let tab: Page;
  beforeAll(async () => {
    // The page for a forgotten password needs a mail server.
    const env = { SERVICE_MAIL_URL: 'smtp://127.0.0.1:9', SERVICE_MAIL_FROM: 'Portico <portico@example.com>' };
    server = await openConsoleServer({ app: { customize: customizeDemo }, env });
    await addRemotes(server);
    await server.store.meanings.set(
      { kind: 'metric', collection: 'orders', name: 'revenue' },
      { measure: { sum: 'total' } },
      { before: null },
    );
    await server.store.meanings.set(
      { kind: 'segment', collection: 'orders', name: 'paid' },
      { filter: { field: 'status', operator: 'Equal', value: 'paid' } },
      { before: null },
    );
    browser = await openChromium();
    tab = await (await browser.newContext({ colorScheme, viewport, bypassCSP: true })).newPage();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  const judged = new Set<string>();
  const faults = async (name: string): Promise<string[]> => {
    const path = new URL(tab.url()).pathname;
    judged.add(path);
    await takePicture(tab, `${colorScheme}-${viewport.width}-${path}-${name}`);
    return findFaults(tab, name);
  };
  const isSignedIn = async () => (await tab.locator('form.who').count()) > 0;
  const signIn = async (account = server.account) => {
    await tab.getByLabel('E-mail').fill(account.email);
    await tab.getByLabel('Password').fill(account.password);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const enter = async () => {
    await tab.goto(server.at('/account'));
    if (!(await isSignedIn())) await signIn();
  };

  test('the console has no accessibility fault', async () => {
    const change = await server.file({
      collection: 'orders',
      recordIds: ['17', '18'],
      given: {
        collectionName: 'orders',
        recordIds: ['17', '18'],
        attributes: { status: 'cancelled', note: 'By phone' },
      },
    });
    const removal = await server.file({
      tool: 'delete',
      collection: 'reviews',
      recordIds: ['3'],
      given: { collectionName: 'reviews', recordIds: ['3'] },
    });
    const other = await server.file({
      recordIds: ['1'],
      policy: { policy: 'ask-person', secondPerson: true },
      given: { collectionName: 'customers', recordId: '1', attributes: { city: 'Bergen' } },
    });
    const found: string[] = [];
    const visit = async (page: string, text: string) => {
      await tab.goto(server.at(page));
      await tab.getByText(text).first().waitFor();
      found.push(...(await faults(page)));
    };
    await visit('/approvals', 'Sign in');
    await tab.getByLabel('E-mail').fill(server.account.email);
    await tab.getByLabel('Password').fill('not the password');
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await tab.getByText('Wrong e-mail or password.').waitFor();
    found.push(...(await faults('wrong password')));
    await signIn();
    await tab.getByRole('heading', { name: 'Approvals' }).waitFor();
    await visit('', 'Waiting for you');
    if (viewport.width < 860) {
      await tab.locator('.menu summary').click();
      found.push(...(await faults('the menu')));
    }
    await visit('/approvals', 'Requests from assistants');
    await visit('/inbox', 'Approve selected');
    await visit(`/approvals/${change.id}`, 'Approve');
    await visit(`/approvals/${removal.id}`, 'Deleted value');
    await visit(`/approvals/${other.id}`, 'Another person must decide');
    await visit('/apps', 'No app is connected');
    await connectAll(server);
    await visit('/apps', 'Cursor');
    await visit('/apps?ended=app', 'Disconnected.');
    await visit('/apps/everyone', 'Apps of all users');
    const archive = (await server.store.remotes.findByName('archive'))!;
    await visit(`/remotes/${archive.id}`, 'Tools that workflows may call');
    await server.store.remotes.setClient(archive.id, { id: 'portico', issuer: 'https://login.example' }, server.ada.id);
    await visit(`/remotes/${archive.id}`, 'Remove this client');
    await visit('/approvals/unknown', 'Request not found');
    await visit('/nowhere', 'Page not found');
    for (const [{ id }, button, text] of [
      [change, 'Approve', 'Approved by you'],
      [removal, 'Deny', 'Denied by you'],
    ] as const) {
      await tab.goto(server.at(`/approvals/${id}`));
      await tab.getByRole('button', { name: button }).click();
      await tab.getByText(text).waitFor();
      found.push(...(await faults(text)));
    }
    await visit('/approvals', 'Nothing is waiting for you');
    expect(found).toEqual([]);
  }, 240_000);

  test.each(pages)('%s has no accessibility fault', async (page, text) => {
    await enter();
    await tab.goto(server.at(page));
    await tab.getByRole('main').getByText(text).first().waitFor({ state: 'attached' });
    await tab.evaluate('document.querySelectorAll("main details").forEach((each) => { each.open = true; })');
    expect(await faults(page)).toEqual([]);
  });

  test('entries, notes, and what forms show have no accessibility fault', async () => {
    await enter();
    const found: string[] = [];
    const visit = async (page: string) => {
      await tab.goto(server.at(page));
      found.push(...(await faults(page)));
    };
    const press = async (name: string, heading: string) => {
      await tab.getByRole('button', { name, exact: true }).click();
      await tab.getByRole('heading', { name: heading }).waitFor();
      found.push(...(await faults(heading)));
    };
    const { renderingId } = (await server.store.permissions.caller(server.ada.id))!;
    const about = { userId: server.ada.id, renderingId, collection: 'orders', recordId: '17' };
    const note = await server.store.notes.create({ ...about, title: 'Fragile', content: '<p>Call <b>first</b>.</p>' });
    await visit(`/notes/${note}`);
    await visit(`/front-ends/${await server.store.agentSessions.beginSignIn({ origin: 'https://admin.example.com' })}`);
    await visit('/data/orders?sort=-id');
    for (const at of [0, 2]) await tab.locator('.records tbody input[type=checkbox]').nth(at).check();
    await tab.getByLabel('Field to change').selectOption('note');
    await press('Change', 'Change note of 2 records');
    await tab.getByLabel('note', { exact: true }).fill('Together');
    await press('Preview', 'Change note of 2 records');
    await tab.goto(server.at('/data/orders/17/edit'));
    await tab.getByLabel('note', { exact: true }).fill('Ring twice');
    await press('Preview', 'Save these changes to ORD-10017?');
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('Saved.', { exact: true }).waitFor();
    await tab.goto(server.at('/roles/Member'));
    await tab.getByLabel('Browse orders').setChecked(true);
    await press('Review changes', 'Save these changes?');
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('Saved.').waitFor();
    await server.store.activity.flush();
    const [entry] = await server.store.activity.search({ limit: 1 });
    await visit(`/activity/${entry!.id}`);
    const [change] = await server.store.adminLog.search({ limit: 1 });
    await visit(`/admin-log/${change!.id}`);
    expect(found).toEqual([]);
  }, 240_000);

  test('workflows have no accessibility fault', async () => {
    const found: string[] = [];
    const judgeHere = async (text: string) => {
      await tab.getByRole('main').getByText(text).first().waitFor();
      await tab.evaluate('document.querySelectorAll("main details").forEach((each) => { each.open = true; })');
      found.push(...(await faults(text)));
      expect(found).toEqual([]);
    };
    await tab.goto(server.at('/workflows'));
    if (!(await isSignedIn())) await signIn();
    await judgeHere('Step-by-step processes');
    await tab.goto(server.at('/workflows/new/json'));
    await tab.getByLabel('Definition (JSON)').fill('{"name": 1}');
    await tab.getByRole('button', { name: 'Check and preview' }).click();
    await judgeHere('Line 1.');
    const steps = [
      {
        ...{ id: 'ask', type: 'guidance', text: 'Ask.', next: 'whose' },
        inputs: [
          { name: 'why', answer: { type: 'enum', options: ['a', 'b'] } },
          { name: 'how-much', answer: { type: 'number' } },
          { name: 'sure', answer: { type: 'boolean' } },
        ],
      },
      { id: 'whose', type: 'load-related-record', relation: 'customer', mode: 'manual', next: 'change' },
      { id: 'change', type: 'update-record', values: { status: 'cancelled' } },
    ];
    const definition = JSON.stringify({ name: 'Check', collection: 'orders', steps });
    await tab.getByLabel('Definition (JSON)').fill(definition);
    await tab.getByRole('button', { name: 'Save and publish' }).click();
    await judgeHere('Published.');
    const workflow = new URL(tab.url()).pathname.split('/').at(-1);
    for (const page of ['versions/1', 'edit/json']) {
      await tab.goto(server.at(`/workflows/${workflow}/${page}`));
      await judgeHere('Check');
    }
    await tab.goto(server.at(`/workflows/${workflow}`));
    await tab.getByRole('button', { name: 'Turn on' }).click();
    await judgeHere('The webhook is on');
    await tab.getByRole('link', { name: 'Add a schedule' }).click();
    await tab.getByRole('button', { name: 'Show the next times' }).click();
    await judgeHere('match now');
    await tab.getByRole('button', { name: 'Save', exact: true }).click();
    await tab.getByRole('link', { name: 'Every day at 08:00' }).click();
    await judgeHere('Acts for');
    await tab.getByRole('link', { name: 'Back to the workflow' }).click();
    await tab.getByRole('link', { name: 'Add a data change' }).click();
    await judgeHere('A run starts when');
    await tab.getByRole('button', { name: 'Save', exact: true }).click();
    await judgeHere('Automatic start added.');
    await tab.getByLabel('Record', { exact: true }).selectOption('17');
    await tab.getByRole('button', { name: 'Start a run' }).click();
    await tab.getByText('Waiting for someone to complete').first().waitFor();
    await tab.reload();
    await judgeHere('Ask.');
    await tab.getByLabel('why').selectOption('a');
    await tab.getByLabel('how-much').fill('many');
    await tab.getByRole('button', { name: 'Mark as done' }).click();
    await judgeHere('xpected');
    await tab.getByLabel('how-much').fill('2');
    await tab.getByRole('button', { name: 'Mark as done' }).click();
    await tab.getByText('Waiting for a choice').first().waitFor();
    await tab.reload();
    await judgeHere('Use this record');
    await tab.getByLabel('customer').selectOption({ index: 1 });
    await tab.getByRole('button', { name: 'Use this record' }).click();
    await tab.getByText('Waiting for confirmation').first().waitFor();
    await tab.reload();
    await judgeHere('Reject and end the run');
    await tab.goto(server.at('/runs'));
    await judgeHere('Runs of your team.');
    expect(found).toEqual([]);
  }, 240_000);

  test('the forms of each type of step have no accessibility fault', async () => {
    const { renderingId } = (await server.store.permissions.caller(server.ada.id))!;
    const steps = stepsOfEachType;
    const linked = steps.map((step, at) => ({ ...step, ...(steps[at + 1] && { next: steps[at + 1]!.id }) }));
    const [name, collection, concurrency] = [`Every type ${viewport.width} ${colorScheme}`, 'orders', null];
    const definition = JSON.stringify({ name, collection, steps: linked });
    const wish = { renderingId, name, collection, concurrency, by: server.ada.id, definition };
    const { id } = await server.store.workflows.publish(wish);
    await enter();
    const found: string[] = [];
    const pages = ['edit', 'add?type=condition', ...steps.map((step) => `steps/${step.id}`), 'try?record=17'];
    for (const page of pages) {
      await tab.goto(server.at(`/workflows/${id}/${page}`));
      await tab.evaluate('document.querySelectorAll("main details").forEach((each) => { each.open = true; })');
      found.push(...(await faults(page)));
    }
    await tab.goto(server.at(`/workflows/${id}/steps/pack`));
    await tab.getByLabel('Task').fill('');
    await tab.getByRole('button', { name: 'Save', exact: true }).click();
    await tab.getByText('Describe the task.').first().waitFor();
    found.push(...(await faults('a wrong step')));
    expect(found).toEqual([]);
  }, 240_000);

  test('the playground has no accessibility fault', async () => {
    const found: string[] = [];
    const press = async (name: string, text: string) => {
      await tab.getByRole('button', { name, exact: true }).click();
      await tab.getByText(text, { exact: true }).waitFor();
      await tab.evaluate('document.querySelectorAll("main details").forEach((each) => { each.open = true; })');
      found.push(...(await faults(text)));
    };
    const type = (tool: string, args: Readonly<Record<string, string>>) =>
      tab.goto(server.at(`/playground/${tool}?${new URLSearchParams(args)}`));
    await tab.goto(server.at('/playground'));
    if (!(await isSignedIn())) await signIn();
    await tab.getByRole('heading', { name: 'Playground' }).waitFor();
    found.push(...(await faults('tools')));
    await type('list', { 'arg.collectionName': 'orders', 'arg.pagination': '{"size": 2}', 'arg.filters': '{oops' });
    await press('Run', 'No call was made: some of your input is invalid.');
    await tab.getByLabel('filters').fill('');
    await press('Run', 'Answered');
    await type('update', {
      'arg.collectionName': 'orders',
      'arg.recordId': '44',
      'arg.attributes': '{"note": "Once"}',
      'arg.dryRun': 'false',
    });
    await press('Run', 'Run this call?');
    expect(found).toEqual([]);
  });

  test('accounts, links and codes have no accessibility fault', async () => {
    const { store } = server;
    const eve = await server.addUser({ email: 'eve@example.com', firstName: 'Eve', level: 'editor' });
    const { id } = await server.userOf(eve);
    const found: string[] = [];
    const judgeHere = async (name: string) => found.push(...(await faults(name)));
    const open = async (page: string, name: string) => {
      await tab.goto(server.at(page));
      await judgeHere(name);
    };
    await tab.context().clearCookies();
    const { token } = await store.links.make(id, 'reset');
    await open(`/welcome/${token}`, 'link');
    await tab.getByLabel('New password', { exact: true }).fill('a few words of hers');
    await tab.getByLabel('Repeat the new password').fill('another few words');
    await tab.getByRole('button', { name: 'Set password' }).click();
    await tab.getByText('The passwords do not match.').waitFor();
    await judgeHere('link with a problem');
    await open('/welcome/unknown', 'dead link');
    await open('/forgot', 'forgotten password');
    await open('/password-set', 'password set');
    await tab.goto(server.at('/account'));
    await signIn(eve);
    await store.sessions.begin({ userId: id, browser: 'Firefox/1', address: '192.0.2.1' });
    await tab.goto(server.at('/account'));
    for (const summary of await tab.locator('main summary').all()) await summary.click();
    await judgeHere('account');
    await tab.getByRole('region', { name: 'You', exact: true }).getByRole('button').click();
    await tab.getByText('Saved.').waitFor();
    await judgeHere('account, saved');
    await open('/account/app', 'setting up an app');
    const secret = await tab.locator('input[name=secret]').inputValue();
    await tab.getByRole('textbox', { name: 'Code' }).fill(new TOTP({ secret }).generate());
    await tab.getByLabel('Your password').fill(eve.password);
    await tab.getByRole('button', { name: 'Turn on' }).click();
    await tab.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    await judgeHere('recovery codes');
    await tab.goto(server.at('/account'));
    for (const summary of await tab.locator('main summary').all()) await summary.click();
    await judgeHere('account with an app');
    await tab.context().clearCookies();
    await tab.goto(server.at('/account'));
    await signIn(eve);
    await tab.getByRole('textbox', { name: 'Code' }).fill('000000');
    await judgeHere('second step');
    await tab.getByRole('button', { name: 'Continue' }).click();
    await tab.getByText('This code is wrong').waitFor();
    await judgeHere('second step with a problem');
    await tab.context().clearCookies();
    const registered = await register(issuerOf(server), { client_name: 'Notebook', redirect_uris: [redirectUri] });
    await tab.goto((await authorizationUrl(registered, { redirectUri, scope: 'mcp:read' })).url.href);
    await signIn(eve);
    await tab.getByRole('heading', { name: 'One more step' }).waitFor();
    await judgeHere('second step of an assistant');
    await tab.context().clearCookies();
    expect(found).toEqual([]);
  });

  test('the sign-in and consent of assistants have no accessibility fault', async () => {
    const registered = await register(issuerOf(server), { client_name: 'Notebook', redirect_uris: [redirectUri] });
    await tab.goto((await authorizationUrl(registered, { redirectUri, scope: 'mcp:read mcp:write' })).url.href);
    const found = await faults('sign-in');
    await signIn();
    await tab.getByRole('button', { name: 'Allow' }).waitFor();
    found.push(...(await faults('consent')));
    await tab.locator('main summary').click();
    await tab.getByLabel('Read only').check();
    await tab.getByLabel('Selected collections').check();
    found.push(...(await faults('consent with limits')));
    await tab.getByRole('button', { name: 'Allow' }).click();
    await tab.getByText('Choose at least one collection').waitFor();
    found.push(...(await faults('consent with nothing chosen')));
    const { id: userId } = server.ada;
    const web = 'https://notebook.example/callback';
    const known = await register(issuerOf(server), { client_name: 'Notebook', redirect_uris: [web] });
    const clientId = known.client.client_id;
    await server.store.connections.decide({
      userId,
      clientId,
      clientName: 'Notebook',
      asked: ['mcp:read', 'mcp:write'],
      scopes: ['mcp:read'],
      choice: { ticked: ['mcp:read', 'mcp:write'], readOnly: true, collections: ['orders'], lasts: 'day' },
      endsAt: null,
      told: {},
    });
    const more = await authorizationUrl(known, { redirectUri: web, scope: 'mcp:read mcp:write' });
    await tab.goto(more.url.href);
    await tab.getByText('Allow notebook.example more?').waitFor();
    found.push(...(await faults('consent for more')));
    await server.store.connections.block({ clientId });
    await tab.goto(more.url.href);
    await tab.getByText('This app is blocked here').waitFor();
    found.push(...(await faults('blocked')));
    await tab.goto(`${issuerOf(server)}/oauth/interaction/gone`);
    found.push(...(await faults('expired')));
    expect(found).toEqual([]);
  });

  test('every page of the console was judged', () => {
    expect(findMissing(new URL(server.consoleUrl).pathname, judged)).toEqual([]);
  });
}
