// Collects the statements of one call, to show them in the tool playground of the console. Each statement reports
// itself (`statement.ran`), and its asynchronous context identifies the call, also through user code. Before Node 24,
// the first such context makes Node track every promise of the process, which slows down all other calls. It is
// therefore disabled, as Node documents, once no such work is running.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Observation, Observe } from '../observe.ts';

export type Statement = Extract<Observation, { type: 'statement.ran' }>;

export interface StatementWatch {
  /** Must receive every observation. */
  readonly listen: Observe;
  /** Reports the statements of `work`, in order of completion. */
  during<T>(tell: (statement: Statement) => void, work: () => Promise<T>): Promise<T>;
}

export function createStatementWatch(): StatementWatch {
  const context = new AsyncLocalStorage<(statement: Statement) => void>();
  let underWay = 0;
  return {
    listen(observation) {
      if (underWay > 0 && observation.type === 'statement.ran') context.getStore()?.(observation);
    },
    async during(tell, work) {
      underWay++;
      try {
        return await context.run(tell, work);
      } finally {
        underWay--;
        if (underWay === 0) context.disable();
      }
    },
  };
}
