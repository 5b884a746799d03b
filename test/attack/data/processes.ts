// Two servers on one storage, and a database server that ends the connections of one of them.
import mysql from 'mysql2/promise';
import pg from 'pg';
import { systemClock } from '../../../src/core/clock.ts';
import { askSql } from '../../sql/schemas.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import type { Caller, Target } from '../target.ts';
import { fresh, shop } from './shop.ts';

const things: Place = {
  name: 'things whose connections are ended',
  tables: () => ['CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)'],
};

/** A connection of an operator that can lock rows and end all other connections to the database. */
interface Operator {
  run(sql: string): Promise<void>;
  endOthers(): Promise<number>;
  leave(): Promise<void>;
}

async function openOperator({ dialect, database }: Target): Promise<Operator> {
  if (dialect === 'postgres') {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const others =
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    return {
      run: async (sql) => void (await client.query(sql)),
      endOthers: async () => (await client.query(others)).rowCount ?? 0,
      leave: () => client.end(),
    };
  }
  const connection = await mysql.createConnection(database.url);
  const others = 'SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()';
  return {
    run: async (sql) => void (await connection.query(sql)),
    async endOthers() {
      const [rows] = await connection.query(others);
      const ids = (rows as { id: number | string }[]).map(({ id }) => Number(id));
      // Connections that have closed in the meantime count too.
      for (const id of ids) await connection.query(`KILL ${id}`).catch(() => undefined);
      return ids.length;
    },
    leave: () => connection.end(),
  };
}

/** The logged outcome of each updated record. */
async function loggedOutcomes({ storage }: Target): Promise<ReadonlyMap<number, string>> {
  const kept = { dialect: 'sqlite', url: storage, drop: async () => undefined } as const;
  const rows = await askSql(kept, "SELECT outcome, record_ids FROM activity_logs WHERE action = 'update' ORDER BY id");
  return new Map(rows.map(({ outcome, record_ids }) => [Number(JSON.parse(`${record_ids}`)[0]), String(outcome)]));
}

/** Every write that contradicts its answer or its log entry. */
function findLies(
  acknowledged: ReadonlySet<number>,
  written: ReadonlySet<number>,
  logged: ReadonlyMap<number, string>,
): string[] {
  const lies: string[] = [];
  for (const id of acknowledged) {
    if (!written.has(id)) lies.push(`${id} was acknowledged and is not there`);
    if (logged.get(id) !== 'completed') lies.push(`${id} was acknowledged, the log says ${logged.get(id)}`);
  }
  for (const id of written) if (!logged.has(id)) lies.push(`${id} has no entry`);
  for (const [id, outcome] of logged) {
    if (outcome === 'completed' && !written.has(id)) lies.push(`${id} is logged as done`);
    if (outcome === 'failed' && written.has(id)) lies.push(`${id} is logged as failed`);
  }
  return lies;
}

const change = (id: number) => ({ collectionName: 'things', recordId: id, attributes: { name: 'new' } });
const isDone = (answer: unknown): boolean => typeof answer === 'object';

