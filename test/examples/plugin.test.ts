// Copies the example and runs its tests as its README says, with the built package.
import { expect, test } from 'vitest';
import { copyExample, runCommand } from './example.ts';

test('plugin: its own tests pass', async () => {
  const example = await copyExample('plugin');
  expect(await runCommand(example, example.commands[0]!)).toMatch(/^# pass 3$/m);
}, 240_000);
