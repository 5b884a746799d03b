// A process that is killed during a write: the log says that the outcome is unknown, both before and after the record
// was inserted.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { askSql, runSql } from '../sql/schemas.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-crash-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string) => ({
  dialect: 'sqlite' as const,
  url: `sqlite:${join(folder, name)}`,
  drop: async () => {},
});

const key = [{ sealed: null }];

test.each([
  ['Before', 'mcp', key, []],
  ['After', 'mcp', key, [{ name: 'anvil' }]],
  ['Before', 'http', [], []],
  ['After', 'http', [], [{ name: 'anvil' }]],
])(
  'after a kill in a hook %s the write (%s), the entry is unknown and the idempotency key has no answer',
  async (position, way, keys, things) => {
    const [served, storage] = [file(`${way}-${position}.sqlite`), file(`${way}-${position}-storage.sqlite`)];
    await runSql(served, ['CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT NOT NULL)']);
    const child = fork(join(import.meta.dirname, 'crash-child.ts'), [served.url, storage.url, position, way], {
      execArgv: ['--import', 'tsx'],
    });
    const [said] = await once(child, 'message');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([
      said,
      await askSql(storage, 'SELECT action, type, collection, outcome FROM activity_logs'),
      await askSql(storage, 'SELECT sealed FROM idempotency_keys'),
      await askSql(served, 'SELECT name FROM things'),
    ]).toEqual([
      'in the hook',
      [{ action: 'create', type: 'write', collection: 'things', outcome: 'unknown' }],
      keys,
      things,
    ]);
  },
);
