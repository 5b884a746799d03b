// Generates typings from a structure and the customization code. The customization runs as at a start, over sources
// that describe their collections but return no data. This checks names, relations and computed fields without a
// database.
import { AgentBuilder } from '../agent/agent.ts';
import { createStructureSources, renamesOf, type Structure } from '../agent/artifacts/structure.ts';
import { createTypings, type Typings } from '../agent/artifacts/typings.ts';
import type { EngineParts } from '../agent/customize/engine-parts.ts';
import { systemClock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';

class StructureAgent extends AgentBuilder {
  async makeTypings(parts: EngineParts, maxDepth: number): Promise<Typings> {
    this.closeBuilder();
    const { engine, model } = await this.openEngine(parts);
    await engine.close();
    return createTypings(model, maxDepth);
  }
}

interface TypingsParts {
  /** May be async. */
  readonly customize: (agent: AgentBuilder) => unknown;
  readonly observe: Observe;
  /** How many relations paths follow; default 5. */
  readonly maxDepth?: number;
}

/** Throws CONFIGURATION, with the user's file and line, when the code does not fit the structure. */
export async function makeTypings(
  structure: Structure,
  { customize, observe, maxDepth = 5 }: TypingsParts,
): Promise<Typings> {
  const agent = new StructureAgent();
  for (const [at, source] of createStructureSources(structure).entries())
    agent.addDataSource(() => source, { rename: renamesOf(structure.sources[at]!) });
  await customize(agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 1000 };
  return agent.makeTypings({ observe, clock: systemClock, limits }, maxDepth);
}
