// No sum or difference of any figures is about fewer records than the minimum group size.
import { expect, test } from 'vitest';
import { findLeaks } from './group-leaks.ts';

test.each(Array.from({ length: 100 }, (_, seed) => seed))(
  'figures of the random table %i reveal no small group',
  async (seed) => {
    const { shown, wrong, revealed } = await findLeaks(seed * 7919 + 1, seed % 2 ? [3, 2, 2] : [4, 3]);
    expect({ wrong, revealed }).toEqual({ wrong: [], revealed: [] });
    expect(shown).toBeGreaterThan(0);
  },
);
