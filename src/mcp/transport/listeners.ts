// The streams on which clients listen for changes of tools, resources and prompts.
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { createVisibilityWatch } from '../visibility/changes.ts';
import type { ToolList } from '../visibility/tool-list.ts';
import type { Sdk } from './sdk.ts';

interface ListenerParts {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly menu: ToolList;
  /** Returns a number that changes whenever the rights of any user change. */
  readonly readRights: (() => Promise<number>) | undefined;
  /** Sends the notifications. Undefined until it is loaded. */
  readonly sdk: () => Sdk | undefined;
}

interface Listeners {
  /** Throws NOT_READY after `stop`. */
  add(res: ServerResponse): void;
  /** Ends all streams, and accepts no new ones. */
  stop(): void;
  /** Ends the watch only. */
  end(): void;
}

export function createListeners({ clock, observe, menu, readRights, sdk }: ListenerParts): Listeners {
  const listening = new Set<ServerResponse>();
  let takesListeners = true;
  const watch = createVisibilityWatch({
    ...{ clock, observe },
    sources: [
      {
        async poll() {
          await menu.refresh();
          return menu.changeCount();
        },
        notify: () => sdk()?.notifyToolChange(),
      },
      // A change of any user's rights notifies all clients: each then lists again and gets its own tools.
      ...(readRights ? [{ poll: readRights, notify: () => sdk()?.notifyChange() }] : []),
    ],
    hasListeners: () => listening.size > 0,
  });
  return {
    add(res) {
      if (!takesListeners) fail('NOT_READY', {});
      listening.add(res);
      watch.begin();
      res.once('close', () => listening.delete(res));
    },
    stop() {
      takesListeners = false;
      watch.end();
      for (const res of listening) res.destroy();
    },
    end: () => watch.end(),
  };
}
