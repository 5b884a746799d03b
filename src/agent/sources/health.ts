// Which data sources answer, for health checks and pages.
import type { Clock } from '../../core/clock.ts';
import type { Source } from './source.ts';

/** The state of one data source. */
export interface SourceHealth {
  /** For operators: the name of the source, or its address without secrets. */
  readonly name: string;
  /** For anybody: the name that was given to the source, otherwise `database` and its position. */
  readonly label: string;
  /** False if it has not answered within half a second. */
  readonly isAvailable: boolean;
}

/** Kubernetes waits one second for a health check. */
const LIMIT_MS = 500;

/** Anybody may call a health check, so each source answers at most one question at a time. */
export function createHealthCheck(sources: readonly Source[], clock: Clock): () => Promise<readonly SourceHealth[]> {
  const asked = new Map<Source, Promise<boolean>>();
  const ask = (source: Source): Promise<boolean> => {
    const running = asked.get(source);
    if (running) return running;
    const begun = Promise.resolve(source.version?.())
      .then(
        () => true,
        () => false,
      )
      .finally(() => asked.delete(source));
    asked.set(source, begun);
    return begun;
  };
  return () =>
    Promise.all(
      sources.map(async (source, at) => {
        let cancel = (): void => undefined;
        const late = new Promise<false>((resolve) => {
          cancel = clock.after(LIMIT_MS, () => resolve(false));
        });
        const isAvailable = await Promise.race([ask(source), late]);
        cancel();
        return { name: source.name, label: source.label ?? `database ${at + 1}`, isAvailable };
      }),
    );
}
