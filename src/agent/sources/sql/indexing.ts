// The texts of indexes that a database lacks, and the sizes of its tables by its own estimate.
import type { Indexing } from '../source.ts';
import type { Dialect } from './codec.ts';
import type { TableLocation } from './introspection/introspect.ts';

interface IndexingOptions {
  readonly dialect: Dialect;
  readonly placeOf: (table: string) => TableLocation;
  readonly catalogue: (sql: string) => Promise<readonly unknown[]>;
}

/** MySQL and PostgreSQL allow at least 63 bytes. */
const MAX_NAME_LENGTH = 40;

export function createIndexing({ dialect, placeOf, catalogue }: IndexingOptions): Indexing {
  const mark = dialect === 'mysql' ? '`' : '"';
  const quote = (name: string): string => mark + name.replaceAll(mark, mark + mark) + mark;
  const quoteTable = (table: string): string => {
    const { schema, name } = placeOf(table);
    return schema === undefined ? quote(name) : `${quote(schema)}.${quote(name)}`;
  };
  return {
    createIndex(table, columns) {
      // They index only a prefix of such values, and the developer chooses its length.
      if (dialect === 'mysql' && columns.some(({ nativeType }) => /text|blob/i.test(nativeType))) return undefined;
      const names = columns.map(({ column }) => column);
      // PostgreSQL finds a free name itself.
      const name = dialect === 'postgres' ? '' : `${quote(indexName([placeOf(table).name, ...names]))} `;
      return `CREATE INDEX ${name}ON ${quoteTable(table)} (${names.map(quote).join(', ')});`;
    },
    async estimateRows(table) {
      const { schema, name } = placeOf(table);
      const texts: Record<Dialect, string> = {
        // The highest rowid. A table without rowid has none, and fails.
        sqlite: `select max(rowid) as n from ${quote(name)}`,
        mysql: `select table_rows as n from information_schema.tables
          where table_schema = ${schema === undefined ? 'database()' : literal(schema, dialect)} and table_name = ${literal(name, dialect)}`,
        postgres: `select reltuples::bigint as n from pg_class where oid = to_regclass(${literal(quoteTable(table), dialect)})`,
      };
      const [row] = await catalogue(texts[dialect]).catch(() => []);
      const rows = Number((row as { n?: unknown } | undefined)?.n ?? -1);
      return rows < 0 ? undefined : rows;
    },
  };
}

const indexName = (parts: readonly string[]): string => [...parts.join('_')].slice(0, MAX_NAME_LENGTH).join('');

const literal = (text: string, dialect: Dialect): string =>
  `'${(dialect === 'mysql' ? text.replaceAll('\\', '\\\\') : text).replaceAll("'", "''")}'`;
