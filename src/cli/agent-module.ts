// `--agent`: loads an agent from an application module, for commands that inspect its model without starting it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError, fail, isAppError } from '../core/errors.ts';
import type { Agent } from '../server/agent/create-agent.ts';

export type AgentModule = Pick<Agent, 'checkSchema' | 'generateSchemaOnly' | 'withEngine' | 'stop'>;

/** The module must export the agent without starting it. Throws CONFIGURATION if it exports no agent. */
export async function loadAgent(file: string): Promise<AgentModule> {
  const path = resolve(file);
  if (!existsSync(path)) fail('CONFIGURATION', { problem: `--agent: the file ${path} does not exist.` });
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const problem = `--agent: ${path} cannot be loaded: ${(cause as Error).message}`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  const agent = (module.default ?? module.agent) as Partial<AgentModule> | undefined;
  if (typeof agent?.withEngine === 'function') return agent as AgentModule;
  return fail('CONFIGURATION', {
    problem: `--agent: ${path} must export the agent from createAgent, as default or as agent, without starting it.`,
  });
}
