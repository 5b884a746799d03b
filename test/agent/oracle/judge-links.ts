// Runs the same associations and dissociations on every source, and compares results, errors and stored rows.
import { expect } from 'vitest';
import type { WriteAnswer } from '../../../src/agent/requests.ts';
import { fullAccess } from '../../../src/core/caller.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { isAppError } from '../../../src/core/errors.ts';
import type { TestServer } from '../../databases.ts';
import { accessWith, attempt, type OpenSource, type Subject, subject } from './judge.ts';
import { createLink, interpretLink, type Link } from './links.ts';
import { createRandom } from './random.ts';
import { createScopes, createZone } from './requests.ts';
import { createMemoryTables, createTables } from './tables.ts';
import { createWorld, type World, type WorldTable } from './world.ts';

interface Writer extends Subject {
  world: World;
}

export async function judgeLinks(seed: number, links: number, servers: readonly TestServer[], open: OpenSource) {
  const random = createRandom(seed);
  const world = createWorld(random);
  const clock = { ...systemClock, now: () => world.now };
  const writers: Writer[] = [{ ...(await subject('memory', createMemoryTables(world), world, clock)), world }];
  try {
    for (const server of servers) {
      const database = await server.create();
      await createTables(world, database);
      const source = await open(database.url, clock);
      writers.push({ ...(await subject(database.dialect, source, world, clock, () => database.drop())), world });
    }
    for (let count = 0; count < links; count++) {
      const zone = createZone(random);
      const scopes = random.chance(0.4) ? createScopes(world, random, true) : {};
      const link = createLink(writers[0]!.world, random);
      for (const writer of writers) {
        const told = `seed ${seed}, link ${count}, ${writer.name}: ${JSON.stringify({ link, zone, scopes })}`;
        const expected = interpretLink({ scopes, zone, ...writer }, link);
        const { code, answer } = await run(writer, link, scopes, zone, told);
        const table = writer.world.tables.find(({ name }) => name === expected.table)!;
        if (code !== undefined) expect([...expected.codes], told).toContain(code);
        else {
          expect([...expected.codes], told).toEqual([]);
          const touched = expected.touched.map((row) => record(table, row));
          expect(answer!.count, told).toBe(touched.length);
          expect(sorted(answer!.records), told).toEqual(sorted(touched));
          writer.world = {
            ...writer.world,
            tables: writer.world.tables.map((each) => (each === table ? { ...table, rows: expected.rows } : each)),
          };
        }
        const { rows } = await attempt(told, () =>
          writer.engine.list(fullAccess(accessWith({}, 'UTC').caller), {
            collection: table.name,
            fields: table.columns.map(({ name }) => name),
            limit: 1000,
          }),
        );
        const now = writer.world.tables.find(({ name }) => name === expected.table)!;
        expect(sorted(rows), told).toEqual(sorted(now.rows));
      }
    }
  } finally {
    for (const each of writers) {
      await each.engine.close();
      await each.drop();
    }
  }
}

async function run(
  { engine }: Writer,
  { on, table, relation, key, ids }: Link,
  scopes: Parameters<typeof accessWith>[0],
  zone: string,
  told: string,
): Promise<{ readonly code?: string; readonly answer?: WriteAnswer }> {
  const request = { collection: table, relation, id: key as never, ids: ids as never };
  const access = accessWith(scopes, zone);
  return attempt(told, async () => {
    try {
      return { answer: await (on ? engine.associate(access, request) : engine.dissociate(access, request)) };
    } catch (error) {
      if (isAppError(error)) return { code: error.code };
      throw error;
    }
  });
}

function record(table: WorldTable, row: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(table.columns.map(({ name }, index) => [name, row[index]]));
}

function sorted(list: readonly unknown[]): string[] {
  return list.map((each) => JSON.stringify(each)).sort();
}
