// What the pages of the console show in the bench: 300 tables, one of them with a million rows, a thousand users, a log
// of 200,000 entries, and one of everything else that has a page.
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { servers, type TestDatabase, type TestServer } from '../../test/databases.ts';
import type { TestServer as PorticoServer } from '../../test/server.ts';
import { runSql } from '../../test/sql/schemas.ts';

export { servers, type TestServer };

/** The tables beside `orders` and `customers`. Each refers to an order, so the page of an order has many lists. */
const THINGS = 298;

export async function makeTables(database: TestDatabase, size: number): Promise<void> {
  const { dialect } = database;
  const [orders, customers] = [1_000_000 * size, 100_000 * size];
  const id = 'integer not null primary key';
  const rows = (count: number) =>
    `with recursive n(id) as (select 1 union all select id + 1 from n where id < ${count}) select`;
  const statements = [
    ...(dialect === 'mariadb' ? ['set session max_recursive_iterations = 4294967295'] : []),
    `create table customers (id ${id}, name varchar(100) not null, email varchar(100) not null)`,
    `create table orders (id ${id}, number varchar(20) not null, customer_id integer not null,
      note varchar(100), total decimal(10, 2) not null, status varchar(20) not null, foreign key (customer_id) references customers(id))`,
    `insert into customers ${rows(customers)} id, concat('Customer ', id), concat('customer', id, '@example.com') from n`,
    `insert into orders ${rows(orders)} id, concat('2026-', id), 1 + id % ${customers}, concat('note ', id), id % 500,
      case id % 3 when 0 then 'open' else 'sent' end from n`,
    ...(dialect === 'mariadb' ? [] : ['create index orders_customer on orders (customer_id)']),
    ...Array.from({ length: THINGS }, (_, at) => {
      const columns = Array.from({ length: 12 }, (_, column) => `field_${column} varchar(100)`).join(', ');
      return `create table thing_${at} (id ${id}, order_id integer, ${columns}, foreign key (order_id) references orders(id))`;
    }),
    dialect === 'mariadb' ? 'analyze table orders, customers' : 'analyze',
  ];
  await runSql(database, statements);
}

/** An action with a form and a chart, for their pages. */
export function customize(agent: HeadlessAgent): void {
  agent.customizeCollection('orders', (orders) =>
    orders.addAction('Print labels', {
      scope: 'Bulk',
      form: [{ label: 'Copies', type: 'Number' }],
      execute: (_, { success }) => success(),
    }),
  );
}

