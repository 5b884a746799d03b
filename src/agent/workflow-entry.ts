// Workflows as code adds them. What a definition may hold is the business of the room that executes them; here it is kept, with the
// line of the call.

/** What `addWorkflow` is given: a name, a collection, and steps as docs/workflows.md describes them. */
export interface WorkflowSource {
  readonly name: string;
  readonly collection: string;
  readonly description?: string;
  /** Id of the first step; the first of the list when absent. */
  readonly start?: string;
  /** The most runs that work at once; no limit when absent. */
  readonly concurrency?: number;
  readonly steps: readonly (Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string })[];
}

/** For whom a workflow of code is there. */
export interface WorkflowOptions {
  /** Names of teams; all when absent, those that are made later included. */
  readonly teams?: readonly string[];
}

export interface WorkflowEntry {
  readonly definition: WorkflowSource;
  readonly teams?: readonly string[];
  /** Where it was added. */
  readonly at: string;
}
