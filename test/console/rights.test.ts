// Roles, teams and collections in the console: the review describes the checked rights, the next call has them, and
// concurrent administrators do not overwrite each other.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { readRolesFile } from '../../src/cli/roles/read.ts';
import type { CollectionPermission, Right } from '../../src/store/permissions/types.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read as readHtml } from './console-server.ts';

const read = (page: Page) =>
  readHtml(page).replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>');

const none = { browse: false, read: false, edit: false, add: false, delete: false, export: false };
const reads = { ...none, browse: true, read: true };
const when = { field: 'status', operator: 'Equal', value: 'paid' } as const;

let server: ConsoleTestServer;
let admin: Browser;
let start: Page;
let bobId: number;
let kim: Account;
beforeAll(async () => {
  server = await openConsoleServer({ app: { customize: customizeDemo } });
  bobId = (
    await server.userOf(
      await server.addUser({
        email: 'bob@example.com',
        firstName: 'Bob',
        team: 'South',
        role: 'Clerk',
        tags: { country: 'Norway' },
      }),
    )
  ).id;
  kim = await server.addUser({ email: 'kim@example.com', level: 'admin' });
  ({ browser: admin, page: start } = await server.browse(server.account, '/roles'));
});
afterAll(() => server.stop());
beforeEach(async () => {
  await server.store.permissions.setRole('Clerk', {
    '*': reads,
    orders: { ...reads, edit: true, fields: { total: 'read' } },
    lost: reads,
  });
  await server.store.permissions.setScope('South', 'orders', null);
  await server.store.permissions.setScope('South', '*', null);
});

