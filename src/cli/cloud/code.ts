// Compiles and loads the code of a customization folder. It uses the folder's own TypeScript, even if Node can run
// TypeScript directly. Source maps make errors refer to source lines.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { AgentBuilder } from '../../agent/agent.ts';
import type { SqlConnectionParams } from '../../cloud/connections.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';

type Customize = (agent: AgentBuilder) => unknown;
type Connect = (env: Readonly<Record<string, string | undefined>>) => readonly SqlConnectionParams[];

const failCommand = (problem: string, cause?: unknown): never => {
  throw new AppError('CONFIGURATION', { problem }, cause);
};

/**
 * Compiles `src` to `dist`. Throws CONFIGURATION with the compiler's output. Outdated typings can cause type errors, so
 * an update of the typings skips the type check.
 */
export function compile(folder: string, how: 'checked' | 'whatever the types say'): void {
  const tsc = findCompiler(folder);
  const unchecked = how === 'checked' ? [] : ['--noCheck'];
  const run = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false', ...unchecked], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (run.status === 0) return;
  const output = `${run.stdout}${run.stderr}`.trim() || `${run.error?.message ?? 'unknown reason'}`;
  failCommand(`The code does not compile:\n${output}`);
}

function findCompiler(folder: string): string {
  try {
    const manifest = createRequire(join(folder, 'package.json')).resolve('typescript/package.json');
    return join(dirname(manifest), 'bin', 'tsc');
  } catch (cause) {
    return failCommand(`TypeScript is not installed in ${folder}. Run: npm install`, cause);
  }
}

export async function loadCustomization(folder: string): Promise<Customize> {
  const customize = await load(folder, 'index', 'customizeAgent');
  return async (agent) => {
    try {
      await customize(agent);
    } catch (error) {
      throwCodeError(folder, 'customizeAgent', error);
    }
  };
}

export async function loadConnections(folder: string): Promise<Connect> {
  const connect = await load(folder, 'data-source', 'dataSources');
  return (env) => connect(env) as readonly SqlConnectionParams[];
}

async function load(folder: string, file: string, name: string): Promise<(argument: unknown) => unknown> {
  const path = join(folder, 'dist', `${file}.js`);
  const written = join('src', `${file}.ts`);
  if (!existsSync(path))
    failCommand(`${written} does not exist, or tsconfig.json does not compile it to dist/${file}.js.`);
  process.setSourceMapsEnabled(true);
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    return throwCodeError(folder, written, error);
  }
  const found = module[name];
  if (typeof found === 'function') return found as (argument: unknown) => unknown;
  return fail('CONFIGURATION', { problem: `${written} must export a function ${name}.` });
}

/**
 * Throws CONFIGURATION with the source line that threw. An AppError passes unchanged, because its message already has
 * the position.
 */
function throwCodeError(folder: string, what: string, error: unknown): never {
  if (isAppError(error)) throw error;
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const position = positionOf(stack, folder);
  return failCommand(`${what} failed${position === undefined ? '' : ` at ${position}`}: ${message}`, error);
}

function positionOf(stack: string, folder: string): string | undefined {
  for (const line of stack.split('\n')) {
    const [, file, row] =
      /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()]*?):(\d+)(?::\d+)?\)?$/.exec(line.trim().replace(/^at /, '')) ?? [];
    if (!file) continue;
    const path = relative(folder, file.startsWith('file://') ? fileURLToPath(file) : file);
    if (!path.startsWith('..') && !path.includes('node_modules')) return `${path}:${row}`;
  }
  return undefined;
}
