// Runs the same random writes on every source, and compares results, errors and stored rows with their meaning.
import { expect } from 'vitest';
import type { RecordId } from '../../../src/agent/encode/record-id.ts';
import type { Engine } from '../../../src/agent/engine.ts';
import type { WriteAnswer } from '../../../src/agent/requests.ts';
import type { Source } from '../../../src/agent/sources/source.ts';
import { type Access, fullAccess } from '../../../src/core/caller.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { isAppError } from '../../../src/core/errors.ts';
import type { TestServer } from '../../databases.ts';
import { counted } from '../counted.ts';
import { accessWith, attempt, dividedSubject, divideWorld, type OpenSource, type Subject, subject } from './judge.ts';
import { createRandom, type Random } from './random.ts';
import { createScopes, createZone } from './requests.ts';
import { createMemoryTables, createTables } from './tables.ts';
import { createWorld, type World, type WorldTable } from './world.ts';
import { twistWrites } from './write-twists.ts';
import { createWrite, interpretWrite, type Write } from './writes.ts';

interface Writer extends Subject {
  /** The expected rows. Databases differ in what they consider equal, so each has its own. */
  world: World;
  /** Returns no rows from writes. */
  readonly isSilent: boolean;
}

export async function judgeWrites(seed: number, writes: number, servers: readonly TestServer[], open: OpenSource) {
  const random = createRandom(seed);
  const world = twistWrites(createWorld(random), random);
  const clock = { ...systemClock, now: () => world.now };
  const silent = (source: Source) => counted(source, false).source;
  const writers: Writer[] = [
    { ...(await subject('memory', createMemoryTables(world), world, clock)), world, isSilent: false },
    { ...(await subject('silent memory', silent(createMemoryTables(world)), world, clock)), world, isSilent: true },
  ];
  try {
    for (const server of servers) {
      const database = await server.create();
      await createTables(world, database);
      const source = await open(database.url, clock);
      const one = await subject(database.dialect, source, world, clock, () => database.drop());
      writers.push({ ...one, world, isSilent: false });
    }
    await writeAll(seed, writes, random, writers);
  } finally {
    await closeAll(writers);
  }
}

/** The same, with the tables divided between two sources of one kind. */
export async function judgeWritesAcross(
  seed: number,
  writes: number,
  servers: readonly TestServer[],
  open: OpenSource,
) {
  const random = createRandom(seed);
  const whole = createWorld(random);
  const { away, near, far } = divideWorld(whole, random);
  const world = twistWrites({ ...whole, away }, random);
  const clock = { ...systemClock, now: () => world.now };
  const memory = { source: createMemoryTables(world, far), tables: away };
  const first = await subject('memory', createMemoryTables(world, near), world, clock, undefined, memory);
  const writers: Writer[] = [{ ...first, world, isSilent: false }];
  try {
    for (const server of servers) {
      const each = await dividedSubject(world, { away, near, far }, server, open, clock);
      writers.push({ ...each, world, isSilent: false });
    }
    await writeAll(seed, writes, random, writers);
  } finally {
    await closeAll(writers);
  }
}

async function closeAll(writers: readonly Writer[]): Promise<void> {
  for (const each of writers) {
    await each.engine.close();
    await each.drop();
  }
}

