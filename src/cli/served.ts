// Determines the served database and its customization. Without a configured database it is the demo shop, which is
// created on first use.
import { existsSync, mkdirSync } from 'node:fs';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, isAppError } from '../core/errors.ts';
import { loadSqliteDriver } from '../core/sqlite.ts';
import { type Customize, loadCustomization } from './customization.ts';
import { demoPath, loadDemoShop } from './parts.ts';

export interface Served {
  readonly database: string;
  readonly customize: Customize | undefined;
}

export async function prepareServed(config: Config, clock: Clock): Promise<Served> {
  prepareFolder(config.dataDir);
  const database = config.database ?? `sqlite:${await prepareDemo(config, clock)}`;
  return { database, customize: await findCustomization(config) };
}

/** Returns what would be served, without creating files. Returns undefined if the demo shop does not exist yet. */
export async function findServed(config: Config): Promise<Served | undefined> {
  const demo = demoPath(config.dataDir);
  const database = config.database ?? (existsSync(demo) ? `sqlite:${demo}` : undefined);
  if (database === undefined) return undefined;
  return { database, customize: await findCustomization(config) };
}

async function findCustomization(config: Config): Promise<Customize | undefined> {
  const customize = await loadCustomization(process.cwd());
  return customize ?? (config.database === null ? (await loadDemoShop()).customizeDemo : undefined);
}

function prepareFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const problem = `SERVICE_DATA_DIR: '${dataDir}' cannot be created. Set another folder, or change the write permissions.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

async function prepareDemo(config: Config, clock: Clock): Promise<string> {
  const path = demoPath(config.dataDir);
  if (existsSync(path)) return path;
  const { writeDemo } = await loadDemoShop();
  try {
    writeDemo(path, { driver: loadSqliteDriver(config.sqlite).driver, clock });
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const problem = `The demo shop cannot be written to '${path}'. Free disk space there, or set another SERVICE_DATA_DIR or a --database.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  return path;
}
