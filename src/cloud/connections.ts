import type { SqlConnectionOptions } from '../agent/sources/sql/connection/address.ts';

/** A URL such as `postgres://user:password@host/database`, or its parts, with TLS, pool and schemas. */
export type SqlConnectionParams = string | SqlConnectionOptions;

/** Connection parameters for MongoDB. Currently only SQL databases are supported. */
export interface MongoConnectionParams {
  /** A URL such as `mongodb://user:password@host/database`. */
  readonly connectionString: string;
  /** Options for the MongoDB driver. */
  readonly connectionOptions?: Readonly<Record<string, unknown>>;
}
