// A read gives the same answer in the process and in a child, for random requests of the engine.
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../src/agent/engine.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Operator, PlainFilter } from '../../src/core/filter.ts';
import { servers } from '../databases.ts';
import { runSql, sqliteIsolates } from './schemas.ts';

const schema = [
  'create table groups (id integer primary key, code text unique collate nocase, rank integer)',
  `create table things (id integer primary key, group_id integer references groups (id), kind text, big bigint,
    size real, price decimal(10, 2), at datetime, day date, doc json, bytes blob, note text collate nocase)`,
  'create index things_kind on things (kind, at)',
  'create index things_group on things (group_id)',
  'create index things_big on things (big)',
  `insert into groups with recursive n (i) as (select 1 union all select i + 1 from n where i < 12)
    select i, case i % 5 when 0 then null else 'Code' || i end, i % 3 from n`,
  `insert into things with recursive n (i) as (select 1 union all select i + 1 from n where i < 400)
    select i, nullif(i % 13, 0), 'k' || i % 4,
      case i % 50 when 0 then 9007199254740993 + i when 1 then -9223372036854775808 when 2 then null else i % 9 end,
      case i % 40 when 0 then 9e999 when 1 then null when 2 then 1e300 when 3 then 9007199254740994 else i / 8.0 end,
      i * 1.25, '2024-01-' || substr('0' || (1 + i % 28), -2) || ' 10:00:0' || i % 10, '2024-02-' || substr('0' || (1 + i % 28), -2),
      case i % 30 when 0 then '{"n":' || (9007199254740993 + i) || '}' when 1 then null else '[1]' end,
      case i % 30 when 0 then x'00ff' when 1 then zeroblob(30000) end,
      case i % 60 when 0 then replace(hex(zeroblob(20000)), '00', 'é') when 1 then null else 'Note ' || i % 6 end from n`,
];

const values: Record<string, readonly unknown[]> = {
  id: [1, 7, 200, 400, 401],
  group_id: [1, 5, 12, 99],
  'group:rank': [0, 1, 2],
  kind: ['k0', 'k1', 'K1', 'none'],
  big: [1, 8, '9007199254741043', '-9223372036854775808', 9007199254740991],
  size: [1, 12.5, 1e300],
  price: [1.25, 100],
  at: ['2024-01-05T10:00:04.000Z', '2024-01-20T00:00:00.000Z'],
  day: ['2024-02-03', '2024-02-29'],
  note: ['Note 1', 'NOTE 2', ''],
};

const names = Object.keys(values);

const compares: readonly Operator[] = ['Equal', 'NotEqual', 'LessThan', 'GreaterThan', 'LessThanOrEqual'];

function requests(): fc.Arbitrary<ListRequest> {
  const field = fc.constantFrom(...names);
  const someOf = (name: string) => fc.constantFrom(...values[name]!);
  const leaf = field.chain(
    (name): fc.Arbitrary<PlainFilter> =>
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            field: fc.constant(name),
            operator: fc.constantFrom(...compares),
            value: someOf(name),
          }),
        },
        {
          weight: 2,
          arbitrary: fc.record({
            field: fc.constant(name),
            operator: fc.constantFrom<Operator>('In', 'NotIn'),
            value: fc.array(someOf(name), { maxLength: 3 }),
          }),
        },
        {
          weight: 1,
          arbitrary: fc.record({ field: fc.constant(name), operator: fc.constantFrom<Operator>('Missing', 'Present') }),
        },
      ) as fc.Arbitrary<PlainFilter>,
  );
  const filter = fc.oneof(
    leaf,
    fc.record({ aggregator: fc.constantFrom('And', 'Or'), conditions: fc.array(leaf, { minLength: 1, maxLength: 3 }) }),
    fc.record({ aggregator: fc.constant('Not'), conditions: fc.tuple(leaf) }),
  ) as fc.Arbitrary<PlainFilter>;
  return fc.record(
    {
      collection: fc.constant('things'),
      fields: fc.uniqueArray(fc.constantFrom(...names, 'doc', 'bytes'), { minLength: 1 }),
      filter,
      sort: fc.uniqueArray(fc.record({ field, ascending: fc.boolean() }), {
        maxLength: 2,
        selector: ({ field }) => field,
      }),
      limit: fc.constantFrom(1, 15, 200),
      skip: fc.constantFrom(0, 3, 350),
    },
    { requiredKeys: ['collection', 'fields', 'limit'] },
  ) as fc.Arbitrary<ListRequest>;
}

/** Each reading of the time is a second later: the first row of a statement is beyond the limits of the process. */
function hurried(): Clock {
  let now = 0;
  return { ...systemClock, monotonic: () => (now += 1000) };
}

test.runIf(sqliteIsolates)(
  'a read returns the same in the process and in a child process',
  async () => {
    const database = await servers[0]!.create();
    onTestFinished(() => database.drop());
    await runSql(database, schema);
    const open = async (clock: Clock) => {
      let children = 0;
      const observe = ({ type }: { readonly type: string }) => {
        if (type === 'source.isolated') children++;
      };
      const source = createSqlSource(database.url, { observe, clock });
      const options = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
      const engine = await createEngine({
        sources: [source],
        observe: () => undefined,
        clock: systemClock,
        limits: options,
      });
      onTestFinished(() => engine.close());
      return { engine, children: () => children };
    };
    const still = await open({ ...systemClock, monotonic: () => 0 });
    const other = await open(hurried());
    const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
    const counts = { process: 0, child: 0, rows: 0 };
    const answerOf = ({ engine }: typeof still, request: ListRequest) =>
      engine.list(access, request).then(({ columns, rows, hasMore }) => ({ columns, rows, hasMore }));
    await fc.assert(
      fc.asyncProperty(requests(), async (request) => {
        const before = still.children();
        const answer = await answerOf(still, request);
        expect(answer).toEqual(await answerOf(other, request));
        counts[still.children() === before ? 'process' : 'child']++;
        counts.rows += answer.rows.length;
      }),
      { numRuns: 400 },
    );
    // Most requests must compare the two, with rows.
    expect(other.children()).toBeGreaterThan(200);
    expect(counts.process).toBeGreaterThan(200);
    expect(counts.child).toBeGreaterThan(5);
    expect(counts.rows).toBeGreaterThan(1000);
  },
  180_000,
);

test.runIf(sqliteIsolates)('an empty list of related records needs no child to look for the record', async () => {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(database, [...schema, 'delete from things']);
  let children = 0;
  const source = createSqlSource(database.url, {
    observe: ({ type }) => {
      if (type === 'source.isolated') children++;
    },
    clock: { ...systemClock, monotonic: () => 0 },
  });
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
  const engine = await createEngine({ sources: [source], observe: () => undefined, clock: systemClock, limits });
  onTestFinished(() => engine.close());
  const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
  const list = (id: number) => engine.listRelated(access, { collection: 'groups', id, relation: 'things', limit: 5 });
  expect((await list(7)).rows).toEqual([]);
  await expect(list(99)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
  expect(children).toBe(0);
});
