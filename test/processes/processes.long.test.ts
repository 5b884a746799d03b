import { proveProcesses } from './scenario.ts';

proveProcesses({ signIns: 200, duringRestarts: 100, calls: 100 });
