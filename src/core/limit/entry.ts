// The entry file of a child process or worker thread. The built package runs its own JavaScript. From source, the file
// is compiled in a few milliseconds, because the loader of the parent takes 300 in a child.
import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { packageFile } from '../config/package-files.ts';
import { processEnvironment } from '../config.ts';

export interface Entry {
  readonly url: URL;
  readonly isSource: boolean;
}

/** `path`: the source file, from the root of the package. scripts/bundle.mjs lists it as an entry point. */
export function resolveEntry(path: string): Entry {
  const url = packageFile(path);
  return { url, isSource: url.pathname.endsWith('.ts') };
}

export function startWorker(entry: Entry, options: WorkerOptions): Worker {
  if (!entry.isSource) return new Worker(entry.url, options);
  return new Worker(compile(entry), { ...options, eval: true, execArgv: [] });
}

/** The child shares only an IPC channel, which transfers Buffers as Buffers. */
export function startChild(entry: Entry, execArgv: readonly string[], argument: string): ChildProcess {
  const nodeArguments = entry.isSource ? ['-e', compile(entry), '--'] : [fileURLToPath(entry.url)];
  return spawn(process.execPath, [...execArgv, ...nodeArguments, argument], {
    // Memory of large rows goes back to the system, not to a pool of the allocator (mallopt(3), glibc only).
    env: { ...processEnvironment(), MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/** A development dependency: the published package is already compiled. */
interface Esbuild {
  buildSync(options: object): { readonly outputFiles: readonly { readonly text: string }[] };
}

const compiled = new Map<string, string>();

function compile({ url }: Entry): string {
  const cached = compiled.get(url.href);
  if (cached) return cached;
  const { buildSync } = createRequire(url)('esbuild') as Esbuild;
  const base = JSON.stringify(url.href);
  const built = buildSync({
    entryPoints: [fileURLToPath(url)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    define: { 'import.meta.url': base },
    banner: { js: `require = require('node:module').createRequire(${base});` },
  });
  const code = built.outputFiles[0]!.text;
  compiled.set(url.href, code);
  return code;
}
