// What is done only once, and what is done only with a yes.
import type { Policy } from '../core/caller.ts';

/** What a client may repeat without doing it twice; bound to the user, the client and the tool. */
export interface IdempotencyKeys {
  claim(call: {
    readonly userId: number;
    readonly clientId: string;
    readonly tool: string;
    readonly key: string;
    /** The arguments as text, the same for the same arguments; kept as a hash. */
    readonly args: string;
    /** Of the caller, all that the answer depends on, as text; kept as a hash. */
    readonly rights: string;
  }): Promise<IdempotencyClaim>;
}

export type IdempotencyClaim =
  | {
      /** This call has the key, and must end in one of the three. */
      readonly state: 'mine';
      /** Repeats are given this answer. */
      settle(answer: string): Promise<void>;
      /** Nothing was written: the key may be used again. */
      release(): Promise<void>;
      /** It may have been written or not. */
      doubt(): Promise<void>;
    }
  | { readonly state: 'done'; readonly answer: string }
  /** `other` arguments; done with other rights, so that the answer is `withheld`; under way; cut off, `unknown` how far. */
  | { readonly state: 'other' | 'withheld' | 'running' | 'unknown' };

/**
 * Calls that wait for somebody's yes. A request is bound to its call (who, by which client, which tool, which arguments) and
 * to what the call would find; who repeats the call is given the same request, as long as it is open. It is open while it
 * waits to be decided, and after that for the time in which it may be used; kept for 24 hours in all.
 */
export interface Approvals {
  /** Files the request, or gives the open one of the same call. `full`: the user has too many that wait. */
  ask(request: ApprovalRequest): Promise<Approval | 'full'>;
  /** The open request of a call; `unchanged`: whether the call would find what it found when it was asked for. */
  openOf(call: ApprovalCall): Promise<{ readonly approval: Approval; readonly unchanged: boolean } | undefined>;
  find(id: string): Promise<Approval | undefined>;
  /** Newest first: those that wait, or those that were decided, used up or overtaken. At most 100. */
  list(which: 'pending' | 'settled', limit: number): Promise<readonly Approval[]>;
  /** True when this call, of all in all processes, decided it: it was waiting, and had not expired. */
  decide(id: string, decision: { readonly by: number; readonly verdict: 'approved' | 'denied' }): Promise<boolean>;
  /** True when this call, of all in all processes, may now do what was approved; never true again. */
  take(id: string, call: ApprovalCall): Promise<boolean>;
  /** What the call would find has changed: nobody can approve or use the request any more. */
  overtake(id: string): Promise<void>;
  /**
   * Keeps an answer that the client itself brought, used or denied, under an id that was chosen when it was asked. True when
   * this call, of all in all processes, is the first with that id.
   */
  keepAnswer(id: string, request: ApprovalRequest, accepted: boolean): Promise<boolean>;
  /** Deletes what is older than 24 hours. */
  sweep(): Promise<void>;
}

export interface ApprovalCall {
  readonly userId: number;
  readonly clientId: string;
  readonly tool: string;
  /** The arguments as text, the same for the same arguments; kept as a keyed hash. */
  readonly args: string;
  /** What the call would find and change, as text; kept as a keyed hash. */
  readonly found: string;
}

export interface ApprovalRequest extends ApprovalCall {
  readonly clientName: string;
  readonly renderingId: number;
  readonly collection: string;
  /** Of an action: its name. */
  readonly action?: string;
  /** Those that the call names; absent when it names none. */
  readonly recordIds?: readonly string[];
  readonly policy: Policy;
  readonly content: ApprovalContent;
}

/** Sealed at rest. */
export interface ApprovalContent {
  /** As the tool takes them. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What would happen, as far as the one who asks may see it. */
  readonly preview: ApprovalPreview;
}

export interface ApprovalPreview {
  /** How many records would be touched; null for an action that is about no chosen ones. */
  readonly count: number | null;
  /** Of the first records; `id` is null for a new one. A deleted record has its values before and null after. */
  readonly changes: readonly {
    readonly id: string | null;
    readonly fields: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
  }[];
  /** Of an action: what its form is filled with. */
  readonly values?: Readonly<Record<string, unknown>>;
}

export interface Approval extends Omit<ApprovalRequest, 'args' | 'found'> {
  readonly id: string;
  /** `overtaken`: what the call would find has changed since. `expired`: nobody decided in time, or nobody used it. */
  readonly state: 'pending' | 'approved' | 'denied' | 'used' | 'overtaken' | 'expired';
  readonly decidedBy?: number;
  /** Milliseconds since the epoch, as the others. */
  readonly decidedAt?: number;
  readonly createdAt: number;
  /** Until when it may be decided; once it is, until when it may be used, or the denial holds. */
  readonly expiresAt: number;
}
