// Explains to the operator why a connection failed and which setting to change. It names host and port, but never a
// user, a password or the driver's message, which may contain both. Callers only see the enclosing error.
import { isAppError } from '../errors.ts';
import { isUnavailable } from './away.ts';

export interface ServerLocation {
  /** Such as `PostgreSQL`. */
  readonly system: string;
  /** A folder or file when the connection uses a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database?: string;
  /** Where the URL is configured. */
  readonly setting: string;
}

/** `refused`: the server answers but rejects the connection. `away`: the server is unavailable. */
type FailureKind = 'refused' | 'away';

export class ConnectionFailure extends Error {
  readonly kind: FailureKind;
  /** The problem without the name of the server, for callers. */
  readonly reason: string;
  constructor(
    location: ServerLocation,
    { kind, is, change, code }: Reason & { readonly code: string },
    cause: unknown,
  ) {
    const { system, host, port, database, setting } = location;
    const at = host.startsWith('/') ? `the socket ${host}` : `host ${host}, port ${port}`;
    const fill = (text: string, name: string) => text.replaceAll('$system', system).replaceAll('$database', name);
    const own = `'${database ?? ''}'`;
    super(`${system} at ${at}: ${fill(is, own)} (${code}). ${fill(change, own)} Its address: ${setting}.`, {
      cause,
    });
    this.name = 'ConnectionFailure';
    // The stack of this error adds no information. The cause has the stack of the driver.
    this.stack = `${this.name}: ${this.message}`;
    this.kind = kind;
    this.reason = fill(is, 'of that name');
  }
}

interface Reason {
  readonly kind: FailureKind;
  readonly is: string;
  readonly change: string;
}

const unavailable = (is: string, change: string): Reason => ({ kind: 'away', is, change });
const refused = (is: string, change: string): Reason => ({ kind: 'refused', is, change });

const notListening = unavailable('nothing listens there', 'Start the server, or change host and port in the address.');
const unknownHost = unavailable('the host name is unknown', 'Correct the host in the address.');
const noRoute = unavailable(
  'there is no network route to it',
  'Check the host in the address, the network and the firewall.',
);
const noSocket = unavailable(
  'there is no such socket',
  'Start the server, or change the path of the socket in the address.',
);
const noAnswer = unavailable(
  'it did not answer in time',
  'Check that the server runs, that $system listens on this port, and that no firewall blocks it.',
);
const closed = unavailable(
  'the connection was closed',
  'See the log of the server. If it never worked, check that $system listens on this port.',
);
const full = unavailable(
  'it has no free connection',
  'Raise its connection limit, or open fewer connections (?connection_limit= in the address, pool in code).',
);
const stopping = unavailable('it is starting or stopping', 'Wait until it has started.');
const wrongProtocol = refused(
  'what listens there does not speak the protocol of $system',
  'Correct host, port or the scheme of the address.',
);
const password = refused(
  'it rejects the user or the password',
  'Correct them in the address; special characters are percent-encoded.',
);
const denied = refused(
  'the user may not use the database $database',
  'Grant the user access, or name another database.',
);
const machineDenied = refused(
  'it does not accept this user from this machine',
  'Allow it on the server (pg_hba.conf, or the host of the user).',
);
const missing = refused(
  'it has no database $database',
  'Create the database, or correct the name at the end of the address.',
);
const onlyTls = refused(
  'it accepts encrypted connections only',
  "Add ?sslmode=require to the address, or set sslMode: 'required' in code.",
);
const noTls = refused(
  'it offers no TLS',
  "Enable TLS on the server, or add ?sslmode=disable to the address (sslMode: 'disabled' in code).",
);
const untrusted = refused(
  'its certificate cannot be verified',
  "Set its certificate authority (NODE_EXTRA_CA_CERTS, or ssl.ca in code), or encrypt without verification: ?sslmode=no-verify (sslMode: 'required' in code).",
);
const noFile = refused('a certificate file cannot be read', 'Correct sslcert, sslkey and sslrootcert in the address.');
const redisTls = refused('it does not speak TLS', 'Use redis: instead of rediss: in the address.');

