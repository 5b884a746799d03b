// The parameters of a database URL. URLs are copied from other tools, which use their own names. Known parameters are
// applied, and a warning names each parameter without effect.
import { fail } from '../errors.ts';
import { suggestNames } from '../suggestions.ts';

/** Like `sslMode` of a source. */
type Tls = 'disabled' | 'preferred' | 'required' | 'verify';

export interface AddressParameters {
  readonly schemas?: readonly string[];
  readonly tls?: Tls;
  /** Maximum number of connections. */
  readonly maxConnections?: number;
  readonly connectMs?: number;
  /** Connections use a pooler that assigns another session to every transaction. */
  readonly pooled?: true;
  /** The URL without the parameters that were applied or have no effect. */
  readonly url: string;
  /** One sentence for each parameter without effect; it does not contain the value. */
  readonly warnings: readonly string[];
}

type Server = 'mysql' | 'postgres';
type Use = Omit<AddressParameters, 'url' | 'warnings'>;
type Reader = (value: string, wrong: (expected: string) => never) => Use | undefined;

const tlsWords: Readonly<Record<Server, Readonly<Record<string, Tls>>>> = {
  // `require` means a verified server, as in the driver.
  postgres: {
    disable: 'disabled',
    allow: 'preferred',
    prefer: 'preferred',
    'no-verify': 'required',
    require: 'verify',
    'verify-ca': 'verify',
    'verify-full': 'verify',
  },
  mysql: {
    disabled: 'disabled',
    disable: 'disabled',
    preferred: 'preferred',
    prefer: 'preferred',
    required: 'required',
    require: 'required',
    'no-verify': 'required',
    verify_ca: 'verify',
    verify_identity: 'verify',
    'verify-ca': 'verify',
    'verify-full': 'verify',
  },
};

const count: Reader = (value, wrong) => {
  if (!/^[1-9]\d{0,5}$/.test(value)) wrong('a whole number above 0');
  return { maxConnections: Number(value) };
};
const wait =
  (unit: number): Reader =>
  (value, wrong) => {
    if (!/^\d{1,7}$/.test(value)) wrong('a whole number');
    // In other tools, 0 means no limit.
    return Number(value) === 0 ? {} : { connectMs: Number(value) * unit };
  };
const schemas: Reader = (value, wrong) => {
  const names = value.split(',').map((name) => name.trim());
  if (names.includes('')) wrong('a name, as in ?schema=sales');
  return { schemas: names };
};
const tls =
  (server: Server): Reader =>
  (value, wrong) => {
    const words = tlsWords[server];
    const word = value.toLowerCase();
    return {
      tls: Object.hasOwn(words, word) ? (words[word] as Tls) : wrong(`one of ${Object.keys(words).join(', ')}`),
    };
  };
const accept: Reader = (value, wrong) => {
  if (value === 'strict') return { tls: 'verify' };
  return value === 'accept_invalid_certs' ? { tls: 'required' } : wrong('strict or accept_invalid_certs');
};
/** Other values are passed to the driver. */
const flag: Reader = (value) => {
  if (/^(true|1)$/i.test(value)) return { tls: 'verify' };
  return /^(false|0)$/i.test(value) ? { tls: 'disabled' } : undefined;
};

const readers: Readonly<Record<Server, Readonly<Record<string, Reader>>>> = {
  postgres: {
    schema: schemas,
    search_path: schemas,
    currentSchema: schemas,
    connection_limit: count,
    connect_timeout: wait(1000),
    sslmode: tls('postgres'),
    sslaccept: accept,
    ssl: flag,
    pgbouncer: (value) => (/^(true|1)$/i.test(value) ? { pooled: true } : {}),
  },
  mysql: {
    schema: schemas,
    connection_limit: count,
    connectionLimit: count,
    connect_timeout: wait(1000),
    connectTimeout: wait(1),
    sslmode: tls('mysql'),
    'ssl-mode': tls('mysql'),
    ssl_mode: tls('mysql'),
    sslMode: tls('mysql'),
    sslaccept: accept,
    ssl: flag,
    // All connections use utf8mb4.
    charset: (value) => (/^utf8mb4/i.test(value) ? {} : undefined),
  },
};

/** `driverParameters`: parameters that the driver reads from the URL itself. Throws CONFIGURATION for an invalid value. */
export function readParameters(
  server: Server,
  address: string,
  driverParameters: readonly string[],
): AddressParameters {
  const url = new URL(address);
  const serverReaders = readers[server];
  const names = [...url.searchParams.keys()];
  // The driver reads certificate files, and then also the other TLS parameters.
  const isForDriver = (name: string) =>
    driverParameters.includes(name) ||
    (name === 'sslmode' && names.some((each) => driversTls.has(each) && driverParameters.includes(each)));
  let use: Use = {};
  const warnings: string[] = [];
  const driverParts: string[] = [];
  // Keep the original text: serializing it again would change the encoding.
  for (const part of url.search.slice(1).split('&').filter(Boolean)) {
    const [[name, value] = ['', '']] = new URLSearchParams(part);
    const wrong = (expected: string): never =>
      fail('CONFIGURATION', { problem: `The parameter '${name}' of the database URL must be ${expected}.` });
    const reader =
      Object.hasOwn(serverReaders, name) && !(name === 'sslmode' && isForDriver(name))
        ? serverReaders[name]
        : undefined;
    const found = reader?.(value, wrong);
    if (found) use = { ...use, ...found, ...mergeParameters(use, found) };
    else if (isForDriver(name)) driverParts.push(part);
    else warnings.push(describeUnused(name, [...Object.keys(serverReaders), ...driverParameters]));
  }
  const plain = address.replace(/\?[^#]*/, '');
  return { ...use, url: driverParts.length ? plain.replace(/(?=#|$)/, `?${driverParts.join('&')}`) : plain, warnings };
}

const driversTls: ReadonlySet<string> = new Set(['sslcert', 'sslkey', 'sslrootcert', 'uselibpqcompat']);

/** Of two TLS modes the stricter one wins. Two lists of schemas are combined. */
function mergeParameters(one: Use, other: Use): Use {
  const order: readonly (Tls | undefined)[] = [undefined, 'disabled', 'preferred', 'required', 'verify'];
  return {
    ...(one.tls && other.tls && { tls: order[Math.max(order.indexOf(one.tls), order.indexOf(other.tls))] as Tls }),
    ...(one.schemas && other.schemas && { schemas: [...one.schemas, ...other.schemas] }),
  };
}

function describeUnused(name: string, known: readonly string[]): string {
  const near = suggestNames(name, known, 3);
  return `The database URL has the parameter '${name}', which has no effect here.${near.length ? ` Near: ${near.join(', ')}.` : ''}`;
}
