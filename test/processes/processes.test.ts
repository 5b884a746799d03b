// A sample of the long test: several processes on one storage, behind a balancer.
import { proveProcesses } from './scenario.ts';

proveProcesses({ signIns: 12, duringRestarts: 24, calls: 10 });
