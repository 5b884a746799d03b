// Analytic questions about the demo shop. First guesses of a model that has read only tools/list are done as meant, or
// refused with the call to send. Questions of an analyst are answered by one call. Plain SQL says what is right.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { fullAccess } from '../../../src/core/caller.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { loadSqliteDriver, type SqliteConnection } from '../../../src/core/sqlite.ts';
import { accessOf } from '../../agent/shop.ts';
import { copyDemo } from '../../demo.ts';
import { ask } from '../asking.ts';
import { type McpTestServer, openMcpServer } from '../mcp-server.ts';
import { simpleGuesses } from './guesses-1.ts';
import { harderGuesses } from './guesses-2.ts';
import { freshGuesses } from './guesses-3.ts';
import { outcomeOf } from './outcomes.ts';
import { questions } from './questions-1.ts';
import { moreQuestions, unanswered } from './questions-2.ts';

/** At first 41 of the 60, and 11 of the 20 that were written after the repairs for the 60. */
const LEAST_SHARE = 0.95;

let folder: string;
let database: SqliteConnection;
let server: McpTestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portico-questions-'));
  const path = join(folder, 'demo.sqlite');
  copyDemo(path);
  database = new (loadSqliteDriver().driver)(path);
  const { caller } = accessOf();
  server = await openMcpServer({
    source: createSqlSource(`sqlite:${path}`, { observe: () => undefined, clock: systemClock }),
    access: () => fullAccess(caller),
  });
});
afterAll(async () => {
  await server.close();
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const send = (tool: string, args: Readonly<Record<string, unknown>>) => ask(server, tool, args);
const select = (sql: string) =>
  (database.prepare(sql).all() as Record<string, unknown>[]).map((record) => Object.values(record));

describe('first guesses', () => {
  test.each([
    ['60 before any of them ran', [...simpleGuesses, ...harderGuesses], 60],
    ['20 after the repairs for the others', freshGuesses, 20],
  ] as const)('%s', async (_name, guesses, count) => {
    const failed: string[] = [];
    const wrong: string[] = [];
    for (const guess of guesses) {
      const [outcome, text] = await outcomeOf(guess, send, select);
      if (outcome === 'WRONG') wrong.push(`${guess.question}\n${text}`);
      if (outcome === 'refused without it') failed.push(`${guess.question}\n${text}`);
    }
    expect(guesses.length).toBe(count);
    expect(wrong).toEqual([]);
    expect(1 - failed.length / count, failed.join('\n')).toBeGreaterThanOrEqual(LEAST_SHARE);
  });
});

describe('questions of an analyst', () => {
  const all = [...questions, ...moreQuestions];
  test.each(all.map((question) => [question.question, question] as const))('%s', async (_name, question) => {
    const [outcome, text] = await outcomeOf(question, send, select);
    expect(outcome, text.slice(0, 1000)).toBe('done');
  });

  test('most of the forty take one call', () => {
    expect(all.length + unanswered.length).toBe(40);
    expect(all.length / 40).toBeGreaterThanOrEqual(LEAST_SHARE);
  });
});
