// The parts of the engine that bench/ratios.ts measures, compiled like the contestants.
export { createHeadlessAgent } from '../../src/agent/agent.ts';
export { createSqlSource } from '../../src/agent/sources/sql/source.ts';
export { fullAccess } from '../../src/core/caller.ts';
export { systemClock } from '../../src/core/clock.ts';
export { loadSqliteDriver } from '../../src/core/sqlite.ts';
