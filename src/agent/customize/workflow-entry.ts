// Workflows from code, with the call site. src/workflows checks their definitions.

/** The definition for `addWorkflow`: a name, a collection, and steps (docs/workflows.md). */
export interface WorkflowSource {
  /** The name, unique among all workflows. */
  readonly name: string;
  /** The collection with the record of each run. */
  readonly collection: string;
  /** Text for users and assistants. Default: no text. */
  readonly description?: string;
  /** Id of the first step; default: the first of the list. */
  readonly start?: string;
  /** The maximum number of concurrent runs; default: no limit. */
  readonly concurrency?: number;
  /** The steps, each with its `id`, `type` and options (docs/workflows.md). */
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
