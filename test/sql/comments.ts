// Tables with comments: in each database that has them, and in a source of an application.
import type { DescribedTable } from '../../src/agent/sources/described.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import type { Dialect } from '../databases.ts';

const comments = {
  table: 'Parcels that left the store',
  left: 'The day on which the parcel left',
  code: 'Tracking code of the carrier',
};

/** The statements of the table `parcels` and its view. */
export function commentedParcels(dialect: Dialect): readonly string[] {
  const marked = (text: string) => (dialect === 'mariadb' ? ` comment '${text}'` : '');
  return [
    `create table parcels (id integer not null primary key, left_at date${marked(comments.left)}, code varchar(20)${marked(comments.code)})${marked(comments.table)}`,
    'create view left_parcels as select id from parcels where left_at is not null',
    "insert into parcels values (1, '2024-05-06', 'A1'), (2, null, 'B2')",
    ...(dialect === 'postgres'
      ? [
          `comment on table parcels is '${comments.table}'`,
          `comment on column parcels.left_at is '${comments.left}'`,
          `comment on column parcels.code is '${comments.code}'`,
          "comment on view left_parcels is 'Only those that left'",
        ]
      : []),
  ];
}

/** Changes the comment of the table, or of its column `code`. */
export function commentSql(dialect: Dialect, what: 'table' | 'column', text: string): string {
  const name = what === 'table' ? 'parcels' : 'parcels.code';
  if (dialect === 'postgres') return `comment on ${what} ${name} is '${text}'`;
  if (what === 'table') return `alter table parcels comment '${text}'`;
  return `alter table parcels modify code varchar(20) comment '${text}'`;
}

/** A source with this table, and the comment on the table and on each column. */
export function withComments(table: MemoryTable, comment: string): Source {
  const source = createMemorySource('memory', [table]);
  const mark = (described: DescribedTable): DescribedTable => ({
    ...described,
    comment,
    columns: described.columns.map((column) => ({ ...column, comment })),
  });
  return {
    ...source,
    describe: async () => {
      const described = await source.describe();
      return { ...described, tables: described.tables.map(mark) };
    },
  };
}
