// The demo shop behind an MCP server, and its database.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { fullAccess } from '../../../src/core/caller.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { loadSqliteDriver } from '../../../src/core/sqlite.ts';
import { accessOf } from '../../agent/shop.ts';
import { copyDemo } from '../../demo.ts';
import { ask } from '../asking.ts';
import { openMcpServer } from '../mcp-server.ts';
import type { Guess } from './guess.ts';
import { outcomeOf } from './outcomes.ts';

export async function openDemo() {
  const folder = mkdtempSync(join(tmpdir(), 'portico-questions-'));
  const path = join(folder, 'demo.sqlite');
  copyDemo(path);
  const database = new (loadSqliteDriver().driver)(path);
  const { caller } = accessOf();
  const server = await openMcpServer({
    source: createSqlSource(`sqlite:${path}`, { observe: () => undefined, clock: systemClock }),
    access: () => fullAccess(caller),
  });
  return {
    outcomeOf: (guess: Guess) =>
      outcomeOf(
        guess,
        (tool, args) => ask(server, tool, args),
        (sql) => (database.prepare(sql).all() as Record<string, unknown>[]).map((record) => Object.values(record)),
      ),
    async close() {
      await server.close();
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Demo = Awaited<ReturnType<typeof openDemo>>;

/** The texts of the guesses with a wrong answer, and of those refused without the call to send. */
export async function failuresOf({ outcomeOf }: Demo, guesses: readonly Guess[]) {
  const [wrong, failed]: [string[], string[]] = [[], []];
  for (const guess of guesses) {
    const [outcome, text] = await outcomeOf(guess);
    if (outcome === 'WRONG') wrong.push(`${guess.question}\n${text}`);
    if (outcome === 'refused without it') failed.push(`${guess.question}\n${text}`);
  }
  return { wrong, failed };
}
