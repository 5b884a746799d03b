// The demo shop, created once per process and copied for each test: its 20,000 rows take longer than most tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeDemo } from '../examples/demo-shop/shop.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';

let made: Buffer | undefined;

function make(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'portico-demo-'));
  try {
    const path = join(folder, 'demo.sqlite');
    writeDemo(path, { driver: loadSqliteDriver().driver, clock: systemClock });
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the demo into an existing folder. */
export function copyDemo(path: string): void {
  made ??= make();
  writeFileSync(path, made, { mode: 0o600 });
}
