import { expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { proveFaultsAtCommit } from './faults-at-commit.ts';

test.each(servers)(
  '$dialect: the log matches the database after a hundred faults',
  { timeout: 600_000 },
  async (maker) => {
    const seen = await proveFaultsAtCommit(maker, { faults: 100, seed: 11 });
    console.log(maker.dialect, seen);
    expect(seen.acknowledged).toBeGreaterThan(100);
  },
);
