// Every setting is one row of a table with its documentation, parser, checks and default. Precedence: code, flag,
// environment, config file, default. A secret is never a flag. `NAME_FILE` reads any setting from a file.
import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { brandSettings } from './config/brand.ts';
import {
  checkApiPath,
  checkBasePath,
  checkConsolePath,
  checkMail,
  checkNotify,
  checkOrigin,
  checkPlatformPath,
  checkPublicUrl,
  checkServerUrl,
  checkSso,
  type SsoSettings,
} from './config/checks.ts';
import { clientSettings } from './config/clients.ts';
import { applyCodeLayer, type Layer } from './config/layers.ts';
import { limitSettings } from './config/limits.ts';
import { listeningSettings } from './config/listening.ts';
import { peopleSettings } from './config/people.ts';
import type { Setting } from './config/setting.ts';
import { ssoProvidersOf } from './config/sso.ts';
import { AppError, fail } from './errors.ts';

export const settings = {
  ...listeningSettings,
  ...clientSettings,
  ...peopleSettings,
  ...limitSettings,
  ...brandSettings,
} as const;

type Settings = typeof settings;
export type SettingName = keyof Settings;

/** Every setting with its value. The data folder is absolute; URLs are checked and have no trailing slash. */
export type Config = { readonly [K in SettingName]: Settings[K]['fallback'] } & {
  /** The origin of each value, for `portico doctor`. */
  readonly origins: Readonly<Record<SettingName, Layer['origin']>>;
  /** Flags and variables that code overrides. */
  readonly unused: readonly string[];
};

/** The layers of settings. Code wins over flags, flags over the environment, the environment over the file. */
export interface ConfigInput {
  /**
   * Values from options and calls in code. They take precedence, but the environment can narrow lists of allowed values.
   * Default: no values.
   */
  readonly code?: SettingValues;
  /** Texts from the command line, by the names of the settings in code. Default: no flags. */
  readonly flags?: Readonly<Partial<Record<SettingName, string>>>;
  /** The environment variables. Default: no variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Values of a config file, already of the right types. Default: no values. */
  readonly file?: SettingValues;
}

/** Settings by their names in code. */
export type SettingValues = Partial<{ readonly [K in SettingName]: Settings[K]['fallback'] }>;

/** The environment variables of the process. */
export function processEnvironment(): NonNullable<ConfigInput['env']> {
  return process.env;
}

/**
 * Reads the settings and checks them. Throws CONFIGURATION if a value is malformed or two values contradict each other. The
 * error names the variable and never shows a secret.
 *
 * @example
 * const config = loadConfig({ env: process.env, code: { database: 'sqlite:shop.sqlite' } });
 */
export function loadConfig(input: ConfigInput = {}): Config {
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  const unused: string[] = [];
  for (const [name, row] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    const layer = findValue(name, row, input, unused);
    values[name] = layer.value;
    origins[name] = layer.origin;
  }
  values.dataDir = resolve(values.dataDir as string);
  if (values.publicUrl) values.publicUrl = checkPublicUrl(values.publicUrl as string);
  values.basePath = checkBasePath(values.basePath as string, values.publicUrl as string | null);
  values.prefix = checkApiPath('SERVICE_PREFIX', values.prefix as string, values.basePath as string);
  values.apiPath = checkApiPath('SERVICE_API_PATH', values.apiPath as string, values.basePath as string);
  values.consolePath = checkConsolePath(
    values.consolePath as string,
    values.basePath as string,
    values.apiPath as string,
  );
  values.platformPath = checkPlatformPath(values.platformPath as string, values.basePath as string);
  if (values.serverUrl) values.serverUrl = checkServerUrl(values as unknown as Config);
  values.agentOrigins = (values.agentOrigins as readonly string[]).map(checkOrigin);
  checkSso(values as unknown as SsoSettings);
  ssoProvidersOf(values as unknown as Config);
  checkNotify(values as unknown as Config);
  checkMail(values as unknown as Config);
  return Object.freeze({ ...values, origins: Object.freeze(origins), unused }) as unknown as Config;
}

function findValue(name: SettingName, row: Setting<unknown>, input: ConfigInput, unused: string[]): Layer {
  const layer = findBelowCode(name, row, input);
  const code = input.code?.[name];
  return code === undefined ? layer : applyCodeLayer(code, row, layer, unused);
}

function findBelowCode(name: SettingName, row: Setting<unknown>, input: ConfigInput): Layer {
  const layer = (origin: Layer['origin'], label: string, text: string) => ({
    ...{ origin, label },
    value: parse(label, row, text),
  });
  const flag = input.flags?.[name];
  if (flag !== undefined) return layer('flag', row.flag ?? row.env, flag);
  const envText = input.env?.[row.env];
  if (envText !== undefined && envText !== '') return layer('environment', row.env, envText);
  const path = input.env?.[`${row.env}_FILE`];
  if (path) return layer('environment', `${row.env}_FILE`, readSecret(`${row.env}_FILE`, path));
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
