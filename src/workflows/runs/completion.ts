// Notifies about the end of runs in this process: after the last step, on failure, or on cancellation. The notification
// follows the write to the store. Only runs started by a webhook can have a callback (workflows/triggers/callbacks.ts).
import type { Runs } from '../../store/workflows/types.ts';

/** `over` must not throw. */
export function notifyOnEnd(runs: Runs, onEnd: () => void): Runs {
  const hasCallback = ({ run }: Parameters<Runs['endCancelled']>[0]) => run.origin === 'webhook';
  return {
    ...runs,
    async finish(claim, done) {
      const leaseState = await runs.finish(claim, done);
      if (done.next === null && leaseState !== 'lost' && hasCallback(claim)) onEnd();
      return leaseState;
    },
    async fail(claim, failure) {
      const isHeld = await runs.fail(claim, failure);
      if (isHeld && hasCallback(claim)) onEnd();
      return isHeld;
    },
    async endCancelled(claim, passedSteps) {
      const isHeld = await runs.endCancelled(claim, passedSteps);
      if (isHeld && hasCallback(claim)) onEnd();
      return isHeld;
    },
    async cancel(id, by) {
      const isRequested = await runs.cancel(id, by);
      // A run that is still executing ends later; its executor notifies then.
      if (isRequested) onEnd();
      return isRequested;
    },
  };
}
