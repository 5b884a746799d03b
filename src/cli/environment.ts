import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';
import { type Config, loadConfig, type SettingName } from '../core/config.ts';
import { AppError } from '../core/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Flags = Readonly<Partial<Record<SettingName, string>>>;

/** The variables of the process over those of a `.env` file in the working folder. */
export function readEnvironment(): Environment {
  return { ...readDotenv('.env'), ...process.env };
}

function readDotenv(path: string): Environment {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new AppError('CONFIGURATION', { problem: `${path} is there, but cannot be read.` }, cause);
  }
  return parse(text);
}

export function readConfig(flags: Flags): Config {
  return loadConfig({ flags, env: readEnvironment() });
}

/** A command as the person who reads our hints types it: through npm in a clone, else by its name. */
export function hint(config: Config, command: string): string {
  const name = process.env.npm_execpath ? 'npx portico' : 'portico';
  const folder = config.origins.dataDir === 'flag' ? ` --data-dir ${quote(config.dataDir)}` : '';
  return `${name} ${command}${folder}`;
}

function quote(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