const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: notListening,
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  EHOSTUNREACH: noRoute,
  ENETUNREACH: noRoute,
  EADDRNOTAVAIL: noRoute,
  EINVAL: noRoute,
  EACCES: noSocket,
  ENOENT: noSocket,
  ENOTSOCK: noSocket,
  ETIMEDOUT: noAnswer,
  ECONNRESET: closed,
  EPIPE: closed,
  PROTOCOL_CONNECTION_LOST: closed,
  ER_CON_COUNT_ERROR: full,
  '53300': full,
  '57P01': stopping,
  '57P02': stopping,
  '57P03': stopping,
  ER_SERVER_SHUTDOWN: stopping,
  PROTOCOL_PACKETS_OUT_OF_ORDER: wrongProtocol,
  PROTOCOL_INCORRECT_PACKET_SEQUENCE: wrongProtocol,
  ER_ACCESS_DENIED_ERROR: password,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: password,
  '28P01': password,
  ER_DBACCESS_DENIED_ERROR: denied,
  ER_HOST_NOT_PRIVILEGED: machineDenied,
  ER_HOST_IS_BLOCKED: machineDenied,
  ER_BAD_DB_ERROR: missing,
  '3D000': missing,
  ER_SECURE_TRANSPORT_REQUIRED: onlyTls,
  HANDSHAKE_NO_SSL_SUPPORT: noTls,
  HANDSHAKE_SSL_ERROR: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  ERR_SSL_WRONG_VERSION_NUMBER: redisTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: redisTls,
  // Redis.
  WRONGPASS: password,
  NOAUTH: refused('it requires a password', 'Add it to the address, as in redis://:password@host.'),
};

/** Driver messages without a code. */
const messages: readonly (readonly [RegExp, Reason, code: string])[] = [
  [/does not support SSL connections/, noTls, 'no TLS'],
  [
    /timeout exceeded when trying to connect|timeout expired|connection timeout|Timeout acquiring|Command timed out/,
    noAnswer,
    'timeout',
  ],
  [/^SASL|password must be a string/, password, 'no password'],
  [/^Received unexpected|^Unknown authentication|unknown message code|^Protocol error/, wrongProtocol, 'protocol'],
  [/without any password configured|invalid username-password/, password, 'AUTH'],
  [/Connection (terminated|is closed|lost)|closed state|not queryable/, closed, 'closed'],
];

/** Undefined for an error that is not about the connection. */
export function explainConnection(error: unknown, location: ServerLocation): ConnectionFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const found = reasonOf(error);
  if (found) return new ConnectionFailure(location, found, error);
  if (!isUnavailable(error)) return undefined;
  return new ConnectionFailure(
    location,
    { ...closed, code: String((error as { code?: unknown }).code ?? 'lost') },
    error,
  );
}

function reasonOf(error: Error): (Reason & { readonly code: string }) | undefined {
  const { code, errno, message } = error as NodeJS.ErrnoException;
  // PostgreSQL: the server rejects this combination of user, host and encryption, or the user does not exist.
  if (code === '28000') {
    const isHost = /pg_hba\.conf/.test(message);
    const reason = !isHost ? password : /no encryption|SSL off/.test(message) ? onlyTls : machineDenied;
    return { ...reason, code };
  }
  if ((error as NodeJS.ErrnoException).syscall === 'open') return { ...noFile, code: String(code) };
  // MariaDB and MySQL; older drivers have no name for it.
  if (errno === 3159) return { ...onlyTls, code: 'ER_SECURE_TRANSPORT_REQUIRED' };
  if (typeof code === 'string' && Object.hasOwn(reasons, code)) return { ...(reasons[code] as Reason), code };
  if (code !== undefined) return undefined;
  const word = /^[A-Z]{6,20}(?= )/.exec(message)?.[0] ?? '';
  if (Object.hasOwn(reasons, word)) return { ...(reasons[word] as Reason), code: word };
  const [, reason, name] = messages.find(([pattern]) => pattern.test(message)) ?? [];
  return reason && name ? { ...reason, code: name } : undefined;
}

/** Whether TLS was requested and the server does not offer it. */
export function hasNoTls(error: unknown): boolean {
  return error instanceof ConnectionFailure && error.reason === noTls.is;
}

/** The error message for an operator. It includes host and port if a connection failed. */
export function messageForOperator(error: Error): string {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof ConnectionFailure) return at.message;
  return error.message;
}

/** Why the Redis at `url` is unusable: its client is not installed, or it fails. It leaves out the message of Redis, which may contain the password. */
export function explainRedis(cause: unknown, url: string): string {
  if (isAppError(cause, 'CONFIGURATION')) return cause.message;
  const { hostname, port, pathname, protocol } = new URL(url);
  const isSocket = protocol === 'unix:' || hostname === '';
  const host = isSocket ? pathname : decodeURIComponent(hostname);
  const location = { system: 'Redis', host, port: Number(port || 6379), setting: 'SERVICE_REDIS_URL' };
  const found = explainConnection(cause ?? new Error('Connection is closed'), location);
  if (found) return found.message;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const word = typeof code === 'string' ? code : (/^[A-Z]{2,20}(?= )/.exec(`${message}`)?.[0] ?? 'no connection');
  return `Redis at host ${host}, port ${location.port}: it cannot be used (${word}). Its address: SERVICE_REDIS_URL.`;
}
