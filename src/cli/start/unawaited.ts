// Rejections that nothing awaits: code of the operator started a promise and dropped it.
import type { Observe } from '../../core/observe.ts';

/**
 * Logs an unhandled rejection instead of ending the process, as Node.js does by default: one forgotten `await` in an
 * action would end the calls of everybody. Only for processes that Portico starts; an embedding application decides
 * for itself.
 */
export function logUnhandledRejections(observe: Observe): void {
  process.on('unhandledRejection', (cause) =>
    observe({
      type: 'warning',
      message: 'A promise was rejected and nothing awaited it. Await it, or handle its rejection with catch().',
      cause,
    }),
  );
}
