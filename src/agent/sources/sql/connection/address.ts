// Parses the address of a database, as a URL or as separate parts. Errors never show the secrets of an address: its
// user, password and query.
import { isIP } from 'node:net';
import { type AddressParameters, readParameters } from '../../../../core/config/address-parameters.ts';
import type { ServerLocation } from '../../../../core/errors/connection.ts';
import { fail } from '../../../../core/errors.ts';
import { suggestNames } from '../../../../core/suggestions.ts';
import type { Dialect } from '../codec.ts';

/**
 * How connections are encrypted. `preferred`: TLS if the server offers it, otherwise none. `required`: TLS without
 * checking the server's identity. `verify`: TLS with a certificate for the server's name, from a known or configured
 * authority.
 */
const tlsModes = ['disabled', 'preferred', 'required', 'verify'] as const;
/** The encryption of connections to a database. */
export type TlsMode = (typeof tlsModes)[number];

/** Certificates and keys, as PEM texts. */
export interface TlsFiles {
  /** PEM certificates of the trusted authorities. */
  readonly ca?: string;
  /** The client certificate in PEM, if the server requires one. */
  readonly cert?: string;
  /** The key of the client certificate, in PEM. */
  readonly key?: string;
}

/** The location of a SQL database as separate options, instead of a URL. */
export interface SqlConnectionOptions {
  /** A URL instead of the separate parts. Default: the separate parts, which then need `dialect`. */
  readonly uri?: string;
  /** The kind of database. Default: that of the URL. */
  readonly dialect?: 'sqlite' | 'mysql' | 'mariadb' | 'postgres';
  /** Default `localhost`. */
  readonly host?: string;
  /** Default: the standard port of the dialect. */
  readonly port?: number;
  /** The user of the database. Default: the driver's own. */
  readonly username?: string;
  /** The password of the user. Errors never show it. Default: no password. */
  readonly password?: string;
  /** The name of the database on the server. Default: the driver's own. */
  readonly database?: string;
  /** The file of a SQLite database. Default: required for SQLite. */
  readonly storage?: string;
  /** Default: the setting of the URL, or no TLS. */
  readonly sslMode?: TlsMode;
  /** Certificates and keys for TLS. Default: the authorities that Node trusts. */
  readonly ssl?: TlsFiles;
  /** The size of the connection pool. Default: at most 10 connections. */
  readonly pool?: PoolOptions;
  /** In milliseconds; default 10,000. */
  readonly connectionTimeoutMs?: number;
  /**
   * PostgreSQL schemas, or MySQL databases of the server, with the served tables. Tables of the first keep their names;
   * those of the others are named `schema.table`. Default: the search path of PostgreSQL, or the connection's database.
   * A URL can name them too: `?schema=public,sales`.
   */
  readonly schemas?: readonly string[];
}

/** The size and idle timeout of a connection pool. */
export interface PoolOptions {
  /** Maximum number of connections; default 10. */
  readonly max?: number;
  /** Milliseconds until an unused connection is closed; default 10,000. */
  readonly idleTimeoutMs?: number;
}

