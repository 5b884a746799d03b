// An agent over the small in-memory shop, with its files in its own folder.
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

/** An agent without data sources that is not started. It stops at the end of the test. */
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

/** The message of the error that `act` throws or rejects with. */
export async function messageOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    return (error as Error).message;
  }
  return 'it worked';
}
