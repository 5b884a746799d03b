// A sample of `npm run attack`: some attacks against a started server, and against a copy of it without their
// protection. `ATTACK_SEED` repeats a choice.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRandom } from '../agent/oracle/random.ts';
import { buildOnce, root } from '../cli/command.ts';
import { servers } from '../databases.ts';
import { sqliteIsolates } from '../sql/schemas.ts';
import { attacks } from './all.ts';
import { isWrong, type Result, replayHeld, replaySwitchedOff } from './replay.ts';
import { findUnknownNames } from './unknown-names.ts';

test('each protection occurs once in its file, and each attack has a protection and a unique id', () => {
  const wrong = attacks.flatMap(({ id, protection }) =>
    protection.length === 0
      ? [`${id} has none`]
      : protection
          .filter(({ file, text }) => readFileSync(join(root, file), 'utf8').split(text).length !== 2)
          .map(({ file, text }) => `${id}: ${file}: ${text}`),
  );
  expect(wrong).toEqual([]);
  expect(new Set(attacks.map(({ id }) => id)).size).toBe(attacks.length);
});

test('the replacement of a protection uses only names that its file knows', { timeout: 120_000 }, () => {
  const known = new Map<string, ReadonlySet<string>>();
  const wrong: string[] = [];
  for (const { id, protection } of attacks)
    for (const file of new Set(protection.map((one) => one.file))) {
      const before = readFileSync(join(root, file), 'utf8');
      if (!known.has(file)) known.set(file, findUnknownNames(before));
      const after = protection
        .filter((one) => one.file === file)
        .reduce((source, { text, into }) => source.replace(text, () => into), before);
      for (const name of findUnknownNames(after))
        if (!known.get(file)!.has(name) && !(name in globalThis)) wrong.push(`${id}: ${file}: ${name}`);
    }
  expect(wrong).toEqual([]);
});

// The driver without native code allows only one process at a time to open a file.
test.runIf(sqliteIsolates)(
  'attacks fail against the server, and succeed where their protection is switched off',
  async () => {
    await buildOnce();
    const seed = Number(process.env.ATTACK_SEED ?? Date.now() % 2 ** 31);
    console.info(`attacks: seed ${seed}`);
    const quick = attacks.filter(({ alone, isSlow, on }) => !alone && !isSlow && (on?.includes('sqlite') ?? true));
    const chosen = createRandom(seed).some(quick, 3, 3);
    const results: Result[] = [];
    for await (const one of replayHeld(chosen, servers.slice(0, 1))) results.push(one);
    for await (const one of replaySwitchedOff(chosen, servers.slice(0, 1))) results.push(one);
    const wrong = results.filter(isWrong).map(({ attack, state, evidence }) => [attack.id, state, evidence]);
    expect(wrong).toEqual([]);
    expect(results).toHaveLength(2 * chosen.length);
  },
);
