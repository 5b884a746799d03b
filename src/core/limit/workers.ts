// Worker threads for work that user input can make slow: matching, sorting, validation against an untrusted schema.
// Meanwhile the process serves other calls. A worker that exceeds its time limit is terminated. Idle workers are reused
// and do not keep the process alive.
import type { Worker } from 'node:worker_threads';
import type { StopSignal } from '../clock/stop.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type Entry, startWorker } from './entry.ts';

/** Posts one message to the worker and waits for the answer. */
export type SendMessage = <A>(message: unknown) => Promise<A>;

/** The message that a worker posts back for each message. */
export type WorkerAnswer = { readonly answer: unknown } | { readonly error: string };

interface WorkOptions {
  readonly signal?: StopSignal;
  readonly timeoutMs: number;
}

interface Workers {
  /** Runs `work` with an exclusive worker. Throws TIMED_OUT, including the wait for a worker, or CANCELLED. */
  use<T>(work: (send: SendMessage) => Promise<T>, clock: Clock, options: WorkOptions): Promise<T>;
}

/** Above this limit the worker fails instead of the process. */
const MEMORY_MB = 128;

export function createWorkers(entry: Entry, maxWorkers: number): Workers {
  const idle: Worker[] = [];
  const waiting: (() => void)[] = [];
  let count = 0;

  function take(): Worker | undefined {
    const idleWorker = idle.pop();
    if (idleWorker || count >= maxWorkers) return idleWorker;
    count++;
    const worker = startWorker(entry, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 4 },
    });
    worker.setMaxListeners(0);
    worker.on('error', () => undefined);
    return worker;
  }

  function giveBack(worker: Worker, broken: boolean): void {
    worker.unref();
    if (broken) {
      count--;
      void worker.terminate();
    } else idle.push(worker);
    waiting.shift()?.();
  }

  return {
    use(work, clock, { signal, timeoutMs }) {
      return new Promise((resolve, reject) => {
        let worker: Worker | undefined;
        let over = false;
        const end = (complete: () => void, broken: boolean) => {
          if (over) return;
          over = true;
          cancelTimer();
          signal?.removeEventListener('abort', cancel);
          const at = waiting.indexOf(begin);
          if (at >= 0) waiting.splice(at, 1);
          if (worker) giveBack(worker, broken);
          complete();
        };
        const stop = (reason: Error) => end(() => reject(reason), true);
        const cancel = () => stop(new AppError('CANCELLED', {}));
        const cancelTimer = clock.after(timeoutMs, () =>
          stop(new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 })),
        );
        const begin = () => {
          worker = take();
          if (!worker) return void waiting.push(begin);
          worker.ref();
          work(createSender(worker, () => over)).then(
            (answer) => end(() => resolve(answer), false),
            (error: unknown) => end(() => reject(error), true),
          );
        };
        signal?.addEventListener('abort', cancel, { once: true });
        if (signal?.aborted) cancel();
        else begin();
      });
    },
  };
}

function createSender(worker: Worker, isOver: () => boolean): SendMessage {
  return <A>(message: unknown) =>
    new Promise<A>((resolve, reject) => {
      if (isOver()) return reject(new AppError('CANCELLED', {}));
      const complete = (run: () => void) => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        run();
      };
      const onMessage = (reply: WorkerAnswer) =>
        complete(() => ('error' in reply ? reject(new Error(reply.error)) : resolve(reply.answer as A)));
      const onError = (cause: Error) => complete(() => reject(cause));
      const onExit = () => complete(() => reject(new Error('the worker thread ended')));
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(message);
    });
}
