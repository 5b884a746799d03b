// Statements that cannot be stopped, and unbounded memory: one user attacks while another one works.
import { type Shape, shapes, tablesOf } from '../../app/stall/shapes.ts';
import { sessionToken } from '../../rest/front-end.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import { feel, isHeldUp, listOf } from '../standstill.ts';
import type { Target } from '../target.ts';

const texts: Place = {
  name: 'large texts',
  tables: (dialect) => [
    ...tablesOf(dialect),
    `create table heavy (id integer primary key, body ${dialect === 'mariadb' ? 'longtext' : 'text'})`,
    'insert into heavy select people.id, memos.body from people cross join memos where memos.id = 2 and people.id <= 80',
    'create table numbers (n integer not null primary key)',
    `insert into numbers (n) values ${Array.from({ length: 2000 }, (_, at) => `(${at})`).join(', ')}`,
    'create view slow as select a.n as id from numbers a cross join numbers b cross join numbers c where a.n + b.n * c.n = -1',
  ],
  env: { SERVICE_QUERY_SECONDS: '4', SERVICE_PAGE_SIZE_LIMIT: '1000' },
};

/** The process ends when it exceeds this memory limit. */
const small: Place = {
  ...texts,
  name: 'large texts, little memory',
  env: { ...texts.env, SERVICE_QUERY_SECONDS: '20', NODE_OPTIONS: '--max-old-space-size=120' },
};

/**
 * Four exports hold four times the 16 MB that they write, and for a moment what they read next, beside the 45 MB of the
 * server. Without the limit they hold four times 80 MB.
 */
const smallForExports: Place = {
  ...small,
  name: 'large texts, memory for four exports',
  env: { ...small.env, NODE_OPTIONS: '--max-old-space-size=160' },
};

const shapeNamed = (name: string): Shape => shapes.find((one) => one.name === name)!;

/** `filters` of the other user's list of people. */
async function attackWith(target: Target, shape: Pick<Shape, 'calls'>, filters?: object) {
  const [attacker, other] = [await target.person(), await target.person()];
  const honest = listOf(other, 'people', filters);
  await honest();
  const answers = new Set<string>();
  const attack = ([tool, args]: Shape['calls'][number]) =>
    attacker
      .call(tool, args)
      .catch(String)
      .then((answer) => answers.add(JSON.stringify(answer).slice(0, 80)));
  const felt = await feel(target, () => Promise.all(shape.calls.map(attack)), { honest, mostMs: 20_000 });
  return verdict(isHeldUp(felt), { ...felt, answers: [...answers] });
}

/** `atOnce` is how often its calls are sent at the same time: a quick machine is done with one of them too soon. */
const stall = (
  shape: string,
  {
    id,
    atOnce = 1,
    ...attack
  }: Pick<Attack, 'id' | 'finding' | 'title' | 'protection'> & Partial<Attack> & { readonly atOnce?: number },
): Attack => ({
  id,
  place: texts,
  ...attack,
  attack: (target) => {
    const { calls } = shapeNamed(shape);
    return attackWith(target, { calls: Array.from({ length: atOnce }, () => calls).flat() });
  },
});

const matchInWorkers = [
  {
    file: 'src/agent/sources/decide.ts',
    text: 'const MAX_WORK_IN_PROCESS = 10_000_000;',
    into: 'const MAX_WORK_IN_PROCESS = Infinity;',
  },
] as const;
const sqliteInChildren = [
  {
    file: 'src/agent/sources/sql/sqlite/driver.ts',
    text: 'if (!children || !inProcess) return prepareWhole(connection, prepared).all(values) as unknown[][];',
    into: 'if (values.length < 1_000_000) return prepareWhole(connection, prepared).all(values) as unknown[][];',
  },
] as const;

