// Which statements one piece of work made on the databases of the application: for whoever tries a tool in the console and
// wants to see what it asks. Each statement is observed where it runs (`statement.ran`); whose it was is known by the
// asynchronous context, which goes along with the work through code of users as well. Node before 24 follows every promise of
// the process from the first such context on, which costs all other calls; so it is disabled, as Node documents it, as soon
// as no such work is under way.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Observation, Observe } from '../observe.ts';

export type Statement = Extract<Observation, { type: 'statement.ran' }>;

export interface StatementWatch {
  /** To be told of every observation. */
  readonly listen: Observe;
  /** Tells of the statements that `work` makes, in the order in which they end. */
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
