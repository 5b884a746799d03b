// The columns of a result of MariaDB and MySQL. The protocol numbers the types, and tells no collation of a column.
import type { ResultColumn } from '../driver.ts';
import type { Catalogue, ColumnFacts } from '../introspection/introspect.ts';
import { mysqlCodec } from './types.ts';

const types: Readonly<Record<number, string>> = {
  ...{ 0: 'decimal', 1: 'tinyint', 2: 'smallint', 3: 'int', 4: 'float', 5: 'double', 7: 'timestamp', 8: 'bigint' },
  ...{ 9: 'mediumint', 10: 'date', 11: 'time', 12: 'datetime', 13: 'year', 15: 'varchar', 16: 'bit', 245: 'json' },
  ...{ 246: 'decimal', 247: 'enum', 248: 'set', 249: 'text', 250: 'text', 251: 'longtext', 252: 'text' },
  ...{ 253: 'varchar', 254: 'char', 255: 'geometry' },
};

const NOT_NULL = 1;
const ENUM_OR_SET = 256 | 2048;
const BINARY_CHARSET = 63;

/** `from`: the rows that they are of, as `q`, or a row of nulls. */
export async function readMysqlResult(
  catalogue: Catalogue,
  columns: readonly ResultColumn[],
  { table, from }: { readonly table: string; readonly from: string },
): Promise<ColumnFacts[]> {
  const collations = columns.map(({ name }, at) => `collation(q.\`${name.replaceAll('`', '``')}\`) as c${at}`);
  const [row = {}] = await catalogue(`select ${collations.join(', ')} from ${from}`);
  return columns.map((column, at) => {
    const { name, type, flags = 0 } = column;
    const native = nativeType(column);
    const collation = String(row[`c${at}`]);
    const isBinary = /_bin$|_cs$|^binary$/.test(collation);
    const [dataType = ''] = native.split('(');
    return {
      ...{ table, name, nativeType: native, readOnly: false, hasDefault: false },
      codec: mysqlCodec({
        ...{ dataType, columnType: native, checkedJson: false, isBinary, labels: [] },
        charset: collation.split('_')[0]!,
      }),
      nullable: !(flags & NOT_NULL) || isLabel(column) || type === 254,
      collation: isBinary || !/char|text/.test(native) ? 'binary' : 'insensitive',
    };
  });
}

/** Labels of an ENUM or SET, which a query shows as texts. */
export const isLabel = ({ type, flags = 0 }: ResultColumn): boolean =>
  type === 247 || type === 248 || (flags & ENUM_OR_SET) !== 0;

function nativeType(column: ResultColumn): string {
  const { type, length = 0, decimals = 0, charset } = column;
  const name = types[Number(type)] ?? 'varchar';
  if (isLabel(column)) return 'varchar(255)';
  if (/char|text/.test(name) && charset === BINARY_CHARSET)
    return name.replace('text', 'blob').replace('char', 'binary');
  // The length of a decimal has its sign and its point.
  if (name === 'decimal') return `decimal(${Math.min(65, Math.max(1, length - (decimals > 0 ? 2 : 1)))},${decimals})`;
  return name === 'tinyint' || name === 'bit' ? `${name}(${length})` : name;
}
