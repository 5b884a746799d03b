// Reads the tables again when a person asks for it: on the console of this process, or through the storage, by a command
// or another process.
import type { Engine } from '../agent/engine.ts';
import type { Clock } from '../core/clock.ts';
import { lastReloadRequest, requestReload } from '../store/settings.ts';
import type { Store } from '../store/store.ts';

interface Reloading {
  /** Reads the tables now, and asks the other processes to. On failure the engine stays as it is. */
  reload(): Promise<void>;
  stop(): void;
}

const POLL_MS = 10_000;

/** Undefined if the engine is built only once, or if another server has the storage. */
export function openReloading(
  { settings }: Pick<Store, 'settings'>,
  { catalogue }: Pick<Engine, 'catalogue'>,
  clock: Pick<Clock, 'after'>,
): Reloading | undefined {
  if (catalogue === null) return undefined;
  let cancel: () => void = () => undefined;
  let isStopped = false;
  let known: { readonly id: string | undefined } | undefined;
  const poll = async (): Promise<void> => {
    const id = await lastReloadRequest(settings);
    const isNew = known !== undefined && known.id !== id;
    known = { id };
    if (isNew && !isStopped) await catalogue.reload();
  };
  const next = (ms: number): void => {
    cancel = clock.after(ms, () => {
      // The storage logs that it is away, and the engine that it cannot be rebuilt.
      void poll()
        .catch(() => undefined)
        .finally(() => {
          if (!isStopped) next(POLL_MS);
        });
    });
  };
  next(0);
  return {
    async reload() {
      known = { id: await requestReload(settings) };
      await catalogue.reload();
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