const open = (page: string) => admin.open(server.at(page));
const post = (page: string, body: Record<string, string> | [string, string][], browser = admin, from = start) =>
  browser.open(server.at(page), {
    method: 'POST',
    body: new URLSearchParams([['csrf', csrfOf(from)], ...(Array.isArray(body) ? body : Object.entries(body))]),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
const factsOf = async (kind: Right['kind'], ...path: string[]) =>
  (await server.store.rights.read()).find(
    (right) => right.kind === kind && JSON.stringify(right.path) === JSON.stringify(path),
  )?.value;
const permission = (collection: string) =>
  factsOf('permission', 'Clerk', 'Production', collection) as Promise<CollectionPermission | undefined>;
const bob = async () => (await server.store.permissions.accessOf(bobId))!;
/** The row of a collection in the matrix. */
const lineOf = (page: Page, collection: string) =>
  [...page.html.matchAll(/name="collection" value="([^"]+)"/g)].findIndex(([, name]) => name === collection);
const ticked = (page: Page) =>
  [...page.html.matchAll(/name="may" value="([^"]+)" checked/g)].map(([, value]) => value!);

describe('the matrix of a role', () => {
  test('shows the rights, marks those unknown to the model, and changes only the boxes that were changed', async () => {
    const page = await open('/roles/Clerk');
    const [customers, orders] = [lineOf(page, 'customers'), lineOf(page, 'orders')];
    const may = [...ticked(page).filter((one) => one !== `${orders} edit`), `${customers} delete`];
    const review = await admin.press(page, 'review', { may });
    const before = await permission('customers');
    const saved = await admin.press(review, 'apply');
    const [opens, others] = [/Allows more than before(.*?)<\/section>/s, /Other changes(.*?)<\/section>/s].map(
      (part) => part.exec(review.html)?.[1] ?? '',
    );
    expect([
      /lost not in the model custom/.test(read(page)),
      opens!.includes('customers: may delete'),
      others!.includes('orders: may no longer edit'),
      read(review).includes('Affects one user.'),
      before,
      read(saved).includes('Saved.'),
      await permission('customers'),
      await permission('orders'),
      await permission('*'),
      await permission('products'),
      [
        (await bob()).can('delete', 'customers'),
        (await bob()).can('edit', 'orders'),
        (await bob()).can('delete', 'products'),
      ],
    ]).toEqual([
      true,
      true,
      true,
      true,
      undefined,
      true,
      { ...reads, delete: true },
      { ...reads, fields: { total: 'read' } },
      reads,
      undefined,
      [true, false, false],
    ]);
  });

  test('an unchanged form changes nothing', async () => {
    const before = await server.store.rights.read();
    const page = await open('/roles/Clerk');
    const review = await admin.press(page, 'review', { may: ticked(page) });
    expect([read(review).includes('No changes'), await server.store.rights.read()]).toEqual([true, before]);
  });

  test('of two concurrent edits, the second administrator sees both, and overwrites nothing', async () => {
    const { browser } = await server.browse(kim);
    const [mine, theirs] = [await open('/roles/Clerk'), await browser.open(server.at('/roles/Clerk'))];
    const products = lineOf(mine, 'products');
    const myReview = await admin.press(mine, 'review', { may: [...ticked(mine), `${products} add`] });
    const theirReview = await browser.press(theirs, 'review', {
      may: [...ticked(theirs), `${products} delete`, `${lineOf(theirs, 'orders')} export`],
    });
    await browser.press(theirReview, 'apply');
    const conflict = await admin.press(myReview, 'apply');
    // An outdated form does not even reach the review.
    const early = await admin.press(mine, 'review', { may: [...ticked(mine), `${products} add`] });
    const untouched = await permission('products');
    const again = await admin.press(conflict, 'review');
    await admin.press(again, 'apply');
    expect([
      [conflict.status, early.status],
      /products may browse, read, delete may browse, read, add/.test(read(conflict)),
      untouched,
      await permission('products'),
      (await permission('orders'))!.export,
    ]).toEqual([[409, 409], true, { ...reads, delete: true }, { ...reads, add: true }, true]);
  });

  test('a concurrent change of another right is no conflict', async () => {
    const page = await open('/roles/Clerk');
    const review = await admin.press(page, 'review', { may: [...ticked(page), `${lineOf(page, 'products')} add`] });
    await server.store.permissions.setRole('Other', { '*': reads });
    const saved = await admin.press(review, 'apply');
    expect([
      read(saved).includes('Saved.'),
      (await permission('products'))?.add,
      await factsOf('permission', 'Other', 'Production', '*'),
    ]).toEqual([true, true, reads]);
  });
});

describe('a role', () => {
  test('is created, copied from another, and removed if it has no users', async () => {
    const made = await post('/roles', { action: 'make', name: 'Auditor / B*', from: 'Clerk' });
    const copied = await factsOf('permission', 'Auditor / B*', 'Production', 'orders');
    const again = await post('/roles', { action: 'make', name: 'Auditor / B*', from: '' });
    const dots = await post('/roles', { action: 'make', name: '..', from: '' });
    const kept = await post('/roles/Clerk', { action: 'remove' });
    const review = await admin.press(made, 'remove');
    await admin.press(review, 'apply');
    expect([
      [made.status, read(made).includes('Role created')],
      copied,
      [
        again.status,
        read(again).includes('A role with this name already exists.'),
        again.html.includes('value="Auditor / B*"'),
      ],
      dots.status,
      [kept.status, read(kept).includes('1 person has this role. Assign another role first.')],
      read(review).includes("role 'Auditor / B*' is removed"),
      await factsOf('role', 'Auditor / B*'),
    ]).toEqual([[200, true], await permission('orders'), [400, true, true], 400, [409, true], true, undefined]);
  });
});

describe('one role and one collection', () => {
  const page = '/roles/Clerk/orders';

  test('sets fields, actions under a condition, and the approval policy', async () => {
    const form = await open(page);
    const fields = [...form.html.matchAll(/name="field" value="([^"]+)"/g)].map(([, name]) => name!);
    const actions = [...form.html.matchAll(/name="act" value="([^"]+)"/g)].map(([, name]) => name!);
    const review = await admin.press(form, 'review', {
      may: ['browse', 'read', 'edit', 'delete'],
      'verb-is': ['', 'second', 'deny'].map((one) => one || ' '),
      cascades: '',
      'field-is': fields.map((name) => (name === 'note' ? 'hidden' : 'write')),
      'act-trigger': actions.map((name) => (name === 'Cancel' ? 'when' : 'never')),
      'act-when': actions.map((name) => (name === 'Cancel' ? JSON.stringify(when) : ' ')),
      'act-approval': actions.map((name) => (name === 'Cancel' ? 'ask-person' : ' ')),
    });
    const words = read(review);
    await admin.press(review, 'apply');
    const access = await bob();
    expect([
      words.includes('field total is written (was: read)'),
      words.includes('to edit: a second person approves (was: no approval)') &&
        words.includes('the database may no longer extend writes to other records'),
      words.includes('action Cancel can be triggered where status Equal "paid", a person approves in the console'),
      await permission('orders'),
      [
        access.field('orders', 'note'),
        access.can('delete', 'orders'),
        access.canTrigger('orders', 'Ship'),
        access.policy('edit', 'orders'),
      ],
    ]).toEqual([
      true,
      true,
      true,
      {
        ...reads,
        edit: true,
        delete: true,
        fields: { note: 'hidden' },
        approval: { edit: { policy: 'ask-person', secondPerson: true }, delete: 'deny' },
        actions: { Cancel: { trigger: { when }, approval: 'ask-person' }, Ship: { trigger: false } },
        cascades: 'deny',
      },
      ['hidden', false, false, { policy: 'ask-person', secondPerson: true }],
    ]);
    const shown = await open(page);
    expect(shown.html).toContain(`>\n${JSON.stringify(when, null, 2).replaceAll('"', '&quot;')}</textarea>`);
  });

  test.each([
    ['{"field": "status", "operator": "Equal"', 'Invalid JSON'],
    ['{"field": "statu", "operator": "Equal", "value": 1}', "there is no field 'statu'. Near: status"],
    ['{"field": "status", "operator": "Equals", "value": 1}', "operator: no operator 'Equals'. Near: Equal"],
    [
      '{"aggregator": "And", "conditions": [{"field": "status", "operator": "Equal", "value": "{{currentUser.nmae}}"}]}',
      'there is no variable {{currentUser.nmae}}',
    ],
    ['{"aggregator": "And", "conditions": [{"field": 3}]}', 'conditions[0].field: expected the name of a field'],
  ])('an invalid condition (%s) keeps what was typed', async (typed, problem) => {
    const before = await permission('orders');
    const form = await open(page);
    const actions = [...form.html.matchAll(/name="act" value="([^"]+)"/g)].map(([, name]) => name!);
    const answer = await admin.press(form, 'review', {
      may: 'browse',
      'act-trigger': actions.map((name) => (name === 'Cancel' ? 'when' : ' ')),
      'act-when': actions.map((name) => (name === 'Cancel' ? typed : ' ')),
    });
    expect([
      answer.status,
      read(answer).includes(problem),
      read(answer).includes(typed),
      ticked(answer),
      await permission('orders'),
    ]).toEqual([400, true, true, ['browse'], before]);
  });

  test('sets the condition of an action by rows, and refuses conditions that are unfinished or not used', async () => {
    const form = await open(page);
    const actions = [...form.html.matchAll(/name="act" value="([^"]+)"/g)].map(([, name]) => name!);
    const at = actions.indexOf('Ship');
    const triggers = (is: string) => ({ 'act-trigger': actions.map((name) => (name === 'Ship' ? is : 'never')) });
    const opened = await admin.press(form, `when-${at}.open`);
    const empty = await admin.press(opened, 'review', triggers('when'));
    const added = await admin.press(opened, `when-${at}.add`, { ...triggers('when'), [`when-${at}.add`]: 'status' });
    const unfinished = await admin.press(added, 'review', triggers('when'));
    const row = { [`when-${at}.c.0.operator`]: 'Equal', [`when-${at}.c.0.value`]: 'paid' };
    const unused = await admin.press(added, 'review', { ...triggers('always'), ...row });
    const review = await admin.press(added, 'review', { ...triggers('when'), ...row });
    expect([
      read(empty).includes('Add a condition, or choose who else can run it.'),
      read(unfinished).includes('A condition has no value.'),
      read(unused).includes('Choose “on a condition”, or remove the conditions.'),
      read(review).includes('action Ship can be triggered where status Equal "paid"'),
    ]).toEqual([true, true, true, true]);
    await admin.press(review, 'apply');
    expect(await permission('orders')).toMatchObject({ actions: { Ship: { trigger: { when } } } });
    const again = await open(page);
    expect(again.html).toContain(`name="when-${at}.c.0.value"`);
    expect(read(await admin.press(again, 'review'))).toContain('No changes');
  });

  test('can add its own row and remove it again', async () => {
    const form = await open('/roles/Clerk/products');
    const same = await admin.press(form, 'review');
    const review = await admin.press(form, 'review', { may: ['browse'] });
    await admin.press(review, 'apply');
    const own = await permission('products');
    const removing = await admin.press(await open('/roles/Clerk/products'), 'remove');
    await admin.press(removing, 'apply');
    expect([
      read(form).includes('The collection has no custom permissions'),
      read(same).includes('No changes'),
      own,
      // Removing the row restores the rights of *: read.
      /Allows more than before.*products: may read/.test(read(removing)),
      await permission('products'),
    ]).toEqual([true, true, { ...none, browse: true }, true, undefined]);
  });

  test('a form with invalid fields is refused and changes nothing', async () => {
    const before = await server.store.rights.read();
    const about = { kind: 'permission', path: ['Clerk', 'Production', 'orders'] };
    const proposals = [
      'x',
      '{}',
      JSON.stringify({ about, base: 'x', wanted: [{ kind: 'network', path: ['0.0.0.0/0'], value: '0.0.0.0/0' }] }),
      JSON.stringify({ about, base: 'x', wanted: [{ ...about, value: { ...reads, fields: 5 } }] }),
      JSON.stringify({ about, base: 'x', wanted: [{ ...about, value: { ...reads, more: true } }] }),
      JSON.stringify({ about, base: 'x', wanted: [{ ...about, value: { ...reads, actions: { a: null } } }] }),
      JSON.stringify({
        about,
        base: 'x',
        wanted: [{ kind: 'scope', path: ['South', 'Production', 'orders'], value: 5 }],
      }),
    ];
    const statuses = [];
    for (const proposal of proposals) {
      for (const action of ['apply', 'review']) statuses.push((await post('/rights', { action, proposal })).status);
    }
    expect([statuses.filter((status) => status < 400 || status >= 500), await server.store.rights.read()]).toEqual([
      [],
      before,
    ]);
  });
});

describe('a team', () => {
  const page = '/teams/South/orders';
  const filter = { field: 'customer:country', operator: 'Equal', value: '{{currentUser.tags.country}}' };
  const openJson = async () => admin.press(await open(page), 'json');

  test('keeps an ambiguous row scope, which is marked and cannot be saved again', async () => {
    const old = { field: 'order_items:quantity', operator: 'NotEqual', value: 1 };
    await server.store.permissions.setScope('South', 'orders', old);
    const shown = await open(page);
    const again = await admin.press(shown, 'review', { filter: JSON.stringify(old) });
    const form = '{"some":"order_items","where":{"field":"quantity","operator":"NotEqual","value":1}}';
    const clear = await admin.press(shown, 'review', { filter: form });
    const team = await open('/teams/South');
    await server.store.permissions.setScope('South', 'orders', null);
    expect([
      read(shown).includes('This rule keeps its meaning'),
      read(shown).includes(form),
      read(team).includes('ambiguous'),
      again.status,
      read(again).includes(form),
      read(clear).includes("sees only records where some of 'order_items' has (quantity NotEqual 1)"),
    ]).toEqual([true, true, true, 400, true, true]);
  });

  test('sees the rows of its row scope, which can be tried before it is saved', async () => {
    const [row] = await server.ask(
      "SELECT count(*) AS n FROM orders JOIN customers ON customers.id = orders.customer_id WHERE country = 'Norway'",
    );
    const [total] = await server.ask('SELECT count(*) AS n FROM orders');
    const form = await openJson();
    const tried = await admin.press(form, 'try', { filter: JSON.stringify(filter), person: `${bobId}` });
    const untouched = await factsOf('scope', 'South', 'Production', 'orders');
    const review = await admin.press(tried, 'review');
    const saved = await admin.press(review, 'apply');
    const widened = await admin.press(await openJson(), 'review', { filter: '' });
    const number = (value: unknown) => new Intl.NumberFormat('en').format(Number(value));
    expect([
      read(tried).includes(`Bob would see ${number(row!.n)} of `),
      read(tried).includes(`${number(total!.n)} now`),
      untouched,
      read(review).includes(
        'sees only records where customer:country Equal "{{currentUser.tags.country}}" (was: every record',
      ),
      read(review).includes('Allows more than before'),
      read(saved).includes('those where customer:country Equal'),
      (await bob()).scope('orders'),
      read(widened).includes('Allows more than before'),
    ]).toEqual([true, true, undefined, true, false, true, { ...filter, value: 'Norway' }, true]);
  });

  test('trying it as a user who may not browse shows no record', async () => {
    await server.store.permissions.setRole('Clerk', { '*': none });
    const form = await openJson();
    const tried = await admin.press(form, 'try', { filter: ' ', person: `${bobId}` });
    const nobody = await admin.press(form, 'try', { filter: ' ', person: '99999' });
    expect([read(tried).includes("Bob cannot browse 'orders'"), read(nobody).includes('Choose a person.')]).toEqual([
      true,
      true,
    ]);
  });

  test('an invalid filter is shown again with the position of the error', async () => {
    const form = await openJson();
    const typed =
      '{\n  "aggregator": "And",\n  "conditions": [{ "field": "note", "operator": "Has", "value": "<b>" }]\n}';
    const answers = [];
    for (const action of ['review', 'try']) {
      const answer = await admin.press(form, action, { filter: typed, person: `${bobId}` });
      answers.push([
        answer.status,
        read(answer).includes('conditions[0].operator: '),
        answer.html.includes('&lt;b&gt;'),
      ]);
    }
    expect([answers, await factsOf('scope', 'South', 'Production', 'orders')]).toEqual([
      [
        [400, true, true],
        [400, true, true],
      ],
      undefined,
    ]);
  });

  test('is created, and removed if it has no users', async () => {
    const made = await post('/teams', { action: 'make', name: 'North' });
    const taken = await post('/teams', { action: 'make', name: 'North' });
    const full = await post('/teams/South', { action: 'remove' });
    await admin.press(await admin.press(made, 'remove'), 'apply');
    expect([
      read(made).includes('Team created.'),
      taken.status,
      [full.status, read(full).includes('1 person is in this team')],
      await factsOf('team', 'North'),
    ]).toEqual([true, 400, [409, true], undefined]);
  });
});

test('the current rights are downloaded as the file that a push accepts', async () => {
  const file = await open('/rights/file');
  const again = readRolesFile(file.html);
  const after = (await server.store.rights.read()).map((right) => JSON.stringify(right)).sort();
  expect([
    file.headers.get('content-disposition'),
    parse(file.html).roles.Clerk.Production.orders.fields,
    'rights' in again && again.rights.map(({ kind, path, value }) => JSON.stringify({ kind, path, value })).sort(),
  ]).toEqual(['attachment; filename="roles.yaml"', { total: 'read' }, after]);
});

test('the page of a collection shows its fields, the rights of roles, and the rights of one user', async () => {
  await server.store.permissions.setScope('South', 'orders', {
    field: 'customer:country',
    operator: 'Equal',
    value: '{{currentUser.tags.country}}',
  });
  const list = read(await open('/collections'));
  const found = read(await open('/collections?find=ORDER_'));
  const text = read(await open(`/collections/orders?person=${bobId}`));
  expect([
    /orders 1[0-9] 2 2 0/.test(list),
    [found.includes('order_items'), found.includes('suppliers')],
    text.includes('Actions Ship, Cancel'),
    /Clerk custom permissions ✓ may browse ✓ may read ✓ may edit no no no/.test(text),
    text.includes('South those where customer:country Equal "{{currentUser.tags.country}}"'),
    text.includes(
      'Permissions browse, read, edit Visible records records where customer:country Equal "Norway" Read-only fields total',
    ),
  ]).toEqual([true, [true, false], true, true, true, true]);
});

test('roles and teams of an environment that is not served can be edited', async () => {
  const before = await server.store.rights.read();
  await server.store.rights.apply(before, [...before, { kind: 'environment', path: ['Staging'], value: 'Staging' }]);
  const text = read(await open('/environments'));
  const page = await open('/roles/Clerk?in=Staging');
  const review = await admin.press(page, 'review', { may: ['0 browse'] });
  const saved = await admin.press(review, 'apply');
  const scope = await admin.press(await admin.press(await open('/teams/South/orders?in=Staging'), 'json'), 'review', {
    filter: JSON.stringify(when),
  });
  await admin.press(scope, 'apply');
  const tried = await open('/teams/South/orders?in=Staging');
  expect([
    text.includes('Production served here'),
    saved.url.includes('in=Staging'),
    await factsOf('permission', 'Clerk', 'Staging', '*'),
    await permission('*'),
    await factsOf('scope', 'South', 'Staging', 'orders'),
    read(tried).includes('You cannot try the rule here: this process serves Production.'),
  ]).toEqual([true, true, { ...none, browse: true }, reads, when, true]);
});
