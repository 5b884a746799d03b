// Who wants mail about what waits for them, and what the last mail said.

export interface WaitingMails {
  isOn(userId: number): Promise<boolean>;
  setOn(userId: number, isOn: boolean): Promise<void>;
  /** An item was added: all people with mail become due after the delay, but not before `minGapMs` after their last mail. */
  raise(delayMs: number, minGapMs: number): Promise<void>;
  /** People to look at now. Of all processes, one gets a person, until `leaseMs` are over. */
  claim(limit: number, leaseMs: number): Promise<readonly WaitingMailClaim[]>;
  /** Ignored if the claim has expired and another process has the person. */
  finish(claim: WaitingMailClaim, outcome: WaitingMailOutcome): Promise<void>;
  /** People whose last mail was not accepted yet. */
  countFailing(): Promise<number>;
}

export interface WaitingMailClaim {
  readonly userId: number;
  /** Milliseconds since the epoch; identifies the claim. */
  readonly until: number;
  /** Counts the calls of `raise`. */
  readonly raised: number;
  /** Failed attempts since the last mail. */
  readonly failures: number;
  /** The ids of the items in the last mail. */
  readonly items: readonly string[];
}

export interface WaitingMailOutcome {
  /** The items that the person knows from mails; absent after a failure. */
  readonly items?: readonly string[];
  readonly isSent: boolean;
  /** Try again after this time; absent: when something new waits. */
  readonly retryMs?: number;
  /** What was raised during the claim is looked at after this time. */
  readonly nextMs: number;
}
