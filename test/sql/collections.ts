// Builds collections, relations and paths from a description, as the model does: the parts of a Select.

import type { Collection, Column, Field, Relation } from '../../src/agent/model/types.ts';
import type { Filter, Path } from '../../src/agent/plan/types.ts';
import type { Described } from '../../src/agent/sources/described.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import type { Join } from '../../src/agent/sources/statement.ts';
import type { Operator } from '../../src/core/filter.ts';

export interface Tables {
  /** `column`, or `relation:column`. A relation is named after the first column of its foreign key. */
  path(table: string, name: string): Path;
  test(table: string, name: string, is: Operator, value?: unknown): Filter;
  join(table: string, relations: string, where?: Filter): Join;
}

const noHooks = { List: [], Create: [], Update: [], Delete: [], Aggregate: [] };

export function readTables(source: Source, described: Described): Tables {
  const collections = new Map<string, Collection>();
  for (const table of described.tables) {
    const fields = new Map<string, Field>();
    for (const column of table.columns) {
      fields.set(column.name, {
        kind: 'column',
        ...column,
        column: column.name,
        required: !column.nullable && !column.hasDefault,
        isKey: table.primaryKey.includes(column.name),
        operators: new Map(
          [...column.operators].map((operator) => [operator, { takes: 'value', evaluatedBy: 'native' }]),
        ),
      });
    }
    collections.set(table.name, {
      name: table.name,
      source,
      table: table.name,
      kind: table.kind,
      key: [],
      uniqueKeys: [],
      indexes: undefined,
      referencedBy: [],
      triggers: [],
      fields,
      internalFields: fields,
      isPublished: true,
      rules: {
        segments: new Map(),
        metrics: new Map(),
        search: 'columns',
        countable: true,
        hooks: { Before: noHooks, After: noHooks },
        overrides: {},
      },
    });
  }
  for (const table of described.tables) {
    const fields = collections.get(table.name)!.fields as Map<string, Field>;
    for (const key of table.foreignKeys) {
      const to = collections.get(key.table)!;
      fields.set(`>${key.columns[0]}`, {
        kind: 'one',
        name: `>${key.columns[0]}`,
        to,
        on: key.columns.map((column, at) => ({
          from: fields.get(column) as Column,
          to: to.fields.get(key.targetColumns[at]!) as Column,
        })),
        inverse: false,
        reach: 'join',
        enforced: true,
      });
    }
  }
  const paths = new Map<string, Path>();
  const walk = (table: string, names: readonly string[]): [Relation[], Collection] => {
    let at = collections.get(table)!;
    const via = names.map((name) => {
      const relation = at.fields.get(name) as Relation;
      at = relation.to;
      return relation;
    });
    return [via, at];
  };
  const path = (table: string, name: string): Path => {
    const id = `${table}\n${name}`;
    let found = paths.get(id);
    if (!found) {
      const names = name.startsWith('>') ? name.split(':') : [name];
      const [via, at] = walk(table, names.slice(0, -1));
      found = { id: name, via, field: at.fields.get(names.at(-1)!) as Column };
      if (!found.field) throw new Error(`the test names ${id}, which is not there`);
      paths.set(id, found);
    }
    return found;
  };
  return {
    path,
    test: (table, name, is, value) => ({ op: 'test', path: path(table, name), is, value }),
    join: (table, relations, where = { op: 'always' }) => ({
      via: walk(table, relations.split(':'))[0],
      where,
      joins: [],
    }),
  };
}