/** Fills the storage. Returns an address of each page with parameters. */
export async function fillStorage(
  { store, account }: Pick<PorticoServer, 'store' | 'account'>,
  size: number,
): Promise<Readonly<Record<string, string>>> {
  const ada = (await store.identity.findUserByEmail(account.email))!;
  const { renderingId } = (await store.permissions.caller(ada.id))!;
  for (let at = 0; at < 1000 * size; at += 1)
    await store.identity.addUser({
      ...{ email: `person${at}@example.com`, firstName: 'Person', lastName: `${at}` },
      ...{ team: ada.team, role: ada.role, level: 'user' },
    });
  const client = { userId: ada.id, renderingId, clientId: 'bench', clientName: 'Bench' };
  const now = Date.now();
  for (let at = 0; at < 200_000 * size; at += 1) {
    const isWrite = at % 4 === 0;
    store.activity.record({
      ...{ ...client, action: isWrite ? 'update' : 'list', type: isWrite ? 'write' : 'read', collection: 'orders' },
      ...{ recordIds: [`${1 + (at % 5000)}`], outcome: at % 50 === 0 ? 'failed' : 'completed' },
      ...{ startedAt: now - at * 500, durationMs: 2 },
    });
    if (at % 5000 === 0) await store.activity.flush();
  }
  await store.activity.flush();
  for (let id = 1; id <= 20; id += 1) {
    const given = { collectionName: 'orders', recordId: `${id}`, attributes: { note: 'changed' } };
    await store.approvals.ask({
      ...{ ...client, tool: 'update', collection: 'orders', recordIds: [`${id}`], args: `${id}`, found: '' },
      policy: { policy: 'ask-person', secondPerson: false },
      content: { arguments: given, preview: { count: 1, changes: [] } },
    });
  }
  const notes: number[] = [];
  for (let at = 1; at <= 200 * size; at += 1) {
    const about = { userId: ada.id, renderingId, collection: 'orders', recordId: `${1 + (at % 10)}` };
    notes.push(await store.notes.create({ ...about, title: `Note ${at}`, content: '<p>Call them back.</p>' }));
  }
  const steps = [
    { id: 'check', type: 'guidance', text: 'Check the order.', next: 'set' },
    { id: 'set', type: 'update-record', mode: 'confirm', values: { status: 'sent' } },
  ];
  const flow = { renderingId, collection: 'orders', concurrency: null, by: ada.id };
  const publish = (name: string) =>
    store.workflows.publish({ ...flow, name, definition: JSON.stringify({ name, collection: 'orders', steps }) });
  const workflow = await publish('Check');
  for (let at = 1; at <= 50 * size; at += 1) await publish(`Check ${at}`);
  const rule = await store.startRules.add({
    ...{ workflowId: workflow.id, collection: 'orders', version: 1, userId: ada.id, nextAt: null },
    settings: { kind: 'change', operations: ['create'], limit: 100 },
  });
  let run = '';
  for (let at = 1; at <= 100 * size; at += 1) {
    const started = { workflow, recordId: `${at}`, userId: ada.id, origin: 'console', originName: '' } as const;
    const created = await store.runs.create(started);
    if (created.state === 'created') run = created.runId;
  }
  for (let at = 0; at < 50 * size; at += 1)
    await store.tokens.create({ userId: ada.id, name: `token ${at}`, scopes: ['mcp:read'] });
  const remote = await store.remotes.add({
    name: 'crm',
    url: 'https://crm.example.com/mcp',
    signIn: 'none',
    addedBy: ada.id,
  });
  const [entry] = await store.activity.search({ limit: 1 });
  const [change] = await store.adminLog.search({ limit: 1 });
  const [approval] = await store.approvals.list('pending', 1);
  await store.meanings.set(
    { kind: 'metric', collection: 'orders', name: 'revenue' },
    { measure: { sum: 'total' } },
    { before: null },
  );
  await store.meanings.set(
    { kind: 'segment', collection: 'orders', name: 'paid' },
    { filter: { field: 'status', operator: 'Equal', value: 'paid' } },
    { before: null },
  );
  const frontEnd = await store.agentSessions.beginSignIn({ origin: 'https://admin.example.com' });
  return {
    '/approvals/:id': `/approvals/${approval!.id}`,
    '/notes/:id': `/notes/${notes[0]}`,
    '/activity/:id': `/activity/${entry!.id}`,
    '/admin-log/:id': `/admin-log/${change!.id}`,
    '/front-ends/:id': `/front-ends/${frontEnd}`,
    '/remotes/:id': `/remotes/${remote.id}`,
    '/people/:id': `/people/${ada.id}`,
    '/roles/:name': `/roles/${ada.role}`,
    '/roles/:name/:collection': `/roles/${ada.role}/orders`,
    '/teams/:name': `/teams/${ada.team}`,
    '/teams/:name/:collection': `/teams/${ada.team}/orders`,
    '/collections/:name': '/collections/orders',
    '/playground/:name': '/playground/list',
    '/playground/aggregate/form': '/playground/aggregate/form?collection=orders',
    '/data/:collection': '/data/orders',
    '/data/:collection/:record': `/data/orders/${500_000 * size}`,
    '/data/:collection/:record/edit': `/data/orders/${500_000 * size}/edit`,
    '/meanings/:collection': '/meanings/orders',
    '/meanings/:collection/fields/:field': '/meanings/orders/fields/status',
    '/meanings/:collection/new-metric': '/meanings/orders/new-metric',
    '/meanings/:collection/metrics/:metric': '/meanings/orders/metrics/revenue',
    '/meanings/:collection/new-segment': '/meanings/orders/new-segment',
    '/meanings/:collection/segments/:segment': '/meanings/orders/segments/paid',
    '/create/:collection': '/create/orders',
    '/act/:collection/:action': '/act/orders/Print%20labels?record=1',
    '/workflows/:id': `/workflows/${workflow.id}`,
    '/workflows/:id/edit': `/workflows/${workflow.id}/edit`,
    '/workflows/:id/edit/json': `/workflows/${workflow.id}/edit/json`,
    '/workflows/:id/add': `/workflows/${workflow.id}/add?type=condition`,
    '/workflows/:id/steps/:step': `/workflows/${workflow.id}/steps/set`,
    '/workflows/:id/try': `/workflows/${workflow.id}/try?record=1`,
    '/workflows/:id/starts/new': `/workflows/${workflow.id}/starts/new?kind=schedule`,
    '/workflows/:id/starts/:rule': `/workflows/${workflow.id}/starts/${rule.id}`,
    '/workflows/:id/versions/:version': `/workflows/${workflow.id}/versions/1`,
    '/runs/:id': `/runs/${run}`,
    '/runs/:id/live': `/runs/${run}/live`,
  };
}
