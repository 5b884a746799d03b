// Loads `portico.config.ts`, `.js` or `.mjs` from the working directory. The module exports a function that customizes
// the agent, as default or as `customize`, and settings as `options`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HeadlessAgent } from '../agent/agent.ts';
import { parseSettings } from '../core/config/given.ts';
import { type SettingValues, settings } from '../core/config.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';

export type Customize = (agent: HeadlessAgent) => void;

interface ConfigFile {
  readonly customize?: Customize;
  readonly options: SettingValues;
}

const names = ['portico.config.ts', 'portico.config.js', 'portico.config.mjs'];

/**
 * Returns undefined if there is no file, or if it exports only settings. Throws CONFIGURATION if the file is invalid.
 */
export async function loadCustomization(folder: string): Promise<Customize | undefined> {
  return (await loadConfigFile(folder)).customize;
}

/** Reads the customization function and the settings. Throws CONFIGURATION if the file is invalid. */
export async function loadConfigFile(folder: string): Promise<ConfigFile> {
  const found = names.map((name) => join(folder, name)).filter((path) => existsSync(path));
  const [path, other] = found;
  if (path === undefined) return { options: {} };
  if (other !== undefined) fail('CONFIGURATION', { problem: `Both ${path} and ${other} exist: keep one of them.` });
  const module = await load(path);
  const customize = module.default ?? module.customize;
  const { options } = module;
  if (customize === undefined ? options === undefined : typeof customize !== 'function')
    fail('CONFIGURATION', {
      problem: `${path} must export a function, as default or as customize: (agent) => { ... }; or settings: export const options = { ... }`,
    });
  if (options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options)))
    fail('CONFIGURATION', { problem: `${path}: options must be an object of settings, such as { pageSize: 20 }` });
  const refuse = (problem: string) => fail('CONFIGURATION', { problem: `${path}: ${problem}.` });
  return {
    options: parseSettings(settings, options ?? {}, refuse) as SettingValues,
    ...(customize !== undefined && { customize: customize as Customize }),
  };
}

/** Redirects the module's output to standard error. Standard output is for results of commands, such as a token. */
async function load(path: string): Promise<Record<string, unknown>> {
  const { stdout, stderr } = process;
  const { write } = stdout;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem =
      code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? `${path}: this Node (${process.version}) cannot load TypeScript. Use Node 22.18 or later, or write the file as portico.config.mjs.`
        : `${path} cannot be loaded: ${message}`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  } finally {
    stdout.write = write;
  }
}
