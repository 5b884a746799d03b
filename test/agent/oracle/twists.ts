// Random customizations of a world, and the calls that apply them to an agent.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';
import type { CodeRecord } from '../../../src/agent/customize/context.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import { createQuantified, namesOfCode } from './quantifiers.ts';
import type { Random } from './random.ts';
import { createFilter } from './requests.ts';
import { makeEchoes, makeText, type World, type WorldTable } from './world.ts';

/** Twists the world in place. */
export function twistWorld(world: World, random: Random): void {
  for (const table of world.tables) {
    const { twists, relations, columns } = table;
    const extra = columns.filter(({ name }) => name.endsWith(' ü')).map(({ name }) => name);
    for (const name of random.some(extra, 0, 2)) twists.renames.set(name, `new ${name}`);
    for (const name of random.some(extra, 0, 1)) twists.removed.add(name);
    const own = columns.map(({ name }) => name);
    const far = relations.flatMap(({ name, to }) => find(world, to).columns.map((column) => `${name}:${column.name}`));
    twists.added.push({
      how: 'made',
      name: 'first',
      kind: 'text',
      needs: random.some([...own, ...far], 1, 3),
      slow: false,
    });
    twists.added.push({
      how: 'made',
      name: 'second',
      kind: 'text',
      needs: ['first', ...relations.slice(0, 1).map(({ name }) => `${name}:first`), random.pick(own)],
      slow: random.chance(0.5),
    });
    for (const name of random.some(far, 0, 2)) {
      const [relation, column] = name.split(':') as [string, string];
      const { to } = relations.find((each) => each.name === relation)!;
      const { kind } = find(world, to).columns.find((each) => each.name === column)!;
      twists.added.push({ how: 'imported', name: `imported ${name.replace(':', ' ')}`, kind, from: name });
    }
    const plain = columns.filter(({ kind }) => kind !== 'label' && kind !== 'uuid');
    for (const { name, kind } of random.some(plain, 0, 1))
      twists.added.push({ how: 'copied', name: 'copy', kind, from: name });
    if (table.key.length) for (const { name } of random.some(plain, 0, 1)) twists.sortedHere.add(name);
    if (table.key.length && random.chance(0.5)) twists.echoed.push(...random.some([...own, ...far, 'first'], 1, 3));
    const names = columns.map(({ name, kind }) => ({ name, kind }));
    for (const name of ['these', 'those']) {
      const quantified = random.chance(0.4) ? createQuantified(world, table, random, 2, namesOfCode) : undefined;
      twists.segments.set(name, quantified ?? createFilter(world, names, random, 1));
    }
  }
}

/** Applies the customizations to the agent. */
export function customizeWorld({ tables }: World, agent: HeadlessAgent, away: ReadonlySet<string> = new Set()): void {
  declarePolymorphic(tables, agent);
  declareAcross(tables, away, agent);
  declareRelations(tables, away, agent);
  for (const { name: table, twists } of tables)
    agent.customizeCollection(table, (collection) => {
      for (const [from, to] of twists.renames) collection.renameField(from, to);
      collection.removeField(...twists.removed);
      for (const name of twists.sortedHere) collection.emulateFieldSorting(name);
      if (twists.echoed.length > 0)
        collection.addExternalRelation('echoes', {
          schema: { place: 'Number', text: 'String' },
          dependencies: twists.echoed,
          listRecords: async (record) => makeEchoes(twists.echoed.map((need) => dig(record, need))),
        });
      let isFirst = true;
      for (const [name, filter] of twists.segments) {
        const plain = filter as PlainFilter;
        collection.addSegment(name, isFirst ? plain : async () => plain);
        isFirst = false;
      }
      for (const added of twists.added) {
        const { name } = added;
        if (added.how === 'imported') collection.importField(name, { path: added.from });
        else if (added.how === 'copied') {
          const { from } = added;
          collection.addField(name, {
            columnType: typeOf(added.kind),
            ...(added.kind === 'choice' && { enumValues: ['alpha', 'beta', 'gamma', 'omega'] }),
            dependencies: [from],
            getValues: (records) => records.map((record) => record[from]),
          });
          collection.replaceFieldOperator(name, 'Equal', (value) => ({ field: from, operator: 'Equal', value }));
          collection.replaceFieldSorting(name, [{ field: from }]);
        } else {
          const make = (records: readonly CodeRecord[]) =>
            records.map((record) => makeText(added.needs.map((need) => dig(record, need))));
          collection
            .addField(name, {
              columnType: 'String',
              dependencies: added.needs,
              getValues: added.slow ? async (records) => make(records) : make,
            })
            .emulateFieldFiltering(name)
            .emulateFieldSorting(name);
        }
      }
    });
}

