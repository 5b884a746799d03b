import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('npm run conformance lists each requirement with its test, and no case occurs twice', () => {
  const args = ['--import', 'tsx', 'test/oauth/conformance/write.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const [, count] = /^(\d+) requirements of/m.exec(stdout)!;
  expect(stdout.match(/^\| .* \| \[[\w.-]+\]\(test\/oauth\/conformance\/[\w.-]+\) \|$/gm)).toHaveLength(Number(count));
});
