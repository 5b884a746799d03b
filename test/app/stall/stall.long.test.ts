// Expensive input of one user must not block another user, and memory must stay within bounds. The test prints its
// figures; bench/RESULTS.md has those of one run.
import { loadavg } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servers } from '../../databases.ts';
import { sqliteIsolates } from '../../sql/schemas.ts';
import { shapes } from './shapes.ts';
import { type Felt, openStalled, type Stalled } from './stall.ts';

const MEMORY_MB = 512;
/** STALL_SUSTAINED_MS=4000 repeats each shape for that long. By default each is sent once. */
const SUSTAINED_MS = Number(process.env.STALL_SUSTAINED_MS ?? 0);

describe.each(servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates))('$dialect', (server) => {
  let stalled: Stalled;
  let quiet: Felt;
  beforeAll(async () => {
    stalled = await openStalled(server);
    await stalled.feel();
    quiet = await stalled.feel(undefined, SUSTAINED_MS);
    console.info(`${server.dialect} quiet: ${JSON.stringify(quiet)} load ${loadavg()[0]?.toFixed(1)}`);
  }, 120_000);
  afterAll(() => stalled?.close(), 30_000);

  test.each(shapes)('$name', async (shape) => {
    const felt = await stalled.feel(shape, SUSTAINED_MS);
    console.info(`${server.dialect} | ${shape.name} | ${JSON.stringify(felt)} | load ${loadavg()[0]?.toFixed(1)}`);
    // The reference is the latency of this machine without an attack.
    const most = Math.max(100, 3 * quiet.p99);
    expect({ ...felt, p99: felt.p99 < most || felt.p99, memory: felt.memory < MEMORY_MB || felt.memory }).toMatchObject(
      {
        p99: true,
        memory: true,
        failures: [],
      },
    );
  });
});
