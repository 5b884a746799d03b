// A relation to one of several records for a key always leads to the one with the lowest key that the caller may see.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest, ListRequest } from '../../src/agent/requests.ts';
import type { Access } from '../../src/core/caller.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { ask, callers, closeAll, fromOrders, fromPeople, leaf, narrow, open, places } from './lowest-tables.ts';
import { accessOf } from './shop.ts';

type Asked = Omit<ListRequest, 'limit'>;
const lists: readonly (readonly [what: string, asked: Asked, sql: string])[] = [
  ['fields of one', { collection: 'people', fields: ['id', 'card:id', 'card:label'] }, `select p.id, c.id, c.label ${fromPeople} order by p.id`],
  ['fields of one with a composite key', { collection: 'people', fields: ['id', 'seat:row', 'seat:place', 'seat:tag'] }, `select p.id, s."row", s.place, s.tag ${fromPeople} order by p.id`],
  ['fields of one without a key', { collection: 'people', fields: ['id', 'score:points', 'score:note'] }, `select p.id, v.points, v.note ${fromPeople} order by p.id`],
  ['fields behind two', { collection: 'orders', fields: ['id', 'person:name', 'person:card:label'] }, `select o.id, p.name, c.label ${fromOrders} order by o.id`],
  ['computed and imported fields of one', { collection: 'people', fields: ['id', 'badge', 'amount'] }, `select p.id, p.name || ' ' || coalesce(c.label, '-'), c.amount ${fromPeople} order by p.id`],
  ['a value of one', { collection: 'people', fields: ['id'], filter: leaf('card:label', 'Equal', 'gold') }, `select p.id ${fromPeople} where c.label = 'gold' order by p.id`],
  ['no value of one', { collection: 'people', fields: ['id'], filter: leaf('card:label', 'Missing') }, `select p.id ${fromPeople} where c.label is null order by p.id`],
  ['another value of one', { collection: 'people', fields: ['id'], filter: leaf('card:label', 'NotEqual', 'gold') }, `select p.id ${fromPeople} where c.label <> 'gold' or c.label is null order by p.id`],
  ['a value of one without a key', { collection: 'people', fields: ['id'], filter: leaf('score:note', 'Equal', 'a') }, `select p.id ${fromPeople} where v.note = 'a' order by p.id`],
  ['a value behind two', { collection: 'orders', fields: ['id'], filter: leaf('person:card:label', 'Missing') }, `select o.id ${fromOrders} where c.label is null order by o.id`],
  ['some', { collection: 'people', fields: ['id'], filter: { some: 'card', where: leaf('amount', 'GreaterThan', 4) } as PlainFilter }, `select p.id ${fromPeople} where c.amount > 4 order by p.id`],
  ['none', { collection: 'people', fields: ['id'], filter: { none: 'seat' } as PlainFilter }, `select p.id ${fromPeople} where s.place is null order by p.id`],
  ['every', { collection: 'people', fields: ['id'], filter: { every: 'card', where: leaf('amount', 'GreaterThan', 4) } as PlainFilter }, `select p.id ${fromPeople} where c.amount > 4 or c.id is null order by p.id`],
  ['some of a to-many relation, with the relation back', { collection: 'people', fields: ['id'], filter: { some: 'orders', where: leaf('person:card:label', 'Present') } as PlainFilter },
    `select p.id from seen_people p where p.code in (select o.code ${fromOrders} where c.label is not null) order by p.id`],
  ['an order by one', { collection: 'people', fields: ['id', 'card:label'], sort: [{ field: 'card:label', ascending: false }] }, `select p.id, c.label ${fromPeople} order by c.label desc nulls last, p.id desc`],
  ['an order by a key of one', { collection: 'people', fields: ['id'], sort: [{ field: 'card:id' }] }, `select p.id ${fromPeople} order by c.id nulls first, p.id`],
  ['a segment', { collection: 'people', fields: ['id'], segment: 'golden' }, `select p.id ${fromPeople} where c.label = 'gold' order by p.id`],
  ['a search', { collection: 'people', fields: ['id'], search: 'red', searchExtended: true }, `select p.id ${fromPeople} where c.label like '%red%' order by p.id`],
]; // biome-ignore format: one question a line

const groups: readonly (readonly [what: string, asked: Omit<AggregateRequest, 'limit'>, sql: string])[] = [
  ['records by one', { collection: 'people', operation: 'Count', groups: [{ field: 'card:label' }], order: 'groups' }, `select c.label, count(*) ${fromPeople} group by c.label order by c.label nulls first`],
  ['a sum of one', { collection: 'people', operation: 'Sum', field: 'card:amount', groups: [{ field: 'seen' }], order: 'groups' }, `select p.seen, sum(c.amount) ${fromPeople} group by p.seen order by p.seen`],
  ['a sum by one without a key', { collection: 'people', operation: 'Sum', field: 'id', groups: [{ field: 'score:note' }], order: 'groups' }, `select v.note, sum(p.id) ${fromPeople} group by v.note order by v.note nulls first`],
  ['a sum by a field behind two', { collection: 'orders', operation: 'Sum', field: 'total', groups: [{ field: 'person:card:label' }], order: 'groups' }, `select c.label, sum(o.total) ${fromOrders} group by c.label order by c.label nulls first`],
]; // biome-ignore format: one question a line

async function pages(engine: Engine, access: Access, asked: Asked, most: number): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await engine.list(access, { ...asked, limit: 2, ...(cursor && { cursor }) });
    rows.push(...page.rows);
    cursor = page.hasMore ? page.cursorAfter(page.rows.length - 1) : undefined;
  } while (cursor && rows.length <= most);
  return rows;
}

describe.each(places)('in %s', (place, sources) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await open(await sources());
  });
  afterAll(closeAll);

  test.each(lists)('a list agrees with SQL: %s', async (_, asked, sql) => {
    for (const [who, rights] of callers) {
      const expected = ask(rights, sql);
      const access = accessOf(rights);
      const answer = await engine.list(access, { ...asked, limit: 50 });
      const { fields, sort, ...counted } = asked;
      expect([answer.rows, await engine.count(access, counted)], who).toEqual([expected, expected.length]);
      if (sort) expect(await pages(engine, access, asked, expected.length), who).toEqual(expected);
    }
  });

  test.each(groups)('an aggregate agrees with SQL: %s', async (_, asked, sql) => {
    for (const [who, rights] of callers)
      expect((await engine.aggregate(accessOf(rights), { ...asked, limit: 50 })).rows, who).toEqual(ask(rights, sql));
  });

  test('the plan shows which record the relation leads to', async () => {
    const asked = { collection: 'people', fields: ['card:label'], filter: leaf('seat:tag', 'Missing'), limit: 5 };
    const plan = await engine.explain(accessOf(narrow), asked);
    await expect(plan).toMatchFileSnapshot(`plans/lowest-key.${place.replaceAll(' ', '-')}.plan`);
  });
});
