// A sort by a related record lists every record: also one whose foreign key leads nowhere, and one whose related record
// is outside the row scope.
import { describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../../src/agent/agent.ts';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { type Dialect, servers } from '../../databases.ts';
import { accessOf, type Rights } from '../shop.ts';
import { openMeter } from './measure.ts';

/** An orphan by the means of each database: a constraint that was not validated, or rows written with checks off. */
const orphan: { readonly [D in Dialect]: readonly string[] } = {
  sqlite: ['pragma foreign_keys = off', 'insert into things values (3, 99)'],
  mariadb: ['set foreign_key_checks = 0; insert into things values (3, 99)'],
  postgres: [
    'alter table things drop constraint things_owner_id_fkey',
    'insert into things values (3, 99)',
    'alter table things add constraint things_owner_id_fkey foreign key (owner_id) references owners (id) not valid',
  ],
};

const integer = { sqlite: 'integer', mariadb: 'int', postgres: 'integer' } as const;

describe.each(servers)('$dialect', ({ dialect, create }) => {
  async function listings(
    {
      setup = [],
      customize = () => {},
      of: { collection, field } = { collection: 'things', field: 'owner:name' },
    }: {
      setup?: readonly string[];
      customize?: (agent: HeadlessAgent) => void;
      of?: { collection: string; field: string };
    },
    rights: Rights = {},
  ) {
    const database = await create();
    const meter = await openMeter(dialect, database.url);
    const owner = `owner_id ${integer[dialect]} not null`;
    for (const sql of [
      `create table owners (id ${integer[dialect]} primary key, name varchar(20) not null)`,
      `create table things (id ${integer[dialect]} primary key, ${owner}, foreign key (owner_id) references owners (id))`,
      `insert into owners values (1, 'Ada'), (2, 'Bo')`,
      `insert into things values (1, 1), (2, 2), (4, 1)`,
      ...setup,
    ])
      await meter.run(sql);
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, { clock: systemClock, observe: () => {} }),
    );
    customize(agent);
    try {
      const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
      const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
      try {
        const access = accessOf(rights);
        const sorted = async (ascending: boolean) => {
          const ids: unknown[] = [];
          for (let cursor: string | undefined; ; ) {
            const sort = [{ field, ascending }];
            const request = { collection, fields: ['id'], sort, limit: 1, ...(cursor && { cursor }) };
            const page = await engine.list(access, request);
            ids.push(...page.rows.flat());
            if (!page.hasMore) return ids;
            cursor = page.cursorAfter(0);
          }
        };
        const request = { collection, sort: [{ field }], limit: 5 };
        const text = await engine.explain(access, request);
        return {
          up: await sorted(true),
          down: await sorted(false),
          isInner: /(?<!left) join [`"]owners[`"]/.test(text),
        };
      } finally {
        await engine.close();
      }
    } finally {
      await meter.close();
      await database.drop();
    }
  }
  const trust = (agent: HeadlessAgent) =>
    void agent.customizeCollection('things', (things) => things.trustForeignKey('owner'));

  test('a record whose foreign key refers to a missing record is listed', async () => {
    expect(await listings({ setup: orphan[dialect] })).toEqual({
      up: [3, 1, 4, 2],
      down: [2, 4, 1, 3],
      isInner: false,
    });
  });

  test('a record whose related record is outside the row scope is listed, also if the foreign key is trusted', async () => {
    const scopes = { owners: { field: 'name', operator: 'NotEqual', value: 'Ada' } } as const;
    const expected = { up: [1, 4, 2], down: [2, 4, 1], isInner: false };
    expect(await listings({}, { scopes })).toEqual(expected);
    expect(await listings({ customize: trust }, { scopes })).toEqual(expected);
  });

  test('a record is listed if only a relation behind the scoped one could be an inner join', async () => {
    const setup = [
      `create table streets (id ${integer[dialect]} primary key, thing_id ${integer[dialect]} not null, foreign key (thing_id) references things (id))`,
      'insert into streets values (1, 1), (2, 2), (3, 4)',
    ];
    const customize = (agent: HeadlessAgent) => {
      trust(agent);
      agent.customizeCollection('streets', (streets) => streets.trustForeignKey('thing'));
    };
    const scopes = { things: { field: 'id', operator: 'NotEqual', value: 1 } } as const;
    const of = { collection: 'streets', field: 'thing:owner:name' };
    const expected = { up: [1, 3, 2], down: [2, 3, 1], isInner: false };
    expect(await listings({ setup, customize, of }, { scopes })).toEqual(expected);
  });

  test('only a validated constraint of PostgreSQL or trustForeignKey gives an inner join', async () => {
    const expected = { up: [1, 4, 2], down: [2, 4, 1] };
    expect(await listings({})).toEqual({ ...expected, isInner: dialect === 'postgres' });
    expect(await listings({ customize: trust })).toEqual({ ...expected, isInner: true });
  });

  test('a deferred constraint, row security and inheriting tables of PostgreSQL keep the left join', async () => {
    if (dialect !== 'postgres') return;
    const { isInner: deferred } = await listings({
      setup: ['alter table things alter constraint things_owner_id_fkey deferrable initially deferred'],
    });
    const { isInner: secured } = await listings({ setup: ['alter table owners enable row level security'] });
    const inherited = await listings({
      setup: ['create table more_things () inherits (things)', 'insert into more_things values (3, 99)'],
    });
    expect([deferred, secured, inherited.isInner, inherited.up]).toEqual([false, false, false, [3, 1, 4, 2]]);
  });

  test('trusting a nullable foreign key is refused', async () => {
    const failure = listings({
      setup: [
        `create table loans (id ${integer[dialect]} primary key, owner_id ${integer[dialect]}, foreign key (owner_id) references owners (id))`,
      ],
      customize: (agent) => void agent.customizeCollection('loans', (loans) => loans.trustForeignKey('owner')),
    });
    await expect(failure).rejects.toMatchObject({ code: 'CONFIGURATION' });
  });
});
