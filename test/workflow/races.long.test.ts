import { servers } from '../databases.ts';
import { proveRaces } from './races.ts';

proveRaces(
  servers.flatMap((server) => [1, 3].map((processes) => ({ server, processes, callers: 100, records: 1000 }))),
);
