// Calls of `aggregate` for 60 questions about the demo shop, written by a person who had read only the description of the
// tool, before its parser existed. Each is answered, or refused with the form to send.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { writeDemo } from '../../examples/demo-shop/shop.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { accessOf } from '../agent/shop.ts';
import { ask } from './asking.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

interface Guess {
  readonly question: string;
  readonly arguments: Record<string, unknown>;
}
const guesses = JSON.parse(readFileSync(join(import.meta.dirname, 'aggregate-guesses.json'), 'utf8')) as Guess[];
/** Answered at the first guess. The description showed `{"group":1}` then, which half of the other guesses copied. */
const LEAST_ANSWERED = 30;

let folder: string;
let server: McpTestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portico-guesses-'));
  const path = join(folder, 'demo.sqlite');
  writeDemo(path, { driver: loadSqliteDriver().driver, clock: systemClock });
  const { caller } = accessOf();
  server = await openMcpServer({
    source: createSqlSource(`sqlite:${path}`, { observe: () => undefined, clock: systemClock }),
    customize: customizeDemo,
    access: () => fullAccess(caller),
  });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the first guesses of analytic questions are answered, or refused with the correct form', async () => {
  const refused: string[] = [];
  for (const guess of guesses) {
    const text = await ask(server, 'aggregate', guess.arguments);
    if (/^[A-Z_]+: /.test(text)) refused.push(text);
  }
  expect(guesses.length).toBe(60);
  expect(refused.length).toBeLessThanOrEqual(60 - LEAST_ANSWERED);
  expect(refused.filter((text) => !/\b[Ss]end\b.*[{['"0-9]|Query '/.test(text))).toEqual([]);
  expect(refused.filter((text) => text.includes('""'))).toEqual([]);
}, 60_000);
