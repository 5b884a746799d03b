// The settings of a connection that the SQL of Portico is written for. A server, a database or a user may have others,
// with which the same SQL returns fewer rows, other texts, or writes what a constraint forbids.

const settings = {
  autocommit: '1',
  time_zone: "'+00:00'",
  // Too long values are refused, and '' is no null. Quotes and backslashes in the text of a named query have one meaning.
  sql_mode: "'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
  sql_select_limit: 'default',
  sql_auto_is_null: '0',
  sql_safe_updates: '0',
  sql_big_selects: '1',
  foreign_key_checks: '1',
  unique_checks: '1',
  completion_type: '0',
  // A sort compares so many bytes of a text, 1024 by default. A cursor compares whole texts, and loses rows that differ
  // only after them. With more, the first page of a TEXT column takes several times as long.
  max_sort_length: '4096',
};

/** For MariaDB and MySQL; only MariaDB reads the comment. The collation is that of mysql2. */
export const mysqlSession = `set names utf8mb4 collate utf8mb4_unicode_ci, ${Object.entries(settings)
  .map(([name, value]) => `${name} = ${value}`)
  .join(', ')} /*M! , check_constraint_checks = 1 */`;

export const postgresSession = [
  "set timezone = 'UTC'",
  "set datestyle = 'ISO, YMD'",
  "set intervalstyle = 'postgres'",
  "set bytea_output = 'hex'",
  'set extra_float_digits = 1',
  'set standard_conforming_strings = on',
].join('; ');
