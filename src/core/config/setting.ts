// The type of a setting, and parsers for its text.
import { isZone } from '../clock/timezone.ts';

export interface Setting<T> {
  /** Environment variable. */
  readonly env: string;
  /** Command-line flag of `portico start`; absent for secrets. */
  readonly flag?: string;
  readonly secret?: true;
  /** The flag can be repeated. Its values, and the lines of the variable, are joined by line breaks. */
  readonly repeats?: true;
  /** For a list: its names are allowed, or denied. Code and environment together can only restrict. */
  readonly names?: 'allowed' | 'denied';
  readonly about: string;
  readonly fallback: T;
  /** Parses a text from a flag or the environment. Throws a plain Error that says what is expected. */
  readonly read: (text: string) => T;
}

export const text = (value: string): string => value;
/** At most 512 ASCII characters without spaces, as a token has. */
export const visibleText = (value: string): string => {
  if (!/^[!-~]{1,512}$/.test(value)) throw new Error('expected at most 512 ASCII characters without spaces');
  return value;
};
export const list = (value: string): readonly string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
export const flagged = (value: string): boolean => {
  if (/^(true|1|yes|on)$/i.test(value)) return true;
  if (/^(false|0|no|off)$/i.test(value)) return false;
  throw new Error('expected true or false');
};
export const wholeNumber =
  (min: number, max: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new Error(`expected a whole number from ${min} to ${max}`);
    return number;
  };
export const oneOf =
  <T extends string>(...choices: readonly T[]) =>
  (value: string): T => {
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    if (!found) throw new Error(`expected one of ${choices.join(', ')}`);
    return found;
  };

/** A secret of Standard Webhooks. */
export const webhookSecret = (value: string): string => {
  const bytes = /^whsec_[\w+/-]+={0,2}$/.test(value) ? Buffer.from(value.slice(6), 'base64').length : 0;
  if (bytes < 24 || bytes > 64) throw new Error('expected whsec_ and 24 to 64 bytes in base64');
  return value;
};

/** The URL of an SMTP server, with TLS (smtps) or STARTTLS (smtp). */
export const mailServer = (value: string): string => {
  const { protocol, hostname, pathname, search } = URL.canParse(value) ? new URL(value) : new URL('none:');
  if (!/^smtps?:$/.test(protocol) || hostname === '' || !/^\/?$/.test(pathname) || search !== '')
    throw new Error('expected smtps:// or smtp:// with a host, such as smtps://user:password@mail.example.com');
  return value;
};

/** One address, with or without a name. */
export const mailSender = (value: string): string => {
  if (!/^([^<>@\r\n]+ <[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/.test(value))
    throw new Error('expected an address, such as portico@example.com or Portico <portico@example.com>');
  return value;
};

/** The IANA name of a timezone. */
export const timezone = (value: string): string => {
  if (!isZone(value)) throw new Error('expected the IANA name of a timezone, such as America/New_York or UTC');
  return value;
};

/** `orders.placed_at=America/New_York`, separated by commas. */
export const columnTimezones = (value: string): readonly string[] =>
  list(value).map((item) => {
    const at = item.lastIndexOf('=');
    if (at < 1) throw new Error('expected table.column=timezone, such as orders.placed_at=America/New_York');
    return `${item.slice(0, at).trim()}=${timezone(item.slice(at + 1).trim())}`;
  });

/** OpenID Connect Discovery section 3: https, without query and fragment. http is allowed only on this machine. */
export const issuer = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const loopback = url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback);
  if (!url || !secure || url.search || url.hash || url.username || url.password) {
    throw new Error('expected an https address such as https://login.example.com (http on this machine only)');
  }
  return value;
};

/** The URL may contain a password. Errors never show it. */
export const redisAddress = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.hostname && /^rediss?:$/.test(url.protocol) && /^(\/\d*)?$/.test(url.pathname)) return value;
  throw new Error('expected an address such as redis://:password@host:6379/0, or rediss: for TLS');
};

export function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}
