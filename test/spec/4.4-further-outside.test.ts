// Further edge cases of the tools (behaviour 4.4): values that only a search finds, forms larger than an answer, and
// several missing records of a relation.
import { expect, onTestFinished, test } from 'vitest';
import { openForms } from './forms.ts';
import { openOutside } from './outside.ts';

const cities = ['CREATE TABLE cities (id INTEGER PRIMARY KEY)'];

test('executeAction: a value that only a search text finds is executed and tried with it, and refused without it', async () => {
  const options = (_: unknown, search: string | null) => (search === 'par' ? [{ value: 7, label: 'Paris' }] : []);
  const place = await openForms(cities, {
    Move: [{ label: 'City', type: 'Number', widget: 'Dropdown', search: 'dynamic', options }],
    'Move all': [{ label: 'City', type: 'NumberList', widget: 'Dropdown', search: 'dynamic', options }],
  });
  onTestFinished(() => place.stop());
  for (const [name, City] of [
    ['Move', 7],
    ['Move all', [7]],
  ] as const) {
    const values = { City };
    expect(await place.execute(name, { values, searches: { City: 'par' } })).toEqual({ City });
    const tried = { collectionName: 'cities', actionName: name, values, searches: { City: 'par' }, dryRun: true };
    expect((await place.tool('executeAction', tried)).json).toMatchObject({ dryRun: true });
    for (const searches of [undefined, {}, { City: 'ber' }])
      expect(JSON.stringify(await place.execute(name, { values, ...(searches && { searches }) }))).toContain(
        'INVALID_FORM',
      );
  }
});

test('getActionForm: of more options than an answer holds it has the first ones, and says how many it leaves out', async () => {
  const texts = Array.from({ length: 90 }, (_, at) => `${at} ${'long '.repeat(40)}`);
  const fields = (count: number) =>
    Array.from({ length: count }, (_, at) =>
      at % 2
        ? { label: `F${at}`, type: 'Enum', enumValues: texts }
        : { label: `F${at}`, type: 'String', widget: 'Dropdown', options: texts },
    );
  const place = await openForms(cities, { Few: fields(1), Some: fields(4), Many: fields(30) });
  onTestFinished(() => place.stop());
  const offered = async (name: string) => {
    const form = (await place.form(name)).fields as Record<string, { options?: string[]; values?: string[] }>;
    const lists = Object.values(form).map(({ options, values }) => (options ?? values)!);
    expect(JSON.stringify(form).length, name).toBeLessThan(40_000);
    for (const list of lists.slice(1)) expect(list.length, name).toBe(lists[0]!.length);
    return [lists.length, lists[0]!.length, lists[0]!.at(-1)!.slice(0, 12)];
  };
  expect([await offered('Few'), await offered('Some'), await offered('Many')]).toEqual([
    [1, 90, expect.stringMatching(/^89 long/)],
    [4, 31, '... 60 more'],
    [30, 4, '... 87 more'],
  ]);
});

test('associate, dissociate: of several records of a relation all missing ones are named, and none is written', async () => {
  const place = await openOutside([
    'CREATE TABLE shelves (id INTEGER PRIMARY KEY)',
    'INSERT INTO shelves VALUES (1)',
    'CREATE TABLE things (id INTEGER PRIMARY KEY, shelf_id INTEGER REFERENCES shelves(id))',
    'INSERT INTO things VALUES (1, 1), (2, NULL)',
    'CREATE TABLE tags (id INTEGER PRIMARY KEY)',
    'INSERT INTO tags VALUES (1), (2)',
    'CREATE TABLE shelf_tags (shelf_id INTEGER NOT NULL REFERENCES shelves(id), tag_id INTEGER NOT NULL REFERENCES tags(id), PRIMARY KEY (shelf_id, tag_id))',
    'INSERT INTO shelf_tags VALUES (1, 1)',
  ]);
  onTestFinished(() => place.stop());
  const before = await Promise.all(['things', 'tags'].map((relationName) => on(relationName)));
  async function on(relationName: string) {
    const given = { collectionName: 'shelves', relationName, parentRecordId: 1, fields: ['id'] };
    return (await place.tool('listRelated', given)).json.rows;
  }
  for (const relationName of ['things', 'tags']) {
    const link = { collectionName: 'shelves', relationName, parentRecordId: 1 };
    const answers = [
      await place.tool('associate', { ...link, targetRecordId: [2, 8, 9] }),
      await place.tool('associate', { ...link, targetRecordId: [2, 8, 9], dryRun: true }),
      await place.tool('dissociate', { ...link, targetRecordIds: [1, 8, 9] }),
    ];
    for (const answer of answers) expect(JSON.stringify(answer), relationName).toMatch(/RECORD_NOT_FOUND.*'8'.*'9'/);
  }
  expect(await Promise.all(['things', 'tags'].map((relationName) => on(relationName)))).toEqual(before);
});