async function writeAll(seed: number, writes: number, random: Random, writers: readonly Writer[]): Promise<void> {
  const { world } = writers[0]!;
  for (let count = 0; count < writes; count++) {
    const zone = createZone(random);
    const write = createWrite(writers[0]!.world, random);
    const told = random.chance(0.3) ? write.table : undefined;
    const scopes = told || random.chance(0.4) ? createScopes(world, random, true, told) : {};
    const packed = random.chance(0.5);
    for (const writer of writers) {
      const said = `seed ${seed}, write ${count}, ${writer.name}: ${JSON.stringify({ write, zone, scopes })}`;
      const expected = interpretWrite({ scopes, zone, ...writer }, write);
      const { code, answer } = await run(writer.engine, accessWith(scopes, zone), write, packed, said);
      const table = writer.world.tables.find((each) => each.name === write.table)!;
      // Without a key, written rows that the database does not return cannot be read again.
      if (code === 'READ_ONLY' && table.key.length === 0)
        expect(writer.isSilent || Object.keys(scopes).length > 0, said).toBe(true);
      else if (code === 'CONFIGURATION') expect(isTold(scopes), said).toBe(true);
      else if (code === 'FORBIDDEN' && isReadOnly(writer.world, scopes, write)) {
        // Rightly refused. The comparison below shows that nothing was written.
      } else if (code !== undefined) expect([...expected.codes, ...expected.possible], said).toContain(code);
      else {
        expect([...expected.codes], said).toEqual([]);
        const touched = expected.touched.map((row) => namesAndValues(table, row));
        // A filter does not define an order.
        if (write.kind === 'filter') expect(sorted(answer!.records), said).toEqual(sorted(touched));
        else
          expect(
            answer!.records.map((record) => ({ ...record })),
            said,
          ).toEqual(touched);
        writer.world = { ...writer.world, tables: expected.tables };
      }
      await compareTable(writer, write.table, said);
      for (const { name, to } of table.relations) if (isNested(write, name)) await compareTable(writer, to, said);
    }
  }
  for (const writer of writers)
    for (const { name } of writer.world.tables)
      await compareTable(writer, name, `seed ${seed}, at the end, ${writer.name}`);
}

/** Whether a scope uses the computed field `told`. A statement cannot follow a relation to such rows. */
function isTold(scopes: Parameters<typeof accessWith>[0]): boolean {
  return JSON.stringify(scopes).includes('"told"');
}

/**
 * Whether the row scope of a written table uses a field that its database cannot evaluate: a computed field, or one of
 * a table in another source. The engine drops parts that always hold, so such a write may also succeed.
 */
function isReadOnly(world: World, scopes: Parameters<typeof accessWith>[0], write: Write): boolean {
  const own = world.tables.find(({ name }) => name === write.table)!;
  const nested = own.relations.filter(({ name }) => isNested(write, name)).map(({ to }) => to);
  return [own.name, ...nested].some((name) => {
    const words = JSON.stringify(scopes[name] ?? null);
    if (words.includes('"told"') || words.includes(':told"')) return true;
    return world.away !== undefined && world.away.size > 0 && words.includes(':');
  });
}

interface Done {
  readonly code?: string;
  readonly answer?: WriteAnswer;
}

async function run(engine: Engine, access: Access, write: Write, packed: boolean, told: string): Promise<Done> {
  const collection = write.table;
  const ids = 'ids' in write ? write.ids.map((id) => (packed ? pack(id) : (id as RecordId))) : [];
  return attempt(told, async () => {
    try {
      switch (write.kind) {
        case 'create':
          return { answer: await engine.create(access, { collection, records: write.records }) };
        case 'update':
          return { answer: await engine.update(access, { collection, ids, values: write.values }) };
        case 'filter':
          return { answer: await engine.update(access, { collection, filter: write.filter, values: write.values }) };
        case 'delete':
          return { answer: await engine.delete(access, { collection, ids }) };
      }
    } catch (error) {
      if (isAppError(error)) return { code: error.code };
      throw error;
    }
  });
}

function pack(id: readonly unknown[]): string {
  if (id.length === 1) return String(id[0]);
  return id.map((part) => String(part).replaceAll('\\', '\\\\').replaceAll('|', '\\|')).join('|');
}

async function compareTable({ engine, world }: Writer, name: string, told: string): Promise<void> {
  const table = world.tables.find((each) => each.name === name)!;
  const access = fullAccess(accessWith({}, 'UTC').caller);
  const fields = table.columns.map((column) => column.name);
  const { rows } = await attempt(told, () => engine.list(access, { collection: name, fields, limit: 1000 }));
  expect(sorted(rows), told).toEqual(sorted(table.rows));
}

function sorted(list: readonly unknown[]): string[] {
  return list.map((each) => JSON.stringify(each)).sort();
}

function namesAndValues(table: WorldTable, row: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(table.columns.map(({ name }, index) => [name, row[index]]));
}

function isNested(write: Write, relation: string): boolean {
  const given = write.kind === 'create' ? write.records : 'values' in write ? [write.values] : [];
  const known = [relation, 'far away'];
  return given.some((each) => Object.keys(each).some((path) => known.includes(path.split(':')[0]!)));
}
