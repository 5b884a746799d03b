// Copies the example, starts it as its README says, signs in as its users do, calls a tool, and stops it.
import { expect, test } from 'vitest';
import { callAs, copyExample, isUp, runCommand, startCommand } from './example.ts';

test('nestjs: the controller and Portico work side by side', async () => {
  const example = await copyExample('nestjs');
  const [addUser, start] = example.commands;
  const added = await runCommand(example, addUser!);
  const password = /assword[^:]*:\s+(\S+)/.exec(added)?.[1] ?? '';
  const place = await startCommand(example, start!, /For assistants: /);
  const account = { email: 'you@example.com', password };
  const heavy = await callAs(account, `${place.origin}/portico`, 'list', {
    collectionName: 'parcels',
    segment: 'Heavy',
  });
  const shelves = await fetch(`${place.origin}/shelves`);
  expect([heavy, await shelves.json(), (await fetch(`${place.origin}/nothing`)).status]).toEqual([
    { json: { columns: ['id', 'shelf', 'grams'], rows: [[2, 'A-2', 31_000]], hasMore: false } },
    [{ aisle: 'A', free: 3 }],
    404,
  ]);
  await place.stop();
  expect(await isUp(place.origin)).toBe(false);
  await runCommand(example, 'npx tsc');
}, 240_000);
