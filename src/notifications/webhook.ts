// Posts each waiting item to SERVICE_NOTIFY_URL, signed as Standard Webhooks like the callbacks of runs. Attempts are kept
// in memory: a process that stops loses them, and the inbox still has the item. Requests pass the guard for outgoing
// calls (SSRF).
import type { SendWebhook } from '../agent/actions/results.ts';
import { Stop } from '../core/clock/stop.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { signWebhook } from '../workflows/triggers/webhook-signature.ts';
import type { WaitingItem, WaitingListener } from './waiting.ts';

/** Delays after failed attempts. */
const RETRY_MS = [5000, 60_000] as const;
/** Items that wait for an attempt. Further ones are dropped: the receiver does not answer. */
const MAX_PENDING = 200;

interface WebhookParts {
  readonly config: Pick<Config, 'notifyUrl' | 'notifySecret'>;
  readonly sendWebhook: SendWebhook;
  /** Address of a page of the console. */
  readonly urlOf: (page: string) => string;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Undefined if no address is configured. */
export function createNotifyWebhook(parts: WebhookParts): WaitingListener | undefined {
  const { config, sendWebhook, urlOf, clock, observe } = parts;
  const { notifyUrl: url, notifySecret: secret } = config;
  if (url === null || secret === null) return undefined;
  let pending = 0;

  const attempt = async (item: WaitingItem, body: string, count: number): Promise<void> => {
    const headers = { 'content-type': 'application/json', ...signWebhook(secret, item.id, clock.now(), body) };
    const status = await sendWebhook(
      { type: 'webhook', url, method: 'POST', headers, body, responseHeaders: {} },
      new Stop(),
    );
    const retryMs = RETRY_MS[count];
    if (status !== undefined && status >= 200 && status < 300) pending -= 1;
    else if (retryMs !== undefined) clock.after(retryMs, () => void send(item, body, count + 1));
    else {
      pending -= 1;
      const problem = status === undefined ? 'no response, or the address is not public' : `HTTP ${status}`;
      observe({ type: 'warning', message: `The notification about ${item.kind} ${item.id} was not sent: ${problem}.` });
    }
  };
  const send = (item: WaitingItem, body: string, count: number): Promise<void> =>
    attempt(item, body, count).catch((cause: unknown) => {
      pending -= 1;
      observe({ type: 'warning', message: 'Failed to send a notification.', cause });
    });

  return (item) => {
    if (pending >= MAX_PENDING) return;
    pending += 1;
    const { kind, id, page, ...about } = item;
    const data = { id, url: urlOf(page), ...about };
    void send(item, JSON.stringify({ type: `${kind}.waiting`, timestamp: new Date(clock.now()), data }), 0);
  };
}
