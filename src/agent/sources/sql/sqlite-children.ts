// A few child processes that run the heavy statements of one SQLite file. One that is killed is replaced when it is
// needed again; one that idles stays, since starting one takes about 90 ms.
import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import type { Observe } from '../../../core/observe.ts';
import type { ReadOptions } from '../source.ts';

/** What a child is asked, and what it says; over the channel with structured cloning, so that Buffers stay Buffers. */
export interface ChildRequest {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly bigIntegers: boolean;
}
export type ChildAnswer = { readonly rows: unknown[][] } | { readonly error: string };

export interface Children {
  run(request: ChildRequest, options: ReadOptions): Promise<unknown[][]>;
  close(): void;
}

const mostChildren = 4;

interface Job {
  readonly request: ChildRequest;
  /** Once, with what came of it. */
  settle(answer: ChildAnswer | AppError): void;
}

interface Worker {
  readonly child: ChildProcess;
  job: Job | undefined;
}

export function createChildren(given: {
  readonly path: string;
  readonly name: string;
  readonly observe: Observe;
  readonly clock: Clock;
}): Children {
  const { path, name, observe, clock } = given;
  const workers = new Set<Worker>();
  const waiting: Job[] = [];
  let closed = false;

  function start(): Worker {
    const child = fork(entry.file, [path], {
      serialization: 'advanced',
      execArgv: entry.execArgv,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const worker: Worker = { child, job: undefined };
    workers.add(worker);
    endWithUs(child);
    child.on('message', (answer: ChildAnswer) => {
      const { job } = worker;
      worker.job = undefined;
      release(worker);
      job?.settle(answer);
      next();
    });
    const gone = (cause?: unknown) => {
      if (!workers.delete(worker)) return;
      worker.job?.settle(new AppError('SOURCE_UNAVAILABLE', {}, cause ?? new Error('the SQLite child process ended')));
      next();
    };
    child.on('error', gone);
    child.on('exit', () => gone());
    return worker;
  }

  /** A child keeps the process alive while somebody waits for it, and only then. */
  function release({ child }: Worker): void {
    child.unref();
    child.channel?.unref();
  }

  function next(): void {
    while (waiting.length > 0 && !closed) {
      let worker = [...workers].find((one) => one.job === undefined);
      if (!worker) {
        if (workers.size >= mostChildren) return;
        worker = start();
      }
      const job = waiting.shift()!;
      worker.job = job;
      worker.child.ref();
      worker.child.channel?.ref();
      worker.child.send(job.request);
    }
  }

  function drop(job: Job): void {
    const at = waiting.indexOf(job);
    if (at >= 0) waiting.splice(at, 1);
    for (const worker of workers) {
      if (worker.job !== job) continue;
      worker.job = undefined;
      workers.delete(worker);
      worker.child.kill('SIGKILL');
    }
    next();
  }

  return {
    run(request, { signal, timeoutMs }) {
      const began = clock.monotonic();
      return new Promise((resolve, reject) => {
        const cancel = () => {
          job.settle(new AppError('CANCELLED', {}));
          drop(job);
        };
        const forget = clock.after(timeoutMs, () => {
          job.settle(new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 }));
          drop(job);
        });
        const job: Job = {
          request,
          settle(answer) {
            forget();
            signal?.removeEventListener('abort', cancel);
            const stopped = answer instanceof AppError;
            observe({
              type: 'source.isolated',
              source: name,
              milliseconds: clock.monotonic() - began,
              outcome: stopped
                ? answer.code === 'CANCELLED'
                  ? 'cancelled'
                  : 'failed'
                : 'rows' in answer
                  ? 'completed'
                  : 'failed',
            });
            if (stopped) reject(answer);
            else if ('rows' in answer) resolve(answer.rows);
            else reject(new Error(answer.error));
          },
        };
        signal?.addEventListener('abort', cancel, { once: true });
        if (closed) return job.settle(new AppError('SOURCE_UNAVAILABLE', {}));
        waiting.push(job);
        next();
      });
    },
    close() {
      closed = true;
      for (const job of waiting.splice(0)) job.settle(new AppError('SOURCE_UNAVAILABLE', {}));
      for (const { child } of workers) child.kill('SIGKILL');
    },
  };
}

/** No child outlives this process, which would leave it at work on a statement that nobody waits for. */
function endWithUs(child: ChildProcess): void {
  if (living.size === 0) process.on('exit', killLiving);
  living.add(child);
  child.once('exit', () => {
    living.delete(child);
    if (living.size === 0) process.off('exit', killLiving);
  });
}
const living = new Set<ChildProcess>();
function killLiving(): void {
  for (const child of living) child.kill('SIGKILL');
}

/** The built package runs its own JavaScript; from source the child is compiled on the way, as the parent was. */
const entry = ((): { file: string; execArgv: string[] } => {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return { file: fileURLToPath(new URL('./sqlite-child.js', here)), execArgv: [] };
  const loader = createRequire(here).resolve('tsx');
  return { file: fileURLToPath(new URL('./sqlite-child.ts', here)), execArgv: ['--import', loader] };
})();
