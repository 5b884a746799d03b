// Writes of customer code: hooks after a write, and actions.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import type { Table, World } from './tables.ts';

/** Action code writes by a filter, hook code writes one record. */
export function customizeWith({ hook, tables, removed }: World): (agent: HeadlessAgent) => void {
  let last = 0;
  return (agent) => {
    for (const table of tables)
      if (table.key.length > 0 && !table.isPairs && table.name !== removed)
        agent.customizeCollection(table.name, (collection) => {
          addActions(collection);
          for (const { name, target, column } of nestedOf(table, removed))
            collection.addManyToOneRelation(name, target, { foreignKey: column }).allowNestedWrites(name);
        });
    if (removed !== null) agent.removeCollection(removed);
    if (!hook) return;
    agent.customizeCollection(hook.table, (collection) => {
      for (const type of hook.types)
        collection.addHook('After', type, async ({ collection: inside }) => {
          await inside('hook_log').create([{ id: ++last, told: type }]);
        });
    });
  };
}

/** Relations for nested writes. Relations to the removed table are excluded. */
export const nestedOf = ({ foreignKeys }: Table, removed: string | null) =>
  foreignKeys.flatMap(({ columns, target }) =>
    columns.length === 1 && target !== removed ? [{ name: `up_${columns[0]}`, target, column: columns[0]! }] : [],
  );

type Customized = Parameters<Parameters<HeadlessAgent['customizeCollection']>[1]>[0];

function addActions(collection: Customized): void {
  const form = [
    { label: 'below', type: 'Number' },
    { label: 'n', type: 'Number' },
  ] as const;
  const below = (values: Readonly<Record<string, unknown>>): PlainFilter => ({
    ...{ field: 'n', operator: 'LessThan', value: values.below },
  });
  collection
    .addAction('Set', {
      scope: 'Global',
      form: [...form],
      async execute({ collection, formValues }) {
        await collection.update({ conditionTree: below(formValues) }, { n: formValues.n });
        return undefined;
      },
    })
    .addAction('Remove', {
      scope: 'Global',
      form: [...form],
      async execute({ collection, formValues }) {
        // The update stays even if the delete is refused.
        await collection.update({ conditionTree: below(formValues) }, { n: formValues.n });
        await collection.delete({ conditionTree: { field: 'n', operator: 'Equal', value: formValues.n } });
        return undefined;
      },
    });
}
