/**
 * Calls that ask the same at the same moment share one request, which begins after all of them have asked: one under way may
 * have missed what they must know of. At most `most` are under way; who comes then shares the next.
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
    // Everybody who asks in this turn is in.
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
