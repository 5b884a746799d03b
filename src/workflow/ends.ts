// Runs of which it is told when one is over, wherever in the process that is: at its last step, at a failure, or cancelled. It is
// told after the storage knows, and of those alone of which somebody may want to hear (webhooks say where: callbacks.ts).
import type { Runs } from '../store/workflow-types.ts';

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
      // Of one that is being worked at it is too early: whoever works at it tells its end.
      if (isAsked) over();
      return isAsked;
    },
  };
}
