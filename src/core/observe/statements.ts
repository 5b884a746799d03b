// Collects the statements of one call, to show them in the tool playground of the console. Each statement reports
// itself (`statement.ran`), and its asynchronous context identifies the call, also through user code. Before Node 24,
// the first such context makes Node track every promise of the process, which slows down all other calls. It is
// therefore disabled, as Node documents, once no such work is running.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Observation, Observe, Observer } from '../observe.ts';

export type Statement = Extract<Observation, { type: 'statement.ran' }>;

export interface StatementWatch {
  /** Reports the statements of `work`, in order of completion. */
  watchDuring<T>(onStatement: (statement: Statement) => void, work: () => Promise<T>): Promise<T>;
}

/** The first use adds a listener with `listen`. It must receive every observation from then on. */
export function createStatementWatch(listen: Observer['listen']): StatementWatch {
  const context = new AsyncLocalStorage<(statement: Statement) => void>();
  let runningCount = 0;
  let isListening = false;
  const hear: Observe = (observation) => {
    if (runningCount > 0 && observation.type === 'statement.ran') context.getStore()?.(observation);
  };
  return {
    async watchDuring(onStatement, work) {
      if (!isListening) listen(hear);
      isListening = true;
      runningCount++;
      try {
        return await context.run(onStatement, work);
      } finally {
        runningCount--;
        if (runningCount === 0) context.disable();
      }
    },
  };
}
