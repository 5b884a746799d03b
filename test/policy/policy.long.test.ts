// The whole table on every database. How a run was started is no matter of the database: one walks all ways, the others each in turn.
import { describe } from 'vitest';
import { servers } from '../databases.ts';
import { describeTable } from './groups.ts';

describe.each(servers)('$dialect', (maker) => {
  describeTable({ maker, seed: 0, share: () => 1, everyStart: maker.dialect === 'sqlite' });
});
