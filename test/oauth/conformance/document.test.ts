import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('docs/conformance.md is what the tables say, and no case occurs twice', () => {
  const args = ['--import', 'tsx', 'test/oauth/conformance/write.ts', '--check'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});
