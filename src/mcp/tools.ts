// Every tool is a row of this table and a file of its own in tools/. What a client sees of them is built once, at start.
import type { Engine } from '../agent/engine.ts';
import type { Access } from '../core/caller.ts';
import type { Config } from '../core/config.ts';

export interface ToolCall {
  readonly access: Access;
  readonly engine: Engine;
  readonly config: Config;
  readonly signal: AbortSignal;
}

export interface Tool<Arguments = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly scope: 'mcp:read' | 'mcp:write' | 'mcp:action';
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** JSON Schema 2020-12, written by hand so that it stays small: no enums of collections, no repeated operator lists. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Checks and repairs what a model sent; INVALID_ARGUMENT or INVALID_VALUE that says what to send instead. */
  readonly parse: (given: Readonly<Record<string, unknown>>) => Arguments;
  /** What the activity log says of the call: names and ids, never values. */
  readonly subject: (args: Arguments) => { readonly collection?: string; readonly recordIds?: readonly string[] };
  /** The answer as compact JSON text: the one text block of the result. */
  readonly run: (args: Arguments, call: ToolCall) => Promise<string>;
}
