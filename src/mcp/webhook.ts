// Sends the webhook that an action returns, because an assistant has no browser to send it. Form values may become
// part of its URL, so requests reach only the public internet and hosts that the operator allows by name. Of the
// response, only the status is returned.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Clock } from '../core/clock.ts';
import { isNamedHost } from '../core/config/hosts.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { guardedFetch } from '../oauth/clients/documents.ts';

const SECONDS = 10;
/** Headers of the connection, or derived from the body. */
const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

export function createWebhookSender(parts: {
  readonly config: Pick<Config, 'webhookHosts'>;
  readonly clock: Clock;
  readonly observe: Observe;
}): SendWebhook {
  return async ({ url, method, headers, body }, signal) => {
    const target = new URL(url);
    const abort = new AbortController();
    const stop = () => abort.abort();
    signal.addEventListener('abort', stop);
    const cancel = parts.clock.after(SECONDS * 1000, stop);
    try {
      // SSRF: `guardedFetch` checks addresses at connect time. Redirects are not followed.
      const send = isNamedHost(target, parts.config.webhookHosts) ? fetch : guardedFetch;
      const bodiless = method === 'GET' || method === 'HEAD';
      const response = await send(url, {
        method,
        headers: headersOf(headers, bodiless),
        ...(!bodiless && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        redirect: 'manual',
        signal: abort.signal,
      });
      await response.body?.cancel();
      return response.status;
    } catch (cause) {
      parts.observe({ type: 'warning', message: `The webhook of an action did not reach ${target.hostname}.`, cause });
      return undefined;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  };
}

function headersOf(given: Readonly<Record<string, string>>, bodiless: boolean): Record<string, string> {
  const kept = Object.entries(given).filter(([name]) => !ownHeaders.has(name.toLowerCase()));
  const typed = bodiless || kept.some(([name]) => name.toLowerCase() === 'content-type');
  return { ...(!typed && { 'content-type': 'application/json' }), ...Object.fromEntries(kept) };
}
