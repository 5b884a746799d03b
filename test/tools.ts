// Test tools that are downloaded on demand (scripts/tool.mjs). An unavailable
// tool prints a warning, and fails with CI=true, like a missing database.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export type ToolName = 'node22' | 'conformance' | 'inspector' | 'openapi-typescript';

/** The path of the tool; undefined if its tests must be skipped. */
export function findTool(name: ToolName): string | undefined {
  const script = join(import.meta.dirname, '..', 'scripts', 'tool.mjs');
  const found = spawnSync(process.execPath, [script, name], { encoding: 'utf8' });
  if (found.status === 0) return found.stdout.trim();
  const message = `NO ${name.toUpperCase()}: its tests do not run. ${found.stderr.trim()}`;
  if (process.env.CI === 'true') throw new Error(message);
  console.warn(`\n*** ${message}\n`);
  return undefined;
}
