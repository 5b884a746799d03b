// What a process and its descendants use, from /proc. Elsewhere than on Linux, these are 0.
import { readdirSync, readFileSync } from 'node:fs';

/** The ticks of /proc/<pid>/stat are hundredths of a second on every usual Linux. */
const MICROSECONDS_A_TICK = 10_000;
const BYTES_A_PAGE = 4096;

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
};

function childrenOf(pid: number): readonly number[] {
  let threads: readonly string[] = [];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {}
  return threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

const treeOf = (pid: number): readonly number[] => [pid, ...childrenOf(pid).flatMap(treeOf)];

/** Fields of /proc/<pid>/stat, counted from the state, which is 3 in proc(5). */
const statOf = (pid: number): readonly string[] =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /, '')
    .split(' ');

function ticksOf(pid: number, isOnlyOfEnded: boolean): number {
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = statOf(pid).slice(11, 15).map(Number);
  return endedUser + endedSystem + (isOnlyOfEnded ? 0 : user + system);
}

/** The CPU time of all descendants, including those that have ended. Exact to 10 ms for each process. */
export function descendantsCpuMicroseconds(pid: number): number {
  const ticks = treeOf(pid).reduce((sum, each) => sum + ticksOf(each, each === pid), 0);
  return ticks * MICROSECONDS_A_TICK;
}

/** The CPU time of a process with all descendants. Exact to 10 ms for each process. */
export function treeCpuMicroseconds(pid: number): number {
  return treeOf(pid).reduce((sum, each) => sum + ticksOf(each, false), 0) * MICROSECONDS_A_TICK;
}

/** Resident memory of a process with all descendants. Pages that several share count for each. */
export function treeResidentBytes(pid: number): number {
  const pages = treeOf(pid).map((each) => Number(read(`/proc/${each}/statm`).split(' ')[1] ?? 0));
  return pages.reduce((sum, each) => sum + each, 0) * BYTES_A_PAGE;
}

/** The process of a thread, or of a process itself, if its name matches. Undefined if it is on another machine. */
export function processOfThread(thread: number, name: RegExp): number | undefined {
  const pid = Number(/^Tgid:\s+(\d+)/m.exec(read(`/proc/${thread}/status`))?.[1]);
  return name.test(read(`/proc/${pid}/comm`)) ? pid : undefined;
}

export const parentOf = (pid: number): number => Number(statOf(pid)[1]);
