// `portico schema check` and `write`: the schema file for what `portico start` would serve from this folder, or for an
// agent that a module exports. These commands do not start a server, send no data and do not open the storage.
// `portico schema reload` only writes a request to the storage.
import type { HeadlessAgent } from '../agent/agent.ts';
import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createAgent } from '../server/agent/create-agent.ts';
import { addDatabases } from '../server/data.ts';
import { requestReload } from '../store/settings.ts';
import { type AgentModule, loadAgent } from './agent-module.ts';
import { prepareServed } from './served.ts';
import { withStore } from './storage.ts';

export interface SchemaOptions {
  readonly file?: string;
  readonly agent?: string;
}

type SchemaAgent = Pick<AgentModule, 'checkSchema' | 'generateSchemaOnly' | 'stop'>;

/** Prints the differences. Returns false if there are any. */
export async function checkSchema(config: Config, options: SchemaOptions): Promise<boolean> {
  const differences = await (await openAgent(config, options)).checkSchema();
  if (differences.length === 0) {
    process.stdout.write('The schema file matches the served schema.\n');
    return true;
  }
  const count = differences.length === 1 ? '1 difference' : `${differences.length} differences`;
  process.stdout.write(
    `${differences.join('\n')}\n\n${count}. If this is intended: portico schema write, and commit the file.\n`,
  );
  return false;
}

export async function writeSchema(config: Config, options: SchemaOptions): Promise<void> {
  const agent = await openAgent(config, options);
  try {
    await agent.generateSchemaOnly();
  } finally {
    // Closes the agent's connections.
    await agent.stop();
  }
  process.stdout.write('The schema file is written.\n');
}

export async function reloadTables(config: Config): Promise<void> {
  await withStore(config, async ({ settings }) => void (await requestReload(settings)));
  process.stdout.write(
    'Every server of this storage reads its tables again within ten seconds. Its log names problems.\n',
  );
}

async function openAgent(config: Config, { file, agent: module }: SchemaOptions): Promise<SchemaAgent> {
  if (module !== undefined) {
    if (file !== undefined)
      fail('CONFIGURATION', {
        problem: '--file: the agent of a module sets the path of its file itself, with schemaPath.',
      });
    return loadAgent(module);
  }
  const { database, customize } = await prepareServed(config, systemClock);
  // No user signs in, so the secrets are placeholders.
  const secrets = { authSecret: 'none', envSecret: 'none' };
  const agent = createAgent({ ...secrets, prefix: config.prefix, ...(file !== undefined && { schemaPath: file }) });
  addDatabases(agent, { ...config, database });
  customize?.(agent as unknown as HeadlessAgent);
  return agent;
}
