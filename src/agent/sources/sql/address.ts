// Where a database is and how it is reached: a URL, or the parts of one. What is wrong is told without its secrets: the
// user, the password and the query of an address are never shown.
import { isIP } from 'node:net';
import { fail } from '../../../core/errors.ts';
import { nearNames } from '../../../core/near.ts';
import type { Dialect } from './codec.ts';

/**
 * How connections are encrypted. `preferred`: with TLS where the server offers it, else without. `required`: with TLS,
 * whoever the server is. `verify`: with TLS, and the server's certificate must be for its name and of an authority that is
 * known or given.
 */
export const tlsModes = ['disabled', 'preferred', 'required', 'verify'] as const;
/** How far a connection to a database is secured. */
export type TlsMode = (typeof tlsModes)[number];

/** Certificates and keys, as PEM texts. */
export interface TlsFiles {
  /** Certificates of authorities, PEM. */
  readonly ca?: string;
  /** Our own certificate and its key, PEM, where the server asks for them. */
  readonly cert?: string;
  readonly key?: string;
}

/** Where an SQL database is and how it is reached, in place of an address. */
export interface SqlConnectionOptions {
  /** Instead of the parts. */
  readonly uri?: string;
  readonly dialect?: 'sqlite' | 'mysql' | 'mariadb' | 'postgres';
  /** Default `localhost`. */
  readonly host?: string;
  /** Default: the usual one of the dialect. */
  readonly port?: number;
  readonly username?: string;
  readonly password?: string;
  readonly database?: string;
  /** The file of a SQLite database. */
  readonly storage?: string;
  /** What the URL says when absent; without TLS when it says nothing. */
  readonly sslMode?: TlsMode;
  readonly ssl?: TlsFiles;
  readonly pool?: PoolOptions;
  /** Default 10,000. */
  readonly connectionTimeoutMs?: number;
  /**
   * PostgreSQL schemas, or MySQL databases of the server, whose tables are served. Tables of the first keep their names,
   * those of the others are called `schema.table`. Default: the schema, or the database, of the connection.
   */
  readonly schemas?: readonly string[];
}

/** How many connections a source keeps, and for how long. */
export interface PoolOptions {
  /** Connections at most; default 10. */
  readonly max?: number;
  /** After how long an unused connection is closed; default 10,000. */
  readonly idleTimeoutMs?: number;
}

/** An address whose parts have been checked. */
export interface Address {
  readonly dialect: Dialect;
  /** For messages: no user, no password, no query. */
  readonly name: string;
  /** What the driver is given; the path, for SQLite. */
  readonly url: string;
  readonly sslMode?: TlsMode;
  readonly ssl: TlsFiles;
  readonly pool: Required<PoolOptions>;
  readonly connectionTimeoutMs: number;
  readonly schemas: readonly string[];
}

const schemes: Readonly<Record<string, Dialect>> = {
  sqlite: 'sqlite',
  mysql: 'mysql',
  mariadb: 'mysql',
  postgres: 'postgres',
  postgresql: 'postgres',
};
const isText = (value: unknown) => typeof value === 'string' && value !== '';
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) > 0;

const members: {
  readonly [K in keyof SqlConnectionOptions]-?: readonly [expected: string, takes: (value: unknown) => boolean];
} = {
  uri: ['an address such as postgres://user:password@host/database', isText],
  dialect: ['sqlite, mysql, mariadb or postgres', (value) => Object.hasOwn(schemes, String(value))],
  host: ['a text', isText],
  port: ['a number from 1 to 65535', (value) => isCount(value) && (value as number) < 65_536],
  username: ['a text', isText],
  password: ['a text', (value) => typeof value === 'string'],
  database: ['a text', isText],
  storage: ['the path of a file', isText],
  sslMode: [`one of ${tlsModes.join(', ')}`, (value) => (tlsModes as readonly unknown[]).includes(value)],
  ssl: ['an object of ca, cert and key, each a text in PEM', (value) => hasOnly(value, tlsMembers, isText)],
  pool: ['an object of max and idleTimeoutMs, each a number above 0', (value) => hasOnly(value, poolMembers, isCount)],
  connectionTimeoutMs: ['a number of milliseconds', isCount],
  schemas: [
    'a list of names, at least one',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  ],
};
const tlsMembers = ['ca', 'cert', 'key'];
const poolMembers = ['max', 'idleTimeoutMs'];

