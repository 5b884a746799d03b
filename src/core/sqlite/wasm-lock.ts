// The only lock of the WebAssembly SQLite is a folder `<file>.lock`, which a killed process leaves behind. Each process
// therefore marks an open file with `<file>.open-<pid>`. A lock without a living process is removed.
import { closeSync, openSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** How many connections this process has to each file. */
const openCounts = new Map<string, number>();

/** Marks the file as open by this process, after removing a stale lock. */
export function markFileOpen(file: string): () => void {
  const ownMark = `${file}.open-${process.pid}`;
  try {
    if (!isInUse(file)) rmdirSync(`${file}.lock`);
  } catch {
    // The normal case: there is no lock.
  }
  try {
    closeSync(openSync(ownMark, 'w', 0o600));
  } catch {
    // The folder is not writable, so the lock cannot be created either. The first statement reports it.
  }
  openCounts.set(file, (openCounts.get(file) ?? 0) + 1);
  return () => {
    const remaining = (openCounts.get(file) ?? 1) - 1;
    if (remaining > 0) {
      openCounts.set(file, remaining);
      return;
    }
    openCounts.delete(file);
    rmSync(ownMark, { force: true });
  };
}

/** Whether a living process has the file open. Removes the marks of dead processes. */
function isInUse(file: string): boolean {
  if (openCounts.has(file)) return true;
  const prefix = `${basename(file)}.open-`;
  let isUsed = false;
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    // A mark with our pid that this process did not make is from an earlier process, which is common in containers.
    if (pid !== process.pid && isAlive(pid)) isUsed = true;
    else rmSync(join(dirname(file), name), { force: true });
  }
  return isUsed;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
