// The text of a named query: its parameters become placeholders. A statement that reads it starts with it as a common
// table expression, whose columns are those of the query, then the values of the parameters.
import type { QueryParameterType } from '../../described.ts';
import type { CountSelect } from '../../statement.ts';
import type { Codec, Dialect } from '../codec.ts';
import { mysqlCodec } from '../mysql/types.ts';
import { postgresCodec } from '../postgres/types.ts';
import { sqliteCodec } from '../sqlite/types.ts';
import type { Statement } from './read.ts';
import type { Bind } from './terms.ts';

/** A named query of one source. */
export interface SqlQuery {
  readonly text: QueryText;
  /** By the name of the parameter, in the order of its values in a statement. */
  readonly parameters: ReadonlyMap<string, BoundParameter>;
  /** The columns of the query, without those of the parameters. */
  readonly columns: readonly { readonly name: string; readonly read: (quoted: string) => string }[];
}

interface BoundParameter extends ParameterForm {
  /** A canonical value, if the statement has none. */
  readonly fallback: unknown;
}

/** How a dialect binds the parameters of a type. `used`: in the text of the query. `shown`: as a column. */
interface ParameterForm {
  readonly codec: Codec;
  readonly used: (placeholder: string) => string;
  readonly shown: (placeholder: string) => string;
}

/** The parts of the text around its parameters: one more than there are parameters. */
interface QueryText {
  readonly parts: readonly string[];
  readonly names: readonly string[];
  /** The words outside of texts and comments, in lower case. */
  readonly words: ReadonlySet<string>;
}

const comments = /--[^\n]*|\/\*[\s\S]*?\*\//.source;
const named = /:[A-Za-z_]\w*/.source;
const quoted = /"(?:[^"]|"")*"/.source;

/** What has no parameters, what is refused, and the parameters. */
const tokens: Readonly<Record<Dialect, RegExp>> = {
  sqlite: new RegExp(`${comments}|'(?:[^']|'')*'|${quoted}|\`[^\`]*\`|\\[[^\\]]*\\]|[?;]|[$@]\\w+|${named}`, 'g'),
  mysql: new RegExp(
    `${comments}|#[^\\n]*|'(?:[^'\\\\]|\\\\.|'')*'|"(?:[^"\\\\]|\\\\.|"")*"|\`[^\`]*\`|:=|[?;]|${named}`,
    'gs',
  ),
  postgres: new RegExp(
    `${comments}|[eE]'(?:[^'\\\\]|\\\\.|'')*'|'(?:[^']|'')*'|${quoted}|\\$(\\w*)\\$.*?\\$\\1\\$|::|;|\\$\\d+|${named}`,
    'gs',
  ),
};

