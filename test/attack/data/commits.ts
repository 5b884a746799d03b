// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts of the source
// Faults around COMMIT: every write has a log entry, and no entry or answer reports a wrong outcome.
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { systemClock } from '../../../src/core/clock.ts';
import { loadSqliteDriver } from '../../../src/core/sqlite.ts';
import type { Fate } from '../../app/wire.ts';
import { askSql } from '../../sql/schemas.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import { feel, isHeldUp } from '../standstill.ts';
import type { Target } from '../target.ts';
import { fresh } from './shop.ts';

const things = ['CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL)'];
const plain: Place = { name: 'things', tables: () => things };
const wired: Place = { ...plain, name: 'things over a wire', isWired: true, env: { SERVICE_QUERY_SECONDS: '2' } };

async function outcomes(target: Target, action: string): Promise<readonly string[]> {
  await systemClock.sleep(500);
  const storage = { dialect: 'sqlite', url: target.storage, drop: async () => undefined } as const;
  const rows = await askSql(storage, `SELECT outcome FROM activity_logs WHERE action = '${action}' ORDER BY id`);
  return rows.map(({ outcome }) => String(outcome));
}

/** COMMIT is done, and its answer is lost. */
const loseCommit = (fate: Fate, title: string): Attack => ({
  id: `data-5-${fate.replace(' ', '-')}`,
  finding: 'data 5',
  title,
  on: ['mariadb', 'postgres'],
  place: wired,
  async attack(target) {
    const attacker = await target.person();
    const id = fresh();
    await attacker.call('list', { collectionName: 'things' });
    target.wire!.strike(fate);
    const answer = await attacker.call('create', { collectionName: 'things', attributes: { id, name: 'new' } });
    target.wire!.mend();
    const isDone = (await target.rows(`SELECT id FROM things WHERE id = ${id}`)).length > 0;
    const logged = (await outcomes(target, 'create')).at(-1);
    const saysFailed = /^(SOURCE_UNAVAILABLE|TIMED_OUT|INTERNAL)/.test(String(answer)) || logged === 'failed';
    return verdict(isDone && saysFailed, { isDone, answer, logged });
  },
  protection: [
    {
      file: 'src/agent/sources/sql/transaction.ts',
      text: '    if (!pendingCommit) throw error;\n',
      into: '    if (pendingCommit || !pendingCommit) throw error;\n',
    },
  ],
});

const limitFiles = ({ pid }: Target, bytes: number | 'unlimited') =>
  execFileSync('/usr/bin/prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);

function fillStorage(target: Target, room: number): void {
  const file = `${target.storage.slice('sqlite:'.length)}-wal`;
  limitFiles(target, (existsSync(file) ? statSync(file).size : 0) + room);
}

export const commitAttacks: readonly Attack[] = [
  loseCommit('not told', 'a write whose COMMIT was done and not answered is reported and logged as failed'),
  loseCommit('silent', 'a write whose COMMIT hangs is reported and logged as stopped in time'),
  {
    id: 'data-4-full-disk',
    finding: 'data 4',
    title: 'on a full disk of the storage creates are made and acknowledged, and none is in the log (CWE-778)',
    on: ['sqlite'],
    place: plain,
    alone: true,
    async attack(target) {
      const attacker = await target.person();
      fillStorage(target, 200_000);
      const answers: unknown[] = [];
      for (let id = 1; id <= 60; id++)
        answers.push(await attacker.call('create', { collectionName: 'things', attributes: { id, name: 'anvil' } }));
      limitFiles(target, 'unlimited');
      const [made] = await target.rows('SELECT count(*) FROM things');
      const logged = (await outcomes(target, 'create')).filter((one) => one !== 'failed').length;
      return verdict(Number(made) > logged, { made, logged, last: answers.at(-1) });
    },
    protection: [
      {
        file: 'src/store/audit/activity-statements.ts',
        text: 'mark.all(valuesOf(row))[0] as',
        into: '(mark as never as { get(values: readonly unknown[]): unknown }).get(valuesOf(row)) as',
      },
    ],
  },
  {
    id: 'data-low-full-disk-is-ready',
    finding: 'data low',
    title: 'a server whose storage is full says that it is ready',
    on: ['sqlite'],
    place: plain,
    alone: true,
    async attack(target) {
      const attacker = await target.person();
      fillStorage(target, 200_000);
      const create = (id: number) =>
        attacker.call('create', { collectionName: 'things', attributes: { id, name: 'x' } });
      for (let id = 1; id <= 60 && typeof (await create(id)) !== 'string'; id++);
      const { status } = await fetch(`${target.origin}/readyz`);
      limitFiles(target, 'unlimited');
      return verdict(status === 200, { status });
    },
    protection: [{ file: 'src/store/open.ts', text: '      await requireWritable();\n', into: '' }],
  },
  {
    id: 'data-low-locked-storage',
    isSlow: true,
    finding: 'data low',
    title: 'a storage that another process holds makes the event loop stand still',
    on: ['sqlite'],
    place: plain,
    async attack(target) {
      const attacker = await target.person();
      await attacker.call('list', { collectionName: 'things' });
      const { driver: Database } = loadSqliteDriver();
      const other = new Database(target.storage.slice('sqlite:'.length));
      other.pragma('busy_timeout = 2000');
      other.exec('begin immediate');
      const honest = async () => ((await fetch(`${target.origin}/healthz`)).ok ? {} : 'not ok');
      const create = () =>
        attacker.call('create', { collectionName: 'things', attributes: { id: fresh(), name: 'x' } });
      const felt = await feel(target, () => Promise.all([create(), create(), create()]), { honest, mostMs: 5000 });
      other.exec('rollback');
      other.close();
      return verdict(isHeldUp(felt), felt);
    },
    protection: [
      {
        file: 'src/store/database/database.ts',
        text: '  connection.pragma(`busy_timeout = ${BUSY_TURN_MS}`);\n',
        into: '',
      },
    ],
  },
  {
    id: 'data-low-locked-database',
    finding: 'data low',
    title: 'while another process holds the served file, lists are INTERNAL',
    on: ['sqlite'],
    place: plain,
    async attack(target) {
      const attacker = await target.person();
      const { driver: Database } = loadSqliteDriver();
      const other = new Database(target.database.url.slice('sqlite:'.length));
      other.pragma('busy_timeout = 2000');
      other.exec('begin exclusive');
      const answer = await attacker.call('list', { collectionName: 'things' });
      other.exec('rollback');
      other.close();
      return verdict(/^INTERNAL/.test(String(answer)), { answer });
    },
    protection: [
      { file: 'src/agent/sources/sql/failures.ts', text: "  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'busy'],\n", into: '' },
      { file: 'src/agent/sources/sql/failures.ts', text: "  [/is locked/, 'busy'],\n", into: '' },
    ],
  },
];
