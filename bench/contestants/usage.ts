// Every contestant tells what it has used when the driver asks.
export interface Usage {
  /** User and system time of the process with all its threads, since it began. */
  readonly cpuMicroseconds: number;
  /** Of the heap, after a collection where one was asked for. */
  readonly heapBytes: number;
}

export function tellUsage(): void {
  process.on('message', (asked) => {
    if (asked !== 'usage' && asked !== 'heap') return;
    if (asked === 'heap') globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    const usage: Usage = { cpuMicroseconds: user + system, heapBytes: process.memoryUsage().heapUsed };
    process.send!(usage);
  });
}
