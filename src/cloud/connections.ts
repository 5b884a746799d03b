import type { SqlConnectionOptions } from '../agent/sources/sql/address.ts';

/** An address such as `postgres://user:password@host/database`, or its parts, with TLS, pool and schemas. */
export type SqlConnectionParams = string | SqlConnectionOptions;

/** The form in which MongoDB connections are written. Served are SQL databases alone, for now. */
export interface MongoConnectionParams {
  /** Such as `mongodb://user:password@host/database`. */
  readonly connectionString: string;
  /** Of the driver. */
  readonly connectionOptions?: Readonly<Record<string, unknown>>;
}
