// A sample of the long test.
import { servers } from '../databases.ts';
import { proveRaces } from './races.ts';

const [embedded, server = embedded] = servers;
proveRaces([
  { server: embedded!, processes: 1, callers: 100, records: 20 },
  { server: server!, processes: 3, callers: 100, records: 60 },
]);
