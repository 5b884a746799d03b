// Many random notes, messages and filters against a naive model.
import { expect, onTestFinished, test } from 'vitest';
import { servers } from '../databases.ts';
import { openRandomNotes } from './notes-random.ts';

test.each(servers)(
  'many random notes and filters on $dialect give the results of a naive in-memory model',
  async (server) => {
    const random = await openRandomNotes(server);
    onTestFinished(() => random.stop());
    expect(await random.check(300)).toBeGreaterThan(1000);
  },
);
