// The types of a tool: a row of the table, a call of it and its answer.
import type { FormFile, ReportProgress } from '../agent/actions/definitions.ts';
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Engine } from '../agent/engine.ts';
import type { Written } from '../agent/write/effects.ts';
import type { Access, Policy } from '../core/caller.ts';
import type { StopSignal } from '../core/clock/stop.ts';
import type { Config } from '../core/config.ts';
import type { ApprovalPreview } from '../store/approvals/types.ts';
import type { WorkflowService } from '../workflows/workflows.ts';

import type { Files } from './uploads/files.ts';
import type { ToolVisibility } from './visibility/visibility.ts';

export interface ToolCall {
  readonly access: Access;
  readonly engine: Engine;
  readonly config: Config;
  readonly signal: StopSignal;
  /** Names of the tools that the caller is not shown. */
  readonly hiddenTools: () => ReadonlySet<string>;
  /** Reports progress; present if the client requested it. */
  readonly progress?: ReportProgress;
  readonly sendWebhook: SendWebhook;
  readonly files: Files;
  /** How long a file link in the answer is valid, in seconds. Default: 15 minutes. */
  readonly fileSeconds?: number;
  /** For an approved write: compares its effects with the approved ones before the commit (WriteOptions). */
  readonly checkEffects?: (effects: unknown) => void;
  /** For a write: the engine appends every record that it writes. */
  readonly written?: Written[];
  /** The owner of the uploads that the values may reference. Default: the caller. */
  readonly uploaderId?: number;
  /** Absent if the server has no workflows. */
  readonly workflows?: WorkflowCall;
}

/** Access to workflows, and the client that calls. */
export interface WorkflowCall extends WorkflowAccess {
  readonly clientId: string;
  readonly clientName: string;
}

export interface WorkflowAccess {
  readonly service: WorkflowService;
  /** URL of the page where people view a run and answer its questions. */
  readonly pageOf: (runId: string) => string;
}

/** The answer as compact JSON text: the only text block of the result. */
export interface ToolAnswer {
  readonly text: string;
  /** For the activity log: the affected records, if the arguments do not name them. */
  readonly recordIds?: readonly string[];
}

export interface Tool<Arguments = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: 'mcp:read' | 'mcp:write' | 'mcp:action';
  /** Whether the caller's permissions allow any use of the tool. If not, the tool is hidden from the caller. */
  readonly isVisible: ToolVisibility;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** JSON Schema 2020-12, handwritten to stay small: no enums of collections, no repeated operator lists. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /**
   * Checks and repairs a model's arguments. Throws INVALID_ARGUMENT or INVALID_VALUE that says which value to send
   * instead.
   */
  readonly parse: (input: Readonly<Record<string, unknown>>) => Arguments;
  /** The call's subject in the activity log: names and ids, never values. */
  readonly subject: (args: Arguments) => { readonly collection?: string; readonly recordIds?: readonly string[] };
  /**
   * Whether this call may change data; absent for tools that only read. For a writing call, the permissions are
   * compared and an entry is written to the activity log before it runs. It is never retried. A dry run is not a
   * writing call.
   */
  readonly writes?: (args: Arguments) => boolean;
  /** For a tool with idempotency keys. */
  readonly idempotency?: {
    readonly key: (args: Arguments) => string | undefined;
    /**
     * All rights of the caller that the answer depends on, ready for JSON. A repeat gets the stored answer only if
     * they are unchanged.
     */
    readonly rights: (args: Arguments, call: ToolCall) => unknown;
  };
  /** For a writing tool: the approval that a call needs, and its preview. */
  readonly approval?: ToolApproval<Arguments>;
  /** Runs the call. A plain string is an answer with only a text. */
  readonly run: (args: Arguments, call: ToolCall) => Promise<string | ToolAnswer>;
}

export interface PreviewedCall {
  readonly policy: Policy;
  readonly preview: ApprovalPreview;
  /**
   * The values that are files or lists of files, by field. They are for the approver and are not stored with the
   * request.
   */
  readonly files?: ReadonlyMap<string, readonly FormFile[]>;
  /**
   * The current data that the call depends on, ready for JSON. It may hold more than the caller sees, so it is never
   * shown.
   */
  readonly found: unknown;
  /** The expected effects, compared with the actual ones while the call runs. Absent if the call has no preview. */
  readonly effects?: unknown;
}

/** How a writing tool works out approval and preview. */
interface ToolApproval<Arguments> {
  /** Whether the call could need approval at all. It runs for every write, so it must answer from memory. */
  readonly mayNeedApproval: (args: Arguments, call: ToolCall) => boolean;
  readonly preview: (args: Arguments, call: ToolCall) => Promise<PreviewedCall>;
  /** The keys of the uploads that the call uses. */
  readonly uploadKeys?: (args: Arguments) => readonly string[];
}