const attacks: readonly Attack[] = [
  stall('Match of many states over noise', {
    id: 'data-2-match-holds-the-process',
    finding: 'data 2',
    title: 'one Match over large texts holds the process for minutes (CWE-1333)',
    protection: matchInWorkers,
  }),
  stall('a long Like', {
    id: 'data-3-like-holds-the-process',
    finding: 'data 3',
    title: 'a long Like over a large cell holds the process where SQLite runs in it',
    on: ['sqlite'],
    protection: sqliteInChildren,
  }),
  stall('five hundred of IContains over cells of 1 MB', {
    id: 'data-3-icontains-holds-the-process',
    atOnce: 3,
    finding: 'data 3',
    title: 'five hundred of IContains over large cells hold the process where SQLite runs in it',
    on: ['sqlite'],
    protection: sqliteInChildren,
  }),
  {
    id: 'data-12-one-user-takes-the-pool',
    finding: 'data 12',
    title: 'thirty slow lists of one user take every connection to the database',
    place: texts,
    attack: (target) =>
      // SQLite compares texts in the processes that the attack tries to take. It reads a list by a key elsewhere.
      attackWith(
        target,
        { calls: Array.from({ length: 30 }, () => ['list', { collectionName: 'slow' }]) },
        { field: 'name', operator: 'IContains', value: 'person 7' },
      ),
    protection: [
      {
        file: 'src/agent/sources/sql/shares.ts',
        text: 'if (!share) return work();',
        into: 'if (!share || share.user >= 0) return work();',
      },
    ],
  },
  {
    id: 'data-13-large-cells-end-the-process',
    finding: 'data 13',
    title: 'four lists of eighty cells of 1 MB at once end a process for want of memory (CWE-770)',
    place: small,
    attack: (target) =>
      attackWith(target, {
        // From its second character on, a cell is read whole. The database cuts it otherwise.
        calls: Array.from({ length: 4 }, () => [
          'list',
          { collectionName: 'heavy', pagination: { size: 1000 }, cells: { body: { from: 1 } } },
        ]),
      }),
    protection: [
      {
        file: 'src/agent/sources/sql/answer-size.ts',
        text: 'export const MAX_ANSWER_BYTES = 16_000_000;',
        into: 'export const MAX_ANSWER_BYTES = 1e15;',
      },
    ],
  },
  {
    id: 'data-13-exports-of-large-cells',
    finding: 'data 13',
    title: 'four exports of eighty cells of 1 MB at once end a process for want of memory (CWE-770)',
    place: smallForExports,
    async attack(target) {
      const [attacker, other] = [await target.person(), await target.person()];
      const honest = listOf(other, 'people');
      await honest();
      const token = await sessionToken(target.apiUrl, attacker);
      const headers = { authorization: `Bearer ${token}` };
      const ends: string[] = [];
      const download = async () => {
        let bytes = 0;
        try {
          const response = await fetch(`${target.apiUrl}/heavy.csv?fields[heavy]=id,body`, { headers });
          for await (const part of response.body ?? []) bytes += part.length;
          ends.push(`${response.status}, ${Math.round(bytes / 1e6)} MB`);
        } catch (error) {
          ends.push((error as Error).message);
        }
      };
      const exports = () => Promise.all([download(), download(), download(), download()]);
      const felt = await feel(target, exports, { honest, mostMs: 20_000 });
      return verdict(isHeldUp(felt) || ends.some((end) => !end.startsWith('200')), { ...felt, ends });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/answer-size.ts',
        text: 'export const MAX_ANSWER_BYTES = 16_000_000;',
        into: 'export const MAX_ANSWER_BYTES = 1e15;',
      },
    ],
  },
  {
    id: 'data-13-the-same-name-190000-times',
    finding: 'data 13',
    title: 'one column named 190,000 times takes gigabytes',
    place: small,
    attack: (target) =>
      attackWith(target, {
        calls: Array.from({ length: 4 }, () => [
          'list',
          { collectionName: 'notes', fields: Array(190_000).fill('id'), pagination: { size: 300 } },
        ]),
      }),
    protection: [
      { file: 'src/mcp/input/arguments.ts', text: 'const MAX_FIELDS = 1000;', into: 'const MAX_FIELDS = 1e9;' },
      {
        file: 'src/mcp/input/arguments.ts',
        text: "[...new Set(value.filter((path) => path.trim() !== '').map((path) => resolveField(path, context)))]",
        into: 'value',
      },
      { file: 'src/agent/operations/list.ts', text: 'const FIELDS_LIMIT = 2000;', into: 'const FIELDS_LIMIT = 1e9;' },
      {
        file: 'src/agent/operations/list.ts',
        text: 'return [...new Map(named.map((each) => [each.name, each])).values()];',
        into: 'return named;',
      },
    ],
  },
  stall('two hundred spellings of a timezone', {
    id: 'data-low-spellings-of-a-timezone',
    finding: 'data low',
    title: 'each spelling of a time zone is worked out again, for 30 ms and more',
    protection: [
      {
        file: 'src/core/clock/timezone.ts',
        text: 'const folded = zone.toLowerCase();',
        into: 'const folded = zone;',
      },
      {
        file: 'src/core/clock/timezone.ts',
        text: "return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone;",
        into: "return new Intl.DateTimeFormat('en-US', { timeZone: zone }) && zone;",
      },
    ],
  }),
];

export const stallAttacks = attacks.map((attack) => ({ ...attack, isSlow: true }));
