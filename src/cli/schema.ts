// `portico schema check` and `write`: the schema file of what `portico start` would serve from this folder, or of an agent that
// a module exports. Nothing is served or sent, and the platform's storage is not opened.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EngineAgent } from '../agent/agent.ts';
import { createSqlDataSource } from '../agent/data-sources.ts';
import { type Agent, createAgent } from '../app/agent.ts';
import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';
import { prepareServed } from './served.ts';

export interface SchemaOptions {
  readonly file?: string;
  readonly agent?: string;
}

type SchemaAgent = Pick<Agent, 'checkSchema' | 'generateSchemaOnly' | 'stop'>;

/** Prints what differs; false when something does. */
export async function checkSchema(config: Config, options: SchemaOptions): Promise<boolean> {
  const differences = await (await openAgent(config, options)).checkSchema();
  if (differences.length === 0) {
    process.stdout.write('The schema file is what is served.\n');
    return true;
  }
  const count = differences.length === 1 ? '1 difference' : `${differences.length} differences`;
  process.stdout.write(
    `${differences.join('\n')}\n\n${count}. When it is meant: portico schema write, and commit the file.\n`,
  );
  return false;
}

export async function writeSchema(config: Config, options: SchemaOptions): Promise<void> {
  const agent = await openAgent(config, options);
  try {
    await agent.generateSchemaOnly();
  } finally {
    // It leaves the connections open.
    await agent.stop();
  }
  process.stdout.write('The schema file is written.\n');
}

async function openAgent(config: Config, { file, agent: module }: SchemaOptions): Promise<SchemaAgent> {
  if (module !== undefined) {
    if (file !== undefined)
      fail('CONFIGURATION', {
        problem: '--file: an agent of a module says itself where its file lies, by schemaPath.',
      });
    return loadAgent(resolve(module));
  }
  const { database, customize } = await prepareServed(config, systemClock);
  // The secrets are for signing in, which nobody does here.
  const agent = createAgent({
    authSecret: 'none',
    envSecret: 'none',
    prefix: config.prefix,
    ...(file !== undefined && { schemaPath: file }),
  }).addDataSource(createSqlDataSource(database, { sqlite: config.sqlite }));
  customize?.(agent as unknown as EngineAgent);
  return agent;
}

/** The module must not start it: CONFIGURATION when it exports none. */
async function loadAgent(path: string): Promise<SchemaAgent> {
  if (!existsSync(path)) fail('CONFIGURATION', { problem: `--agent: there is no file ${path}.` });
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const problem = `--agent: ${path} cannot be loaded: ${(cause as Error).message}`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  const agent = (module.default ?? module.agent) as Partial<SchemaAgent> | undefined;
  if (typeof agent?.checkSchema === 'function') return agent as SchemaAgent;
  return fail('CONFIGURATION', {
    problem: `--agent: ${path} must export what createAgent gave, as default or as agent, without starting it.`,
  });
}
