// The one lock that the WebAssembly SQLite knows is a folder `<file>.lock`, which a killed process leaves behind. So each
// process that has a file open says so in `<file>.open-<pid>`, and a lock that no living process can hold is removed.
import { closeSync, openSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** How many connections this process has to each file. */
const entered = new Map<string, number>();

/** Says that this process has the file open, after removing a lock that nobody alive can hold. */
export function enterFile(file: string): () => void {
  const mine = `${file}.open-${process.pid}`;
  try {
    if (!isHeld(file)) rmdirSync(`${file}.lock`);
  } catch {
    // There is no lock, which is how it should be.
  }
  try {
    closeSync(openSync(mine, 'w', 0o600));
  } catch {
    // In a folder where nothing can be made no lock can be made either: the first statement says so.
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

/** Whether a living process has the file open; marks of dead ones are removed. */
function isHeld(file: string): boolean {
  if (entered.has(file)) return true;
  const prefix = `${basename(file)}.open-`;
  let held = false;
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    // A mark with our own number that we did not make is of an earlier process, as happens in containers.
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
