// Every setting is a row of one table, which documents it, reads it, checks it and gives its default. Precedence: flag,
// environment, config file, default. A secret is never a flag; `NAME_FILE` reads any setting from a file.
import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import {
  checkBasePath,
  checkConsolePath,
  checkOrigin,
  checkPlace,
  checkPlatformPath,
  checkPublicUrl,
  checkServerUrl,
  checkSso,
  type SsoSettings,
} from './config/checks.ts';
import { clientSettings } from './config/clients.ts';
import { limitSettings } from './config/limits.ts';
import { listeningSettings } from './config/listening.ts';
import { peopleSettings } from './config/people.ts';
import type { Setting } from './config/setting.ts';
import { AppError, fail } from './errors.ts';

export const settings = {
  ...listeningSettings,
  ...clientSettings,
  ...peopleSettings,
  ...limitSettings,
} as const;

type Settings = typeof settings;
export type SettingName = keyof Settings;

/** Every setting with its value; the data folder absolute, URLs checked and without a trailing slash. */
export type Config = { readonly [K in SettingName]: Settings[K]['fallback'] } & {
  /** Where each value came from, for `portico doctor`. */
  readonly origins: Readonly<Record<SettingName, 'flag' | 'environment' | 'file' | 'default'>>;
};

/** Where settings are taken from: a flag goes before the environment, and that before the file. */
export interface ConfigInput {
  readonly flags?: Readonly<Partial<Record<SettingName, string>>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Values of a config file, already of the right types. */
  readonly file?: Partial<{ readonly [K in SettingName]: Settings[K]['fallback'] }>;
}

/** The environment of the process, for code that has no other. */
export function processEnvironment(): NonNullable<ConfigInput['env']> {
  return process.env;
}

/** CONFIGURATION when a value is malformed or two contradict; it names the variable and never shows a secret. */
export function loadConfig(input: ConfigInput = {}): Config {
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const [name, row] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    const given = find(name, row, input);
    values[name] = given.value;
    origins[name] = given.origin;
  }
  values.dataDir = resolve(values.dataDir as string);
  if (values.publicUrl) values.publicUrl = checkPublicUrl(values.publicUrl as string);
  values.basePath = checkBasePath(values.basePath as string, values.publicUrl as string | null);
  values.consolePath = checkConsolePath(values.consolePath as string, values.basePath as string);
  values.prefix = checkPlace('SERVICE_PREFIX', values.prefix as string, values.basePath as string);
  values.apiPath = checkPlace('SERVICE_API_PATH', values.apiPath as string, values.basePath as string);
  values.platformPath = checkPlatformPath(values.platformPath as string, values.basePath as string);
  if (values.serverUrl) values.serverUrl = checkServerUrl(values as unknown as Config);
  values.agentOrigins = (values.agentOrigins as readonly string[]).map(checkOrigin);
  checkSso(values as unknown as SsoSettings);
  return Object.freeze({ ...values, origins: Object.freeze(origins) }) as unknown as Config;
}

function find(name: SettingName, row: Setting<unknown>, input: ConfigInput): { value: unknown; origin: string } {
  const flag = input.flags?.[name];
  if (flag !== undefined) return { value: parse(row.flag ?? row.env, row, flag), origin: 'flag' };
  const given = input.env?.[row.env];
  if (given !== undefined && given !== '') return { value: parse(row.env, row, given), origin: 'environment' };
  const path = input.env?.[`${row.env}_FILE`];
  if (path) return { value: parse(`${row.env}_FILE`, row, readSecret(`${row.env}_FILE`, path)), origin: 'environment' };
  const value = input.file?.[name];
  if (value !== undefined) return { value, origin: 'file' };
  return { value: row.fallback, origin: 'default' };
}

function parse(label: string, row: Setting<unknown>, value: string): unknown {
  try {
    return row.read(value);
  } catch (error) {
    const got = row.secret ? 'a value that is not shown' : `'${value}'`;
    fail('CONFIGURATION', { problem: `${label}: ${(error as Error).message}, got ${got}.` });
  }
}

function readSecret(label: string, path: string): string {
  try {
    return readFileSync(isAbsolute(path) ? path : resolve(path), 'utf8').trim();
  } catch (cause) {
    throw new AppError('CONFIGURATION', { problem: `${label}: '${path}' cannot be read.` }, cause);
  }
}
