/**
 * Concurrent identical calls share one request. It begins after all of them were made, because a running request may
 * miss recent changes. At most `most` requests run at once; later calls share the next one.
 */
export function shareCall<T>(run: () => Promise<T>, most: number): () => Promise<T> {
  let unsent: Promise<T> | undefined;
  let underWay = 0;
  let waiting: (() => void)[] = [];
  const release = (): void => {
    underWay--;
    const next = waiting;
    waiting = [];
    for (const go of next) go();
  };
  const send = async (): Promise<T> => {
    // Includes all calls made in this turn of the event loop.
    await undefined;
    while (underWay >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    unsent = undefined;
    underWay++;
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
