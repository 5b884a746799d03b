// The question of a waiting step, stored encrypted with the step, and its answer. Both are pure data: the page that
// shows the question and the execution that continues may run in different processes, with different versions of the
// definition.

import type { RecordChange, WriteEffect } from '../../agent/write/effects.ts';

interface SecondPersonRule {
  /** Users who may not confirm, because a second person is required. */
  readonly notBy?: readonly number[];
}

/** Values to write to a record, and the changes they would make now. */
interface ChangeRequestData extends RecordReference, SecondPersonRule {
  readonly ask: 'change';
  readonly values: Readonly<Record<string, unknown>>;
  readonly changes: Readonly<RecordChange['fields']>;
  /** Additional records that would be written, in any collection. Absent if there are no such records. */
  readonly effects?: readonly WriteEffect[];
  /** Possible side effects that cannot be computed, as sentences. */
  readonly unseen?: readonly string[];
}

/** An action to execute on a record. */
interface ActionRequestData extends RecordReference, SecondPersonRule {
  readonly ask: 'action';
  readonly action: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A call of a tool on a remote MCP server. */
export interface CallRequestData extends SecondPersonRule {
  readonly ask: 'call';
  readonly server: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type InputRequestData =
  | { readonly ask: 'inputs'; readonly text: string }
  | { readonly ask: 'option'; readonly proposed?: string }
  | (RecordReference & { readonly ask: 'values'; readonly values: Readonly<Record<string, unknown>> })
  | ChangeRequestData
  | (RecordReference & {
      readonly ask: 'form';
      readonly action: string;
      readonly values: Readonly<Record<string, unknown>>;
    })
  | ActionRequestData
  | CallRequestData
  /** The choice of one related record. */
  | (RecordReference & { readonly ask: 'record'; readonly relation: string; readonly proposed?: string })
  | { readonly ask: 'answer'; readonly prompt: string; readonly proposed?: unknown }
  /** The user must connect the server again. */
  | { readonly ask: 'reconnect'; readonly server: string }
  /** A change was begun and its outcome is unknown. `before`: the previous question and answer. */
  | { readonly ask: 'uncertain'; readonly before?: AnsweredRequest };

export interface AnsweredRequest {
  readonly asked: InputRequestData;
  readonly answer: Answer;
  /** User id. */
  readonly by: number;
}

/** `decision`: one that the question offers. `values`: entered or selected values by name. */
export interface Answer {
  readonly decision: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface RecordReference {
  readonly collection: string;
  /** Packed. */
  readonly id: string;
}
