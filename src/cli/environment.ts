import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { type Config, loadConfig, type SettingName } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { loadConfigFile } from './customization.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Flags = Readonly<Partial<Record<SettingName, string>>>;

/** Reads the environment. Variables of the process override the `.env` file in the working folder. */
export function readEnvironment(): Environment {
  return { ...readDotenv('.env'), ...process.env };
}

function readDotenv(path: string): Environment {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new AppError('CONFIGURATION', { problem: `${path} exists, but cannot be read.` }, cause);
  }
  return parse(text);
}

export async function readConfig(flags: Flags): Promise<Config> {
  const { options } = await loadConfigFile(process.cwd());
  return loadConfig({ flags, env: readEnvironment(), file: options });
}

/** Returns a command as the user would type it: through npx in a clone, otherwise by name. */
export function hint(config: Config, command: string): string {
  const name = process.env.npm_execpath ? 'npx portico' : 'portico';
  const folder = config.origins.dataDir === 'flag' ? ` --data-dir ${quote(config.dataDir)}` : '';
  return `${name} ${command}${folder}`;
}

function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