/** The error completes "the query cannot be served: ". */
export function readQueryText(sql: string, dialect: Dialect, parameters: readonly string[]): QueryText {
  const text = sql.trim().replace(/;$/, '');
  if (!/^(?:select|with|values)\b/i.test(text)) throw new Error('its text must be one SELECT');
  const parts: string[] = [];
  const used: string[] = [];
  let start = 0;
  let outside = '';
  let end = 0;
  for (const { 0: token, index } of text.matchAll(tokens[dialect])) {
    outside += text.slice(end, index);
    end = index + token.length;
    if (/^["`[]/.test(token)) outside += ` ${token} `;
    if (/^[?;$@]/.test(token) && !/^\$\w*\$/.test(token))
      throw new Error(token === ';' ? 'its text must be one statement' : `send a parameter as :name, not '${token}'`);
    if (!/^:[A-Za-z_]/.test(token)) continue;
    const name = token.slice(1);
    if (!parameters.includes(name)) throw new Error(`its text has ':${name}', which is not among its parameters`);
    parts.push(text.slice(start, index));
    used.push(name);
    start = end;
  }
  const unused = parameters.find((name) => !used.includes(name));
  if (unused) throw new Error(`its text does not use the parameter ':${unused}'`);
  const words = new Set(`${outside}${text.slice(end)}`.toLowerCase().match(/[\p{L}\p{N}_$]+/gu));
  return { parts: [...parts, text.slice(start)], names: used, words };
}

/** The text, with the form of each parameter in place of it. */
export function writeQueryText({ parts, names }: QueryText, write: (name: string) => string): string {
  return parts.map((part, at) => (at < names.length ? part + write(names[at]!) : part)).join('');
}

const plain = (placeholder: string): string => placeholder;
const as = (type: string) => (placeholder: string) => `cast(${placeholder} as ${type})`;

const postgresForm = (name: string, isCast: boolean): ParameterForm => ({
  codec: postgresCodec({ name, kind: 'base', sql: name }),
  // Without a cast, the context decides: an integer, the label of an enum. An index of it can then be used.
  used: isCast ? as(name) : plain,
  shown: as(name),
});
const mysqlForm = (columnType: string, used: ParameterForm['used'], shown: ParameterForm['shown']): ParameterForm => {
  const dataType = columnType.replace(/\(.*/, '');
  const column = { dataType, columnType, checkedJson: false, charset: 'utf8mb4', isBinary: false, labels: [] };
  return { codec: mysqlCodec(column)!, used, shown };
};
const sqliteForm = (declared: string, ...sample: readonly string[]): ParameterForm => ({
  codec: sqliteCodec(declared, new Set(sample)),
  used: plain,
  shown: plain,
});

/** A Date is an instant in UTC. */
export const parameterForms: Readonly<Record<Dialect, Readonly<Record<QueryParameterType, ParameterForm>>>> = {
  sqlite: {
    String: sqliteForm('text'),
    Number: sqliteForm('numeric'),
    Boolean: sqliteForm('boolean'),
    Date: sqliteForm('datetime', 'text:24:T:Z'),
    Dateonly: sqliteForm('date', 'text:10::'),
  },
  mysql: {
    String: mysqlForm('varchar', plain, as('char')),
    Number: mysqlForm('decimal', as('decimal(65, 30)'), as('decimal(65, 30)')),
    Boolean: mysqlForm('tinyint(1)', plain, as('signed')),
    Date: mysqlForm('timestamp', as('datetime(6)'), as('datetime(6)')),
    Dateonly: mysqlForm('date', as('date'), as('date')),
  },
  postgres: {
    String: postgresForm('text', false),
    Number: postgresForm('numeric', false),
    Boolean: postgresForm('bool', true),
    Date: postgresForm('timestamptz', true),
    Dateonly: postgresForm('date', true),
  },
};

/** A placeholder of a parameter. */
interface QueryBind {
  readonly name: string;
  readonly encode: (value: unknown) => unknown;
}

/** The common table expression. `placeholder` returns the next one. The binds are in the order of the text. */
function writeQuery(
  { text, parameters, columns }: SqlQuery,
  name: (text: string) => string,
  table: string,
  placeholder: () => string,
): { readonly sql: string; readonly binds: readonly QueryBind[] } {
  const binds: QueryBind[] = [];
  const bind = (parameter: string, form: 'used' | 'shown'): string => {
    const { codec, [form]: write } = parameters.get(parameter)!;
    binds.push({ name: parameter, encode: (value) => (value === null ? null : codec.encode(value)) });
    return write(placeholder());
  };
  // In the order of the text: the values of parameters as columns come first.
  const shown = [
    ...columns.map((column) => `${column.read(`q.${name(column.name)}`)} as ${name(column.name)}`),
    ...[...parameters.keys()].map((parameter) => `${bind(parameter, 'shown')} as ${name(parameter)}`),
  ];
  const body = writeQueryText(text, (parameter) => bind(parameter, 'used'));
  return { sql: `${name(table)} as (select ${shown.join(', ')} from (${body}\n) as q)`, binds };
}

/** Adds the queries that a statement reads. `first`: the position of the values of its parameters. */
export function prependQueries(
  { sql, binds }: Statement,
  statement: CountSelect,
  first: number,
  {
    dialect,
    used,
    name,
    placeOf,
  }: {
    readonly dialect: Dialect;
    readonly used: ReadonlyMap<string, SqlQuery>;
    readonly name: (text: string) => string;
    readonly placeOf: (table: string) => { readonly name: string };
  },
): Statement {
  if (used.size === 0) return { sql, binds };
  let last = binds.length;
  const placeholder = () => (dialect === 'postgres' ? `$${++last}` : '?');
  const added: Bind[] = [];
  const texts = [...used].map(([table, query]) => {
    const written = writeQuery(query, name, placeOf(table).name, placeholder);
    const order = [...query.parameters.keys()];
    const hasValues = table === statement.table && statement.parameters !== undefined;
    for (const bind of written.binds)
      added.push(
        hasValues
          ? { value: first + order.indexOf(bind.name), encode: bind.encode }
          : { value: 0, encode: () => bind.encode(query.parameters.get(bind.name)!.fallback) },
      );
    return written.sql;
  });
  const rest = sql.startsWith('with ') ? `, ${sql.slice('with '.length)}` : ` ${sql}`;
  return {
    sql: `with ${texts.join(', ')}${rest}`,
    binds: dialect === 'postgres' ? [...binds, ...added] : [...added, ...binds],
  };
}
