// Describes a named query: the types of its columns, from the database where it knows them, and the tables in its text.
import type { ColumnType, PrimitiveType } from '../../column-types.ts';
import type { DescribedColumn, DescribedTable, NamedQuery } from '../../described.ts';
import type { Codec, Dialect } from '../codec.ts';
import type { Driver, ResultColumn } from '../driver.ts';
import { isLabel, readMysqlResult } from '../mysql/result-columns.ts';
import { readPostgresResult } from '../postgres/introspect.ts';
import { readSqliteResult } from '../sqlite/introspect.ts';
import { parameterForms, readQueryText, type SqlQuery, writeQueryText } from '../statements/query.ts';
import { assembleIntrospection, type Catalogue, type ColumnFacts } from './introspect.ts';

interface QueryContext {
  readonly dialect: Dialect;
  readonly driver: Driver;
  /** The names of the tables of the source. */
  readonly tables: readonly string[];
  readonly zoneOf: (table: string, column: string) => string;
}

interface IntrospectedQuery {
  readonly query: SqlQuery;
  readonly table: DescribedTable;
  readonly codecs: ReadonlyMap<string, Codec>;
}

/** The error completes "the query cannot be served: ". */
export async function introspectQuery(named: NamedQuery, context: QueryContext): Promise<IntrospectedQuery> {
  const { dialect, driver } = context;
  const { name, sql } = named;
  const parameters = Object.entries(named.parameters);
  const forms = parameterForms[dialect];
  const formOf = (parameter: string) => forms[named.parameters[parameter]!.type];
  const text = readQueryText(sql, dialect, Object.keys(named.parameters));
  const withNulls = writeQueryText(text, (parameter) => formOf(parameter).used('null'));
  let count = 0;
  const placeholder = () => (dialect === 'postgres' ? `$${++count}` : '?');
  const withPlaceholders = writeQueryText(text, (parameter) => formOf(parameter).used(placeholder()));
  const isSqlite = dialect === 'sqlite';
  const columns = await driver.resultColumns(
    isSqlite ? withNulls : withPlaceholders,
    text.names.map(() => null),
  );
  checkNames(columns, named);
  const catalogue: Catalogue = async <Row>(statement: string) => (await driver.catalogue(statement)) as Row[];
  const from = `(select 1 as one) as o left join (select * from (${withNulls}\n) as r limit 0) as q on 1 = 1`;
  const read = { sqlite: readSqliteResult, mysql: readMysqlResult, postgres: readPostgresResult }[dialect];
  const facts = await read(catalogue, columns, { table: name, from, sql: withNulls, declared: named.columns });
  const checked = facts.map((each) => checkType(each, named.columns[each.name]));
  const view = { name, kind: 'view' } as const;
  const introspection = assembleIntrospection(
    {
      version: '',
      tables: [view],
      columns: checked,
      keys: [],
      foreignKeys: [],
      references: [],
      triggers: [],
      skipped: [],
    },
    context.zoneOf,
  );
  const [table] = introspection.described.tables;
  return {
    query: {
      text,
      parameters: new Map(
        parameters.map(([parameter, { default: fallback = null }]) => [parameter, { ...formOf(parameter), fallback }]),
      ),
      columns: columns.map((column) => ({
        name: column.name,
        read: (quoted) => (dialect === 'mysql' && isLabel(column) ? `cast(${quoted} as char)` : quoted),
      })),
    },
    table: {
      ...table!,
      readOnly: 'it is a query. Write to its tables.',
      columns: [
        ...table!.columns,
        ...parameters.map(([parameter, given]) => describeParameter(parameter, given, formOf)),
      ],
      reads: context.tables.filter((each) => isNamedIn(each, text.words)),
    },
    codecs: new Map([
      ...introspection.codecs.get(name)!,
      ...parameters.map(([parameter]) => [parameter, formOf(parameter).codec] as const),
    ]),
  };
}

function checkNames(columns: readonly ResultColumn[], { parameters, columns: declared }: NamedQuery): void {
  const names = columns.map(({ name }) => name);
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) !== at) throw new Error(`two of its columns have the name '${name}'`);
    if (Object.hasOwn(parameters, name)) throw new Error(`'${name}' is a column and a parameter: rename one of them`);
    if (!/^[\p{L}_][\p{L}\p{N}_ $-]*$/u.test(name)) throw new Error(`its column '${name}' needs a name: add "as name"`);
  }
  const unknown = Object.keys(declared).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`it has no column '${unknown}'. Its columns are ${names.join(', ')}`);
}

/** The database is right about the type that it knows. */
function checkType(facts: ColumnFacts, declared: PrimitiveType | undefined): ColumnFacts {
  const { name, codec, nativeType } = facts;
  if (!codec) throw new Error(`the type ${nativeType} of its column '${name}' is not supported: cast it`);
  if (declared === undefined || isSame(codec.type, declared)) return facts;
  throw new Error(
    `its column '${name}' is ${String(codec.type)} in the database, not ${declared}: cast it in its text`,
  );
}

const isSame = (type: ColumnType, declared: PrimitiveType): boolean => type === declared;

function describeParameter(
  name: string,
  given: NamedQuery['parameters'][string],
  formOf: (parameter: string) => { readonly codec: Codec },
): DescribedColumn {
  const { codec } = formOf(name);
  return {
    name,
    type: codec.type,
    nativeType: given.type.toLowerCase(),
    nullable: given.default === null,
    readOnly: true,
    hasDefault: true,
    collation: 'binary',
    operators: codec.operators,
    sortable: codec.sortable,
    parameter: 'default' in given ? { default: given.default } : {},
  };
}

/** Whether the words of the name, without its schema, are among those of the text. */
function isNamedIn(table: string, words: ReadonlySet<string>): boolean {
  const own = table.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? [];
  const last = table.includes('.') ? own.slice(-1) : own;
  return last.every((word) => words.has(word));
}
