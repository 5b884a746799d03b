// The public API of `portico/sources`: what a data source of your own implements. Only named exports.

export type { DataSourceFactory, SourceTools } from '../agent/customize/engine-parts.ts';
export type { ColumnType, PrimitiveType } from '../agent/sources/column-types.ts';
export type {
  Described,
  DescribedColumn,
  DescribedForeignKey,
  DescribedTable,
  NamedQuery,
} from '../agent/sources/described.ts';
export { createMemorySource } from '../agent/sources/memory/source.ts';
export type { MemoryColumn, MemoryTable } from '../agent/sources/memory/tables.ts';
export type { ReadOptions, Source, Writing } from '../agent/sources/source.ts';
export type { PoolOptions, TlsFiles, TlsMode } from '../agent/sources/sql/connection/address.ts';
export type {
  CountSelect,
  Filter as SourceFilter,
  Join,
  Order as SourceOrder,
  Path as SourcePath,
  Row,
  Select,
} from '../agent/sources/statement.ts';
