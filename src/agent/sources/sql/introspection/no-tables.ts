// Explains a database without tables to serve. It is usually the wrong database, or its tables are in a schema that the
// configuration does not name. The error lists schemas with tables and how to configure them.
import { AppError } from '../../../../core/errors.ts';
import type { Dialect } from '../codec.ts';
import type { Catalogue, Facts } from './introspect.ts';

interface SearchedSource {
  readonly name: string;
  readonly dialect: Dialect;
  readonly schemas: readonly string[];
  readonly skipped: Facts['skipped'];
}

/** Returns a CONFIGURATION error. */
export async function explainNoTables(catalogue: Catalogue, searched: SearchedSource): Promise<AppError> {
  const { name, dialect, schemas, skipped } = searched;
  const word = dialect === 'mysql' ? 'database' : 'schema';
  const where = schemas.length ? ` in the ${word}${schemas.length > 1 ? 's' : ''} ${schemas.join(', ')}` : '';
  const what = `${name} has no table or view that can be served${where}.`;
  const reasons = skipped.slice(0, 3).map(({ table, reason }) => ` '${table}' is left out: ${reason}.`);
  return new AppError('CONFIGURATION', {
    problem: `${what}${reasons.join('')} ${dialect === 'sqlite' ? 'Check the path of the file.' : await adviseSchemas(catalogue, dialect)}`,
  });
}

async function adviseSchemas(catalogue: Catalogue, dialect: 'mysql' | 'postgres'): Promise<string> {
  const found = await catalogue(statements[dialect]);
  const [first] = found;
  if (first === undefined)
    return 'No other schema has one either. Check the server, the database, and the permissions of the user.';
  const list = found.slice(0, 10).map(({ schema, tables }) => `${schema} (${tables})`);
  return `Tables and views are in: ${list.join(', ')}${found.length > 10 ? ', ...' : ''}. To serve them, add ?schema=${encodeURIComponent(String(first.schema))} to the address (--database, SERVICE_DATABASE_URL), or set schemas: ['${first.schema}'] in createSqlDataSource.`;
}

const statements = {
  postgres: `select s.nspname as schema, count(*) as tables from pg_class c join pg_namespace s on s.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and s.nspname !~ '^pg_' and s.nspname <> 'information_schema' and has_schema_privilege(s.oid, 'USAGE')
    group by s.nspname order by s.nspname`,
  mysql: `select table_schema as \`schema\`, count(*) as tables from information_schema.tables
    where table_schema not in ('mysql', 'information_schema', 'performance_schema', 'sys')
    group by table_schema order by table_schema`,
} as const;
