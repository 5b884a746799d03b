// Writes with relations to one of several records for a key: results, refusals, and problems at start.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/agent/engine.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { servers } from '../databases.ts';
import {
  ask,
  cards,
  closeAll,
  fromPeople,
  inMemory,
  leaf,
  narrow,
  open,
  orders,
  people,
  places,
  relate,
  scores,
  seats,
  tables,
} from './lowest-tables.ts';
import { accessOf, type Rights } from './shop.ts';

describe.each(places.slice(0, 1 + servers.length))('writing in %s', (_, sources) => {
  let engine: Engine;
  const access = accessOf();
  beforeAll(async () => {
    engine = await open(await sources());
  });
  afterAll(closeAll);
  const refused = (problem: string) => expect.objectContaining({ message: expect.stringContaining(problem) });
  const itself = "leads to the first of several records of 'cards': update 'person_id' of 'cards' instead";

  test('writes apply filters and row scopes through the relation', async () => {
    const gold = leaf('card:label', 'Equal', 'gold');
    const wanted = ask(narrow, `select p.id ${fromPeople} where c.label = 'gold'`).flat();
    const answer = await engine.list(accessOf(narrow), {
      collection: 'people',
      filter: gold,
      fields: ['id'],
      limit: 9,
    });
    expect(answer.rows.flat()).toEqual(wanted);
    const deeper: Rights = { scopes: { people: gold } };
    const update = (ids: number[]) =>
      engine.update(accessOf(deeper), { collection: 'people', ids, values: { seen: 1 } });
    // Without a scope on cards, the first card of these people is not gold.
    await expect(update([1])).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    await expect(update([2])).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    const labelled: Rights = { scopes: { people: leaf('card:label', 'Equal', 'red') } };
    const change = { collection: 'people', ids: [1, 5], values: { seen: 1 } };
    expect((await engine.update(accessOf(labelled), change)).count).toBe(2);
    // After this write, the label no longer satisfies the scope.
    const card = { collection: 'cards', ids: [4], values: { label: 'blue' } };
    expect((await engine.update(access, card)).count).toBe(1);
    await expect(engine.update(accessOf(labelled), change)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    await engine.update(access, { ...card, values: { label: 'red' } });
    await engine.update(access, { ...change, ids: [1], values: { seen: 0 } });
  });

  test('a foreign key must refer to a record that the caller may see', async () => {
    const write = (code: string) =>
      engine.update(accessOf(narrow), { collection: 'orders', ids: [3], values: { code } });
    expect((await write('x')).count).toBe(1);
    await expect(write('z')).rejects.toMatchObject({ code: 'INVALID_RECORD' });
  });

  test('writes through the relation are refused', async () => {
    const person = { collection: 'people', ids: [1], values: { 'card:label': 'x' } };
    await expect(engine.update(access, person)).rejects.toEqual(
      refused("leads to the first of several records: write to 'cards' directly, by the id of the intended record"),
    );
    const order = { collection: 'orders', ids: [1], values: { person: { name: 'x' } } };
    await expect(engine.update(access, order)).rejects.toEqual(refused("write to 'people' directly"));
    const values = [{ id: 20, name: 'Gy', seen: 1, card: { id: 20, label: 'x', amount: 1, shown: 1 } }];
    await expect(engine.create(access, { collection: 'people', records: values })).rejects.toEqual(
      refused("write to 'cards' directly"),
    );
    const amount = { collection: 'people', ids: [1], values: { amount: 1 } };
    await expect(engine.update(access, amount)).rejects.toEqual(refused('comes from another record'));
    const at = { collection: 'people', relation: 'card', id: 1 };
    await expect(engine.setRelation(access, { ...at, to: 7 })).rejects.toEqual(refused(itself));
    await expect(engine.setRelation(access, { ...at, to: null })).rejects.toEqual(refused(itself));
    await expect(engine.associate(access, { ...at, ids: [7] })).rejects.toEqual(refused(itself));
    await expect(engine.dissociate(access, { ...at, ids: [4] })).rejects.toEqual(refused(itself));
  });

  test('setRelation is refused unless the relation then leads to the given record', async () => {
    const at = { collection: 'orders', relation: 'person', id: 4 };
    const name = async (rights: Rights) =>
      (await engine.list(accessOf(rights), { collection: 'orders', filter: leaf('id', 'Equal', 4), fields: ['person:name'], limit: 1 })).rows; // biome-ignore format: a line
    await expect(engine.setRelation(access, { ...at, to: 3 })).rejects.toEqual(
      refused('would lead to another one of them'),
    );
    expect((await engine.setRelation(access, { ...at, to: 1 })).count).toBe(1);
    expect(await name({})).toEqual([['Ada']]);
    await engine.update(access, { collection: 'orders', ids: [4], values: { code: 'w' } });
    expect((await engine.setRelation(accessOf(narrow), { ...at, to: 3 })).count).toBe(1);
    expect(await name(narrow)).toEqual([['Cy']]);
  });
});

describe('across sources', () => {
  afterEach(closeAll);

  test('every foreign key must refer to a record that the caller may see', async () => {
    const engine = await open([inMemory(people, cards, seats, scores), inMemory(orders)]);
    const records = (...codes: string[]) => codes.map((code, at) => ({ id: 30 + at, code, total: 1 }));
    const add = (...codes: string[]) =>
      engine.create(accessOf(narrow), { collection: 'orders', records: records(...codes) });
    // Two people hold x, but the only one with z is hidden.
    await expect(add('x', 'z')).rejects.toMatchObject({ code: 'INVALID_RECORD' });
    expect((await add('x', 'y')).count).toBe(2);
  });

  test('a row scope by an emulated operator is refused', async () => {
    const engine = await open([inMemory(people, scores, seats, orders), inMemory(cards)], (agent) => {
      relate(agent);
      agent.customizeCollection('cards', (each) => each.emulateFieldOperator('label', 'Like'));
    });
    const access = accessOf({ scopes: { cards: leaf('label', 'Like', 'g%') } });
    const list = engine.list(access, { collection: 'people', fields: ['card:label'], limit: 9 });
    await expect(list).rejects.toThrow("The row scope of 'cards' uses a field that the database cannot evaluate");
  });
});

describe('at the start', () => {
  afterEach(closeAll);

  test('each relation is logged once, with the unique index to add', async () => {
    const warnings: string[] = [];
    await open([inMemory(...tables)], relate, warnings);
    expect(warnings.map((each) => each.replace(/ \([^()]*lowest-tables\.ts:\d+(:\d+)?\)$/, ' (here)'))).toEqual([
      "'code' of 'people' has no unique index, so 'person' of 'orders' could lead to many records: it leads to the record with the lowest key that the caller may see. Add a unique index on 'code'. (here)",
      "'person_id' of 'cards' has no unique index, so 'card' of 'people' could lead to many records: it leads to the record with the lowest key that the caller may see. Add a unique index on 'person_id'. (here)",
      "'person_id' with 'label' of 'cards' has no unique index, so 'gold' of 'people' could lead to many records: it leads to the record with the lowest key that the caller may see. Add a unique index on 'person_id' with 'label'. (here)",
      "'person_id' of 'seats' has no unique index, so 'seat' of 'people' could lead to many records: it leads to the record with the lowest key that the caller may see. Add a unique index on 'person_id'. (here)",
      "'person_id' of 'scores' has no unique index, so 'score' of 'people' could lead to many records: it leads to the record with the lowest values (it has no key) that the caller may see. Add a unique index on 'person_id'. (here)",
    ]);
  });

  test('a relation by a unique key is not logged', async () => {
    const warnings: string[] = [];
    const unique = [inMemory({ ...people, uniqueKeys: [['code']] }, orders)];
    await open(
      unique,
      (agent) =>
        agent.customizeCollection('orders', (each) =>
          each.addManyToOneRelation('person', 'people', { foreignKey: 'code', foreignKeyTarget: 'code' }),
        ),
      warnings,
    );
    expect(warnings).toEqual([]);
  });

  const wrong: readonly (readonly [what: string, held: MemoryTable, problem: string])[] = [
    ['without a key and with an unsortable column', { ...scores, columns: [...scores.columns.slice(0, 2), { name: 'note', type: 'Json' }] }, "it has no first record without a key ('note' is Json, which has no order)"],
    ['with an unsortable key', { ...cards, name: 'scores', primaryKey: ['label'], columns: cards.columns.map((each) => (each.name === 'label' ? { name: 'label', type: 'Point' } : each)) }, "it has no first record without an order of its key ('label' is Point, which has no order)"],
    ['with another collation', { ...cards, name: 'scores', columns: cards.columns.map((each) => (each.name === 'person_id' ? { ...each, type: 'String', collation: 'insensitive' } : each)) }, "'id' of 'people' has another collation"],
  ]; // biome-ignore format: a table
  test.each(wrong)('a collection %s is refused', async (_, held, problem) => {
    const home = held.columns[1]!.type === 'String' ? { ...people, columns: [{ name: 'id', type: 'String' as const }, ...people.columns.slice(1)] } : people; // biome-ignore format: a line
    const started = open([inMemory(home, { ...held, rows: [] })], (agent) =>
      agent.customizeCollection('people', (each) =>
        each.addOneToOneRelation('score', 'scores', { originKey: 'person_id', originKeyTarget: 'id' }),
      ),
    );
    await expect(started).rejects.toThrow(problem);
    await expect(started).rejects.toThrow(/lowest-writes\.test\.ts:\d+/);
  });

  test('nested writes through the relation are refused', async () => {
    const started = open([inMemory(people, cards)], (agent) =>
      agent.customizeCollection('people', (each) =>
        each.addOneToOneRelation('card', 'cards', { originKey: 'person_id' }).allowNestedWrites('card'),
      ),
    );
    await expect(started).rejects.toThrow("'card' of 'people' does not allow nested writes");
  });

  test('the description marks the relation, and it is not used as an inverse', async () => {
    const engine = await open([inMemory(...tables)]);
    const [card] = engine.describe(accessOf(), 'people').relations.filter(({ name }) => name === 'card');
    expect(card).toEqual({ name: 'card', kind: 'one', to: 'cards', isLowest: true, columns: ['id'], references: [] });
    const back = () => engine.inverseOf(accessOf(), { collection: 'people', relation: 'orders' });
    expect(back).toThrow(
      "'orders' of 'people' leads back by 'person' of 'orders', which leads to one of several records",
    );
    const grouped = { collection: 'people', operation: 'Sum', field: 'orders:total', limit: 9 } as const;
    const error: Error = await engine.aggregate(accessOf(), grouped).catch((cause) => cause);
    expect(error).toMatchObject({ code: 'RELATION_TO_MANY' });
    expect(error.message).not.toContain('person');
  });
});
