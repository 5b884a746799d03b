// Parts of the command that are not code of src: the demo shop is an example, and the evaluation kit uses a server like
// any client. scripts/build.mjs compiles both beside src, so their URLs are computed. They load when a command runs them.
import { join } from 'node:path';
import type { HeadlessAgent } from '../agent/agent.ts';
import type { Clock } from '../core/clock.ts';
import { packageFile } from '../core/config/package-files.ts';
import type { Config } from '../core/config.ts';
import type { SqliteDriver } from '../core/sqlite.ts';

interface DemoShop {
  customizeDemo(agent: HeadlessAgent): void;
  /** Leaves an existing file unchanged. */
  writeDemo(path: string, tools: { readonly driver: SqliteDriver; readonly clock: Clock }): void;
}

interface EvaluationKit {
  /** Prints a report. Returns false if a task failed. */
  evaluateFile(
    config: Config,
    path: string,
    options: { readonly version: string; readonly url?: string },
  ): Promise<boolean>;
}

export const demoPath = (dataDir: string): string => join(dataDir, 'demo.sqlite');

export const loadDemoShop = (): Promise<DemoShop> => load('examples/demo-shop/index.ts');

export const loadEvaluationKit = (): Promise<EvaluationKit> => load('eval/kit/command.ts');

async function load<Part>(path: string): Promise<Part> {
  return (await import(packageFile(path).href)) as Part;
}
