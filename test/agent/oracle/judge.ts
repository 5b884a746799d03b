// Asks every source the same random questions and compares the answers with what they mean.
import { expect } from 'vitest';
import { createEngineAgent } from '../../../src/agent/agent.ts';
import type { Engine, ListRequest } from '../../../src/agent/engine.ts';
import type { Source } from '../../../src/agent/sources/source.ts';
import type { Access } from '../../../src/core/caller.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import type { PlainFilter } from '../../../src/core/filter.ts';
import type { TestServer } from '../../databases.ts';
import { interpret, type Question } from './interpreter.ts';
import { createRandom } from './random.ts';
import { createQuestion, createScopes, createZone, writeWords } from './requests.ts';
import { createMemoryTables, createTables } from './tables.ts';
import { customizeWorld, twistWorld } from './twists.ts';
import { createWorld, type World } from './world.ts';

export type OpenSource = (url: string, clock: Clock) => Source | Promise<Source>;

export interface Subject {
  readonly name: string;
  readonly engine: Engine;
  readonly ignoresCase: boolean;
  readonly choiceIsText: boolean;
  readonly uuidBackwards: boolean;
  /** Statements since it was last asked. */
  statements(): number;
  drop(): Promise<void>;
}

/** Throws with the seed, the source and the question when an answer is wrong. */
export async function judge(seed: number, questions: number, servers: readonly TestServer[], open: OpenSource) {
  const random = createRandom(seed);
  const world = createWorld(random);
  // One world in three stays as its tables are, so that both roads are walked.
  if (seed % 3 > 0) twistWorld(world, random);
  const clock = { ...systemClock, now: () => world.now };
  const subjects = [await subject('memory', createMemoryTables(world), world, clock)];
  try {
    for (const server of servers) {
      const database = await server.create();
      await createTables(world, database);
      const source = await open(database.url, clock);
      subjects.push(await subject(database.dialect, source, world, clock, () => database.drop()));
    }
    for (let count = 0; count < questions; ) {
      const zone = createZone(random);
      const scopes = random.chance(0.6) ? createScopes(world, random) : {};
      const access = accessWith(scopes, zone);
      for (let turn = 0; turn < 5 && count < questions; turn++, count++) {
        const question = createQuestion(world, random);
        const page = { limit: 1 + random.number(12), skip: random.chance(0.2) ? random.number(8) : 0 };
        const walks = random.chance(0.25);
        const asked = world.tables.find((each) => each.name === question.table)!;
        for (const each of subjects) {
          const told = `seed ${seed}, question ${count}, ${each.name}: ${JSON.stringify({ question, page, zone, scopes })}`;
          const expected = interpret({ world, scopes, zone, ...each }, question);
          await compare(each, access, question, page, expected, told);
          if (!walks || asked.key.length === 0) continue;
          await compareWalk(each, access, question, page.limit, expected, told);
          const label = asked.columns.find(
            ({ kind, name }) => kind === 'label' && !asked.twists.removed.has(name),
          )?.name;
          if (label)
            await compareLabelWalk(
              each,
              access,
              question,
              asked.twists.renames.get(label) ?? label,
              page.limit,
              expected,
              told,
            );
        }
      }
    }
  } finally {
    for (const each of subjects) {
      await each.engine.close();
      await each.drop();
    }
  }
}

export async function subject(
  name: string,
  source: Source,
  world: World,
  clock: Clock,
  drop = async () => {},
): Promise<Subject> {
  let statements = 0;
  const counted: Source = {
    name: source.name,
    describe: () => source.describe(),
    read(select, options) {
      statements++;
      return source.read(select, options);
    },
    count(select, options) {
      statements++;
      return source.count(select, options);
    },
    explain: (select) => source.explain(select),
    ...(source.writing && { writing: source.writing }),
    close: () => source.close(),
  };
  const agent = createEngineAgent().addDataSource(() => counted);
  customizeWorld(world, agent);
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
  return {
    name,
    engine: await agent.createEngine({ observe: () => {}, clock, limits }),
    ignoresCase: name !== 'postgres',
    choiceIsText: name === 'sqlite',
    uuidBackwards: name === 'mariadb',
    statements() {
      const seen = statements;
      statements = 0;
      return seen;
    },
    drop,
  };
}

