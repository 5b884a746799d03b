// The wall time of a start, on an otherwise idle machine. bench/start.ts measures the same for RESULTS.md.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { takePort } from '../ports.ts';
import { getToken, list } from './asking.ts';
import { adminPassword, buildOnce, makePlace, type Place, type StartedServer, startServer } from './command.ts';

let place: Place;
beforeAll(async () => {
  await buildOnce();
  place = makePlace();
});
afterAll(() => place.remove());

async function end(server: StartedServer): Promise<void> {
  server.signal('SIGTERM');
  await server.ended;
}

test('the process is ready within 2 s with a new shop, and answers its first call within 700 ms with an existing one', async () => {
  const taken = await takePort();
  await taken.free();
  const args = ['--port', String(taken.port)];
  const first = await startServer(args, { folder: place.folder });
  const token = await getToken(first, adminPassword);
  await end(first);
  const took: number[] = [];
  for (let round = 0; round < 5; round++) {
    const bornAt = performance.now();
    const server = await startServer(args, { folder: place.folder });
    await list(server.mcpUrl, token, { collectionName: 'orders' });
    took.push(performance.now() - bornAt);
    await end(server);
  }
  console.log(
    `welcome with a new shop: ${Math.round(first.milliseconds)} ms; answered call: ${took.map(Math.round).join(', ')} ms`,
  );
  expect(first.milliseconds).toBeLessThan(2000);
  expect(took.sort((a, b) => a - b)[2]).toBeLessThan(700);
});
