// Assembles the triggers of workflows: their URLs and settings, and the callbacks for the runs that they start.
import type { ApiPaths } from '../../api/paths.ts';
import { Stop } from '../../core/clock/stop.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import type { Observe } from '../../core/observe.ts';
import type { createWebhookSender } from '../../mcp/webhook.ts';
import type { OpenedStore } from '../../store/open.ts';
import { type Callbacks, createCallbacks } from '../../workflows/triggers/callbacks.ts';
import { createTriggers, type Triggers } from '../../workflows/triggers/trigger.ts';
import { createTriggerAddresses, type TriggerAddresses } from '../../workflows/triggers/trigger-address.ts';

interface TriggersOptions {
  readonly config: Config;
  readonly store: OpenedStore;
  readonly paths: ApiPaths;
  /** The only function for outgoing requests, guarded against SSRF. */
  readonly sendWebhook: ReturnType<typeof createWebhookSender>;
  readonly clock: Clock;
  readonly observe: Observe;
}

export interface TriggerModules {
  readonly addresses: TriggerAddresses;
  readonly triggers: Triggers;
  readonly callbacks: Callbacks;
}

export function openTriggers({ config, store, paths, sendWebhook, clock, observe }: TriggersOptions): TriggerModules {
  const addresses = createTriggerAddresses({ store, address: paths.address });
  const callbacks = createCallbacks({
    store,
    post: (url, headers, body) =>
      sendWebhook({ type: 'webhook', url, method: 'POST', headers, body, responseHeaders: {} }, new Stop()),
    clock,
    observe,
  });
  return { addresses, triggers: createTriggers({ store, addresses, config }), callbacks };
}
