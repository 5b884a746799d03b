// The whole server over a small shop. The rows are read with plain SQL, and restored after each write.
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import type { TestServer as Maker, TestDatabase } from '../databases.ts';
import type { Account } from '../oauth/flow.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { startServer, type TestServer } from '../server.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { addAction, addRelations } from './code.ts';
import type { Policy } from './oracle.ts';
import type { Outside } from './outside.ts';

const tables = [
  'CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL)',
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, label VARCHAR(40) NOT NULL, margin INTEGER, note VARCHAR(40), customer_id INTEGER REFERENCES customers(id))',
  'CREATE TABLE order_lines (id INTEGER PRIMARY KEY, order_id INTEGER, quantity INTEGER NOT NULL, FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE CASCADE)',
  'CREATE TABLE tags (id INTEGER PRIMARY KEY, word VARCHAR(40) NOT NULL)',
  'CREATE TABLE order_tag (order_id INTEGER NOT NULL REFERENCES orders(id), tag_id INTEGER NOT NULL REFERENCES tags(id), PRIMARY KEY (order_id, tag_id))',
  'CREATE TABLE remarks (id INTEGER PRIMARY KEY, body VARCHAR(40) NOT NULL, about_id INTEGER, about_type VARCHAR(20))',
];

const rows: Readonly<Record<string, readonly string[]>> = {
  customers: ["1, 'Ada'", "2, 'Bo'"],
  orders: ["1, 'boots', 7317, NULL, 1", "2, 'hats', 12, NULL, 2", "3, 'socks', 13, NULL, NULL"],
  order_lines: ['1, 1, 8842', '2, 2, 15'],
  tags: ["1, 'new'", "2, 'old'"],
  order_tag: ['2, 1'],
  remarks: ["1, 'nice', 1, 'order'", "2, 'kind', 1, 'customer'"],
};

const names = Object.keys(rows);
const fill = names.flatMap((name) => rows[name]!.map((row) => `INSERT INTO ${name} VALUES (${row})`));
const empty = names.toReversed().map((name) => `DELETE FROM ${name}`);

export interface World extends TestServer {
  readonly clerk: Account;
  readonly clerkId: number;
  /** A workflow that reads the record of its run. */
  readonly workflowId: string;
  /** The external services of workflow steps, if any. */
  readonly outside: Outside | undefined;
  /** Runs before each statement that lists orders. */
  beforeList(run: () => Promise<void>): void;
  /** Resolves when the last run has ended. */
  runsEnded(): Promise<void>;
  /** An ordinary application token of the clerk. */
  tokenOf(scopes: readonly string[]): Promise<string>;
  /** An expired application token. */
  expiredTokenOf(scopes: readonly string[]): Promise<string>;
  revoke(secret: string): Promise<void>;
  /** Closes pending approvals, because a user can have only a limited number. */
  forget(): Promise<void>;
  /** Applies the policy, and resets all other rights. */
  apply(policy: Policy): Promise<void>;
  /** Rows added (`+`) and removed (`-`) since the start, each with its table. Restores them. */
  changes(): Promise<string[]>;
  /** Entries of the activity log since the last call, oldest first. */
  logged(): Promise<readonly ActivityEntry[]>;
}

