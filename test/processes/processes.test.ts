// A sample of what the long test proves: any number of processes on one storage, behind a balancer.
import { proveProcesses } from './scenario.ts';

proveProcesses({ signIns: 12, duringRestarts: 24, calls: 10 });
