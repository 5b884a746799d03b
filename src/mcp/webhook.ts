// The webhook that an action asks for, sent by the server: an assistant has no browser that could. The address comes from
// the operator's code, but what it is made of may come from a form, so that only the public internet is reached, and hosts
// within the operator's own network that he has named. What it answers is not passed on, but for its status.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { guardedFetch } from '../oauth/documents.ts';

const SECONDS = 10;
/** The connection's own matter, or set by what is sent. */
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
  const named = new Set(parts.config.webhookHosts.map((host) => host.toLowerCase()));
  return async ({ url, method, headers, body }, signal) => {
    const { hostname } = new URL(url);
    const abort = new AbortController();
    const stop = () => abort.abort();
    signal.addEventListener('abort', stop);
    const cancel = parts.clock.after(SECONDS * 1000, stop);
    try {
      // SSRF: addresses are judged when they are connected to; a redirect is an answer and is not followed.
      const send = named.has(hostname) ? fetch : guardedFetch;
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
      parts.observe({ type: 'warning', message: `The webhook of an action did not reach ${hostname}.`, cause });
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