export async function openWorld(
  maker: Maker,
  atEnd: (end: () => Promise<void>) => void,
  env: Readonly<Record<string, string>> = {},
  outside?: Outside,
): Promise<World> {
  const database = await maker.create();
  atEnd(() => database.drop());
  await runSql(database, [...tables, ...fill]);
  let later: (() => Promise<void>) | undefined;
  const server = await startServer({
    database: database.url,
    env: {
      SERVICE_AGENT_ORIGINS: frontOrigin,
      SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
      SERVICE_REMOTE_HOSTS: '127.0.0.1',
      ...env,
    },
    app: {
      customize(agent) {
        customize(agent);
        if (outside) agent.addAi(outside.provider);
        agent.customizeCollection('orders', (orders) => orders.addHook('Before', 'List', () => later?.()));
      },
    },
  });
  atEnd(() => server.stop());
  const { permissions, identity, tokens, activity } = server.store;
  const clerk = await server.addUser({ email: 'kim@example.test', role: 'Clerk', level: 'editor' });
  const { id: clerkId } = (await identity.findUserByEmail(clerk.email))!;
  const { team } = (await identity.findUserByEmail(clerk.email))!;
  const { renderingId } = (await permissions.caller(clerkId))!;
  const look = { name: 'look', collection: 'orders', steps: [{ id: 'it', type: 'read-record', fields: ['label'] }] };
  const { id: workflowId } = await server.store.workflows.publish({
    ...{
      renderingId,
      name: 'look',
      collection: 'orders',
      definition: JSON.stringify(look),
      concurrency: null,
      by: clerkId,
    },
  });
  const { remotes } = server.store;
  const till = { name: 'till', signIn: 'none', addedBy: clerkId } as const;
  const remoteId = outside && (await remotes.add({ ...till, url: outside.remote.url })).id;
  const before = await snapshot(database);
  const scoped = new Set<string>();
  let applied: string | undefined;
  let seen = 0;
  let last = 0;
  const idOfToken = new Map<string, number>();
  async function tokenOf(scopes: readonly string[], more: { readonly expiresAt?: number } = {}): Promise<string> {
    const made = await tokens.create({ userId: clerkId, name: `t${++last}`, scopes: [...scopes], ...more });
    idOfToken.set(made.secret, made.token.id);
    return made.secret;
  }
  const expired = new Map<string, Promise<string>>();
  /** The expiry must be in the future at creation, even on a busy machine. */
  async function tokenThatExpires(scopes: readonly string[]): Promise<string> {
    const expiresAt = Date.now() + 2000;
    const secret = await tokenOf(scopes, { expiresAt });
    await systemClock.sleep(expiresAt + 1 - Date.now());
    return secret;
  }
  return {
    ...server,
    ...{ clerk, clerkId, workflowId, outside },
    beforeList(run) {
      later = run;
    },
    async runsEnded() {
      const isOver = async () => (await server.store.runs.list({ workflowId, renderingId, limit: 1 }))[0]?.finishedAt;
      for (let at = 0; at < 2000 && !(await isOver()); at++) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    tokenOf,
    expiredTokenOf(scopes) {
      const key = scopes.join(' ');
      const made = expired.get(key) ?? tokenThatExpires(scopes);
      expired.set(key, made);
      return made;
    },
    revoke: async (secret) => void (await tokens.revoke(idOfToken.get(secret)!)),
    async forget() {
      for (const { id } of await server.store.approvals.openOfUser(clerkId)) await server.store.approvals.overtake(id);
    },
    async apply({ role, scope, credential, remote }) {
      const wanted = JSON.stringify([role, scope, credential === 'disabled', remote]);
      if (wanted === applied) return;
      applied = wanted;
      await identity.setDisabled(clerkId, credential === 'disabled');
      await permissions.setRole('Clerk', { '*': all, ...role });
      for (const collection of scoped) await permissions.setScope(team, collection, null);
      scoped.clear();
      if (remoteId !== undefined) await remotes.setTools(remoteId, remote ?? null, clerkId);
      if (!scope) return;
      scoped.add(scope.collection);
      await permissions.setScope(team, scope.collection, scope.filter);
    },
    async changes() {
      const after = await snapshot(database);
      const changed = [
        ...before.filter((row) => !after.includes(row)).map((row) => `- ${row}`),
        ...after.filter((row) => !before.includes(row)).map((row) => `+ ${row}`),
      ];
      if (changed.length > 0) await runSql(database, [...empty, ...fill]);
      return changed.sort();
    },
    async logged() {
      await activity.flush();
      const entries = (await activity.list({ limit: 20 })).filter(({ id }) => id > seen).reverse();
      seen = entries.at(-1)?.id ?? seen;
      return entries;
    },
  };
}

export const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true } as const;

const columns: Readonly<Record<string, readonly string[]>> = {
  customers: ['id', 'name'],
  orders: ['id', 'label', 'margin', 'note', 'customer_id'],
  order_lines: ['id', 'order_id', 'quantity'],
  tags: ['id', 'word'],
  order_tag: ['order_id', 'tag_id'],
  remarks: ['id', 'body', 'about_id', 'about_type'],
};

/** Reads all tables in one statement: a connection per table takes longer than most calls. */
const everyRow = names
  .map((name) => {
    const cells = [0, 1, 2, 3, 4].map((at) => `CAST(${columns[name]![at] ?? 'NULL'} AS CHAR(40)) AS c${at}`);
    return `SELECT '${name}' AS place, ${cells.join(', ')} FROM ${name}`;
  })
  .join(' UNION ALL ');

async function snapshot(database: TestDatabase): Promise<string[]> {
  const found = (await askSql(database, everyRow)) as Record<string, string | null>[];
  return found
    .map(({ place, ...cells }) => {
      const values = columns[place!]!.map((_, at) => cells[`c${at}`]?.trimEnd() ?? '');
      return `${place} ${values.join(' ')}`;
    })
    .sort();
}

function customize(agent: HeadlessAgent): void {
  addRelations(agent);
  addAction(agent);
}
