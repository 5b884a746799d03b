// Notifies about the end of runs in this process: after the last step, on failure, or on cancellation. The notification
// follows the write to the store. Only runs started by a webhook can have a callback (workflows/triggers/callbacks.ts).
import type { Runs } from '../../store/workflows/types.ts';

/** `over` must not throw. */
export function tellingOfEnds(runs: Runs, over: () => void): Runs {
  const mayBeTold = ({ run }: Parameters<Runs['endCancelled']>[0]) => run.origin === 'webhook';
  return {
    ...runs,
    async finish(claim, done) {
      const hold = await runs.finish(claim, done);
      if (done.next === null && hold !== 'lost' && mayBeTold(claim)) over();
      return hold;
    },
    async fail(claim, failure) {
      const isHeld = await runs.fail(claim, failure);
      if (isHeld && mayBeTold(claim)) over();
      return isHeld;
    },
    async endCancelled(claim, passed) {
      const isHeld = await runs.endCancelled(claim, passed);
      if (isHeld && mayBeTold(claim)) over();
      return isHeld;
    },
    async cancel(id, by) {
      const isAsked = await runs.cancel(id, by);
      // A run that is still executing ends later; its executor notifies then.
      if (isAsked) over();
      return isAsked;
    },
  };
}
