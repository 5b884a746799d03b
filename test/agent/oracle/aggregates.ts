// Runs the same random aggregates on every source and compares the results with their meaning.

import { expect } from 'vitest';
import { createHeadlessAgent } from '../../../src/agent/agent.ts';
import type { Engine } from '../../../src/agent/engine.ts';
import type { AggregateRequest } from '../../../src/agent/requests.ts';
import type { Source } from '../../../src/agent/sources/source.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { bucketUnits } from '../../../src/core/filter/measures.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import type { TestServer } from '../../databases.ts';
import { accessOf } from '../shop.ts';
import { type AggregateQuestion, interpretAggregate } from './aggregate-meaning.ts';
import { isRefused } from './filters.ts';
import { divideWorld, type OpenSource } from './judge.ts';
import { createRandom, type Random } from './random.ts';
import { createQuestion, createScopes, namesOf } from './requests.ts';
import { createMemoryTables, createTables } from './tables.ts';
import { customizeWorld, twistWorld } from './twists.ts';
import { addFirsts, createWorld, type Kind, type World } from './world.ts';

const zones = [
  'UTC', 'Europe/Paris', 'America/Havana', 'America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'America/St_Johns',
  'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia', 'Asia/Tehran', 'Europe/Dublin',
]; // biome-ignore format: a pool
const numbers: readonly Kind[] = ['whole', 'big', 'decimal'];
const compared: readonly Kind[] = [...numbers, 'instant', 'day', 'time'];

interface Subject {
  readonly name: string;
  readonly engine: Engine;
  statements(): number;
  drop(): Promise<void>;
}

/** Throws with the seed, the source and the question if a result is wrong. */
export async function judgeAggregates(
  seed: number,
  questions: number,
  servers: readonly TestServer[],
  open: OpenSource,
) {
  const random = createRandom(seed);
  const world = addFirsts(createWorld(random));
  // Every second world has no customizations, to test both paths.
  if (seed % 2 > 0) twistWorld(world, random);
  const clock = { ...systemClock, now: () => world.now };
  const memory = createMemoryTables(world);
  const { aggregate: _, ...readsOnly } = memory;
  const { away, near, far } = divideWorld(world, random);
  const other = { source: createMemoryTables(world, far), tables: away };
  const subjects = [
    await subject('memory', memory, world, clock),
    await subject('read', readsOnly, world, clock),
    await subject('across', createMemoryTables(world, near), world, clock, undefined, other),
  ];
  try {
    for (const server of servers) {
      const database = await server.create();
      await createTables(world, database);
      subjects.push(
        await subject(database.dialect, await open(database.url, clock), world, clock, () => database.drop()),
      );
    }
    for (let count = 0; count < questions; count++) {
      const zone = random.pick(zones);
      const scopes = random.chance(0.3) ? createScopes(world, random) : {};
      const question = createAggregate(world, random);
      const limit = random.chance(0.5) ? 1000 : 1 + random.number(6);
      const plain = scopes as Record<string, PlainFilter>;
      const table = world.tables.find(({ name }) => name === question.table)!;
      const isWrong = question.filter !== undefined && isRefused(world, table, question.filter);
      for (const { name, engine, statements } of subjects) {
        const told = `seed ${seed}, aggregate ${count}, ${name}: ${JSON.stringify({ question, limit, zone, scopes })}`;
        if (isWrong) {
          const asked = engine.aggregate(accessOf({ scopes: plain, timezone: zone }), request(question, limit));
          await expect(asked, told).rejects.toEqual(expect.objectContaining({ code: 'AMBIGUOUS_FILTER' }));
          expect(statements(), told).toBe(0);
          continue;
        }
        const meaning = {
          world,
          scopes,
          zone,
          ignoresCase: name !== 'postgres',
          choiceIsText: name === 'sqlite',
          uuidBackwards: name === 'mariadb',
        };
        const all = interpretAggregate(meaning, question);
        // Databases order case-insensitive texts differently.
        const isOrdered = question.groups.every((group) => group.kind !== 'label');
        const most = isOrdered ? limit : 1000;
        const answer = await engine
          .aggregate(accessOf({ scopes: plain, timezone: zone }), request(question, most))
          .catch((cause: unknown) => Promise.reject(new Error(`${told}: ${cause}`, { cause })));
        const rows = isOrdered ? [answer.rows, all.slice(0, most)] : [texts(answer.rows), texts(all)];
        expect(rows[0], told).toEqual(rows[1]);
        const isFree = name === 'across' || question.isMixed === true;
        expect([answer.hasMore, statements() <= 1 || isFree], told).toEqual([all.length > most, true]);
      }
    }
  } finally {
    for (const each of subjects) {
      await each.engine.close();
      await each.drop();
    }
  }
}

const texts = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

function createAggregate(world: World, random: Random): AggregateQuestion {
  const { fields: _, sort, zone: __, ...conditions } = createQuestion(world, random);
  const names = namesOf(world, world.tables.find((table) => table.name === conditions.table)!);
  const operation = random.pick(['Count', 'Count', 'Sum', 'Sum', 'Avg', 'Max', 'Min'] as const);
  const kinds = operation === 'Count' ? undefined : operation === 'Sum' || operation === 'Avg' ? numbers : compared;
  const values = names.filter((each) => !kinds || kinds.includes(each.kind));
  const dates = names.filter((each) => each.kind === 'instant' || each.kind === 'day');
  const groups = random
    .some([...names, ...dates, ...dates, ...dates], 0, 3)
    .filter((each, at, all) => all.findIndex((other) => other.name === each.name) === at)
    .map((each) =>
      (each.kind === 'instant' || each.kind === 'day') && random.chance(0.85)
        ? { ...each, bucket: random.pick(bucketUnits) }
        : each,
    );
  const valued = values.length > 0 && (operation !== 'Count' || random.chance(0.5));
  return {
    ...conditions,
    operation: values.length ? operation : 'Count',
    ...(valued && { value: random.pick(values) }),
    groups,
    order: sort.length % 2 ? 'groups' : 'value',
    ...(random.chance(0.7) && { zone: random.pick(zones) }),
  };
}

function request(question: AggregateQuestion, limit: number): AggregateRequest {
  return {
    collection: question.table,
    operation: question.operation,
    ...(question.value && { field: question.value.name }),
    groups: question.groups.map(({ name, bucket }) => ({ field: name, ...(bucket && { bucket }) })),
    ...(question.filter && { filter: question.filter as PlainFilter }),
    ...(question.search && { search: question.search }),
    ...(question.extended && { searchExtended: true }),
    ...(question.segment && { segment: question.segment }),
    ...(question.zone && { timezone: question.zone }),
    order: question.order,
    limit,
  };
}

async function subject(
  name: string,
  source: Source,
  world: World,
  clock: Clock,
  drop = async () => {},
  other?: { readonly source: Source; readonly tables: ReadonlySet<string> },
): Promise<Subject> {
  let statements = 0;
  const { aggregate } = source;
  const counted: Source = {
    ...source,
    read(select, options) {
      statements++;
      return source.read(select, options);
    },
    ...(aggregate && {
      aggregate(group, options) {
        statements++;
        return aggregate(group, options);
      },
    }),
  };
  const agent = createHeadlessAgent().addDataSource(() => counted);
  if (other) agent.addDataSource(() => other.source);
  customizeWorld(world, agent, other?.tables);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
  return {
    name,
    engine: await agent.createEngine({ observe: () => {}, clock, limits }),
    statements() {
      const seen = statements;
      statements = 0;
      return seen;
    },
    drop,
  };
}
