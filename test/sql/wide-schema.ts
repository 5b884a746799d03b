// A schema of many tables: eight columns each, a unique key, and foreign keys to the previous table, to one in ten, and
// to the first, which therefore has a relation for every table.
import type { Dialect } from '../databases.ts';

/** `keyed`: how many of the tables have foreign keys; all by default. */
export function wideSchema(dialect: Dialect, count: number, keyed = count): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const columns = [
      'id integer not null primary key',
      'title varchar(50)',
      'code varchar(20) not null unique',
      `made timestamp${dialect === 'mariadb' ? ' null' : ''}`,
      'on_day date',
      'parent_id integer',
      'owner_id integer',
      'first_id integer',
    ];
    const keys = [
      `foreign key (parent_id) references wide_${at - 1} (id) on delete cascade`,
      `foreign key (owner_id) references wide_${Math.floor(at / 10)} (id)`,
      'foreign key (first_id) references wide_0 (id)',
    ];
    const hasKeys = at > 0 && at < keyed;
    // Creating 300 files of InnoDB takes ten seconds.
    const engine = dialect === 'mariadb' && at >= keyed ? ' engine = memory' : '';
    return `create table wide_${at} (${[...columns, ...(hasKeys ? keys : [])].join(', ')})${engine}`;
  });
}
