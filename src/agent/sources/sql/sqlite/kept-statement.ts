// A prepared SQLite statement with its cached properties.

import type { SqliteConnection } from '../../../../core/sqlite.ts';

export interface PreparedStatement {
  readonly statement: ReturnType<SqliteConnection['prepare']>;
  bigIntegers: boolean;
  /** Set on the first run. */
  lookup?: Lookup | 'none';
}

export interface Lookup {
  /** Computes the total bytes of texts and blobs in the result. */
  readonly bytes: ReturnType<SqliteConnection['prepare']>;
}