function declarePolymorphic(tables: readonly WorldTable[], agent: HeadlessAgent): void {
  for (const { name: table, relations } of tables) {
    const [first, ...more] = relations.filter(({ only }) => only);
    if (!first?.only) continue;
    const targets = [first, ...more].map(({ name, to, only }) => [only!.value, { collection: to, name }]);
    const options = { foreignKey: first.from[0]!, typeField: first.only.column, targets: Object.fromEntries(targets) };
    agent.customizeCollection(table, (collection) => {
      collection.addPolymorphicManyToOneRelation('of', options);
    });
  }
}

/** Relations to one that no database can declare: across sources, or to a key that several records may hold. */
export function declareAcross(tables: readonly WorldTable[], away: ReadonlySet<string>, agent: HeadlessAgent): void {
  for (const { name: table, relations } of tables)
    agent.customizeCollection(table, (collection) => {
      for (const { name, to, from, target, inverse, only, isFirst } of relations) {
        if (isFirst && inverse)
          collection.addOneToOneRelation(name, to, { originKey: target[0]!, originKeyTarget: from[0]! });
        else if (isFirst)
          collection.addManyToOneRelation(name, to, { foreignKey: from[0]!, foreignKeyTarget: target[0]! });
        else if (only || away.has(table) === away.has(to)) continue;
        else if (inverse) collection.addOneToOneRelation(name, to, { originKey: target[0]! });
        else collection.addManyToOneRelation(name, to, { foreignKey: from[0]! });
      }
    });
}

/** Relations to many that keep their names of the world. Names of the others come from the database. */
export function declareRelations(tables: readonly WorldTable[], away: ReadonlySet<string>, agent: HeadlessAgent): void {
  for (const { name: table, many } of tables)
    agent.customizeCollection(table, (collection) => {
      for (const { name, to, target, through, only } of many)
        if (only) {
          const options = { originKey: target[0]!, typeField: only.column, type: only.value };
          collection.addPolymorphicOneToManyRelation(name, to, options);
        } else if (through) {
          const { origin, foreign } = through;
          collection.addManyToManyRelation(name, to, through.table, {
            originKey: origin[0]!,
            foreignKey: foreign[0]!,
          });
        } else if (target.length === 1 && (name !== 'people' || away.has(table) !== away.has(to)))
          collection.addOneToManyRelation(name, to, { originKey: target[0]! });
    });
}

function typeOf(kind: WorldTable['columns'][number]['kind']) {
  const types = {
    text: 'String', label: 'String', whole: 'Number', big: 'Number', decimal: 'Number', flag: 'Boolean',
    instant: 'Date', day: 'Dateonly', time: 'Time', choice: 'Enum', uuid: 'Uuid',
  } as const; // biome-ignore format: one family
  return types[kind];
}

function dig(record: CodeRecord, path: string): unknown {
  let at: unknown = record;
  for (const name of path.split(':')) at = at === null ? null : (at as CodeRecord)[name];
  return at;
}

function find(world: World, name: string): WorldTable {
  return world.tables.find((table) => table.name === name)!;
}
