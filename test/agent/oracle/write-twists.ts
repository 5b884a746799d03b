// Write customizations of a world: rules, a field that is copied into another, and a write-only field for a column at
// the end of a relation.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';
import type { Operator } from '../../../src/core/filter.ts';
import type { Random } from './random.ts';
import { createValueOf, isApart, type Kind, type World, type WorldTable } from './world.ts';

export interface WriteTwists {
  readonly rules: readonly { readonly field: string; readonly operator: Operator; readonly value?: unknown }[];
  /** Values written to `from` are also written to `to`. */
  readonly copy?: { readonly from: string; readonly to: string };
  /** Values written to this field go only to a column at the end of the relation. */
  readonly far?: { readonly field: string; readonly relation: string; readonly column: string };
}

const rulesOf: { readonly [K in Kind]?: readonly Operator[] } = {
  text: ['ShorterThan', 'LongerThan', 'NotContains', 'Present', 'Like'],
  whole: ['LessThan', 'GreaterThan', 'NotIn', 'Present'],
  big: ['LessThanOrEqual', 'NotEqual'],
  decimal: ['GreaterThanOrEqual', 'LessThan'],
  instant: ['Before', 'After'],
  day: ['Before', 'After', 'Present'],
  time: ['GreaterThan'],
  choice: ['In', 'NotIn'],
  uuid: ['NotEqual'],
};

/** Twists the world in place, and returns it with its write customizations. */
export function twistWrites(world: World, random: Random): World {
  for (const { name: table, columns, relations, twists } of world.tables) {
    if (random.chance(0.5)) continue;
    const own = columns.map(({ name }) => name);
    // No relation to the same table: a scope on `told` would then depend on itself without end.
    const [relation] = random.some(
      relations.filter(({ to }) => to !== table),
      0,
      1,
    );
    const far = relation ? world.tables.find(({ name }) => name === relation.to)!.columns : [];
    const needs = [...random.some(own, 1, 2), ...random.some(far, 0, 1).map(({ name }) => `${relation!.name}:${name}`)];
    twists.added.push({ how: 'made', name: 'told', kind: 'text', needs, slow: random.chance(0.5) });
  }
  const writing = new Map(world.tables.map((table) => [table.name, createTwists(world, table, random)]));
  return { ...world, writing };
}

function createTwists(world: World, table: WorldTable, random: Random): WriteTwists {
  const extra = table.columns.filter(({ name }) => name.endsWith(' ü'));
  const ruled = random.some(
    extra.filter(({ kind }) => rulesOf[kind]),
    0,
    2,
  );
  const rules = ruled.map(({ name, kind }) => {
    const operator = random.pick(rulesOf[kind]!);
    return { field: name, operator, ...createLimit(operator, kind, random, world.now) };
  });
  const [from] = random.some(extra, 0, 1);
  const to = extra.find(({ name, kind, nullable }) => name !== from?.name && kind === from?.kind && nullable);
  const [relation] = random.some(
    table.relations.filter(({ inverse, only, to }) => !inverse && !only && !isApart(world, table.name, to)),
    0,
    1,
  );
  const end = world.tables.find(({ name }) => name === relation?.to);
  const column = end?.columns.find(({ name, kind }) => kind === 'text' && !end.key.includes(name));
  return {
    rules,
    ...(from && to && { copy: { from: from.name, to: to.name } }),
    ...(relation && column && { far: { field: 'far away', relation: relation.name, column: column.name } }),
  };
}

function createLimit(operator: Operator, kind: Kind, random: Random, now: number): { readonly value?: unknown } {
  if (operator === 'Present') return {};
  if (operator === 'ShorterThan') return { value: 3 + random.number(6) };
  if (operator === 'LongerThan') return { value: random.number(2) };
  if (operator === 'Like') return { value: random.pick(['%', '_%', '%a%']) };
  if (operator === 'NotContains') return { value: random.pick(['a', '%', '\\']) };
  const value = createValueOf(kind, random, now);
  return { value: operator === 'In' || operator === 'NotIn' ? [value, createValueOf(kind, random, now)] : value };
}

/** Applies the write customizations to the agent. */
export function customizeWrites({ tables, writing }: World, agent: HeadlessAgent): void {
  for (const { name, columns } of tables)
    agent.customizeCollection(name, (collection) => {
      const { rules, copy, far } = writing?.get(name) ?? { rules: [] };
      for (const { field, operator, value } of rules) collection.addFieldValidation(field, operator, value);
      if (copy) collection.replaceFieldWriting(copy.from, (value) => ({ [copy.from]: value, [copy.to]: value }));
      if (far)
        collection
          .addField(far.field, {
            columnType: 'String',
            dependencies: [columns[0]!.name],
            getValues: (records) => records.map(() => null),
          })
          .replaceFieldWriting(far.field, async (value) => ({ [`${far.relation}:${far.column}`]: value }));
    });
}
