// Sends the webhook that an action returns, because an assistant has no browser to send it. Form values may become
// part of its URL, so requests reach only the public internet and hosts that the operator allows by name. Of the
// response, only the status is returned.
import type { SendWebhook } from '../agent/actions/results.ts';
import type { Clock } from '../core/clock.ts';
import { isNamedHost } from '../core/config/hosts.ts';
import type { Config } from '../core/config.ts';
import type { Observe } from '../core/observe.ts';
import { guardedFetch } from '../oauth/clients/documents.ts';

const TIMEOUT_SECONDS = 10;
/** Headers of the connection, or derived from the body. */
const connectionHeaders: ReadonlySet<string> = new Set([
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
    const cancel = parts.clock.after(TIMEOUT_SECONDS * 1000, stop);
    try {
      // SSRF: `guardedFetch` checks addresses at connect time. Redirects are not followed.
      const send = isNamedHost(target, parts.config.webhookHosts) ? fetch : guardedFetch;
      const bodiless = method === 'GET' || method === 'HEAD';
      const response = await send(url, {
        method,
        headers: toHeaders(headers, bodiless),
        ...(!bodiless && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        redirect: 'manual',
        signal: abort.signal,
      });
      await response.body?.cancel();
      return response.status;
    } catch (cause) {
      parts.observe({
        type: 'warning',
        message: `Failed to call the webhook of an action at ${target.hostname}.`,
        cause,
      });
      return undefined;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  };
}

function toHeaders(input: Readonly<Record<string, string>>, bodiless: boolean): Record<string, string> {
  const forwarded = Object.entries(input).filter(([name]) => !connectionHeaders.has(name.toLowerCase()));
  const hasContentType = bodiless || forwarded.some(([name]) => name.toLowerCase() === 'content-type');
  return { ...(!hasContentType && { 'content-type': 'application/json' }), ...Object.fromEntries(forwarded) };
}
