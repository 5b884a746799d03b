// The only lock of the WebAssembly SQLite is a folder `<file>.lock`, which a killed process leaves behind. Each process
// therefore marks an open file with `<file>.open-<pid>`. A lock without a living process is removed.
import { closeSync, openSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** How many connections this process has to each file. */
const entered = new Map<string, number>();

/** Marks the file as open by this process, after removing a stale lock. */
export function enterFile(file: string): () => void {
  const mine = `${file}.open-${process.pid}`;
  try {
    if (!isHeld(file)) rmdirSync(`${file}.lock`);
  } catch {
    // The normal case: there is no lock.
  }
  try {
    closeSync(openSync(mine, 'w', 0o600));
  } catch {
    // The folder is not writable, so the lock cannot be created either. The first statement reports it.
  }
  entered.set(file, (entered.get(file) ?? 0) + 1);
  return () => {
    const left = (entered.get(file) ?? 1) - 1;
    if (left > 0) {
      entered.set(file, left);
      return;
    }
    entered.delete(file);
    rmSync(mine, { force: true });
  };
}

/** Whether a living process has the file open. Removes the marks of dead processes. */
function isHeld(file: string): boolean {
  if (entered.has(file)) return true;
  const prefix = `${basename(file)}.open-`;
  let held = false;
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    // A mark with our pid that this process did not make is from an earlier process, which is common in containers.
    if (pid !== process.pid && isAlive(pid)) held = true;
    else rmSync(join(dirname(file), name), { force: true });
  }
  return held;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
