// What a waiting step asks, as it lies sealed beside it, and what a person answers. Both are data: the page that asks and the
// execution that goes on may be in different processes, and of different versions of the definition.
import type { RecordChange } from '../../agent/engine.ts';
import type { RecordPlace } from './step.ts';

interface Decides {
  /** Users whose own yes does not count (a second person is needed). */
  readonly notBy?: readonly number[];
}

/** Values to be written to a record, and what that would change now. */
export interface AskedChange extends RecordPlace, Decides {
  readonly ask: 'change';
  readonly values: Readonly<Record<string, unknown>>;
  readonly changes: Readonly<RecordChange['fields']>;
}

/** An action to be executed on a record. */
export interface AskedAction extends RecordPlace, Decides {
  readonly ask: 'action';
  readonly action: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A tool of a remote MCP server to be called. */
export interface AskedCall extends Decides {
  readonly ask: 'call';
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type Asked =
  | { readonly ask: 'inputs'; readonly text: string }
  | { readonly ask: 'option'; readonly proposed?: string }
  | (RecordPlace & { readonly ask: 'values'; readonly values: Readonly<Record<string, unknown>> })
  | AskedChange
  | (RecordPlace & {
      readonly ask: 'form';
      readonly action: string;
      readonly values: Readonly<Record<string, unknown>>;
    })
  | AskedAction
  | AskedCall
  /** One of the records that a relation of the record leads to. */
  | (RecordPlace & { readonly ask: 'record'; readonly relation: string; readonly proposed?: string })
  | { readonly ask: 'answer'; readonly prompt: string; readonly proposed?: unknown }
  /** The server of a call must be connected again. */
  | { readonly ask: 'reconnect'; readonly server: string }
  /** A change was begun, and whether it was made is not known. `before`: what had been asked and answered until then. */
  | { readonly ask: 'uncertain'; readonly before?: Answered };

export interface Answered {
  readonly asked: Asked;
  readonly answer: Answer;
  /** User id. */
  readonly by: number;
}

/** `decision`: of those that the question offers; `values`: what was typed or chosen, by name. */
export interface Answer {
  readonly decision: string;
  readonly values: Readonly<Record<string, unknown>>;
}
