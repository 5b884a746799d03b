// The whole table on every database. The way to start a run does not depend on the database, so only SQLite tests all
// of them. The others alternate.
import { describe } from 'vitest';
import { servers } from '../databases.ts';
import { describeTable } from './groups.ts';

describe.each(servers)('$dialect', (maker) => {
  describeTable({ maker, seed: 0, share: () => 1, everyStart: maker.dialect === 'sqlite' });
});
