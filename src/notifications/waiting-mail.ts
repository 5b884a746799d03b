// Mail to people about new items in their inbox, if they turned it on: at most one mail in five minutes. A call that adds
// an item only marks the storage. Every process polls the storage for people who are due and claims them, and one process
// sends each mail. Failures are retried and logged.
import type { Access } from '../core/caller.ts';
import { createPolling } from '../core/clock/polling.ts';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Store } from '../store/store.ts';
import type { WaitingMailClaim, WaitingMailOutcome } from '../store/users/waiting-mail-types.ts';
import type { Mail, Mailer } from './mail.ts';
import type { WaitingListener } from './waiting.ts';

/** Items that are added within this time share one mail. */
const DELAY_MS = 30_000;
const MIN_GAP_MS = 5 * 60_000;
const POLL_MS = 15_000;
/** Longer than it takes to read an inbox and send a mail. */
const LEASE_MS = 3 * 60_000;
const PEOPLE_AT_ONCE = 20;
/** The delays after failures. After the last one, the next new item causes the next attempt. */
const RETRY_MS = [60_000, 5 * 60_000, 15 * 60_000, 60 * 60_000, 4 * 60 * 60_000] as const;

/** An item of an inbox, by names that the user may see. */
export interface WaitingEntry {
  /** Of the approval, or of the run with the position of its open question. */
  readonly id: string;
  readonly kind: 'approval' | 'question';
  /** Such as `update on orders`. No ids or values of records: it is sent by mail. */
  readonly title: string;
}

export interface Waiting {
  readonly entries: readonly WaitingEntry[];
  readonly isMore: boolean;
}

interface WaitingMailParts {
  readonly mailer: Pick<Mailer, 'send'>;
  readonly store: Pick<Store, 'waitingMails' | 'permissions' | 'identity'>;
  /** Returns the items that the inbox shows to the user. */
  readonly readInbox: (access: Access) => Promise<Waiting>;
  /** Address of a page of the console. */
  readonly urlOf: (page: string) => string;
  readonly clock: Clock;
  readonly observe: Observe;
}

export interface WaitingMail {
  readonly listener: WaitingListener;
  /** Begins to poll. */
  start(): void;
  /** Resolves when the current mail has been sent. */
  stop(): Promise<void>;
}

export function createWaitingMail(parts: WaitingMailParts): WaitingMail {
  const { mailer, store, readInbox, urlOf, clock, observe } = parts;
  const { waitingMails } = store;
  const warn = (message: string) => (cause: unknown) => observe({ type: 'warning', message, cause });
  let running: Promise<void> | undefined;
  let isStopped = false;

  /** Throws if the inbox or the storage cannot be read. */
  const attempt = async (claim: WaitingMailClaim): Promise<WaitingMailOutcome> => {
    const access = await store.permissions.accessOf(claim.userId);
    // Disabled people get no mail. The items are new to them when they are enabled again.
    if (!access) return { items: [], isSent: false, nextMs: MIN_GAP_MS };
    const { entries, isMore } = await readInbox(access);
    const items = entries.map(({ id }) => id);
    if (items.every((id) => claim.items.includes(id))) return { items, isSent: false, nextMs: DELAY_MS };
    const { organization } = await store.identity.place();
    const mail = writeWaitingMail({ access, entries, isMore, organization, urlOf });
    if (await mailer.send(mail)) return { items, isSent: true, nextMs: MIN_GAP_MS };
    return failed(claim);
  };

  const failed = (claim: WaitingMailClaim): WaitingMailOutcome => {
    const retryMs = RETRY_MS[claim.failures];
    if (retryMs === undefined) {
      const message = `The mail about waiting items for user ${claim.userId} was not sent after ${claim.failures + 1} attempts.`;
      observe({ type: 'warning', message });
    }
    return { isSent: false, ...(retryMs !== undefined && { retryMs }), nextMs: MIN_GAP_MS };
  };

  const run = async (): Promise<void> => {
    for (const claim of await waitingMails.claim(PEOPLE_AT_ONCE, LEASE_MS)) {
      if (isStopped) return;
      const outcome = await attempt(claim).catch((cause: unknown) => {
        warn('Failed to check what waits for a person.')(cause);
        return failed(claim);
      });
      await waitingMails.finish(claim, outcome);
    }
  };

  const polling = createPolling(clock, POLL_MS, () => {
    running = run().catch(warn('Failed to send mail about waiting items.'));
    return running;
  });

  return {
    listener() {
      void waitingMails
        .raise(DELAY_MS, MIN_GAP_MS)
        .catch(warn('Failed to mark that mail about a waiting item is due.'));
    },
    start: polling.start,
    async stop() {
      isStopped = true;
      polling.stop();
      await running;
    },
  };
}

interface Contents extends Waiting {
  readonly access: Access;
  readonly organization: string;
  readonly urlOf: (page: string) => string;
}

const SHOWN = 20;
const kinds = { approval: 'Approval', question: 'Question of a workflow' } as const;

function writeWaitingMail({ access, entries, isMore, organization, urlOf }: Contents): Mail {
  const { firstName, email } = access.caller;
  const many = `${entries.length}${isMore ? '+' : ''}`;
  const count = many === '1' ? '1 item is' : `${many} items are`;
  const list = entries.slice(0, SHOWN).map(({ kind, title }) => `- ${kinds[kind]}: ${title.replace(/\s+/g, ' ')}`);
  const lines = [
    firstName === '' ? 'Hello,' : `Hello ${firstName},`,
    `${count} waiting for your answer:`,
    [...list, ...(entries.length > SHOWN ? ['- and more'] : [])].join('\n'),
    `Open your inbox:\n${urlOf('/inbox')}`,
    `You get this mail because you turned it on in your account. Turn it off there:\n${urlOf('/account')}`,
  ];
  return { to: email, subject: `${count} waiting for you at ${organization}`, text: `${lines.join('\n\n')}\n` };
}