export const processAttacks: readonly Attack[] = [
  {
    id: 'held-disabled-at-the-other-server',
    finding: 'data held',
    title: 'who is disabled at one server goes on at another one of the same storage',
    place: shop,
    isSlow: true,
    async attack(target) {
      const attacker = await target.person();
      const twin = (await target.twin()).caller(attacker.token);
      const before = await twin.call('list', { collectionName: 'tags' });
      const visit = await (await target.person({ level: 'admin' })).visit(`/people/${attacker.id}`);
      const { url } = await visit.press('disable');
      const after = await twin.call('list', { collectionName: 'tags' });
      const isDisabled = (await target.store.identity.findUser(attacker.id))?.disabled;
      if (!isDone(before) || !isDisabled) throw new Error(`nobody was disabled: ${url} ${JSON.stringify(before)}`);
      return verdict(isDone(after), { after });
    },
    protection: [
      {
        file: 'src/store/versions.ts',
        text: 'if (versions && now === lastDataVersion) return versions;',
        into: 'if (versions) return versions;',
      },
    ],
  },
  {
    id: 'held-key-at-two-servers',
    finding: 'data held',
    title: 'repeats at two servers at once with one idempotency key make more than one record',
    place: shop,
    isSlow: true,
    async attack(target) {
      const attacker = await target.person();
      const twin = (await target.twin()).caller(attacker.token);
      const label = `at both ${fresh()}`;
      const call = { collectionName: 'orders', attributes: { label }, idempotencyKey: label };
      const callers: readonly Caller[] = Array.from({ length: 20 }, (_, at) => (at % 2 ? attacker : twin));
      const answers = await Promise.all(callers.map((one) => one.call('create', call)));
      const [count] = await target.rows(`SELECT count(*) FROM orders WHERE label = '${label}'`);
      return verdict(count !== '1', { count, answered: answers.filter(isDone).length });
    },
    protection: [
      {
        file: 'src/store/approvals/idempotency.ts',
        text: "if (existing.attempt === row.attempt) return { state: 'mine'",
        into: "if (existing.attempt) return { state: 'mine'",
      },
    ],
  },
  {
    id: 'held-connections-ended-under-writers',
    finding: 'data held',
    title: 'a database server that ends its connections leaves writes of which the caller or the log is told otherwise',
    on: ['mariadb', 'postgres'],
    place: things,
    isSlow: true,
    async attack(target) {
      const attacker = await target.person();
      const ids = Array.from({ length: 120 }, () => fresh());
      await target.sql(`INSERT INTO things (id, name) VALUES ${ids.map((id) => `(${id}, 'old')`).join(', ')}`);
      const operator = await openOperator(target);
      // Calls that reach a locked row wait in the middle of their transaction.
      const held = ids.filter((_, at) => at % 20 === 0);
      const acknowledged = new Set<number>();
      let refused = 0;
      const left = [...ids];
      const write = async (): Promise<void> => {
        for (let id = left.pop(); id !== undefined; id = left.pop()) {
          if (isDone(await attacker.call('update', change(id)).catch(() => undefined))) acknowledged.add(id);
          else refused++;
        }
      };
      await operator.run('BEGIN');
      await operator.run(`SELECT id FROM things WHERE id IN (${held}) FOR UPDATE`);
      const writers = Promise.all(Array.from({ length: 6 }, write)).then(() => 'over');
      let ended = 0;
      while ((await Promise.race([writers, systemClock.sleep(100)])) !== 'over') ended += await operator.endOthers();
      await operator.run('ROLLBACK');
      await operator.leave();
      const again = await attacker.call('list', { collectionName: 'things', pagination: { size: 1 } });
      await systemClock.sleep(1000);
      const rows = await target.rows("SELECT id FROM things WHERE name = 'new'");
      const lies = findLies(acknowledged, new Set(rows.map(Number)), await loggedOutcomes(target));
      if (refused === 0) throw new Error('no connection was ended in the middle of a write');
      const seen = { acknowledged: acknowledged.size, refused, ended, lies: lies.slice(0, 3) };
      return verdict(lies.length > 0 || !isDone(again), seen);
    },
    protection: [
      {
        file: 'src/store/audit/activity.ts',
        text: "if (code === undefined) return { outcome: 'completed' };",
        into: "if (code === undefined || code === 'SOURCE_UNAVAILABLE') return { outcome: 'completed' };",
      },
    ],
  },
  {
    id: 'held-idle-connections-ended',
    finding: 'data held',
    title: 'a database server that ends its idle connections ends the process',
    on: ['postgres'],
    place: { ...things, name: 'things whose idle connections are ended' },
    async attack(target) {
      const attacker = await target.person();
      const list = () => attacker.call('list', { collectionName: 'things' }).catch(String);
      await Promise.all(Array.from({ length: 6 }, list));
      const operator = await openOperator(target);
      const ended = await operator.endOthers();
      await operator.leave();
      await systemClock.sleep(300);
      const after = await list();
      if (ended === 0) throw new Error('there was no connection');
      return verdict(!isDone(after), { ended, after });
    },
    protection: [
      { file: 'src/agent/sources/sql/postgres/driver.ts', text: "  pool.on('error', () => undefined);\n", into: '' },
    ],
  },
];
