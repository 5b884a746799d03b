// The SQL of each operation. Runs the tools once on the engine, over a watched source.
import { createEngine } from '../src/agent/engine.ts';
import type { Source } from '../src/agent/sources/source.ts';
import { createSqlSource } from '../src/agent/sources/sql/source.ts';
import { type Caller, fullAccess } from '../src/core/caller.ts';
import { Stop } from '../src/core/clock/stop.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadConfig } from '../src/core/config.ts';
import type { ToolCall } from '../src/mcp/tool.ts';
import { selectTools } from '../src/mcp/tools.ts';
import type { Operation } from './operations.ts';

/** Statements by operation name, without operations that run no SQL. Runs each write once. */
export async function readStatements(
  url: string,
  operations: readonly Operation[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const texts: string[] = [];
  const source = createSqlSource(url, { observe: () => {}, clock: systemClock });
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
  const sources = [watched(source, (text) => texts.push(text))];
  const engine = await createEngine({ sources, observe: () => {}, clock: systemClock, limits });
  const access = fullAccess({ id: 1, timezone: 'Europe/Paris', tags: {} } as Caller);
  const call = { access, engine, config: loadConfig(), signal: new Stop() } as Partial<ToolCall> as ToolCall;
  const tools = selectTools(null, () => undefined);
  const statements = new Map<string, readonly string[]>();
  for (const { name, tool: wanted, given } of operations) {
    const tool = tools.find((each) => each.name === wanted);
    if (!tool) continue;
    texts.length = 0;
    await tool.run(tool.parse(given(0)), call);
    statements.set(name, [...texts]);
  }
  await engine.close();
  return statements;
}

/** Passes each statement to `watch` as it runs. */
export function watched(source: Source, watch: (text: string) => void): Source {
  const { writing } = source;
  return {
    ...source,
    read: (select, options) => source.read(select, { ...options, watch }),
    aggregate: (group, options) => source.aggregate!(group, { ...options, watch }),
    writing: {
      get returning() {
        return writing!.returning;
      },
      transaction: (work, options) => writing!.transaction(work, { ...options, watch }),
    },
  };
}
