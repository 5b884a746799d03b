// The resource usage that each contestant sends when the driver asks for it.
export interface Usage {
  /** User and system CPU time of the process with all threads, since its start. */
  readonly cpuMicroseconds: number;
  /** The heap size, after a garbage collection if requested. */
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
