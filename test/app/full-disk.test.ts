// The storage on a full disk: every created record is in the activity log.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askSql, runSql } from '../sql/schemas.ts';

test('a write whose log entry cannot be stored is refused, and works again once there is space', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-full-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string) => ({
    dialect: 'sqlite' as const,
    url: `sqlite:${join(folder, name)}`,
    drop: async () => {},
  });
  const [served, storage] = [at('served.sqlite'), at('storage.sqlite')];
  await runSql(served, ['CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)']);
  const child = fork(join(import.meta.dirname, 'full-disk-child.ts'), [served.url, storage.url], {
    execArgv: ['--import', 'tsx'],
  });
  const [{ answers, reads, readiness }] = (await once(child, 'message')) as [
    { answers: unknown[]; reads: unknown[]; readiness: number[] },
  ];
  await once(child, 'exit');
  const [{ things }] = (await askSql(served, 'SELECT count(*) AS things FROM things')) as [{ things: number }];
  const [{ entries }] = (await askSql(
    storage,
    "SELECT count(*) AS entries FROM activity_logs WHERE action = 'create' AND outcome IN ('completed', 'unknown')",
  )) as [{ entries: number }];
  const refused = answers.filter((answer) => JSON.stringify(answer).includes('SOURCE_UNAVAILABLE')).length;
  expect({ things, refused, last: answers.at(-1) }).toMatchObject({
    things: entries,
    refused: answers.length - things,
    last: { json: { ids: ['1000'] } },
  });
  const [{ lists }] = (await askSql(
    storage,
    "SELECT count(*) AS lists FROM activity_logs WHERE action = 'list' AND outcome = 'completed'",
  )) as [{ lists: number }];
  expect([lists, readiness]).toEqual([
    reads.filter((answer) => JSON.stringify(answer).includes('"json"')).length,
    [200, 503, 200],
  ]);
  expect([things > 1, refused > 1]).toEqual([true, true]);
});
