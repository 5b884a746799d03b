// Workflows from code, with the call site. src/workflows checks their definitions.

/** The definition for `addWorkflow`: a name, a collection, and steps (docs/workflows.md). */
export interface WorkflowSource {
  readonly name: string;
  readonly collection: string;
  readonly description?: string;
  /** Id of the first step; default: the first of the list. */
  readonly start?: string;
  /** The maximum number of concurrent runs; default: no limit. */
  readonly concurrency?: number;
  readonly steps: readonly (Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string })[];
}

/** The teams that see a workflow from code. */
export interface WorkflowOptions {
  /** Names of teams; default: all teams, including later ones. */
  readonly teams?: readonly string[];
}

export interface WorkflowEntry {
  readonly definition: WorkflowSource;
  readonly teams?: readonly string[];
  /** `file:line` of the call. */
  readonly at: string;
}
