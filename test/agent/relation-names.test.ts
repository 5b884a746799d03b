// Relation names from before they were derived from columns still work, but they are not listed.
import { expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { accessOf, type Rights } from './shop.ts';

const ONE = 'people_through_reports_to';
const MANY = 'people_through_reports_to_2';

async function open(customize: (agent: HeadlessAgent) => void = () => {}) {
  const people = {
    name: 'people',
    columns: [
      { name: 'id', type: 'Number' as const },
      { name: 'name', type: 'String' as const },
      { name: 'reports_to', type: 'Number' as const, nullable: true },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['reports_to'], table: 'people', targetColumns: ['id'] }],
    rows: [
      [1, 'Ada', null],
      [2, 'Bo', 1],
      [3, 'Cy', 2],
    ],
  };
  const agent = createHeadlessAgent().addDataSource(() => createMemorySource('memory', [people]));
  customize(agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 30_000 };
  const engine = await agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
  const names = (rights: Rights = {}) => engine.describe(accessOf(rights), 'people').relations.map(({ name }) => name);
  const ids = async (field: string, rights: Rights = {}) => {
    const filter = { field, operator: 'Equal', value: 'Ada' } as const;
    return (
      await engine.list(accessOf(rights), { collection: 'people', fields: ['id'], filter, limit: 9 })
    ).rows.flat();
  };
  return { engine, names, ids };
}

test('only the new names are listed, but filters, fields, related lists and scopes accept the old ones too', async () => {
  const { engine, names, ids } = await open();
  expect(names()).toEqual(['manager', 'reports']);
  expect([await ids('manager:name'), await ids(`${ONE}:name`)]).toEqual([[2], [2]]);
  const scopes = { people: { field: `${ONE}:name`, operator: 'Equal', value: 'Ada' } } as const;
  expect((await engine.list(accessOf({ scopes }), { collection: 'people', limit: 9 })).rows.map(([id]) => id)).toEqual([
    2,
  ]);
  const related = (relation: string) =>
    engine.listRelated(accessOf(), { collection: 'people', relation, id: 1, limit: 9, fields: ['name'] });
  expect([(await related('reports')).rows, (await related(MANY)).rows]).toEqual([[['Bo']], [['Bo']]]);
  const fields = [`${ONE}:name`];
  expect((await engine.list(accessOf(), { collection: 'people', fields, limit: 9 })).rows.flat()).toEqual([
    null,
    'Ada',
    'Bo',
  ]);
});

test.each([ONE, 'manager'])('a role that hides the relation as %s hides it under both names', async (name) => {
  const { names, ids } = await open();
  const rights = { hidden: [`people.${name}`] };
  expect(names(rights)).toEqual(['reports']);
  await expect(ids('manager:name', rights)).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
  await expect(ids(`${ONE}:name`, rights)).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
});

test.each([ONE, 'manager'])('code can rename and remove the relation as %s', async (name) => {
  const renamed = await open((agent) => agent.customizeCollection('people', (it) => it.renameField(name, 'boss')));
  expect(renamed.names()).toEqual(['boss', 'reports']);
  expect(await renamed.ids('boss:name')).toEqual([2]);
  await expect(renamed.ids('manager:name')).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
  const removed = await open((agent) => agent.customizeCollection('people', (it) => it.removeField(name)));
  expect(removed.names()).toEqual(['reports']);
  await expect(removed.ids(`${ONE}:name`)).rejects.toMatchObject({ code: 'UNKNOWN_FIELD' });
});

test('if code uses the new name for another field, the relation keeps its old name', async () => {
  const { names, ids } = await open((agent) =>
    agent.customizeCollection('people', (it) =>
      it.addField('manager', { columnType: 'String', dependencies: ['name'], getValues: (all) => all.map(() => 'x') }),
    ),
  );
  expect(names()).toEqual([ONE, 'reports']);
  expect(await ids(`${ONE}:name`)).toEqual([2]);
});

test('imported fields accept both names', async () => {
  const { engine } = await open((agent) =>
    agent.customizeCollection('people', (it) =>
      it
        .importField('a', { path: 'manager:name', readonly: true })
        .importField('b', { path: `${ONE}:name`, readonly: true }),
    ),
  );
  const { rows } = await engine.list(accessOf(), { collection: 'people', fields: ['a', 'b'], limit: 9 });
  expect(rows).toEqual([
    [null, null],
    ['Ada', 'Ada'],
    ['Bo', 'Bo'],
  ]);
});