/** A validated address. */
export interface Address {
  readonly dialect: Dialect;
  /** For messages, without user, password and query. */
  readonly name: string;
  /** The URL for the driver, or the path of a SQLite file. */
  readonly url: string;
  readonly sslMode?: TlsMode;
  readonly ssl: TlsFiles;
  readonly pool: Required<PoolOptions>;
  readonly connectionTimeoutMs: number;
  readonly schemas: readonly string[];
  /** Absent for SQLite. */
  readonly place?: ServerLocation;
  /** Behind a pooler, sessions change between transactions and cannot hold state. */
  readonly isPooled: boolean;
  /** Logged for the operator. */
  readonly warnings: readonly string[];
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
  host: ['a string', isText],
  port: ['a number from 1 to 65535', (value) => isCount(value) && (value as number) < 65_536],
  username: ['a string', isText],
  password: ['a string', (value) => typeof value === 'string'],
  database: ['a string', isText],
  storage: ['the path of a file', isText],
  sslMode: [`one of ${tlsModes.join(', ')}`, (value) => (tlsModes as readonly unknown[]).includes(value)],
  ssl: ['an object of ca, cert and key, each a PEM string', (value) => hasOnly(value, tlsMembers, isText)],
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

/** Throws CONFIGURATION if the address is malformed or incomplete. */
export function readAddress(given: string | SqlConnectionOptions): Address {
  const options = typeof given === 'string' ? { uri: given } : checkMembers(given);
  const { uri, dialect } = options;
  if ((uri === undefined) === (dialect === undefined))
    failAddress(
      uri === undefined
        ? "needs 'uri', or 'dialect' with the parts of an address"
        : "takes 'uri' or 'dialect', not both",
    );
  const found = uri === undefined ? fromParts(options) : fromUrl(uri);
  const { ssl = {}, pool } = options;
  const sslMode = options.sslMode ?? found.tls;
  const connectionTimeoutMs = options.connectionTimeoutMs ?? found.connectMs ?? 10_000;
  if (found.schemas && options.schemas) failAddress("names schemas in 'uri' and in 'schemas': leave one out");
  const schemas = options.schemas ?? found.schemas ?? [];
  if (found.dialect === 'sqlite') {
    const [name] =
      Object.entries({ sslMode: options.sslMode, schemas: options.schemas, pool }).find(
        ([, value]) => value !== undefined,
      ) ?? [];
    if (name !== undefined) failAddress(`does not accept '${name}' with SQLite`);
  }
  if (options.sslMode !== undefined && (found.tls !== undefined || /[?&]ssl/i.test(found.url)))
    failAddress("configures encryption in 'uri' and in 'sslMode': leave one out");
  if (options.ssl && (sslMode === undefined || sslMode === 'disabled'))
    failAddress("has certificates in 'ssl', but no 'sslMode' that uses them: 'verify' or 'required'");
  // For an IP address, the driver would check the certificate against the name localhost.
  if (sslMode === 'verify' && found.dialect === 'mysql' && isIP(new URL(found.url).hostname.replace(/^\[|\]$/g, '')))
    failAddress("cannot 'verify' a MySQL or MariaDB server by an IP address: use the name in its certificate");
  const { dialect: kind, name, url, place, pooled: isPooled = false, warnings = [], maxConnections: most = 10 } = found;
  return {
    dialect: kind,
    name,
    url,
    ...(place && { place }),
    ...(sslMode && { sslMode }),
    ssl,
    pool: { max: most, idleTimeoutMs: 10_000, ...pool },
    connectionTimeoutMs,
    schemas,
    isPooled,
    warnings,
  };
}

function checkNested(name: string, given: unknown, known: readonly string[]): void {
  for (const inner of Object.keys(given ?? {})) {
    if (known.includes(inner)) continue;
    const near = suggestNames(inner, known);
    const offered = near.length ? `Near: ${near.join(', ')}` : `Known: ${known.join(', ')}`;
    failAddress(`: '${name}' has no option '${inner}'. ${offered}`);
  }
}

function checkMembers(given: SqlConnectionOptions): SqlConnectionOptions {
  if (typeof given !== 'object' || given === null) failAddress('needs an address, or an object of its parts');
  const known = Object.keys(members);
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) {
      const near = suggestNames(name, known);
      failAddress(
        `has no option '${name}'. ${near.length ? `Near: ${near.join(', ')}` : `Known: ${known.join(', ')}`}`,
      );
    }
    if (name === 'ssl' || name === 'pool') checkNested(name, value, name === 'ssl' ? tlsMembers : poolMembers);
    const [expected, takes] = members[name as keyof SqlConnectionOptions];
    if (value !== undefined && !takes(value)) failAddress(`: '${name}' must be ${expected}`);
  }
  return given;
}

type ParsedAddress = Pick<Address, 'dialect' | 'name' | 'url' | 'place'> & Partial<AddressParameters>;

function fromParts(options: SqlConnectionOptions): ParsedAddress {
  const { dialect = '', host = 'localhost', port, username, password, database, storage } = options;
  if (dialect === 'sqlite') {
    if (storage === undefined) failAddress("needs 'storage', the path of the SQLite file");
    return fromUrl(`sqlite:${storage}`);
  }
  if (storage !== undefined) failAddress(`does not accept 'storage' with ${dialect}`);
  if (database === undefined) failAddress("needs 'database', the name of the database");
  const part = encodeURIComponent;
  const user = username === undefined ? '' : `${part(username)}${password ? `:${part(password)}` : ''}@`;
  const where = `${host.includes(':') ? `[${host}]` : part(host)}${port === undefined ? '' : `:${port}`}`;
  // A path is the directory of a Unix socket.
  const socket = host.startsWith('/');
  if (socket && schemes[dialect] === 'mysql')
    failAddress("cannot use a socket for 'host' here: use the address of the server");
  return fromUrl(
    socket
      ? `${dialect}://${user}/${part(database)}?host=${part(host)}`
      : `${dialect}://${user}${where}/${part(database)}`,
  );
}

function fromUrl(url: string): ParsedAddress {
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
  const given = readParameters(dialect, url, driverParameters[dialect]);
  return { ...given, dialect, name, place: placeOf(dialect, url) };
}

/** URL parameters that the drivers read. */
const driverParameters: Readonly<Record<Exclude<Dialect, 'sqlite'>, readonly string[]>> = {
  // biome-ignore format: one family a line
  postgres: [
    'host', 'port', 'user', 'password', 'options', 'application_name', 'fallback_application_name', 'client_encoding',
    'ssl', 'sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation', 'uselibpqcompat',
    'statement_timeout', 'query_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
  ],
  mysql: ['ssl', 'socketPath', 'localAddress', 'compress', 'flags', 'connectAttributes'],
};

const serverDefaults = { mysql: ['MySQL or MariaDB', 3306], postgres: ['PostgreSQL', 5432] } as const;

/** The server the driver connects to, without user and password. */
function placeOf(dialect: Exclude<Dialect, 'sqlite'>, text: string): ServerLocation {
  const url = new URL(text);
  const [system, port] = serverDefaults[dialect];
  const named = (name: string) => url.searchParams.get(name) || undefined;
  const other = dialect === 'postgres' ? { host: named('host'), port: named('port') } : { host: named('socketPath') };
  return {
    system,
    host: other.host ?? (decodeURIComponent(url.hostname) || 'localhost'),
    port: Number(other.port ?? (url.port || port)),
    database: decode(url.pathname.slice(1)) || decode(url.username),
    setting: 'SERVICE_DATABASE_URL (--database), or createSqlDataSource in code',
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function failAddress(what: string): never {
  return fail('CONFIGURATION', { problem: `The database connection${what.startsWith(':') ? '' : ' '}${what}.` });
}