export function accessWith(scopes: Readonly<Record<string, PlainFilter>>, timezone: string): Access {
  const caller = { id: 1, email: '', firstName: '', lastName: '', team: '', role: '', tags: {}, timezone };
  return {
    caller: { ...caller, permissionLevel: 'user', renderingId: 1 },
    can: () => true,
    canTrigger: () => true,
    field: () => 'write',
    scope: (collection) => scopes[collection] ?? null,
  };
}

function request(question: Question, page: { limit: number; skip?: number; cursor?: string }): ListRequest {
  return {
    collection: question.table,
    fields: question.fields,
    sort: question.sort,
    ...(question.filter && { filter: question.filter }),
    ...(question.words && { search: writeWords(question.words) }),
    ...(question.extended && { searchExtended: true }),
    ...(question.segment && { segment: question.segment }),
    ...(question.zone && { timezone: question.zone }),
    ...page,
  };
}

async function compare(
  { engine, statements }: Subject,
  access: Access,
  question: Question,
  page: { limit: number; skip: number },
  expected: unknown[][],
  told: string,
): Promise<void> {
  const wanted = request(question, page);
  const [answer, listed] = await attempt(told, async () => [await engine.list(access, wanted), statements()] as const);
  const [count] = await attempt(told, async () => [await engine.count(access, wanted), statements()] as const);
  const shown = expected.slice(page.skip, page.skip + page.limit);
  const actual = { rows: answer.rows, hasMore: answer.hasMore, count };
  expect(actual, told).toEqual({
    rows: shown,
    hasMore: expected.length > page.skip + page.limit,
    count: expected.length,
  });
  expect(listed, told).toBeLessThanOrEqual(1);
  if (expected.length) expect(listed, told).toBe(1);
}

async function compareWalk(
  subject: Subject,
  access: Access,
  question: Question,
  limit: number,
  expected: unknown[][],
  told: string,
): Promise<void> {
  expect(await walk(subject, access, question, limit, expected.length, told), `walk, ${told}`).toEqual(expected);
}

/** Databases differ in how they order texts whose case they ignore; in any order, every record must come once. */
async function compareLabelWalk(
  subject: Subject,
  access: Access,
  question: Question,
  label: string,
  limit: number,
  expected: unknown[][],
  told: string,
): Promise<void> {
  const sorted = { ...question, sort: [{ field: label, ascending: limit % 2 === 0 }] };
  const rows = await walk(subject, access, sorted, limit, expected.length, `by label, ${told}`);
  const texts = (list: readonly unknown[]) => list.map((row) => JSON.stringify(row)).sort();
  expect(texts(rows), `by label, ${told}`).toEqual(texts(expected));
}

/** Every page by the cursor of the one before, each one statement. */
async function walk(
  { engine, statements }: Subject,
  access: Access,
  question: Question,
  limit: number,
  most: number,
  told: string,
): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const wanted = request(question, { limit, ...(cursor && { cursor }) });
    const answer = await attempt(`walk, ${told}`, () => engine.list(access, wanted));
    rows.push(...answer.rows);
    expect(statements(), `walk, ${told}`).toBeLessThanOrEqual(1);
    cursor = answer.hasMore ? answer.cursorAfter(answer.rows.length - 1) : undefined;
  } while (cursor && rows.length <= most);
  return rows;
}

export async function attempt<T>(told: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    throw new Error(`${told}: ${cause}`, { cause });
  }
}

export function seedFrom(text: string | undefined): number {
  return text ? Number(text) : Math.floor(Math.random() * 2 ** 31);
}