function hasOnly(value: unknown, names: readonly string[], takes: (value: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(([name, each]) => names.includes(name) && takes(each));
}

/** CONFIGURATION for an address that is malformed or incomplete. */
export function readAddress(given: string | SqlConnectionOptions): Address {
  const options = typeof given === 'string' ? { uri: given } : checkMembers(given);
  const { uri, dialect } = options;
  if ((uri === undefined) === (dialect === undefined))
    problem(
      uri === undefined
        ? "needs 'uri', or 'dialect' with the parts of an address"
        : "takes 'uri' or 'dialect', not both",
    );
  const found = uri === undefined ? fromParts(options) : fromUrl(uri);
  const { sslMode, ssl = {}, pool, connectionTimeoutMs = 10_000, schemas = [] } = options;
  if (found.dialect === 'sqlite') {
    const [name] =
      Object.entries({ sslMode, schemas: options.schemas, pool }).find(([, value]) => value !== undefined) ?? [];
    if (name !== undefined) problem(`has no use for '${name}' with SQLite`);
  }
  if (sslMode !== undefined && /[?&]ssl/i.test(found.url))
    problem("says how to encrypt in 'uri' and in 'sslMode': leave one out");
  if (options.ssl && (sslMode === undefined || sslMode === 'disabled'))
    problem("has certificates in 'ssl', but no 'sslMode' that uses them: 'verify' or 'required'");
  // The driver would hold the certificate against the name localhost, whatever the address.
  if (sslMode === 'verify' && found.dialect === 'mysql' && isIP(new URL(found.url).hostname.replace(/^\[|\]$/g, '')))
    problem("cannot 'verify' a MySQL or MariaDB server by an IP address: give the name that its certificate is for");
  return {
    ...found,
    ...(sslMode && { sslMode }),
    ssl,
    pool: { max: 10, idleTimeoutMs: 10_000, ...pool },
    connectionTimeoutMs,
    schemas,
  };
}

function checkMembers(given: SqlConnectionOptions): SqlConnectionOptions {
  if (typeof given !== 'object' || given === null) problem('needs an address, or an object of its parts');
  const known = Object.keys(members);
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) {
      const near = nearNames(name, known);
      problem(`has no option '${name}'. ${near.length ? `Near: ${near.join(', ')}` : `There are ${known.join(', ')}`}`);
    }
    const [expected, takes] = members[name as keyof SqlConnectionOptions];
    if (value !== undefined && !takes(value)) problem(`: '${name}' must be ${expected}`);
  }
  return given;
}

function fromParts(options: SqlConnectionOptions): Pick<Address, 'dialect' | 'name' | 'url'> {
  const { dialect = '', host = 'localhost', port, username, password, database, storage } = options;
  if (dialect === 'sqlite') {
    if (storage === undefined) problem("needs 'storage', the path of the SQLite file");
    return fromUrl(`sqlite:${storage}`);
  }
  if (storage !== undefined) problem(`has no use for 'storage' with ${dialect}`);
  if (database === undefined) problem("needs 'database', the name of the database");
  const part = encodeURIComponent;
  const user = username === undefined ? '' : `${part(username)}${password ? `:${part(password)}` : ''}@`;
  const where = `${host.includes(':') ? `[${host}]` : part(host)}${port === undefined ? '' : `:${port}`}`;
  // A folder is that of a Unix socket.
  const socket = host.startsWith('/');
  if (socket && schemes[dialect] === 'mysql')
    problem("cannot use a socket for 'host' here: give the address of the server");
  return fromUrl(
    socket
      ? `${dialect}://${user}/${part(database)}?host=${part(host)}`
      : `${dialect}://${user}${where}/${part(database)}`,
  );
}

function fromUrl(url: string): Pick<Address, 'dialect' | 'name' | 'url'> {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase() ?? '';
  const dialect = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (dialect === 'sqlite') {
    const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
    return { dialect, name: path, url: path };
  }
  if (dialect === undefined || !URL.canParse(url))
    fail('CONFIGURATION', {
      problem:
        'The database address is malformed: expected sqlite:<path>, mysql://..., mariadb://... or postgres://... (special characters in a password percent-encoded).',
    });
  const { hostname, pathname } = new URL(url);
  const name = `${scheme}://${hostname}${pathname}`;
  if (dialect === 'mysql' && pathname.length < 2)
    fail('CONFIGURATION', { problem: `The address ${name} names no database: add it after the last slash.` });
  return { dialect, name, url };
}

function problem(what: string): never {
  return fail('CONFIGURATION', { problem: `The database connection${what.startsWith(':') ? '' : ' '}${what}.` });
}
