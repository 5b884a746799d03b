// A few child processes that read one SQLite file. Each starts when a statement needs it, in about 90 ms, and ends when
// it was idle for a while, because it takes memory.
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../../../core/clock.ts';
import { AppError } from '../../../../core/errors.ts';
import { resolveEntry, startChild } from '../../../../core/limit/entry.ts';
import type { Observe } from '../../../../core/observe.ts';
import type { ReadOptions } from '../../source.ts';
import { createAnswerTooLarge } from '../answer-size.ts';
import type { Cut } from '../statements/shape.ts';

/** Requests to a child and its responses, sent with structured cloning to preserve Buffers. */
export interface ChildRequest {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly bigIntegers: boolean;
  readonly maxBytes: number;
  readonly cut?: Cut;
}
export type ChildAnswer =
  | { readonly rows: unknown[][]; readonly isLast: boolean }
  | { readonly tooLarge: true }
  | { readonly error: string; readonly code?: string };

interface Children {
  run(request: ChildRequest, options: ReadOptions): Promise<unknown[][]>;
  close(): void;
}

/** Each child takes about 50 MB. */
export const MAX_CHILDREN = 3;
const IDLE_MILLISECONDS = 10_000;

interface Job {
  readonly request: ChildRequest;
  /** The rows received so far. */
  readonly rows: unknown[][];
  /** Called once with the final result. */
  settle(answer: ChildAnswer | AppError): void;
}

interface Worker {
  readonly child: ChildProcess;
  job: Job | undefined;
  /** Keeps the child, because it has a job again. */
  keep: () => void;
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
    const child = startChild(entry, flags, path);
    const worker: Worker = { child, job: undefined, keep: () => undefined };
    workers.add(worker);
    killOnExit(child);
    child.on('message', (answer: ChildAnswer) => {
      const { job } = worker;
      if ('rows' in answer) for (const row of answer.rows) job?.rows.push(row);
      if ('rows' in answer && !answer.isLast) return;
      worker.job = undefined;
      release(worker);
      job?.settle(answer);
      next();
    });
    const onExit = (cause?: unknown) => {
      if (!workers.delete(worker)) return;
      worker.job?.settle(new AppError('SOURCE_UNAVAILABLE', {}, cause ?? new Error('the SQLite child process ended')));
      next();
    };
    child.on('error', onExit);
    child.on('exit', () => onExit());
    return worker;
  }

  /** Only a child with a waiting caller may hold this process open. */
  function release(worker: Worker): void {
    const { child } = worker;
    child.unref();
    child.channel?.unref();
    worker.keep = clock.after(IDLE_MILLISECONDS, () => end(worker));
  }

  function end(worker: Worker): void {
    workers.delete(worker);
    worker.child.kill('SIGKILL');
  }

  function next(): void {
    while (waiting.length > 0 && !closed) {
      let worker = [...workers].find((one) => one.job === undefined);
      if (!worker) {
        if (workers.size >= MAX_CHILDREN) return;
        worker = start();
      }
      const job = waiting.shift()!;
      worker.job = job;
      worker.keep();
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
      end(worker);
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
          rows: [],
          settle(answer) {
            forget();
            signal?.removeEventListener('abort', cancel);
            const milliseconds = clock.monotonic() - began;
            observe({ type: 'source.isolated', source: name, milliseconds, outcome: outcomeOf(answer) });
            if (answer instanceof AppError) reject(answer);
            else if ('rows' in answer) resolve(job.rows);
            else if ('tooLarge' in answer) reject(createAnswerTooLarge());
            else reject(Object.assign(new Error(answer.error), { code: answer.code }));
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

function outcomeOf(answer: ChildAnswer | AppError): 'completed' | 'cancelled' | 'failed' {
  if (answer instanceof AppError) return answer.code === 'CANCELLED' ? 'cancelled' : 'failed';
  return 'rows' in answer ? 'completed' : 'failed';
}

/** Kills the children when this process exits. Otherwise they would finish statements without a caller. */
function killOnExit(child: ChildProcess): void {
  if (runningChildren.size === 0) process.on('exit', killRunning);
  runningChildren.add(child);
  child.once('exit', () => {
    runningChildren.delete(child);
    if (runningChildren.size === 0) process.off('exit', killRunning);
  });
}
const runningChildren = new Set<ChildProcess>();
function killRunning(): void {
  for (const child of runningChildren) child.kill('SIGKILL');
}

// Rows are garbage as soon as they are sent. By default V8 would let it grow to several times what is in use.
const flags = ['--max-old-space-size=128', '--max-semi-space-size=2', '--heap-growing-percent=30'];
const entry = resolveEntry('src/agent/sources/sql/sqlite/child.ts');
