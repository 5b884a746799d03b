// Lets other parts learn of the records that a call writes, without a cost for calls that nobody watches.
import type { WriteList } from '../execute/written-records.ts';

/** The run of a workflow that writes. */
export interface WritingRun {
  readonly workflowId: string;
  /** Ids of the workflows whose changes led to the run. */
  readonly chain: readonly string[];
}

/** The call has ended: successfully, or with this error. Never rejects. */
export type EndWatch = (failure?: unknown) => Promise<void>;

export interface WriteWatch {
  /**
   * Call before the first write. Undefined when nobody waits for changes. `versions`: those that came with the log
   * mark. Never rejects.
   */
  begin(
    written: WriteList,
    versions: { readonly workflows?: number } | undefined,
    run?: WritingRun,
  ): Promise<EndWatch | undefined>;
}
