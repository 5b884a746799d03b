/**
 * Concurrent identical calls share one request. It begins after all of them were made, because a running request may
 * miss recent changes. At most `most` requests run at once; later calls share the next one.
 */
export function shareCall<T>(run: () => Promise<T>, maxConcurrent: number): () => Promise<T> {
  let unsent: Promise<T> | undefined;
  let runningCount = 0;
  let waiting: (() => void)[] = [];
  const release = (): void => {
    runningCount--;
    const next = waiting;
    waiting = [];
    for (const go of next) go();
  };
  const send = async (): Promise<T> => {
    // Includes all calls made in this turn of the event loop.
    await undefined;
    while (runningCount >= maxConcurrent) await new Promise<void>((resolve) => waiting.push(resolve));
    unsent = undefined;
    runningCount++;
    try {
      return await run();
    } finally {
      release();
    }
  };
  return () => {
    unsent ??= send();
    return unsent;
  };
}
