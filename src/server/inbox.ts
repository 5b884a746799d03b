// Mail about what waits in the inbox. The inbox belongs to the console, which is loaded when somebody wants mail.

import type { ReviewParts } from '../console/pages/approvals/review.ts';
import type { Inbox } from '../console/pages/inbox/waiting.ts';
import type { Access } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { Observe } from '../core/observe.ts';
import type { Mailer } from '../notifications/mail.ts';
import { createWaitingMail, type WaitingMail } from '../notifications/waiting-mail.ts';
import type { OpenedStore } from '../store/open.ts';
import type { WorkflowModules } from './workflows/workflows.ts';

interface WaitingMailParts extends ReviewParts {
  /** Null if no mail server is configured. */
  readonly mailer: Mailer | null;
  readonly store: OpenedStore;
  readonly workflows: WorkflowModules['service'];
  readonly urlOf: (page: string) => string;
  readonly clock: Clock;
  readonly observe: Observe;
}

export function openWaitingMail({ mailer, tools, callAs, ...parts }: WaitingMailParts): WaitingMail | undefined {
  if (mailer === null) return undefined;
  let inbox: Promise<Inbox> | undefined;
  const load = async (): Promise<Inbox> => {
    const [{ createInbox }, { createReviewer }] = await Promise.all([
      import('../console/pages/inbox/waiting.ts'),
      import('../console/pages/approvals/review.ts'),
    ]);
    return createInbox({ ...parts, reviewer: createReviewer({ tools, callAs }) });
  };
  const readInbox = async (access: Access) => {
    inbox ??= load();
    return (await inbox).read(access);
  };
  return createWaitingMail({ ...parts, mailer, readInbox });
}
