// An agent over the small shop in memory, its files in a folder of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Agent, type AgentOptions, createAgent, createMemoryDataSource, type LogLevel } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';

export type Logged = readonly [level: LogLevel, message: string, error?: unknown];

export interface Prepared {
  readonly agent: Agent;
  readonly folder: string;
  readonly schemaPath: string;
  readonly logged: Logged[];
}

export const secrets = { authSecret: 'auth-secret-of-the-test', envSecret: 'env-secret-of-the-test' };

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-agent-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Not started, without data sources; stopped at the end of the test. */
export function emptyAgent(options: Partial<AgentOptions> = {}): Prepared {
  const folder = makeFolder();
  const logged: Logged[] = [];
  const schemaPath = join(folder, 'schema.json');
  const agent = createAgent({
    ...secrets,
    schemaPath,
    logger: (...line) => logged.push(line),
    settings: { dataDir: join(folder, 'data') },
    ...options,
  });
  onTestFinished(() => agent.stop());
  return { agent, folder, schemaPath: options.schemaPath ?? schemaPath, logged };
}

export function shopAgent(options: Partial<AgentOptions> = {}): Prepared {
  const prepared = emptyAgent(options);
  prepared.agent.addDataSource(createMemoryDataSource('shop', shopTables));
  return prepared;
}

/** The message of what it throws or is rejected with. */
export async function messageOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    return (error as Error).message;
  }
  return 'it worked';
}
