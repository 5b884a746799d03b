// What a setting is, and how its text is read.
export interface Setting<T> {
  /** Environment variable. */
  readonly env: string;
  /** Command-line flag of `portico start`; none for secrets. */
  readonly flag?: string;
  readonly secret?: true;
  readonly about: string;
  readonly fallback: T;
  /** Reads a text from a flag or the environment; throws a plain Error that says what is expected. */
  readonly read: (text: string) => T;
}

export const text = (value: string): string => value;
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
export const whole =
  (least: number, most: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most)
      throw new Error(`expected a whole number from ${least} to ${most}`);
    return number;
  };
export const oneOf =
  <T extends string>(...choices: readonly T[]) =>
  (value: string): T => {
    const found = choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
    if (!found) throw new Error(`expected one of ${choices.join(', ')}`);
    return found;
  };

/** OpenID Connect Discovery section 3: https, without query and fragment. On this machine alone http will do. */
export const issuer = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const loopback = url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const secure = url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback);
  if (!url || !secure || url.search || url.hash || url.username || url.password) {
    throw new Error('expected an https address such as https://login.example.com (http on this machine only)');
  }
  return value;
};

/** Its text is never shown: it may hold a password. */
export const redisAddress = (value: string): string => {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.hostname && /^rediss?:$/.test(url.protocol) && /^(\/\d*)?$/.test(url.pathname)) return value;
  throw new Error('expected an address such as redis://:password@host:6379/0, or rediss: for TLS');
};

export function setting<T>(row: Setting<T>): Setting<T> {
  return row;
}
