// Idempotency keys and approvals.
import type { Policy } from '../../core/caller.ts';
import type { LoggedEffect } from '../audit/activity-types.ts';

/** Lets a client repeat a call that must run only once. Keys belong to the user, the client and the tool. */
export interface IdempotencyKeys {
  claim(call: {
    readonly userId: number;
    readonly clientId: string;
    readonly tool: string;
    readonly key: string;
    /** The arguments as text, identical for identical arguments; stored as a hash. */
    readonly args: string;
    /** The caller's rights that affect the answer, as text; stored as a hash. */
    readonly rights: string;
  }): Promise<IdempotencyClaim>;
}

export type IdempotencyClaim =
  | {
      /** This call owns the key and must end with one of the three methods. */
      readonly state: 'mine';
      /** Stores the answer for repeated calls. */
      settle(answer: string): Promise<void>;
      /** No write happened: the key may be used again. */
      release(): Promise<void>;
      /** The outcome of the write is unknown. */
      doubt(): Promise<void>;
    }
  | { readonly state: 'done'; readonly answer: string }
  /**
   * `other`: the arguments differ. `withheld`: the call ran with other rights, and its answer is not returned.
   * `running`: the call is in progress. `unknown`: the call was interrupted, and its outcome is unknown.
   */
  | { readonly state: 'other' | 'withheld' | 'running' | 'unknown' };

/**
 * Calls that wait for approval. A request belongs to its call (user, client, tool and arguments) and to the data that
 * the call would change. A repeated call gets the same request while it is open. A request is open until it is decided,
 * and after an approval until the time to use it ends. It is stored for 24 hours in total.
 */
export interface Approvals {
  /** Creates the request, or returns the open one of the same call. `full`: the user has too many pending requests. */
  ask(request: ApprovalRequest): Promise<Approval | 'full'>;
  /**
   * The open request of a call. `unchanged`: whether the call would still change the same data as when it was
   * requested.
   */
  openOf(call: ApprovalCall): Promise<{ readonly approval: Approval; readonly unchanged: boolean } | undefined>;
  find(id: string): Promise<Approval | undefined>;
  /**
   * Pending requests, or requests that were decided, used or overtaken; at most 100, skipping the first `from`. Newest
   * first. Pending requests alternate between users: the newest of each user, then the next of each. One user therefore
   * cannot hide the requests of another.
   */
  list(which: 'pending' | 'settled', limit: number, from?: number): Promise<readonly Approval[]>;
  /** The user's pending requests, and approved ones that have not ended. */
  openOfUser(userId: number): Promise<readonly Approval[]>;
  /** Decides a pending request that has not expired. True when this call, of all calls in all processes, decided it. */
  decide(id: string, decision: { readonly by: number; readonly verdict: 'approved' | 'denied' }): Promise<boolean>;
  /**
   * True when this call, of all calls in all processes, may now run the approved operation. It returns true only once.
   */
  take(id: string, call: ApprovalCall): Promise<boolean>;
  /** As `take`, for the server itself: the request stays open until `settle` stores its result. */
  begin(id: string, call: ApprovalCall): Promise<boolean>;
  /** Stores the result of the server's operation, or the reason for its failure, for repeated calls; for 24 hours. */
  settle(id: string, result: ApprovalResult): Promise<void>;
  /** Ends the request: the next call gets neither this request nor its result. */
  close(id: string): Promise<void>;
  /** Ends the request because its data has changed: it can no longer be approved or used. */
  overtake(id: string): Promise<void>;
  /**
   * Stores an answer that the client itself returned, as used or denied, under an id chosen in advance. True when this
   * call, of all calls in all processes, is the first with that id.
   */
  keepAnswer(id: string, request: ApprovalRequest, accepted: boolean): Promise<boolean>;
  /** Deletes requests older than 24 hours. */
  sweep(): Promise<void>;
}

/**
 * The credential of a call: the grant of an access token, or the id of an application token. Empty for a user in the
 * console.
 */
export interface Credential {
  readonly grantId?: string;
  readonly tokenId?: number;
}

export interface ApprovalCall extends Credential {
  readonly userId: number;
  readonly clientId: string;
  readonly tool: string;
  /** The arguments as text, identical for identical arguments; stored as a keyed hash. */
  readonly args: string;
  /** The data that the call would read and change, as text; stored as a keyed hash. */
  readonly found: string;
}

export interface ApprovalRequest extends ApprovalCall {
  readonly clientName: string;
  readonly renderingId: number;
  readonly collection: string;
  /** Name of the action. */
  readonly action?: string;
  /** The records that the call names; absent when it names no records. */
  readonly recordIds?: readonly string[];
  readonly policy: Policy;
  readonly content: ApprovalContent;
}

/** Encrypted at rest. */
export interface ApprovalContent {
  /** In the form that the tool accepts. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The effect of the call, limited to what the requesting user may read. */
  readonly preview: ApprovalPreview;
  /** The credential of the call. */
  readonly credential?: Credential;
  /** Limits in the endpoint URL of the call. `collections`: the accessible collections, null for all. */
  readonly address?: { readonly readOnly: boolean; readonly collections: readonly string[] | null };
  /** The idempotency key of the call. */
  readonly key?: string;
}

/** Encrypted at rest. `rights`: the caller's rights that affect the answer, as text. */
export type ApprovalResult =
  | { readonly text: string; readonly rights: string }
  /**
   * An error: its code, its details and its text. `wroteNothing`: no write happened; when false, `kept` names the
   * records that are known to be written before the error, and `rights` are the caller's rights that `kept` depends on.
   */
  | {
      readonly code: string;
      readonly details: unknown;
      readonly message: string;
      readonly wroteNothing: boolean;
      readonly kept?: string;
      readonly rights?: string;
    };

export interface ApprovalPreview {
  /** Number of affected records; null for an action without chosen records. */
  readonly count: number | null;
  /**
   * Changes of the first records; `id` is null for a new record. A deleted record has its values in `before` and null
   * in `after`.
   */
  readonly changes: readonly {
    readonly id: string | null;
    readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
  }[];
  /** For an action: the values of its form. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Further written records that `count` does not include; absent when there are no such records. */
  readonly effects?: readonly PreviewedEffect[];
  /** Sentences about further possible changes that the preview cannot determine. */
  readonly unseen?: readonly string[];
}

/** `collection` is null when the requesting user may not read it. `changes` lists those of the first records. */
export interface PreviewedEffect extends Omit<LoggedEffect, 'collection'> {
  readonly collection: string | null;
  readonly changes?: ApprovalPreview['changes'];
}

export interface Approval extends Omit<ApprovalRequest, 'args' | 'found'> {
  readonly id: string;
  /**
   * `running`: the server is executing it. `used`: it was executed. `failed`: the server executed it, and the call
   * failed. `overtaken`: the data of the call has changed since. `expired`: it was not decided or not used in time.
   */
  readonly state: 'pending' | 'approved' | 'running' | 'denied' | 'used' | 'failed' | 'overtaken' | 'expired';
  /** Result of the server's execution. */
  readonly result?: ApprovalResult;
  readonly decidedBy?: number;
  /** Milliseconds since the epoch, like the other times. */
  readonly decidedAt?: number;
  readonly createdAt: number;
  /** Deadline for the decision; after the decision, the time until which the approval or denial is valid. */
  readonly expiresAt: number;
}
